//! The list of files that differ between two trees.

use std::ops::ControlFlow;
use std::path::Path;

use super::parse::ListParser;
use super::{Change, ChangeList, Lines, Status};
use crate::checkpoint::Checkpoints;
use crate::git::Command;
use crate::{Error, Limits, ObjectId, Result};

/// Without the programs that a project may name for its diffs.
pub(super) const PLAIN: [&str; 2] = ["--no-ext-diff", "--no-textconv"];

impl Checkpoints {
    /// Lists what differs between two trees or commits, at most `max` files.
    ///
    /// For the working tree as it is now, take a snapshot first.
    pub fn changes(
        &self,
        from: &ObjectId,
        to: &ObjectId,
        max: usize,
        limits: &Limits,
    ) -> Result<ChangeList> {
        let command = self.bare("diff-tree").args(["-r", "-z", "--raw", "--numstat", "-M"]);
        list(command.args(PLAIN).args([from.as_str(), to.as_str(), "--"]), max, limits)
    }

    /// Finds what differs at one path, which is text; `None` when nothing does.
    ///
    /// Only for a new file git compares the others, one of which may be its former path.
    pub fn change(
        &self,
        from: &ObjectId,
        to: &ObjectId,
        path: &str,
        limits: &Limits,
    ) -> Result<Option<Change>> {
        let at = |paths: &[&Path]| -> Result<Option<Change>> {
            let command = self.bare("diff-tree").args(["-r", "-z", "--raw", "--numstat", "-M"]);
            let command = command.args(PLAIN).args([from.as_str(), to.as_str(), "--"]);
            let command = paths.iter().fold(command, |command, path| command.arg(path));
            let found = list(command, usize::MAX, limits)?;
            Ok(found.changes.into_iter().find(|change| change.path == Path::new(path)))
        };
        let found = at(&[Path::new(path)])?;
        if found.as_ref().is_none_or(|change| change.status != Status::Added) {
            return Ok(found);
        }
        let command = self.bare("diff-tree").args(["-r", "-z", "--raw", "-M", "--diff-filter=R"]);
        let renamed = list(command.args([from.as_str(), to.as_str(), "--"]), usize::MAX, limits)?;
        let renamed = renamed.changes.into_iter().find(|it| it.path == Path::new(path));
        match renamed.map(|change| change.status) {
            Some(Status::Renamed { from }) => at(&[&from, Path::new(path)]),
            Some(_) | None => Ok(found),
        }
    }

    /// Lists what differs without counts, and with renames as a new and a deleted file; fails when there are more than `max`.
    pub(crate) fn changes_without_renames(
        &self,
        from: &ObjectId,
        to: &ObjectId,
        max: usize,
        limits: &Limits,
    ) -> Result<Vec<Change>> {
        let command = self.bare("diff-tree").args(["-r", "-z", "--raw", "--no-renames"]);
        let found = list(command.args([from.as_str(), to.as_str(), "--"]), max, limits)?;
        found.into_all(max)
    }

    /// The same for several pairs of trees, one after the other, by one git process; fails when the list takes more
    /// memory than `bytes_max`.
    pub(super) fn changes_of_pairs(
        &self,
        pairs: &[(ObjectId, ObjectId)],
        bytes_max: usize,
        limits: &Limits,
    ) -> Result<Vec<Change>> {
        let differing = pairs.iter().filter(|(from, to)| from != to);
        let lines: Vec<String> = differing.map(|(from, to)| format!("{from} {to}\n")).collect();
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let input = lines.concat();
        let command = self.bare("diff-tree").args(["-r", "-z", "--raw", "--no-renames", "--stdin"]);
        let mut parser = ListParser::within(bytes_max);
        let is_complete = fill(&mut parser, command.input(input.as_bytes()), limits)?;
        // Git skips a pair of which it lacks a tree, and exits with 0.
        if is_complete && parser.pairs() != lines.len() {
            let what = format!("{} of {} pairs of trees", parser.pairs(), lines.len());
            return Err(Error::Unexpected { command: "git diff-tree --stdin".to_owned(), what });
        }
        ChangeList { changes: parser.finish(is_complete)?, is_complete }.into_all(bytes_max)
    }
}

pub(super) fn list(command: Command<'_>, max: usize, limits: &Limits) -> Result<ChangeList> {
    let mut parser = ListParser::new(max);
    let is_complete = fill(&mut parser, command, limits)?;
    Ok(ChangeList { changes: parser.finish(is_complete)?, is_complete })
}

/// Parses what a process prints; whether that is all.
pub(super) fn fill(
    parser: &mut ListParser<'_>,
    command: Command<'_>,
    limits: &Limits,
) -> Result<bool> {
    let mut fault = None;
    let is_complete = command.stream(limits, &mut |bytes| match parser.push(bytes) {
        Ok(flow) => flow,
        Err(error) => {
            fault = Some(error);
            ControlFlow::Break(())
        }
    })?;
    fault.map_or(Ok(is_complete), Err)
}

impl ChangeList {
    /// The changes; fails if these are not all.
    pub(super) fn into_all(self, max: usize) -> Result<Vec<Change>> {
        if self.is_complete {
            return Ok(self.changes);
        }
        Err(Error::TooMuchOutput { command: "git diff-tree".to_owned(), max })
    }

    /// The counts of all files together.
    pub fn total(&self) -> Lines {
        self.changes.iter().filter_map(|change| change.lines).fold(
            Lines::default(),
            |sum, lines| Lines {
                added: sum.added + lines.added,
                removed: sum.removed + lines.removed,
            },
        )
    }
}
