//! Comments on lines of changed files, which a prompt carries.

use convoke_core::review::{DiffSide, ReviewComment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NOT_BLANK;

/// A comment on lines of a changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenComment {
    /// The file, relative to the project.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub path: String,
    /// The version that the lines are of.
    pub side: DiffSide,
    /// The first line, from 1.
    #[schemars(extend("minimum" = 1))]
    pub start_line: u32,
    /// The last line.
    #[schemars(extend("minimum" = 1))]
    pub end_line: u32,
    /// The lines.
    pub quote: String,
    /// What is said about them.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub comment: String,
}

impl From<ReviewComment> for GivenComment {
    fn from(comment: ReviewComment) -> Self {
        let ReviewComment { path, side, start_line, end_line, quote, comment } = comment;
        Self { path, side, start_line, end_line, quote, comment }
    }
}

impl From<GivenComment> for ReviewComment {
    fn from(given: GivenComment) -> Self {
        let GivenComment { path, side, start_line, end_line, quote, comment } = given;
        Self { path, side, start_line, end_line, quote, comment }
    }
}
