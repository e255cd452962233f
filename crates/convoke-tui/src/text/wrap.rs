//! Text broken into rows that fit, in cells as the terminal counts them: wide characters take two.

use std::ops::Range;

use ratatui::buffer::CellWidth as _;
use ratatui::text::Span;
use unicode_segmentation::UnicodeSegmentation as _;

/// Cells of a tab; it is always drawn as this many spaces.
const TAB_CELLS: usize = 4;

/// The cells that one grapheme takes.
pub(crate) fn cells(grapheme: &str) -> usize {
    match grapheme {
        "\t" => TAB_CELLS,
        _ if grapheme.contains(char::is_control) => 0,
        _ => usize::from(grapheme.cell_width()),
    }
}

/// The cells that a text without line breaks takes.
pub(crate) fn width(text: &str) -> usize {
    text.graphemes(true).map(cells).sum()
}

/// The rows of a text without line breaks, as ranges of its bytes; at least one, and every byte is
/// in a row.
///
/// Spaces at the end of a row may exceed its width. A word that is too long is cut.
pub(crate) fn rows(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    // Where the row could end, and the cells from there on.
    let (mut break_at, mut since_break) = (0, 0);
    let mut before = "";
    for (at, grapheme) in text.grapheme_indices(true) {
        let cells = cells(grapheme);
        if may_break(before, grapheme) {
            (break_at, since_break) = (at, 0);
        }
        if used + cells > width && at > start && !is_space(grapheme) {
            if break_at <= start {
                (break_at, since_break) = (at, 0);
            }
            rows.push(start..break_at);
            (start, used) = (break_at, since_break);
        }
        used += cells;
        since_break += cells;
        before = grapheme;
    }
    rows.push(start..text.len());
    rows
}

/// Styled text without line breaks in rows that fit, without the spaces at their ends.
pub(crate) fn spans(spans: &[Span<'static>], width: usize) -> Vec<Vec<Span<'static>>> {
    let text: String = spans.iter().map(|span| &*span.content).collect();
    // The remaining spans and their start: a row needs nothing before the previous one.
    let (mut rest, mut from) = (spans, 0);
    let row = |row: Range<usize>| {
        while let [first, others @ ..] = rest
            && from + first.content.len() <= row.start
        {
            (rest, from) = (others, from + first.content.len());
        }
        let shown = text.get(row.clone()).unwrap_or_default().trim_end().len();
        cut(rest, from, row.start..row.start + shown)
    };
    rows(&text, width).into_iter().map(row).collect()
}

/// A text cut to a width, with `…` where something is missing.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 1;
    for grapheme in text.graphemes(true) {
        used += cells(grapheme);
        if used > max {
            break;
        }
        short.push_str(grapheme);
    }
    short.push('…');
    short
}

/// A text cut to a width from its beginning, as suits a path.
pub(crate) fn shorten_start(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |(_, grapheme): &(usize, &str)| {
        used += cells(grapheme);
        used <= max
    };
    let from = text.grapheme_indices(true).rev().take_while(fits).last();
    format!("…{}", from.and_then(|(at, _)| text.get(at..)).unwrap_or_default())
}

fn may_break(before: &str, after: &str) -> bool {
    if is_space(after) || before.is_empty() {
        return false;
    }
    // Scripts with wide characters have no spaces between words.
    is_space(before) || ((cells(before) > 1 || cells(after) > 1) && !begins_no_row(after))
}

fn is_space(grapheme: &str) -> bool {
    // A space that must not break is not `char::is_whitespace`'s business alone.
    grapheme.chars().all(|c| c.is_whitespace() && c != '\u{a0}' && c != '\u{202f}')
}

/// Closing marks, which stay with the word before them.
fn begins_no_row(grapheme: &str) -> bool {
    grapheme.chars().next().is_some_and(|c| "、。，．！？：；）」』】〕》〉…,.!?:;)]}".contains(c))
}

/// The part of styled text between two bytes; the text begins at byte `from`.
fn cut(spans: &[Span<'static>], mut from: usize, range: Range<usize>) -> Vec<Span<'static>> {
    let mut parts = Vec::new();
    for span in spans {
        if from >= range.end {
            break;
        }
        let to = from + span.content.len();
        let (start, end) = (range.start.max(from), range.end.min(to));
        if let Some(text) = (start < end).then(|| span.content.get(start - from..end - from)) {
            parts.push(Span::styled(text.unwrap_or_default().to_owned(), span.style));
        }
        from = to;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str, width: usize) -> Vec<&str> {
        rows(text, width).into_iter().map(|row| &text[row]).collect()
    }

    #[test]
    fn rows_end_between_words_and_their_spaces_hang_over() {
        assert_eq!(broken("one two  three", 7), ["one two  ", "three"]);
        assert_eq!(broken("one two", 7), ["one two"]);
        assert_eq!(broken("", 7), [""]);
    }

    #[test]
    fn a_word_that_is_too_long_is_cut() {
        assert_eq!(broken("a abcdefgh b", 4), ["a ", "abcd", "efgh ", "b"]);
    }

    #[test]
    fn wide_characters_take_two_cells_and_break_anywhere_but_before_a_closing_mark() {
        assert_eq!(broken("日本語です。はい", 6), ["日本語", "です。", "はい"]);
        assert_eq!(broken("日本語。はい", 6), ["日本", "語。は", "い"]);
        assert_eq!(broken("日", 1), ["日"]);
    }

    #[test]
    fn a_grapheme_is_never_cut() {
        let family = "👩‍👩‍👧e\u{301}👩‍👩‍👧";
        assert_eq!(broken(family, 3), ["👩‍👩‍👧e\u{301}", "👩‍👩‍👧"]);
        assert_eq!(shorten("日本語", 5), "日本…");
        assert_eq!(shorten("日本語", 4), "日…");
        assert_eq!(shorten_start("/srv/日本/shop", 8), "…本/shop");
    }

    #[test]
    fn styles_survive_the_breaking() {
        let text = [Span::raw("one "), Span::raw("two three")];
        let rows: Vec<Vec<String>> = spans(&text, 7)
            .into_iter()
            .map(|row| row.into_iter().map(|span| span.content.into_owned()).collect())
            .collect();
        assert_eq!(rows, [vec!["one ", "two"], vec!["three"]]);
    }
}
