//! A conversation over pipes in memory, with the agent's lines as data and all that comes of them as text.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use convoke_core::id::RequestId;
use convoke_core::message::Seq;
use convoke_core::session::{Reply, Report, ToolUpdate};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncWriteExt, DuplexStream, WriteHalf, duplex};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::record::Recorded;
use crate::acp::event_loop::{End, EventLoop};
use crate::acp::{connect, handshake};
use crate::catalogue::Protocol;
use crate::driver::{
    Confinement, DriverRequest, Launch, Order, OwnSandbox, REPORTS_MAX, Start, Started,
};
use crate::error::Result;
use crate::lines::{Line, Reader, Writer};
use crate::process::Pipes;

thread_local! {
    static COUNT: Cell<u8> = const { Cell::new(0) };
}

/// Bytes that are different each time and the same in every run: each test has its own thread.
pub(in crate::acp) fn count() -> [u8; 16] {
    [COUNT.replace(COUNT.get().wrapping_add(1)); 16]
}

/// The id of the request that a test's first, second, … permission gets.
pub(in crate::acp) fn request(number: u8) -> RequestId {
    RequestId::from_random([number; 16])
}

/// One who plays the agent, with the driver on the other side.
pub(in crate::acp) struct Scene {
    pub(in crate::acp) event_loop: EventLoop,
    pub(in crate::acp) workspace: TempDir,
    pub(in crate::acp) to_driver: WriteHalf<DuplexStream>,
    pub(in crate::acp) from_driver: Reader,
    pub(in crate::acp) reports: mpsc::Receiver<Report>,
    to_talk: mpsc::Sender<DriverRequest>,
    requests: mpsc::Receiver<DriverRequest>,
    transcript: Vec<String>,
    turn: u64,
    pub(in crate::acp) end: Option<End>,
}

impl Scene {
    /// A conversation before its first word.
    pub(in crate::acp) fn new(start: Start) -> (Self, Launch) {
        Self::with_pipe(start, 64 << 20)
    }

    /// A conversation over a pipe that holds so many bytes.
    pub(in crate::acp) fn with_pipe(start: Start, bytes: usize) -> (Self, Launch) {
        let workspace = tempfile::tempdir().unwrap();
        let launch = launch(workspace.path().canonicalize().unwrap(), start);
        let (ours, theirs): (DuplexStream, DuplexStream) = duplex(bytes);
        let name = workspace.path().file_name().unwrap().to_string_lossy();
        let (lines, input) = tokio::io::split(Recorded::new(ours, name.trim_start_matches('.')));
        let pipes = Pipes { lines: Reader::new(lines), input: Writer::new(input) };
        let (from_driver, to_driver) = tokio::io::split(theirs);
        let (to_session, reports) = mpsc::channel(REPORTS_MAX);
        let (to_talk, requests) = mpsc::channel(8);
        let scene = Self {
            event_loop: connect(pipes, &launch, count, to_session).unwrap(),
            workspace,
            to_driver,
            from_driver: Reader::new(from_driver),
            reports,
            to_talk,
            requests,
            transcript: Vec::new(),
            turn: 0,
            end: None,
        };
        (scene, launch)
    }

    /// A conversation with an agent that is ready, and of which nothing special is known.
    pub(in crate::acp) async fn ready() -> Self {
        let session = [json!({"id": "$", "result": {"sessionId": "s"}})];
        let (mut scene, launch) = Self::new(Start::New { id: "unused".to_owned() });
        scene.handshake(&launch, [&[hello(&json!({}))][..], &session]).await.unwrap();
        scene.transcript.clear();
        scene
    }

