//! The lines of one file that differ between two trees.

use std::ops::ControlFlow;

use super::list::PLAIN;
use super::parse::PatchParser;
use super::{Change, FileDiff, Status};
use crate::checkpoint::Checkpoints;
use crate::{Limits, ObjectId, Result};

/// Lines around each place that differs.
const CONTEXT: &str = "-U3";

impl Checkpoints {
    /// Computes the diff of one file of a list, up to about `bytes_max` of it.
    pub fn file_diff(
        &self,
        from: &ObjectId,
        to: &ObjectId,
        change: &Change,
        bytes_max: usize,
        limits: &Limits,
    ) -> Result<FileDiff> {
        // A path names all files in a folder, too, so that one in the place of a folder needs the filter.
        let (kind, former) = match &change.status {
            Status::Added => ("--diff-filter=A", None),
            Status::Deleted => ("--diff-filter=D", None),
            Status::Modified => ("--diff-filter=M", None),
            Status::TypeChanged => ("--diff-filter=T", None),
            Status::Renamed { from } => ("--diff-filter=R", Some(from)),
            Status::Copied { from } => ("--diff-filter=C", Some(from)),
        };
        let renames = if former.is_some() { "-M" } else { "--no-renames" };
        let command = self.bare("diff-tree").args(["-r", "-p", renames, kind, CONTEXT]);
        let command = command.arg("--full-index").args(PLAIN);
        let command = command.args([from.as_str(), to.as_str(), "--"]).args(former);
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
