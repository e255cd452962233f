//! A model server for real agents in tests: loopback only, no intelligence, and no network beyond.
//!
//! It speaks Anthropic's messages, OpenAI's chat completions and its responses, whole and as a stream. What it answers is scripted by the
//! last line of the prompt, so that one prompt drives every agent:
//!
//! | the prompt's last line | the answer |
//! |---|---|
//! | `hello` | `ECHO turn=N: hello`, where N is the number of prompts that the model was shown |
//! | `[[tool NAME {"json": 1}]]` | a call of that tool, and then `DONE turn=N: ` with the start of its result |
//! | `[[slow]]` | an echo in pieces, over ten seconds |
//! | `[[error 400]]` | that status of HTTP |

#![expect(
    clippy::indexing_slicing,
    reason = "a missing field of JSON reads as null, and only ours is written to"
)]

mod anthropic;
mod chat;
mod http;
mod reply;
mod responses;
mod shown;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

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
}

impl Model {
    /// Starts a server on a free port of the loopback interface.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Errors of a client connection are ignored: the test sees them at the agent.
                tokio::spawn(async move { serve(stream).await.ok() });
            }
        });
        Ok(Self { address, server })
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
async fn serve(mut stream: TcpStream) -> io::Result<()> {
    let Some(request) = Request::read(&mut stream).await? else { return Ok(()) };
    let response = Response::new(stream);
    let body = &request.body;
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
        path if path.ends_with("/count_tokens") => {
            response.json(200, &json!({"input_tokens": 1})).await
        }
        path if path.ends_with("/models") => {
            let model = json!({"id": "fake-model", "object": "model", "owned_by": "nobody"});
            response.json(200, &json!({"object": "list", "data": [model]})).await
        }
        // Agents look at a server before they use it.
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
