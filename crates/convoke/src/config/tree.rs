//! A parsed configuration file: values with their positions, before they are interpreted.

use std::fmt;

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// None: the built-in default.
    Default,
    /// The file, at this position; both count from 1, columns in characters.
    File { line: usize, column: usize },
    /// An environment variable.
    Variable(&'static str),
    /// A flag, such as `--listen`.
    Flag(&'static str),
    /// The teams' own file.
    Teams,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { line, .. } => write!(f, "config.toml:{line}"),
            Self::Variable(name) => write!(f, "env {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Teams => f.write_str("teams.json"),
        }
    }
}

/// A value and its position.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) origin: Origin,
    pub(super) value: Value,
}

/// A value of any type.
#[derive(Debug)]
pub(super) enum Value {
    Whole(i64),
    Fraction(f64),
    Switch(bool),
    Text(Text),
    Moment,
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// A text that could not be expanded; the mistake is already reported.
    Broken,
}

/// A text after expansion.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) made: Made,
}

/// The source of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    /// It is written literally.
    Literally,
    /// It contains an environment variable, which may be a secret.
    FromVariables,
}

/// A key with its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    /// The position of the key, which is not that of its value.
    pub(super) origin: Origin,
    pub(super) node: Node,
}

impl Value {
    /// A text that was typed rather than read from the file.
    pub(super) fn literal(text: &str) -> Self {
        Self::Text(Text { text: text.to_owned(), made: Made::Literally })
    }

    /// The type as text, as in "found a string".
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Whole(_) => "a whole number",
            Self::Fraction(_) => "a fractional number",
            Self::Switch(_) => "true or false",
            Self::Text(_) | Self::Broken => "a string",
            Self::Moment => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}
