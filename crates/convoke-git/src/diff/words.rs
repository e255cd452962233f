//! Which words of a changed line differ.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, TextDiffConfig};

/// A pair of long lines gets coarser marks after this time.
const TIME_MAX: Duration = Duration::from_millis(20);

/// The parts of an old and a new line that differ, as ranges of bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WordMarks {
    /// In the old line.
    pub old: Vec<Range<usize>>,
    /// In the new line.
    pub new: Vec<Range<usize>>,
}

/// Compares two lines word by word.
pub fn word_marks(old: &str, new: &str) -> WordMarks {
    let mut config = TextDiffConfig::default();
    config.algorithm(Algorithm::Patience).deadline(Instant::now() + TIME_MAX);
    let diff = config.diff_words(old, new);
    let mut marks = WordMarks::default();
    let (mut old_at, mut new_at) = (0, 0);
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Equal => (old_at, new_at) = (old_at + length, new_at + length),
            ChangeTag::Delete => extend(&mut marks.old, &mut old_at, length),
            ChangeTag::Insert => extend(&mut marks.new, &mut new_at, length),
        }
    }
    marks
}

/// Appends a range, joined with the one before when they touch.
fn extend(marks: &mut Vec<Range<usize>>, at: &mut usize, length: usize) {
    match marks.last_mut().filter(|last| last.end == *at) {
        Some(last) => last.end += length,
        None => marks.push(*at..*at + length),
    }
    *at += length;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c3_changed_words_are_marked_in_both_lines() {
        let (old, new) = ("let größe = old(a, b);", "let größe = newer(a, b);");
        let marks = word_marks(old, new);
        let parts = |line: &'static str, ranges: &[Range<usize>]| -> Vec<&'static str> {
            ranges.iter().map(|range| &line[range.clone()]).collect()
        };
        assert_eq!(parts(old, &marks.old), ["old(a,"]);
        assert_eq!(parts(new, &marks.new), ["newer(a,"]);
        assert_eq!(word_marks("same", "same"), WordMarks::default());
    }
}
