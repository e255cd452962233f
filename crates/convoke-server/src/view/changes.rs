//! Changes of files: from the engine's types into those of the API.

use std::path::Path;

use convoke_api::bodies::{
    BetweenTurns, BlockedFile, ChangedFile, DiffHunk, DiffLine, DiffLineKind, FileDiff, FileMode,
    FileStatus, LeftOutFile, LeftOutReason, Restored, SessionChanges,
};
use convoke_core::files::ChangeTotals;
use convoke_core::message::Seq;
use convoke_engine as engine;

/// Files that were changed between the turns of a session, by their paths; further ones are counted.
const BETWEEN_NAMED_MAX: usize = 100;

/// What a session or a turn changed.
pub(crate) fn changes(found: engine::SessionChanges, turn: Option<Seq>) -> SessionChanges {
    let engine::SessionChanges { turns, numbers, files, is_complete, left_out, between } = found;
    let files: Vec<ChangedFile> = files.iter().map(file).collect();
    let totals = files.iter().fold(ChangeTotals::default(), |sum, file| ChangeTotals {
        files: sum.files + 1,
        added: sum.added + file.added.unwrap_or_default(),
        removed: sum.removed + file.removed.unwrap_or_default(),
    });
    let left_out = left_out.iter().map(left_out_file).collect();
    let between = (!between.is_empty()).then(|| BetweenTurns {
        files: between.len() as u64,
        paths: between.iter().take(BETWEEN_NAMED_MAX).map(|path| shown(path)).collect(),
    });
    let complete = is_complete;
    SessionChanges { turns, numbers, turn, files, totals, complete, left_out, between }
}

/// One file with its lines.
pub(crate) fn file_diff(found: &engine::ChangedFile) -> FileDiff {
    let hunks = found.diff.hunks.iter().map(hunk).collect();
    let mut file = file(&found.change);
    file.binary |= found.diff.is_binary;
    FileDiff { file, hunks, complete: found.diff.is_complete }
}

/// What was restored.
pub(crate) fn restored(done: &engine::Restoration) -> Restored {
    let blocked =
        done.blocked.iter().map(|it| BlockedFile { path: shown(&it.path), why: it.why.to_owned() });
    Restored {
        written: done.written.iter().map(|path| shown(path)).collect(),
        removed: done.removed.iter().map(|path| shown(path)).collect(),
        blocked: blocked.collect(),
        session: None,
    }
}

fn file(change: &engine::FileChange) -> ChangedFile {
    let (status, from) = match &change.status {
        engine::FileStatus::Added => (FileStatus::Added, None),
        engine::FileStatus::Deleted => (FileStatus::Deleted, None),
        engine::FileStatus::Modified => (FileStatus::Modified, None),
        engine::FileStatus::TypeChanged => (FileStatus::TypeChanged, None),
        engine::FileStatus::Renamed { from } => (FileStatus::Renamed, Some(from)),
        engine::FileStatus::Copied { from } => (FileStatus::Copied, Some(from)),
    };
    ChangedFile {
        path: shown(&change.path),
        status,
        from: from.map(|path| shown(path)),
        added: change.lines.map(|lines| lines.added),
        removed: change.lines.map(|lines| lines.removed),
        binary: change.is_binary,
        old_mode: change.old.as_ref().map(|version| mode(version.mode)),
        new_mode: change.new.as_ref().map(|version| mode(version.mode)),
    }
}

const fn mode(mode: engine::FileMode) -> FileMode {
    match mode {
        engine::FileMode::Regular => FileMode::Regular,
        engine::FileMode::Executable => FileMode::Executable,
        engine::FileMode::Link => FileMode::Link,
        engine::FileMode::Submodule => FileMode::Submodule,
    }
}

