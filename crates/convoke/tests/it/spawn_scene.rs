//! A machine with a project and scripted agents, and a person or a pipe that talks with them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};

use convoke_testkit::agent::Script;
use convoke_testkit::host::example;
use serde_json::Value;

use crate::convoke::{Convoke, Terminal};

pub(crate) struct Scene {
    pub(crate) machine: Convoke,
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Scene {
    /// Only the demo agent.
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// The demo agent, and agents that follow these scripts.
    pub(crate) fn with(agents: &[(&str, Script)]) -> Self {
        Self::configured(agents, "")
    }

    /// The same with more in the configuration.
    pub(crate) fn configured(agents: &[(&str, Script)], more: &str) -> Self {
        let program = example("spawned_agent");
        let program = program.to_str().unwrap();
        let machine = Convoke::new();
        // On a terminal the program works in the folder around its home, which no confined agent may.
        let mut config = format!("{more}\n[agents.demo]\nsandbox = \"off\"\n");
        for (name, script) in agents {
            let path = machine.path().join(format!("{name}.json"));
            fs::write(&path, serde_json::to_vec(script).unwrap()).unwrap();
            let path = path.to_str().unwrap();
            // The agent called `claude` speaks Claude's protocol.
            let protocol = if *name == "claude" { "claude" } else { "acp" };
            config += &format!(
                "[agents.{name}]\ncommand = {program:?}\nsandbox = \"off\"\nprotocol = {protocol:?}\n\
                 args = [\"--protocol\", {protocol:?}, {path:?}]\n"
            );
        }
        let machine = machine.file("config.toml", config);
        fs::create_dir(machine.path().join("project")).unwrap();
        Self { machine }
    }

    /// The folder in which agents work that a pipe talks with.
    pub(crate) fn project(&self) -> PathBuf {
        self.machine.path().join("project")
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.machine.home().join("spawn/sessions")
    }

    pub(crate) fn path(&self, id: &str) -> PathBuf {
        self.sessions().join(format!("{id}.jsonl"))
    }

    /// Starts a command line that is talked to through pipes.
    pub(crate) fn start(&self, line: &str) -> Talk {
        let args: Vec<&str> = line.split_whitespace().collect();
        let mut child = self
            .machine
            .command(&args)
            .current_dir(self.project())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Talk { child, output, heard: String::new() }
    }

    /// Runs a command line with this input.
    pub(crate) fn pipe(&self, line: &str, input: &str) -> Told {
        let mut talk = self.start(line);
        talk.say(input);
        talk.ends()
    }

    /// Starts a command line on a terminal, in the folder around the home.
    pub(crate) fn terminal(&self, line: &str) -> Terminal {
        self.machine.on_terminal(line)
    }

    /// Every line of a transcript.
    pub(crate) fn lines(&self, id: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(id)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Who said what in a transcript.
    pub(crate) fn said(&self, id: &str) -> Vec<String> {
        let lines = self.lines(id);
        let turns = lines.iter().filter(|line| line["type"] == "turn");
        let told = |turn: &Value| {
            format!("{}: {}", turn["role"].as_str().unwrap(), turn["content"].as_str().unwrap())
        };
        turns.map(told).collect()
    }

    /// What a list says of a session, as `agent turns status`.
    pub(crate) fn listed(&self, id: &str) -> String {
        let listed = self.machine.json("spawn --list-sessions --json");
        let sessions = listed["sessions"].as_array().unwrap();
        let session = sessions.iter().find(|session| session["session_id"] == id);
        session.map_or("nothing".to_owned(), |session| {
            let word = |key: &str| session[key].as_str().unwrap().to_owned();
            format!("{} {} {}", word("agent"), session["turn_count"], word("status"))
        })
    }

    /// Puts any lines in the place of a transcript.
    pub(crate) fn leave(&self, id: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.sessions()).unwrap();
        fs::write(self.path(id), text).unwrap();
    }
}

/// A program that is being talked to through pipes.
pub(crate) struct Talk {
    child: Child,
    output: BufReader<ChildStdout>,
    heard: String,
}

impl Talk {
    pub(crate) fn say(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Waits until it has said this.
    pub(crate) fn prints(&mut self, text: &str) {
        while !self.heard.contains(text) {
            let bytes = self.output.fill_buf().unwrap();
            assert!(!bytes.is_empty(), "it ended without saying {text}: {}", self.heard);
            self.heard += std::str::from_utf8(bytes).unwrap();
            let count = bytes.len();
            self.output.consume(count);
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let mut kill = std::process::Command::new("kill");
        let sent = kill.args([format!("-{name}"), self.pid().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Closes its input and waits for its end.
    pub(crate) fn ends(mut self) -> Told {
        drop(self.child.stdin.take());
        self.output.read_to_string(&mut self.heard).unwrap();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Told { stdout: self.heard, stderr, code }
    }
}

/// A transcript of two turns, with this time.
pub(crate) fn transcript(id: &str, agent: &str, moment: &str) -> String {
    format!(
        r#"{{"type":"metadata","session_id":"{id}","agent":"{agent}","created_at":"{moment}","status":"active"}}
{{"type":"turn","role":"user","content":"My name is Ann.","timestamp":"{moment}","tokens":4}}
{{"type":"turn","role":"assistant","content":"Hello Ann.","timestamp":"{moment}","tokens":3}}
"#
    )
}
