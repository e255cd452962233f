//! Reads what `git diff-tree -z --raw --numstat` and `-p` print, piece by piece.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use super::{Change, FileDiff, FileMode, FileVersion, Hunk, Line, LineKind, Lines, Status};
use crate::checkpoint::scan_path;
use crate::{Error, ObjectId, Result};

/// The memory that one change takes, besides its path.
const CHANGE_BYTES: usize = 320;

/// Reads the list of files: first all with their versions, then all again with their counts.
#[derive(Debug)]
pub(super) struct ListParser<'a> {
    max: usize,
    bytes_max: usize,
    bytes: usize,
    /// The only files that are kept; counts of lines are not read then.
    wanted: Option<&'a HashSet<&'a Path>>,
    /// The pairs of trees whose differences were read.
    pairs: usize,
    unread: Vec<u8>,
    /// Fields of a record that is not complete yet.
    record: Vec<Vec<u8>>,
    changes: Vec<Change>,
    /// The number of changes whose lines are counted.
    counted: usize,
}

impl<'a> ListParser<'a> {
    /// At most `max` files.
    pub(super) fn new(max: usize) -> Self {
        let (unread, record) = (Vec::new(), Vec::new());
        let (changes, wanted) = (Vec::new(), None);
        let (bytes_max, bytes) = (usize::MAX, 0);
        Self { max, bytes_max, bytes, wanted, pairs: 0, unread, record, changes, counted: 0 }
    }

    /// Files that take at most about this much memory.
    pub(super) fn within(bytes_max: usize) -> Self {
        Self { bytes_max, ..Self::new(usize::MAX) }
    }

    /// Skips all other files.
    pub(super) fn only(self, wanted: &'a HashSet<&'a Path>) -> Self {
        Self { wanted: Some(wanted), ..self }
    }

    /// The pairs of trees whose differences were read.
    pub(super) fn pairs(&self) -> usize {
        self.pairs
    }

    /// Parses some output; breaks if there are more files than the limits.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<ControlFlow<()>> {
        self.unread.extend_from_slice(bytes);
        let unread = std::mem::take(&mut self.unread);
        let mut rest = unread.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == 0) {
            let (field, tail) = rest.split_at(end);
            rest = tail.get(1..).unwrap_or_default();
            self.record.push(field.to_vec());
            self.read_record()?;
            if self.changes.len() > self.max || self.bytes > self.bytes_max {
                self.changes.truncate(self.max);
                return Ok(ControlFlow::Break(()));
            }
        }
        self.unread = rest.to_vec();
        Ok(ControlFlow::Continue(()))
    }

    /// The changes, at most those up to the limits; the output may have been cut off then.
    pub(super) fn finish(self, is_complete: bool) -> Result<Vec<Change>> {
        if !is_complete || (self.unread.is_empty() && self.record.is_empty()) {
            return Ok(self.changes);
        }
        Err(unexpected("half a record"))
    }

    fn read_record(&mut self) -> Result<()> {
        let Some(head) = self.record.first_mut() else { return Ok(()) };
        // With several pairs of trees, each begins with a line that names the two.
        while let Some(end) = head.iter().position(|byte| *byte == b'\n').filter(|_| is_pair(head))
        {
            head.drain(..=end);
            self.pairs += 1;
        }
        if head.starts_with(b":") { self.read_versions() } else { self.read_counts() }
    }

    /// `:100644 100755 OLD NEW M`, the path, and for renames the new path.
    fn read_versions(&mut self) -> Result<()> {
        let head = self.record.first().map(|head| String::from_utf8_lossy(head).into_owned());
        let head = head.unwrap_or_default();
        let mut fields = head.trim_start_matches(':').split(' ');
        let mut next = || fields.next().ok_or_else(|| unexpected(&head));
        let (old_mode, new_mode) = (next()?.to_owned(), next()?.to_owned());
        let (old, new, letter) = (next()?.to_owned(), next()?.to_owned(), next()?.to_owned());
        let letter = letter.chars().next().unwrap_or(' ');
        let has_two = matches!(letter, 'R' | 'C');
        let [_, paths @ ..] = self.record.as_slice() else { return Ok(()) };
        let (from, path) = match paths {
            [path] if !has_two => (None, scan_path(path)),
            [from, path] => (Some(scan_path(from)), scan_path(path)),
            _ => return Ok(()),
        };
        let status = match (letter, from) {
            ('A', _) => Status::Added,
            ('D', _) => Status::Deleted,
            ('M', _) => Status::Modified,
            ('T', _) => Status::TypeChanged,
            ('R', Some(from)) => Status::Renamed { from },
            ('C', Some(from)) => Status::Copied { from },
            _ => return Err(unexpected(&head)),
        };
        if self.wanted.is_some_and(|wanted| !wanted.contains(path.as_path())) {
            self.record.clear();
            return Ok(());
        }
        self.bytes += CHANGE_BYTES + path.as_os_str().len();
        let (old, new) = (version(&old_mode, &old)?, version(&new_mode, &new)?);
        self.changes.push(Change { path, status, old, new, lines: None, is_binary: false });
        self.record.clear();
        Ok(())
    }

    /// `3⇥1⇥path`; with an empty path, and old and new path after it, for renames; `-` for binary files.
    fn read_counts(&mut self) -> Result<()> {
        let Some(head) = self.record.first() else { return Ok(()) };
        let mut fields = head.splitn(3, |byte| *byte == b'\t');
        let (Some(added), Some(removed), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            return Err(unexpected(&String::from_utf8_lossy(head)));
        };
        if path.is_empty() && self.record.len() < 3 {
            return Ok(());
        }
        let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
        let lines = number(added).zip(number(removed));
        let lines = lines.map(|(added, removed)| Lines { added, removed });
        // Both lists have the same order.
        let change = self.changes.get_mut(self.counted);
        let change = change.ok_or_else(|| unexpected("counts without a file"))?;
        change.is_binary = lines.is_none();
        change.lines = lines;
        self.counted += 1;
        self.record.clear();
        Ok(())
    }
}

