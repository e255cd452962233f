//! Conversations that were held with an agent's own program in a terminal, and go on in Convoke.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::cells::{Cell, Scene};

/// How long the program may take for one prompt, and the daemon for an import.
const TIMEOUT: Duration = Duration::from_secs(120);

impl Scene<'_> {
    /// The conversation has ended.
    pub(crate) fn import(&self) -> Cell {
        let Some(session) = self.imported()? else {
            return Ok("not tested".to_owned());
        };
        self.remembers(&session)
    }

    /// The agent's program is at work in the same folder, so that the conversation may be open there.
    pub(crate) fn fork(&self) -> Cell {
        let Some(session) = self.imported()? else {
            return Ok("not tested".to_owned());
        };
        let words = self.agent.words(&self.installed, "[[slow]]").unwrap_or_default();
        let mut working = self.spawn(&words)?;
        let how = self.remembers(&session);
        working.kill().and_then(|()| working.wait()).map_err(|error| error.to_string())?;
        match how?.as_str() {
            "by forked" => Ok("yes".to_owned()),
            // An agent that is always given the transcript continues a copy in any case.
            "by forked_replay" | "by transcript" => Ok("by transcript".to_owned()),
            how => Err(format!("it was resumed ({how}), although it may be open elsewhere")),
        }
    }

    /// Holds a conversation in a terminal, and imports it; `None` if the agent cannot be run that way here.
    fn imported(&self) -> Result<Option<String>, String> {
        let Some(words) = self.agent.words(&self.installed, "remember the harbour") else {
            return Ok(None);
        };
        self.hold(&words)?;
        self.daemon.post("/api/histories/import", &json!({}));
        let begun = Instant::now();
        loop {
            let run = self.daemon.get("/api/histories/import").json();
            let listed = self.daemon.get("/api/sessions").json();
            let mut listed = listed["sessions"].as_array().cloned().unwrap_or_default().into_iter();
            let session = listed.find(|it| it["metadata"]["reason"] == "imported");
            if run["running"] == false
                && let Some(session) = session
            {
                return Ok(Some(session["id"].as_str().unwrap_or_default().to_owned()));
            }
            if begun.elapsed() > TIMEOUT {
                return Err(format!("nothing was imported: {run}"));
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }

    /// Starts the agent's program for one prompt, as a user would in a terminal.
    fn spawn(&self, words: &[PathBuf]) -> Result<Child, String> {
        let [program, args @ ..] = words else { return Err("no program".to_owned()) };
        let home = self.daemon.machine.path();
        let said = File::create(home.join("said.txt")).map_err(|error| error.to_string())?;
        let spawned = Command::new(program)
            .args(args)
            .env_clear()
            .envs(self.agent.configure(home, &self.model.url()))
            .env("HOME", home)
            .env("PATH", &self.path)
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("DO_NOT_TRACK", "1")
            // Otherwise Cline leaves a process behind, for all programs of the user.
            .env("CLINE_SESSION_BACKEND_MODE", "local")
            .current_dir(self.workspace())
            .stdin(Stdio::null())
            .stdout(said.try_clone().map_err(|error| error.to_string())?)
            .stderr(said)
            .spawn();
        spawned.map_err(|error| error.to_string())
    }

    /// Runs it to its end.
    fn hold(&self, words: &[PathBuf]) -> Result<(), String> {
        let home = self.daemon.machine.path();
        let mut child = self.spawn(words)?;
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if begun.elapsed() > TIMEOUT => {
                    child.kill().ok();
                    child.wait().ok();
                    return Err(format!("its program did not end: {}", said_in(home)));
                }
                None => std::thread::park_timeout(Duration::from_millis(50)),
            }
        };
        let said = said_in(home);
        if status.success() && said.contains("harbour") {
            return Ok(());
        }
        let start: String = said.chars().take(300).collect();
        Err(format!("its program ended with {status}: {start}"))
    }
}

fn said_in(home: &Path) -> String {
    fs::read_to_string(home.join("said.txt")).unwrap_or_default()
}
