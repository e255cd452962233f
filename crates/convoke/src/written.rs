//! The turns of a conversation as JSON lines, as a JSON list, or as Markdown.

use std::path::Path;

use convoke_core::content::Content;
use convoke_core::prompt::Attachment;
use convoke_files::transcripts::{Record, Role, Turn};

use crate::commands::backup::size;
use crate::output::plain;

/// A format of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// A transcript, one JSON object per line
    Jsonl,
    /// Markdown, for reading
    Markdown,
    /// A JSON array of turns
    Json,
}

impl Form {
    /// The format of a file's extension.
    pub(crate) fn of(path: &Path) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => Self::Jsonl,
            Some("json") => Self::Json,
            Some(_) | None => Self::Markdown,
        }
    }

    /// The text of one more turn, after `before` others.
    pub(crate) fn turn(self, turn: Turn, before: u64) -> serde_json::Result<String> {
        Ok(match self {
            Self::Jsonl => serde_json::to_string(&Record::Turn(turn))? + "\n",
            Self::Json => {
                let comma = if before == 0 { "[" } else { "," };
                format!("{comma}\n{}", serde_json::to_string(&turn)?)
            }
            Self::Markdown => {
                let who = match turn.role {
                    Role::User => "User",
                    Role::Assistant => "Assistant",
                };
                // Markdown is read in terminals, too; the JSON formats keep every character.
                let (at, said) = (turn.timestamp, plain(turn.content.trim_end()));
                format!("\n## {who}, {at}\n\n{said}\n")
            }
        })
    }

    /// The text after all turns.
    pub(crate) const fn end(self, count: u64) -> &'static str {
        match self {
            Self::Json if count == 0 => "[\n]\n",
            Self::Json => "\n]\n",
            Self::Jsonl | Self::Markdown => "",
        }
    }
}

/// The attachments of a prompt, a line for each: its name and its size.
pub(crate) fn attached(attachments: &[Attachment]) -> Vec<String> {
    let line = |it: &Attachment| {
        format!("Attached: {} ({})", plain(&it.name).replace(['\n', '\t'], " "), size(it.size))
    };
    attachments.iter().map(line).collect()
}

/// The same for a message, as a list below its text; empty for one without attachments.
pub(crate) fn attached_list(content: &Content) -> String {
    let Content::Text { attachments, .. } = content else { return String::new() };
    let lines = attached(attachments).into_iter().map(|line| format!("\n- {line}"));
    let list = lines.collect::<String>();
    if list.is_empty() { list } else { format!("\n{list}") }
}
