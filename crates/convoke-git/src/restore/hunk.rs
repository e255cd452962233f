//! Taking one hunk back out of a file.

use crate::diff::{Hunk, Line, LineKind};

/// The file's bytes with the old lines of the hunk in place of the new ones; `None` if these are
/// not found.
pub(super) fn revert(current: &[u8], hunk: &Hunk) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = current.split_inclusive(|byte| *byte == b'\n').collect();
    let count = usize::try_from(hunk.new_lines).ok()?;
    let start = usize::try_from(hunk.new_start).ok()?;
    // Without lines, the start is the line before the position.
    let start = if count == 0 { start } else { start.checked_sub(1)? };
    let end = start.checked_add(count)?;
    let there = lines.get(start..end)?;
    let expected = hunk.lines.iter().filter(|line| line.kind != LineKind::Removed).map(bytes);
    if !expected.eq(there.iter().map(|line| line.to_vec())) {
        return None;
    }
    let mut reverted = lines.get(..start)?.concat();
    for line in hunk.lines.iter().filter(|line| line.kind != LineKind::Added) {
        reverted.extend(bytes(line));
    }
    reverted.extend(lines.get(end..)?.concat());
    Some(reverted)
}

fn bytes(line: &Line) -> Vec<u8> {
    let mut bytes = line.text.clone();
    if line.has_newline {
        bytes.push(b'\n');
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: LineKind, text: &str) -> Line {
        Line { kind, text: text.into(), has_newline: true }
    }

    #[test]
    fn c4_only_a_hunk_whose_lines_are_there_is_reverted() {
        let lines = vec![
            line(LineKind::Context, "a"),
            line(LineKind::Removed, "b"),
            line(LineKind::Added, "B\r"),
            line(LineKind::Context, "c"),
        ];
        let hunk = Hunk {
            old_start: 1,
            old_lines: 3,
            new_start: 1,
            new_lines: 3,
            heading: String::new(),
            lines,
        };
        assert_eq!(revert(b"a\nB\r\nc\nd", &hunk).unwrap(), b"a\nb\nc\nd");
        assert_eq!(revert(b"a\nB\nc\nd", &hunk), None);
        assert_eq!(revert(b"a\n", &hunk), None);
        assert_eq!(revert(b"x\na\nB\r\nc\n", &hunk), None);
    }
}
