//! One turn of the demo agent.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use convoke_core::count::counted;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::human::Server;
use super::peer::Peer;
use super::script::{Request, chat};

/// The pause between two pieces of an answer: about the speed of reading.
const PAUSE: Duration = Duration::from_millis(15);

/// What a turn needs.
pub(super) struct Turn {
    pub(super) peer: Peer,
    pub(super) session: String,
    pub(super) workspace: PathBuf,
    pub(super) server: Option<Server>,
    /// Whether it asks before it writes.
    pub(super) asks: bool,
    pub(super) cancel: CancellationToken,
}

/// What was said, and the answer to the prompt.
type Ending = (String, Result<Value, (i64, String)>);

impl Turn {
    /// Does what a prompt asks for.
    pub(super) async fn perform(&self, prompt: &str) -> Ending {
        let request = Request::of(prompt);
        if request == Request::Crash {
            self.say("I will be gone in a moment.").await;
            // The prompt asked for a crash: no response, no clean-up.
            std::process::abort();
        }
        if request == Request::Fail {
            return (String::new(), Err((-32603, "the demo agent was asked to fail".to_owned())));
        }
        let said = tokio::select! {
            said = self.answer(&request, prompt) => Some(said),
            () = self.cancel.cancelled() => None,
        };
        let stop = if said.is_some() { "end_turn" } else { "cancelled" };
        let usage = json!({"inputTokens": prompt.len() / 4, "outputTokens": 64, "totalTokens": 64 + prompt.len() / 4});
        (said.unwrap_or_default(), Ok(json!({"stopReason": stop, "usage": usage})))
    }

    async fn answer(&self, request: &Request<'_>, prompt: &str) -> String {
        let text = match request {
            Request::Think => {
                self.think(
                    "Let me see. Nothing here needs a model, so an honest answer is a short one.",
                )
                .await;
                "I thought about it, and you could watch me do so.".to_owned()
            }
            Request::Plan => self.plan().await,
            Request::Read(path) => self.read(path).await,
            Request::Write { path, text } => self.write(path, text).await,
            Request::Ask => self.ask().await,
            Request::Long(words) => (1..=*words).map(|number| format!("word {number} ")).collect(),
            Request::Chat | Request::Fail | Request::Crash => chat(prompt),
        };
        self.say(&text).await;
        text
    }

    async fn say(&self, text: &str) {
        self.stream("agent_message_chunk", text).await;
    }

    async fn think(&self, text: &str) {
        self.stream("agent_thought_chunk", text).await;
    }

    /// Sends a text word by word, as a model would.
    async fn stream(&self, kind: &str, text: &str) {
        for word in text.split_inclusive(' ') {
            let update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": word}});
            self.peer.update(&self.session, update).await;
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn plan(&self) -> String {
        let steps = ["Understand the task", "Do it", "Look at the result"];
        for done in 0..=steps.len() {
            let entries: Vec<Value> = steps
                .iter()
                .enumerate()
                .map(|(index, content)| {
                    let status = match index {
                        _ if index < done => "completed",
                        _ if index == done => "in_progress",
                        _ => "pending",
                    };
                    json!({"content": content, "priority": "medium", "status": status})
                })
                .collect();
            let update = json!({"sessionUpdate": "plan", "entries": entries});
            self.peer.update(&self.session, update).await;
            tokio::time::sleep(PAUSE * 10).await;
        }
        "The plan is done.".to_owned()
    }

    async fn read(&self, path: &str) -> String {
        let id = format!("read-{path}");
        self.tool(
            &id,
            json!({"sessionUpdate": "tool_call", "title": format!("Read {path}"),
            "name": "read", "kind": "read", "status": "in_progress", "rawInput": {"path": path}}),
        )
        .await;
        let read = self
            .inside(path)
            .and_then(|path| fs::read_to_string(path).map_err(|error| error.to_string()));
        let (status, text) = match &read {
            Ok(text) => ("completed", text.as_str()),
            Err(error) => ("failed", error.as_str()),
        };
        let content = json!([{"type": "content", "content": {"type": "text", "text": text}}]);
        self.tool(
            &id,
            json!({"sessionUpdate": "tool_call_update", "status": status, "content": content}),
        )
        .await;
        match read {
            Ok(text) => format!("`{path}` has {}.", counted(text.lines().count(), "line")),
            Err(error) => format!("I could not read `{path}`: {error}"),
        }
    }

    async fn write(&self, path: &str, text: &str) -> String {
        let id = format!("write-{path}");
        let old = self.inside(path).ok().and_then(|path| fs::read_to_string(path).ok());
        let diff = json!([{"type": "diff", "path": self.workspace.join(path), "oldText": old, "newText": format!("{text}\n")}]);
        self.tool(&id, json!({"sessionUpdate": "tool_call", "title": format!("Write {path}"), "name": "write",
            "kind": "edit", "status": "pending", "rawInput": {"path": path, "text": text}, "content": diff})).await;
        if self.asks && !self.may(&id, &format!("Write {path}")).await {
            self.tool(&id, json!({"sessionUpdate": "tool_call_update", "status": "failed"})).await;
            return format!("You did not allow it, so `{path}` is as it was.");
        }
        let written = self.inside(path).and_then(|path| {
            fs::write(path, format!("{text}\n")).map_err(|error| error.to_string())
        });
        let status = if written.is_ok() { "completed" } else { "failed" };
        self.tool(&id, json!({"sessionUpdate": "tool_call_update", "status": status})).await;
        match written {
            Ok(()) => format!("I wrote `{path}`."),
            Err(error) => format!("I could not write `{path}`: {error}"),
        }
    }

    /// Asks for permission.
    async fn may(&self, id: &str, title: &str) -> bool {
        let options = json!([
            {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
            {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
        ]);
        let params = json!({"sessionId": self.session, "options": options,
            "toolCall": {"toolCallId": id, "title": title}});
        let answer = self.peer.request("session/request_permission", params).await;
        let chosen =
            answer.as_ref().and_then(|answer| answer.pointer("/outcome/optionId")?.as_str());
        matches!(chosen, Some("allow" | "always"))
    }

    /// Asks the human a question through the server of tools it was given.
    async fn ask(&self) -> String {
        let Some(server) = &self.server else {
            return "I was given no MCP server, so I cannot ask you.".to_owned();
        };
        let id = "ask-human";
        self.tool(id, json!({"sessionUpdate": "tool_call", "title": "Ask the human", "name": "ask_user_questions",
            "kind": "other", "status": "in_progress", "rawInput": {}})).await;
        let answer = server.ask().await;
        let (status, text) = match &answer {
            Ok(text) => ("completed", text.as_str()),
            Err(error) => ("failed", error.as_str()),
        };
        let content = json!([{"type": "content", "content": {"type": "text", "text": text}}]);
        self.tool(
            id,
            json!({"sessionUpdate": "tool_call_update", "status": status, "content": content}),
        )
        .await;
        match answer {
            Ok(text) => format!("Thank you. This is what reached me:\n\n```\n{text}\n```\n"),
            Err(error) => format!("I could not ask you: {error}"),
        }
    }

    async fn tool(&self, id: &str, mut update: Value) {
        if let Some(fields) = update.as_object_mut() {
            fields.insert("toolCallId".to_owned(), json!(id));
        }
        self.peer.update(&self.session, update).await;
    }

    /// A path in the workspace; the sandbox catches what this check misses.
    fn inside(&self, path: &str) -> Result<PathBuf, String> {
        let relative = Path::new(path);
        let is_inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if is_inside {
            Ok(self.workspace.join(relative))
        } else {
            Err("it is outside of the workspace".to_owned())
        }
    }
}