    /// Shakes hands; `answers` are the lines that follow upon each request of ours, where `$` stands for its id.
    pub(in crate::acp) async fn handshake<'a>(
        &mut self,
        launch: &Launch,
        answers: impl IntoIterator<Item = &'a [Value]>,
    ) -> Result<Started> {
        let mut answers = answers.into_iter();
        let (from_driver, to_driver) = (&mut self.from_driver, &mut self.to_driver);
        let transcript = &mut self.transcript;
        let agent = async {
            while let Ok(Some(Line::Json(line))) = from_driver.next().await {
                transcript.push(sent(&line));
                let lines = if line.get("method").is_some() { answers.next() } else { None };
                for answer in lines.unwrap_or_default() {
                    let answer = format!("{}\n", with_id(answer, &line["id"]));
                    to_driver.write_all(answer.as_bytes()).await.unwrap();
                }
            }
            std::future::pending::<()>().await;
        };
        let started = tokio::select! {
            started = handshake::perform(&mut self.event_loop, launch) => started,
            () = agent => unreachable!(),
        };
        self.settle().await;
        started
    }

    /// The agent sends a line.
    pub(in crate::acp) async fn line(&mut self, line: Value) {
        self.raw(format!("{line}\n").as_bytes()).await;
    }

    /// The agent sends updates of the session.
    pub(in crate::acp) async fn update(&mut self, updates: impl IntoIterator<Item = Value>) {
        for update in updates {
            let params = json!({"sessionId": "s", "update": update});
            self.line(json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
                .await;
        }
    }

    /// The agent prints something.
    pub(in crate::acp) async fn raw(&mut self, bytes: &[u8]) {
        self.to_driver.write_all(bytes).await.unwrap();
        self.settle().await;
    }

    /// Convoke orders something.
    pub(in crate::acp) async fn order(&mut self, order: Order) {
        self.to_talk.send(DriverRequest::Order(order)).await.unwrap();
        self.settle().await;
    }

    /// A prompt, whose request has the id 3 in the first turn.
    pub(in crate::acp) async fn prompt(&mut self, text: &str) {
        self.turn += 1;
        let (turn, text) = (Seq::new(self.turn), text.to_owned());
        self.order(Order::Prompt { turn, text, attachments: Vec::new() }).await;
    }

    /// What became of the permission with this number.
    pub(in crate::acp) async fn reply(&mut self, number: u8, reply: Reply) {
        self.order(Order::Reply { request: request(number), reply }).await;
    }

    /// The agent ends the turn whose prompt has this id.
    pub(in crate::acp) async fn end_turn(&mut self, id: u64) {
        self.line(json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}})).await;
    }

    /// Time passes.
    pub(in crate::acp) async fn wait(&mut self, seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        self.settle().await;
    }

    /// Runs until everything is idle, and records the output.
    pub(in crate::acp) async fn settle(&mut self) {
        // The clock is paused: it only advances when all tasks are idle.
        let pause = Duration::from_millis(1);
        while self.end.is_none() {
            match timeout(pause, self.event_loop.step(Some(&mut self.requests))).await {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(end)) => self.end = Some(end),
                Err(_) => break,
            }
        }
        self.collect().await;
    }

    async fn collect(&mut self) {
        while let Ok(Ok(Some(Line::Json(line)))) =
            timeout(Duration::from_millis(1), self.from_driver.next()).await
        {
            self.transcript.push(sent(&line));
        }
        while let Ok(report) = self.reports.try_recv() {
            self.transcript.push(reported(&report));
        }
    }

    /// The lines sent to the agent (`>`) and the reports to the session (`!`) since the last call.
    pub(in crate::acp) fn transcript(&mut self) -> String {
        let folder = self.workspace.path().canonicalize().unwrap();
        let text = std::mem::take(&mut self.transcript).join("\n");
        text.replace(&*folder.to_string_lossy(), "/workspace")
    }
}

/// How an agent is started in a workspace.
pub(in crate::acp) fn launch(workspace: PathBuf, start: Start) -> Launch {
    Launch {
        protocol: Protocol::Acp,
        program: PathBuf::from("/opt/agent"),
        args: Vec::new(),
        environment: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
        workspace,
        confinement: Confinement::Off,
        missing: Vec::new(),
        own_sandbox: OwnSandbox::None,
        mentions: crate::catalogue::Mentions::Link,
        tools: crate::catalogue::Tools::Stdio,
        temp: None,
        mcp_servers: Vec::new(),
        start,
        start_timeout: Duration::from_secs(30),
        leftovers: None,
        lease: None,
        gate: None,
    }
}

/// The answer to `initialize` of an agent that can do this.
pub(in crate::acp) fn hello(capabilities: &Value) -> Value {
    json!({"id": "$", "result": {"protocolVersion": 1, "agentCapabilities": capabilities}})
}

fn with_id(line: &Value, id: &Value) -> Value {
    let mut line = line.clone();
    if line["id"] == "$" {
        line["id"] = id.clone();
    }
    line
}

fn sent(line: &Value) -> String {
    let mut line = line.clone();
    if line["method"] == "initialize" {
        return "> initialize".to_owned();
    }
    if let Some(fields) = line.as_object_mut() {
        assert_eq!(fields.remove("jsonrpc"), Some(json!("2.0")));
    }
    format!("> {line}")
}

/// A report on one line.
pub(in crate::acp) fn reported(report: &Report) -> String {
    let json = |value: &dyn erased::Json| value.json();
    match report {
        Report::Resumed(how) => format!("! resumed {how:?}"),
        Report::Renewed { agent_session } => format!("! renewed {agent_session}"),
        Report::Said(text) => format!("! said {text:?}"),
        Report::Thought(text) => format!("! thought {text:?}"),
        Report::Planned(steps) => format!("! planned {}", json(steps)),
        Report::ToolCalled(update) => tool(update),
        Report::State(state) => format!("! state {}", json(state)),
        Report::Noticed(notice) => format!("! noticed {}", json(notice)),
        Report::Asked(request) => format!("! asked {}", json(request)),
        Report::Withdrew(request) => format!("! withdrew {request}"),
        Report::TurnEnded { turn, stop } => format!("! turn {turn} ended {}", json(stop)),
        Report::Exited(exit) => format!("! exited {}", json(exit)),
        Report::Stopped => "! stopped".to_owned(),
        Report::Failed { error } => format!("! failed {error}"),
    }
}

fn tool(update: &ToolUpdate) -> String {
    let json = |value: &dyn erased::Json| value.json();
    let parts = [
        Some(format!("! tool {}", update.tool_call_id)),
        update.tool.as_ref().map(|tool| format!("name {tool:?}")),
        update.title.as_ref().map(|title| format!("title {title:?}")),
        update.kind.as_ref().map(|kind| format!("kind {kind:?}")),
        update.args.as_ref().map(|args| format!("args {args}")),
        update.status.map(|status| format!("status {status:?}")),
        update.result.as_ref().map(|result| format!("result {}", json(result))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

mod erased {
    //! Anything that can be JSON.

    pub(super) trait Json {
        fn json(&self) -> String;
    }

    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> String {
            serde_json::to_string(self).unwrap()
        }
    }
}
