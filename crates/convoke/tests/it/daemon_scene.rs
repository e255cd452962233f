//! A machine with a daemon of its own, which is stopped when the test ends.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use crate::convoke::Convoke;

/// A machine whose commands may start a daemon.
pub(crate) struct Scene {
    pub(crate) machine: Convoke,
}

impl Scene {
    /// A fresh machine with a folder `web`; its daemon listens wherever there is room.
    pub(crate) fn new() -> Self {
        Self::on(Convoke::new())
    }

    /// The same on a machine that is prepared.
    pub(crate) fn on(machine: Convoke) -> Self {
        let machine = machine.file("config.toml", "[server]\nlisten = \"127.0.0.1:0\"\n");
        fs::create_dir(machine.path().join("web")).unwrap();
        Self { machine }
    }

    /// The folder in which agents work.
    pub(crate) fn web(&self) -> PathBuf {
        self.machine.path().join("web")
    }

    /// Runs a command line, split at blanks, and tells what happened, without ids.
    pub(crate) fn run(&self, line: &str) -> String {
        mask(&self.machine.run(line))
    }

    /// Runs the program with these arguments, and tells what happened, without ids.
    pub(crate) fn run_args(&self, args: &[&str]) -> String {
        mask(&self.machine.run_args(args))
    }

    /// Begins a session with the demo agent in the folder.
    pub(crate) fn session(&self) -> String {
        let session = self.machine.json("session new --project web --agent demo --json");
        session["id"].as_str().unwrap().to_owned()
    }

    /// Says something and waits for the end of the turn.
    pub(crate) fn say(&self, session: &str, text: &str) -> String {
        self.run_args(&["session", "send", session, text, "--wait"])
    }

    /// Starts a command whose lines are read as they come.
    pub(crate) fn start(&self, args: &[&str]) -> Started {
        let mut command = self.machine.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Started { child, lines }
    }

    /// How many messages a session has.
    pub(crate) fn count(&self, session: &str) -> String {
        self.machine.json(&format!("session show {session} --json"))["messageCount"].to_string()
    }

    /// Waits until an agent that has said so much asks its human something, and gives that.
    pub(crate) fn asked(&self, session: &str, after: &str) -> Value {
        let mut watch = self.start(&["session", "watch", session, "--after", after, "--json"]);
        watch.until(|line| line.contains(r#""status":"pending""#));
        self.machine.json("inbox list --json")["items"][0].clone()
    }

    /// The process of the daemon.
    pub(crate) fn pid(&self) -> u64 {
        self.machine.json("status --json")["pid"].as_u64().unwrap()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Also if a test fails: no daemon may be left running.
        self.machine.command(&["stop"]).output().ok();
    }
}

/// A command that is running.
pub(crate) struct Started {
    pub(crate) child: Child,
    lines: BufReader<ChildStdout>,
}

impl Started {
    /// Waits for a line, and gives it.
    pub(crate) fn until(&mut self, is_it: impl Fn(&str) -> bool) -> String {
        let mut read = String::new();
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended after:\n{read}");
            if is_it(&line) {
                return line;
            }
            read.push_str(&line);
        }
    }

    /// Tells it to end, and gives its exit code.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Puts `[id]` where an id stands, and `[the-id]` where its beginning does.
pub(crate) fn mask(text: &str) -> String {
    let is_id = |word: &str| {
        let parts: Vec<usize> = word.split('-').map(str::len).collect();
        parts == [8, 4, 4, 4, 12] && word.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
    };
    let is_short = |word: &str| word.len() == 8 && word.chars().all(|c| c.is_ascii_hexdigit());
    let mut masked = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || c == '-' {
            word.push(c);
            continue;
        }
        match &*word {
            id if is_id(id) => masked.push_str("[id]"),
            id if is_short(id) => masked.push_str("[the-id]"),
            other => masked.push_str(other),
        }
        word.clear();
        masked.push(c);
    }
    masked.pop();
    masked
}
