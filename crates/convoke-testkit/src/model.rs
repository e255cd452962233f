//! A model server for real agents in tests: loopback only, no intelligence, and no network beyond.
//!
//! It speaks Anthropic's messages, OpenAI's chat completions and its responses, and Gemini's content, whole and as a stream.
//! What it answers is scripted by the last line of the prompt, so that one prompt drives every agent:
//!
//! | the prompt's last line | the answer |
//! |---|---|
//! | `hello` | `ECHO turn=N: hello`, where N is the number of prompts that the model was shown; with pictures in the last one `ECHO turn=N images=K: hello` |
//! | `[[tool NAME {"json": 1}]]` | a call of that tool, and then `DONE turn=N: ` with the start of its result |
//! | `[[shell COMMAND]]`, `[[write PATH\|CONTENT]]`, `[[ask {"json": 1}]]` | a call of whichever tool of the agent's does that |
//! | `[[slow]]` | an echo in pieces, over ten seconds |
//! | `[[error 400]]` | that status of HTTP |

#![expect(
    clippy::indexing_slicing,
    reason = "a missing field of JSON reads as null, and only ours is written to"
)]

mod anthropic;
mod chat;
mod gemini;
mod http;
mod reply;
mod responses;
mod shown;
mod tools;

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use http::{Request, Response};
use reply::Reply;
use shown::Shown;

/// A model server that runs until this is dropped.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    server: JoinHandle<()>,
    log: Log,
}

/// Requests that are remembered, the newest last.
const LOG_MAX: usize = 200;

/// The requests with tools, as text: agents also ask for titles and the like, without tools.
type Log = Arc<Mutex<VecDeque<String>>>;

impl Model {
    /// Starts a server on a free port of the loopback interface.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let log = Log::default();
        let kept = Arc::clone(&log);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let log = Arc::clone(&log);
                // Errors of a client connection are ignored: the test sees them at the agent.
                tokio::spawn(async move { serve(stream, &log).await.ok() });
            }
        });
        Ok(Self { address, server, log: kept })
    }

    /// The last request with tools that contains a text, as JSON.
    pub fn last_request_with(&self, text: &str) -> Option<String> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter().rev().find(|request| request.contains(text)).cloned()
    }

    /// Where it listens, as `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Answers the one request of a connection.
async fn serve(mut stream: TcpStream, log: &Log) -> io::Result<()> {
    let Some(request) = Request::read(&mut stream).await? else { return Ok(()) };
    let response = Response::new(stream);
    let body = &request.body;
    if !body["tools"].is_null() {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push_back(body.to_string());
        if log.len() > LOG_MAX {
            log.pop_front();
        }
    }
    match request.path() {
        path if path.ends_with("/messages") => match Reply::to(&Shown::in_messages(body)) {
            Ok(reply) => anthropic::answer(response, body, &reply).await,
            Err(status) => response.json(status, &error(status)).await,
        },
        path if path.ends_with("/chat/completions") => match Reply::to(&Shown::in_chat(body)) {
            Ok(reply) => chat::answer(response, body, &reply).await,
            Err(status) => response.json(status, &error(status)).await,
        },
        path if path.ends_with("/responses") => match Reply::to(&Shown::in_responses(body)) {
            Ok(reply) => responses::answer(response, body, &reply).await,
            Err(status) => response.json(status, &error(status)).await,
        },
        path if path.ends_with("enerateContent") => match Reply::to(&Shown::in_gemini(body)) {
            Ok(reply) => gemini::answer(response, &request, &reply).await,
            Err(status) => response.json(status, &error(status)).await,
        },
        path if path.ends_with(":countTokens") => {
            response.json(200, &json!({"totalTokens": 1})).await
        }
        path if path.ends_with("/count_tokens") => {
            response.json(200, &json!({"input_tokens": 1})).await
        }
        path if path.ends_with("/models") => {
            let model = json!({"id": "fake-model", "object": "model", "owned_by": "nobody"});
            response.json(200, &json!({"object": "list", "data": [model]})).await
        }
        // Agents probe a server before they use it.
        "/" => response.json(200, &json!({})).await,
        _ => response.json(404, &error(404)).await,
    }
}

fn error(status: u16) -> Value {
    let error = json!({"type": "scripted_error", "message": format!("scripted HTTP {status}")});
    json!({"type": "error", "error": error})
}

#[cfg(test)]
mod tests;
