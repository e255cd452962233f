//! The description of an agent's store: its location, the files that may be opened, and their
//! parsers.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::agent::Agent;
use crate::assembly::Assembly;
use crate::database::{Database, Rows};
use crate::environment::Environment;
use crate::store::{SiblingFiles, SideMetadata};
use crate::{claude, cline, codex, copilot, droid, gemini, goose, kimi, opencode, qwen, vibe};

/// One agent's store.
#[derive(Debug)]
pub(crate) struct Importer {
    /// The folders that may hold it.
    pub roots: fn(&Environment) -> Vec<PathBuf>,
    /// The files that are conversations, or databases of them.
    pub transcripts: &'static [&'static str],
    /// The files with metadata of conversations that may be opened. No other file is opened.
    pub beside: &'static [&'static str],
    /// The lock files of the agent, whose existence is checked and which are never opened; `{id}`
    /// is the session's.
    pub locks: &'static [&'static str],
    /// The names of the agent's processes.
    pub programs: &'static [&'static str],
    /// How its files are read.
    pub form: Form,
    /// Reads metadata of all conversations from a database beside the files.
    pub known: Option<LoadKnown>,
}

/// A table with metadata of conversations, and how it is read.
#[derive(Debug)]
pub(crate) struct LoadKnown {
    pub table: &'static str,
    pub load: fn(&Database) -> rusqlite::Result<HashMap<String, SideMetadata>>,
}

/// How a store's files are read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// One JSON value a line.
    Lines {
        /// Sets what is known before the first line: the id, and metadata from other files.
        begin: Begin,
        /// Reads one line.
        line: Parse,
        /// How lines belong together.
        order: Order,
    },
    /// One JSON document with a list of messages.
    Document {
        /// As above.
        begin: Begin,
        /// Parses one message, or a field of the document before them, as an object with that
        /// field.
        element: Parse,
    },
    /// Generations in chunks and a journal, as Vibe 3 has them.
    Journal,
    /// A database with many conversations.
    Database(&'static Rows),
}

/// How the lines of a file belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// All of them, in the order of the file.
    File,
    /// Those on the chain from the last one to the first; others were rewound.
    Chain,
}

/// Sets what is known of the file at this path before it is read.
pub(crate) type Begin = fn(&mut Assembly, &str, &mut SiblingFiles<'_>);
/// Parses a line or an element; an error makes it a broken one.
pub(crate) type Parse = fn(&mut Assembly, &[u8]) -> serde_json::Result<()>;

/// The store of an agent.
pub(crate) const fn of(agent: Agent) -> &'static Importer {
    match agent {
        Agent::Claude => &claude::IMPORTER,
        Agent::Codex => &codex::IMPORTER,
        Agent::Gemini => &gemini::IMPORTER,
        Agent::Opencode => &opencode::IMPORTER,
        Agent::Goose => &goose::IMPORTER,
        Agent::Qwen => &qwen::IMPORTER,
        Agent::Copilot => &copilot::IMPORTER,
        Agent::Cline => &cline::IMPORTER,
        Agent::Kimi => &kimi::IMPORTER,
        Agent::Vibe => &vibe::IMPORTER,
        Agent::Droid => &droid::IMPORTER,
    }
}

impl Importer {
    /// The format of a file; some agents have older documents, or a newer journal.
    pub(crate) fn form_of(&self, path: &str) -> Form {
        match self.form {
            Form::Lines { .. } if path.ends_with(vibe::unified::POINTER) => Form::Journal,
            Form::Lines { begin, line, .. } if path.ends_with(".json") => {
                Form::Document { begin, element: line }
            }
            form @ (Form::Lines { .. }
            | Form::Document { .. }
            | Form::Journal
            | Form::Database(_)) => form,
        }
    }
}

/// The name of a file without its folders.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name of the folder this many steps above a file.
pub(crate) fn folder_name(path: &str, steps: usize) -> &str {
    path.rsplit('/').nth(steps).unwrap_or_default()
}