/// Whether a record begins with the ids of two trees, unlike one with counts, which has tabs before its path.
fn is_pair(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b' ')
}

fn version(mode: &str, id: &str) -> Result<Option<FileVersion>> {
    let Some(mode) = file_mode(mode)? else { return Ok(None) };
    Ok(Some(FileVersion { mode, id: ObjectId::parse(id)? }))
}

/// Reads a mode; `None` for the one of files that do not exist.
pub(crate) fn file_mode(text: &str) -> Result<Option<FileMode>> {
    match text {
        "000000" => Ok(None),
        "100755" => Ok(Some(FileMode::Executable)),
        "120000" => Ok(Some(FileMode::Link)),
        "160000" => Ok(Some(FileMode::Submodule)),
        // Old repositories have others, such as 100664.
        text if text.starts_with("100") => Ok(Some(FileMode::Regular)),
        _ => Err(unexpected(text)),
    }
}

/// Reads the diff of one file.
#[derive(Debug, Default)]
pub(super) struct PatchParser {
    unread: Vec<u8>,
    diff: FileDiff,
    /// Lines of the last hunk that are not read yet.
    old_left: u64,
    new_left: u64,
}

impl PatchParser {
    /// Parses some output.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
        let unread = std::mem::take(&mut self.unread);
        let mut rest = unread.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, tail) = rest.split_at(end);
            rest = tail.get(1..).unwrap_or_default();
            self.read_line(line);
        }
        self.unread = rest.to_vec();
    }

    pub(super) fn finish(mut self, is_complete: bool) -> FileDiff {
        self.diff.is_complete = is_complete;
        self.diff
    }

    fn read_line(&mut self, line: &[u8]) {
        let Some((first, text)) = line.split_first() else { return };
        let is_inside = self.old_left > 0 || self.new_left > 0;
        let last = self.diff.hunks.last_mut();
        match (first, last) {
            // About the line above it.
            (b'\\', Some(hunk)) => {
                if let Some(line) = hunk.lines.last_mut() {
                    line.has_newline = false;
                }
            }
            (b' ' | b'+' | b'-', Some(hunk)) if is_inside => {
                let kind = match first {
                    b'+' => LineKind::Added,
                    b'-' => LineKind::Removed,
                    _ => LineKind::Context,
                };
                self.old_left -= u64::from(kind != LineKind::Added && self.old_left > 0);
                self.new_left -= u64::from(kind != LineKind::Removed && self.new_left > 0);
                hunk.lines.push(Line { kind, text: text.to_vec(), has_newline: true });
            }
            (b'@', _) => {
                if let Some(hunk) = read_hunk(line) {
                    (self.old_left, self.new_left) = (hunk.old_lines, hunk.new_lines);
                    self.diff.hunks.push(hunk);
                }
            }
            (b'B', _) => self.diff.is_binary |= line.starts_with(b"Binary files "),
            _ => {}
        }
    }
}

/// `@@ -1,2 +3,4 @@ heading`; a count of one is not printed.
fn read_hunk(line: &[u8]) -> Option<Hunk> {
    let text = String::from_utf8_lossy(line);
    let (ranges, heading) = text.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((old_start, old_lines), (new_start, new_lines)) = (range(old)?, range(new)?);
    let heading = heading.trim().to_owned();
    Some(Hunk { old_start, old_lines, new_start, new_lines, heading, lines: Vec::new() })
}

fn unexpected(what: &str) -> Error {
    Error::Unexpected { command: "git diff-tree".to_owned(), what: format!("{what:?}") }
}
