//! One message to the daemon, and its response.

use std::sync::Mutex;

use convoke_api::bodies::Problem;
use convoke_api::{Client, Error, Reply};
use tokio::sync::mpsc;

use super::message::{DaemonMessage, Message, one_line};
use crate::exit;

/// The header of a session of the protocol, for servers that have such.
const SESSION: &str = "mcp-session-id";

/// How much of an invalid response is shown.
const EXCERPT_CHARS: usize = 200;

/// The connection to the daemon, and state that later messages need from earlier ones.
pub(super) struct DaemonConnection {
    client: Client,
    negotiated: Mutex<Negotiated>,
}

/// The result of `initialize`.
#[derive(Debug, Clone, Default)]
struct Negotiated {
    version: Option<String>,
    session: Option<String>,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
enum Unanswered {
    #[error("cannot reach the daemon")]
    Failed(#[from] Error),
    #[error("the daemon ended the call without an answer")]
    Ended,
}

impl DaemonConnection {
    pub(super) fn new(client: Client) -> Self {
        Self { client, negotiated: Mutex::default() }
    }

    /// Forwards a message and its response; a request is answered in any case.
    pub(super) async fn call(&self, message: Message, out: &mpsc::Sender<String>) {
        let Err(error) = self.pass_on(&message, out).await else { return };
        let (why, hint) = exit::explain(&error.into());
        match message.failed(&why, hint.as_deref()) {
            // Fails if the writer has ended.
            Some(answer) => out.send(answer).await.unwrap_or_default(),
            None => tracing::debug!("a notification was not delivered: {why}"),
        }
    }

    async fn pass_on(
        &self,
        message: &Message,
        out: &mpsc::Sender<String>,
    ) -> Result<(), Unanswered> {
        let headers = self.headers(message);
        let mut reply = self.client.post_raw(&headers, message.text.clone()).await?;
        let is_introduction = message.method.as_deref() == Some("initialize");
        if is_introduction {
            self.update_negotiated(|negotiated| {
                negotiated.session = reply.header(SESSION).map(str::to_owned);
            });
        }
        let mut answered = message.id.is_none();
        if reply.is_success() && reply.is_event_stream() {
            while let Some(text) = reply.next_event().await? {
                let Some(received) = DaemonMessage::read(&text) else { continue };
                if is_introduction && received.version.is_some() {
                    self.update_negotiated(|negotiated| negotiated.version = received.version);
                }
                answered |= received.answers == message.id;
                out.send(one_line(&text)).await.unwrap_or_default();
            }
        } else if let Some((text, received)) = self.whole(reply, message).await? {
            if is_introduction {
                self.update_negotiated(|negotiated| negotiated.version = received.version);
            }
            answered |= received.answers == message.id;
            out.send(one_line(&text)).await.unwrap_or_default();
        }
        if answered { Ok(()) } else { Err(Unanswered::Ended) }
    }

    /// A response that is one message, with any status; `None` if it is empty.
    async fn whole(
        &self,
        reply: Reply,
        message: &Message,
    ) -> Result<Option<(String, DaemonMessage)>, Unanswered> {
        let (status, is_success) = (reply.status(), reply.is_success());
        let text = reply.text().await?;
        match DaemonMessage::read(&text) {
            // An authentication error is an object as well, but not a response to this call.
            Some(received)
                if is_success || (message.id.is_some() && received.answers == message.id) =>
            {
                Ok(Some((text, received)))
            }
            Some(_) | None if is_success && text.trim().is_empty() => Ok(None),
            Some(_) | None => Err(self.refusal(status, &text).into()),
        }
    }

    fn refusal(&self, status: u16, text: &str) -> Error {
        match serde_json::from_str::<Problem>(text) {
            Ok(problem) => Error::Problem(Box::new(problem)),
            Err(_) => {
                let body = text.trim().chars().take(EXCERPT_CHARS).collect();
                Error::Unexpected { url: self.client.url().to_owned(), status, body }
            }
        }
    }

    /// The HTTP headers for a message.
    fn headers(&self, message: &Message) -> Vec<(&'static str, String)> {
        let mut negotiated = Negotiated::default();
        self.update_negotiated(|it| negotiated = it.clone());
        let version = message.version.clone().or(negotiated.version);
        [
            ("mcp-protocol-version", version),
            (SESSION, negotiated.session),
            ("mcp-method", message.method.clone()),
            ("mcp-name", message.name.clone()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    fn update_negotiated(&self, change: impl FnOnce(&mut Negotiated)) {
        change(&mut self.negotiated.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
}
