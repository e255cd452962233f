//! A finding of a check: location, message and hint.

use std::fmt;

/// One breach of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the root.
    pub path: String,
    /// The line, counted from 1; 1 where the whole file is meant.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// The fix.
    pub way_out: String,
}

impl Finding {
    /// A finding at one line of a file.
    pub fn new(
        path: &str,
        line: usize,
        what: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), way_out: way_out.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} — {}", self.path, self.line, self.what, self.way_out)
    }
}
