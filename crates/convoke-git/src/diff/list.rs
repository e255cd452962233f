//! The list of files that differ between two trees.

use std::ops::ControlFlow;
use std::path::Path;

use super::parse::ListParser;
use super::{Change, ChangeList, Lines, Origin, Status};
use crate::checkpoint::Checkpoints;
use crate::git::Command;
use crate::{Error, Limits, ObjectId, Result};

/// Without the programs that a project may name for its diffs.
pub(super) const PLAIN: [&str; 2] = ["--no-ext-diff", "--no-textconv"];

impl Checkpoints {
    /// Lists what differs between two trees or commits, at most `max` files.
    ///
    /// For the working tree as it is now, take a snapshot first.
    pub fn changes<'a>(
        &self,
        from: impl Into<Origin<'a>>,
        to: &ObjectId,
        max: usize,
        limits: &Limits,
    ) -> Result<ChangeList> {
        let from = from.into();
        let command = self.diff_tree(from).args(["-r", "-z", "--raw", "--numstat", "-M"]);
        let tree = self.tree_of(from, limits)?;
        let list = list(command.args(PLAIN).args([&tree, to.as_str(), "--"]), max, limits)?;
        self.drop_uncaptured(from, list, limits)
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
        if found.is_complete {
            return Ok(found.changes);
        }
        Err(Error::TooMuchOutput { command: "git diff-tree".to_owned(), max })
    }
}

fn list(command: Command<'_>, max: usize, limits: &Limits) -> Result<ChangeList> {
    let mut parser = ListParser::new(max);
    let mut fault = None;
    let is_complete = command.stream(limits, &mut |bytes| match parser.push(bytes) {
        Ok(flow) => flow,
        Err(error) => {
            fault = Some(error);
            ControlFlow::Break(())
        }
    })?;
    match fault {
        Some(error) => Err(error),
        None if is_complete => Ok(ChangeList { changes: parser.finish()?, is_complete }),
        None => Ok(ChangeList { changes: parser.stopped(), is_complete }),
    }
}

impl ChangeList {
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
