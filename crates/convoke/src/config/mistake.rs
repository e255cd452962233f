//! Errors in a configuration, with positions and hints.

use std::fmt;
use std::path::PathBuf;

use super::tree::{Node, Origin, Value};

/// Everything that is wrong with a configuration; at least one thing.
#[derive(Debug)]
pub(crate) struct Mistakes {
    /// The file that some or all of them are in.
    pub(crate) file: PathBuf,
    /// In the order of the file, then variables, then flags.
    pub(crate) list: Vec<Mistake>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// Where.
    pub(crate) origin: Option<Origin>,
    /// The message.
    pub(crate) text: String,
    /// The hint.
    pub(crate) hint: String,
}

impl Mistakes {
    /// An error with its position, in the format that editors and terminals can jump to.
    pub(crate) fn describe(&self, mistake: &Mistake) -> String {
        let place = match mistake.origin {
            Some(Origin::File { line, column }) => {
                format!("{}:{line}:{column}", self.file.display())
            }
            Some(Origin::Default) => "default".to_owned(),
            Some(Origin::Variable(name)) => format!("env {name}"),
            Some(Origin::Flag(name)) => format!("flag {name}"),
            Some(Origin::Teams) => "teams.json".to_owned(),
            None => self.file.display().to_string(),
        };
        format!("{place}: {}", mistake.text)
    }
}

impl Mistake {
    /// The sort key of errors: the file as such, then its lines, then everything else.
    pub(super) fn place(&self) -> (usize, usize) {
        match self.origin {
            None => (0, 0),
            Some(Origin::File { line, column }) => (line, column),
            Some(Origin::Default | Origin::Variable(_) | Origin::Flag(_) | Origin::Teams) => {
                (usize::MAX, 0)
            }
        }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.list.len() {
            1 => f.write_str("the configuration has an error"),
            count => write!(f, "the configuration has {count} errors"),
        }
    }
}

impl std::error::Error for Mistakes {}

/// An error in a value whose position and key the caller knows.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) text: String,
    /// A hint, if there is more to say than the purpose of the key.
    pub(super) hint: Option<String>,
    /// Where, when it is a part of the value only.
    part: Option<Origin>,
}

impl Problem {
    /// An error without a hint.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), hint: None, part: None }
    }

    /// Adds a hint.
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// A value of the wrong type. In the file the message names the type; elsewhere every value is text, so it quotes
    /// the text.
    pub(super) fn wrong_type(expected: &str, found: &Node) -> Self {
        let origin = found.origin;
        let told = match (&found.value, origin) {
            (Value::Text(text), _) if text.text.is_empty() => "an empty string".to_owned(),
            (Value::Text(text), Origin::Variable(_) | Origin::Flag(_)) => {
                format!("`{}`", text.text)
            }
            (value, _) => value.type_name().to_owned(),
        };
        Self { part: Some(origin), ..Self::new(format!("expected {expected}, found {told}")) }
    }

    /// The error at its position; `hint` is used if the error has none.
    pub(super) fn at(self, origin: Origin, key: &str, hint: impl FnOnce() -> String) -> Mistake {
        Mistake {
            origin: Some(self.part.unwrap_or(origin)),
            text: format!("`{key}`: {}", self.text),
            hint: self.hint.unwrap_or_else(hint),
        }
    }
}