fn left_out_file(left_out: &engine::LeftOut) -> LeftOutFile {
    let (reason, bytes) = match left_out.reason {
        engine::LeftOutReason::TooLarge { bytes } => (LeftOutReason::TooLarge, Some(bytes)),
        engine::LeftOutReason::Unreadable => (LeftOutReason::Unreadable, None),
        engine::LeftOutReason::Name => (LeftOutReason::Name, None),
        engine::LeftOutReason::Worktree => (LeftOutReason::Worktree, None),
        engine::LeftOutReason::Hidden => (LeftOutReason::Hidden, None),
    };
    LeftOutFile { path: shown(&left_out.path), reason, bytes }
}

/// A path as text for clients; bytes that are not UTF-8 are replaced.
fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn hunk(hunk: &engine::Hunk) -> DiffHunk {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut lines: Vec<DiffLine> = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let (kind, has_old, has_new) = match line.kind {
            engine::LineKind::Context => (DiffLineKind::Context, true, true),
            engine::LineKind::Added => (DiffLineKind::Added, false, true),
            engine::LineKind::Removed => (DiffLineKind::Removed, true, false),
        };
        lines.push(DiffLine {
            kind,
            old: has_old.then_some(old),
            new: has_new.then_some(new),
            text: String::from_utf8_lossy(&line.text).into_owned(),
            marks: Vec::new(),
            no_newline: !line.has_newline,
        });
        old += u64::from(has_old);
        new += u64::from(has_new);
    }
    mark_words(&mut lines);
    DiffHunk {
        old_start: hunk.old_start,
        old_lines: hunk.old_lines,
        new_start: hunk.new_start,
        new_lines: hunk.new_lines,
        heading: hunk.heading.clone(),
        lines,
    }
}

/// Marks the words that differ where as many lines were removed as were added in their place.
fn mark_words(lines: &mut [DiffLine]) {
    for block in lines.chunk_by_mut(|before, after| {
        before.kind != DiffLineKind::Context
            && after.kind != DiffLineKind::Context
            && !(before.kind == DiffLineKind::Added && after.kind == DiffLineKind::Removed)
    }) {
        let split = block.partition_point(|line| line.kind == DiffLineKind::Removed);
        let (removed, added) = block.split_at_mut(split);
        let is_pair = added.first().is_some_and(|line| line.kind == DiffLineKind::Added);
        if !is_pair || removed.len() != added.len() {
            continue;
        }
        for (old, new) in removed.iter_mut().zip(added) {
            let marks = engine::word_marks(&old.text, &new.text);
            old.marks = in_utf16(&old.text, &marks.old);
            new.marks = in_utf16(&new.text, &marks.new);
        }
    }
}

/// Ranges of bytes as ranges of UTF-16 code units, by which JavaScript counts.
fn in_utf16(text: &str, ranges: &[std::ops::Range<usize>]) -> Vec<(u64, u64)> {
    let units = |end: usize| -> u64 {
        text.get(..end).map_or(0, |part| part.encode_utf16().count() as u64)
    };
    ranges.iter().map(|range| (units(range.start), units(range.end))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: DiffLineKind, text: &str) -> DiffLine {
        let text = text.to_owned();
        DiffLine { kind, old: None, new: None, text, marks: Vec::new(), no_newline: false }
    }

    #[test]
    fn c3_words_are_marked_by_the_units_of_javascript_where_lines_replace_others() {
        let mut lines = [
            line(DiffLineKind::Context, "same"),
            line(DiffLineKind::Removed, "🙂 old word"),
            line(DiffLineKind::Added, "🙂 new word"),
            line(DiffLineKind::Context, "same"),
            line(DiffLineKind::Removed, "one"),
            line(DiffLineKind::Added, "two"),
            line(DiffLineKind::Added, "three"),
        ];
        mark_words(&mut lines);
        let marks: Vec<_> = lines.iter().map(|line| line.marks.clone()).collect();
        assert_eq!(marks, [vec![], vec![(3, 6)], vec![(3, 6)], vec![], vec![], vec![], vec![]]);
    }
}
