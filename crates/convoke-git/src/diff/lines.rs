//! The lines of one file that differ between two trees.

use std::ops::ControlFlow;

use super::list::PLAIN;
use super::parse::PatchParser;
use super::{Change, FileDiff, Origin, Status};
use crate::checkpoint::Checkpoints;
use crate::{Limits, ObjectId, Result};

/// Lines around each place that differs.
const CONTEXT: &str = "-U3";

impl Checkpoints {
    /// Computes the diff of one file of a list, up to about `bytes_max` of it.
    pub fn file_diff<'a>(
        &self,
        from: impl Into<Origin<'a>>,
        to: &ObjectId,
        change: &Change,
        bytes_max: usize,
        limits: &Limits,
    ) -> Result<FileDiff> {
        let from = from.into();
        let tree = self.tree_of(from, limits)?;
        let command = self.diff_tree(from).args(["-r", "-p", "-M", CONTEXT, "--full-index"]);
        let mut command = command.args(PLAIN).args([&tree, to.as_str(), "--"]);
        match &change.status {
            Status::Renamed { from } | Status::Copied { from } => command = command.arg(from),
            Status::Added | Status::Deleted | Status::Modified | Status::TypeChanged => {}
        }
        let mut parser = PatchParser::default();
        let mut taken = 0;
        let is_complete = command.arg(&change.path).stream(limits, &mut |bytes| {
            parser.push(bytes);
            taken += bytes.len();
            if taken > bytes_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(parser.finish(is_complete))
    }
}
