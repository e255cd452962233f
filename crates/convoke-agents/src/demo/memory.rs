//! The demo agent's session files, from which it resumes sessions.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use serde_json::{Value, json};

/// Sessions in a folder, a file of JSON lines each.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    folder: PathBuf,
}

impl Memory {
    pub(super) const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Appends a turn. If the file cannot be written, the demo agent still answers, but does not
    /// remember.
    pub(super) fn keep(&self, session: &str, prompt: &str, said: &str) {
        if let Err(error) = self.append(session, prompt, said) {
            tracing::warn!("the demo agent will not remember this turn: {error}");
        }
    }

    fn append(&self, session: &str, prompt: &str, said: &str) -> std::io::Result<()> {
        let Some(path) = self.path(session) else { return Ok(()) };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        writeln!(file, "{}", json!({"prompt": prompt, "said": said}))
    }

    /// Every turn as the updates that replay it; `None` for an unknown session.
    pub(super) fn turns(&self, session: &str) -> Option<Vec<(&'static str, String)>> {
        let text = fs::read_to_string(self.path(session)?).ok()?;
        let turns = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let word = |turn: &Value, key| turn.get(key).and_then(Value::as_str).map(str::to_owned);
        let updates = turns.flat_map(|turn| {
            [
                word(&turn, "prompt").map(|text| ("user_message_chunk", text)),
                word(&turn, "said").map(|text| ("agent_message_chunk", text)),
            ]
        });
        Some(updates.flatten().collect())
    }

    /// The file of a session whose id is safe to be a file's name.
    fn path(&self, session: &str) -> Option<PathBuf> {
        let safe = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let is_name = !session.is_empty() && session.chars().all(safe);
        is_name.then(|| self.folder.join(format!("{session}.jsonl")))
    }
}
