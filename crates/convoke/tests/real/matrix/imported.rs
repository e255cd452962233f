//! Conversations that were held with an agent's own program in a terminal, and go on in Convoke.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use super::cells::{Cell, Scene};

/// How long the program may take for one prompt, and the daemon for an import.
const PATIENCE: Duration = Duration::from_secs(120);
/// Older than what counts as open elsewhere.
const AGE: Duration = Duration::from_secs(24 * 60 * 60);

impl Scene<'_> {
    /// The conversation ended a day ago.
    pub(crate) fn import(&self) -> Cell {
        let Some(session) = self.imported(Some(SystemTime::now() - AGE))? else {
            return Ok("no program of its own".to_owned());
        };
        self.remembers(&session)
    }

    /// The conversation may still be open in a terminal.
    pub(crate) fn fork(&self) -> Cell {
        let Some(session) = self.imported(None)? else {
            return Ok("no program of its own".to_owned());
        };
        match self.remembers(&session)?.as_str() {
            "by forked" => Ok("yes".to_owned()),
            "by forked_replay" => Ok("by transcript".to_owned()),
            how => Err(format!("it was resumed {how}, although it may be open elsewhere")),
        }
    }

    /// Holds a conversation in a terminal, and imports it; none if the agent has no program for that.
    fn imported(&self, ended: Option<SystemTime>) -> Result<Option<String>, String> {
        let home = self.daemon.machine.path();
        let Some(words) = self.agent.words(&self.installed, "remember the harbour") else {
            return Ok(None);
        };
        self.hold(&words)?;
        if let Some(ended) = ended {
            entries(home).iter().try_for_each(|path| date(path, ended))?;
        }
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
            if begun.elapsed() > PATIENCE {
                return Err(format!("nothing was imported: {run}"));
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }

    /// Runs the agent's program for one prompt, as a user would in a terminal.
    fn hold(&self, words: &[std::path::PathBuf]) -> Result<(), String> {
        let [program, args @ ..] = words else { return Err("no program".to_owned()) };
        let home = self.daemon.machine.path();
        let said = File::create(home.join("said.txt")).map_err(|error| error.to_string())?;
        let mut child = Command::new(program)
            .args(args)
            .env_clear()
            .envs(self.agent.configure(home, &self.model.url()))
            .env("HOME", home)
            .env("PATH", &self.path)
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("DO_NOT_TRACK", "1")
            .current_dir(self.workspace())
            .stdin(Stdio::null())
            .stdout(said.try_clone().map_err(|error| error.to_string())?)
            .stderr(said)
            .spawn()
            .map_err(|error| error.to_string())?;
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if begun.elapsed() > PATIENCE => {
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
        Err(format!("its program ended with {status}: {said}"))
    }
}

fn said_in(home: &Path) -> String {
    let said = fs::read_to_string(home.join("said.txt")).unwrap_or_default();
    said.chars().take(300).collect()
}

/// Makes a file look as if it was written then.
fn date(path: &Path, then: SystemTime) -> Result<(), String> {
    let opened = File::options().write(true).open(path);
    let dated = opened.and_then(|file| file.set_modified(then));
    dated.map_err(|error| format!("{}: {error}", path.display()))
}

/// All files below a folder, without those of Convoke.
fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() == "convoke" => {}
            Ok(kind) if kind.is_dir() => found.extend(entries(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            Ok(_) | Err(_) => {}
        }
    }
    found
}
