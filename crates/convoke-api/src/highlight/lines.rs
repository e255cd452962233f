//! Languages in which the beginning of a line determines its kind: diffs and Markdown.

use super::Class;
use super::cursor::Cursor;
use super::spans::Spans;

pub(super) fn paint_diff(spans: &mut Spans<'_>, code: &str) {
    const HEADINGS: [&str; 6] = ["+++ ", "--- ", "@@", "diff ", "index ", "*** "];
    for line in code.split_inclusive('\n') {
        let class = if HEADINGS.iter().any(|mark| line.starts_with(mark)) {
            Class::Heading
        } else if line.starts_with(['+', '>']) {
            Class::Inserted
        } else if line.starts_with(['-', '<']) {
            Class::Deleted
        } else {
            Class::Plain
        };
        spans.write(class, line);
    }
}

pub(super) fn paint_markdown(spans: &mut Spans<'_>, code: &str) {
    let mut fence = None;
    for line in code.split_inclusive('\n') {
        let words = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| words.starts_with(mark));
        if fence.is_some() || mark.is_some() {
            spans.write(Class::String, line);
            fence = match (fence, mark) {
                (None, opened) => opened,
                (Some(open), Some(mark)) if open == mark => None,
                (open, _) => open,
            };
        } else if words.starts_with('#') {
            spans.write(Class::Heading, line);
        } else if words.starts_with('>') {
            spans.write(Class::Comment, line);
        } else {
            paint_words(spans, line);
        }
    }
}

/// A line of Markdown: marks of lists, and code within words.
fn paint_words(spans: &mut Spans<'_>, line: &str) {
    let mut cursor = Cursor::new(line);
    spans.write(Class::Plain, cursor.take_while(char::is_whitespace));
    if ["- ", "* ", "+ "].iter().any(|mark| cursor.rest().starts_with(mark)) {
        spans.write(Class::Punctuation, cursor.take_char());
    }
    while !cursor.rest().is_empty() {
        spans.write(Class::Plain, cursor.take_while(|letter| letter != '`'));
        let marks = cursor.rest().len() - cursor.rest().trim_start_matches('`').len();
        let code = cursor.take(marks);
        spans.write(Class::String, code);
        // What is never closed ends the search, so that no line is searched twice.
        let class = if cursor.rest().contains(code) { Class::String } else { Class::Plain };
        spans.write(class, cursor.take_through(code));
    }
}
