//! A client of the WebSocket.

use std::net::SocketAddr;
use std::time::Duration;

use convoke_api::entry::{Entries, Entry};
use convoke_core::message::Rev;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use super::scene::Scene;

/// How long anything may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A page in a browser.
pub(super) struct Page {
    socket: WebSocketStream<TcpStream>,
    /// What it shows of the session that it follows.
    pub(super) entries: Entries,
    /// The rendered entries, as the browser would have them.
    pub(super) html: std::collections::BTreeMap<String, Vec<String>>,
    /// The revision up to which it has everything.
    pub(super) rev: u64,
    /// Turns that it saw the end of.
    turns: u32,
    requests: u64,
}

impl Page {
    pub(super) async fn open(scene: &Scene, address: SocketAddr) -> Self {
        Self::with_token(address, scene.token.as_str()).await
    }

    /// A program with a token.
    pub(super) async fn with_token(address: SocketAddr, token: &str) -> Self {
        let socket = connect(address, token).await;
        Self {
            socket,
            entries: Entries::new(),
            html: Default::default(),
            rev: 0,
            turns: 0,
            requests: 0,
        }
    }

    /// Hangs up without a word, and comes back with what it has.
    pub(super) async fn reconnect(&mut self, scene: &Scene, address: SocketAddr) {
        self.socket = connect(address, scene.token.as_str()).await;
    }

    /// How many turns it saw the end of.
    pub(super) const fn turns(&self) -> u32 {
        self.turns
    }

    /// Sends any text.
    pub(super) async fn send(&mut self, text: impl Into<String>) {
        self.socket.send(Message::Text(text.into().into())).await.unwrap();
    }

    /// Says something, and waits for the answer.
    pub(super) async fn ask(&mut self, said: Value) -> Value {
        self.requests += 1;
        let id = format!("r{}", self.requests);
        let mut said = said;
        said["requestId"] = json!(id);
        self.send(said.to_string()).await;
        self.until(|frame| frame["requestId"] == json!(id)).await
    }

    /// Waits for a frame, and takes into account what comes before it.
    pub(super) async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.next().await.expect("the socket ended");
            if is_it(&frame) {
                return frame;
            }
        }
    }

    /// Waits until it has seen the end of so many turns.
    pub(super) async fn until_turns(&mut self, turns: u32) {
        while self.turns < turns {
            self.next().await.expect("the socket ended");
        }
    }

    /// The next frame; `None` when the server ends the conversation.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            let message = tokio::time::timeout(TIMEOUT, self.socket.next()).await.unwrap();
            match message? {
                Ok(Message::Text(text)) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    self.take(&frame);
                    return Some(frame);
                }
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    fn take(&mut self, frame: &Value) {
        match frame["type"].as_str().unwrap() {
            "session:history" => {
                self.entries = Entries::new();
                self.html.clear();
                for entry in frame["entries"].as_array().unwrap() {
                    self.upsert(entry);
                }
                self.rev = frame["rev"].as_u64().unwrap();
            }
            "session:update" => {
                self.upsert(&frame["entry"]);
                self.rev = frame["rev"].as_u64().unwrap();
            }
            "session:chunk" => {
                let id = frame["entryId"].as_str().unwrap();
                let rev = Rev::new(frame["rev"].as_u64().unwrap());
                self.entries.append(id, frame["content"].as_str().unwrap(), rev);
                if let Some(from) = frame["html"]["from"].as_u64() {
                    let shown = self.html.get_mut(id).unwrap();
                    shown.truncate(usize::try_from(from).unwrap());
                    shown.extend(elements(frame["html"]["html"].as_str().unwrap()));
                }
                self.rev = rev.get();
            }
            "session:complete" => self.turns += 1,
            "session:opened" => self.rev = frame["rev"].as_u64().unwrap(),
            _ => {}
        }
    }

    fn upsert(&mut self, entry: &Value) {
        if let Some(html) = entry["html"].as_str() {
            self.html.insert(entry["entryId"].as_str().unwrap().to_owned(), elements(html));
        }
        let mut entry: Entry = serde_json::from_value(entry.clone()).unwrap();
        // Only words are compared; how they look is kept beside.
        entry = without_html(entry);
        self.entries.upsert(entry);
    }

    /// The elements of the entry at a place.
    pub(super) fn html_at(&self, seq: u64) -> &[String] {
        let mut entries = self.entries.conversation().iter();
        let entry = entries.find(|entry| entry.seq.get() == seq).unwrap();
        &self.html[&entry.entry_id]
    }

    /// What it shows, in a line for each entry.
    pub(super) fn shown(&self) -> Vec<String> {
        let line = |entry: &Entry| {
            let value = serde_json::to_value(entry).unwrap();
            let detail = ["content", "text", "title", "status", "state"]
                .into_iter()
                .find_map(|field| value[field].as_str())
                .unwrap_or_default()
                .to_owned();
            format!("m{} {}: {detail}", entry.seq, value["type"].as_str().unwrap())
        };
        self.entries.conversation().iter().map(line).collect()
    }
}

async fn connect(address: SocketAddr, token: &str) -> WebSocketStream<TcpStream> {
    let stream = TcpStream::connect(address).await.unwrap();
    let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
    let token = format!("Bearer {token}");
    request.headers_mut().insert("authorization", token.parse().unwrap());
    tokio_tungstenite::client_async(request, stream).await.unwrap().0
}

fn without_html(entry: Entry) -> Entry {
    let mut value = serde_json::to_value(entry).unwrap();
    value.as_object_mut().unwrap().remove("html");
    for prompt in value["prompts"].as_array_mut().into_iter().flatten() {
        prompt.as_object_mut().unwrap().remove("html");
    }
    for question in value["questions"].as_array_mut().into_iter().flatten() {
        question.as_object_mut().unwrap().remove("html");
    }
    serde_json::from_value(value).unwrap()
}

/// The elements at the top level.
fn elements(html: &str) -> Vec<String> {
    let mut elements = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    let mut rest = 0;
    while let Some(open) = html[rest..].find('<') {
        let at = rest + open;
        let end = at + html[at..].find('>').unwrap() + 1;
        let tag = &html[at..end];
        if depth == 0 {
            start = at;
        }
        let name = tag.trim_start_matches(['<', '/']).split([' ', '>', '/']).next().unwrap();
        let is_void = matches!(name, "hr" | "br" | "input" | "img") || tag.ends_with("/>");
        depth += if tag.starts_with("</") { -1 } else { i32::from(!is_void) };
        if depth == 0 {
            elements.push(html[start..end].to_owned());
        }
        rest = end;
    }
    elements
}
