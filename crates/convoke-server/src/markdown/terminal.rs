//! Output for terminals as HTML: colours and weights become classes, and every other escape sequence is dropped.
//!
//! The content security policy forbids inline styles, so a colour of 256 or of all becomes the nearest of the sixteen
//! that the style sheet has for both themes. No element crosses a line break: the page may cut at any line.

mod colour;
#[cfg(test)]
mod tests;

use super::escape::push_text;
use super::{HTML_BYTES_FREE, HTML_GROWTH_MAX};
use colour::Style;

/// The numbers of one `SGR` sequence that are read; more are ignored.
const NUMBERS_MAX: usize = 32;

const ESCAPE: char = '\u{1b}';
const CSI: char = '\u{9b}';

/// Renders what a program printed. `None` if that is plain text, which needs no markup.
pub(crate) fn render(text: &str) -> Option<String> {
    if !text.contains([ESCAPE, CSI, '\r', '\u{8}']) {
        return None;
    }
    let html_bytes_max = HTML_BYTES_FREE + text.len() * HTML_GROWTH_MAX;
    let painted = Screen::show(text, Colours::Kept);
    Some(if painted.len() <= html_bytes_max { painted } else { Screen::show(text, Colours::Dropped) })
}

/// Whether colours are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colours {
    Kept,
    Dropped,
}

/// What a terminal would show, line after line.
struct Screen {
    html: String,
    colours: Colours,
    style: Style,
    /// The current line: text of one style after the other.
    line: Vec<(Style, String)>,
    /// A carriage return was read: the next character begins the line anew.
    returned: bool,
}

impl Screen {
    fn show(text: &str, colours: Colours) -> String {
        let html = String::with_capacity(text.len());
        let mut screen =
            Self { html, colours, style: Style::default(), line: Vec::new(), returned: false };
        let mut rest = text.chars();
        while let Some(next) = rest.next() {
            match next {
                ESCAPE => {
                    let (sequence, after) = sequence(rest.as_str());
                    screen.obey(sequence);
                    rest = after.chars();
                }
                CSI => {
                    let (sequence, after) = control_sequence(rest.as_str());
                    screen.obey(sequence);
                    rest = after.chars();
                }
                '\n' => {
                    screen.write_line();
                    screen.html.push('\n');
                }
                '\r' => screen.returned = true,
                '\u{8}' => screen.erase_last(),
                next if next.is_control() && next != '\t' => {}
                next => screen.put(next),
            }
        }
        screen.write_line();
        screen.html
    }

    fn obey(&mut self, sequence: Sequence<'_>) {
        if let (Sequence::Style(numbers), Colours::Kept) = (sequence, self.colours) {
            self.style.change(&colour::numbers(numbers, NUMBERS_MAX));
        }
    }

    /// Programs print a carriage return to draw a line again, such as the bar of a download.
    fn put(&mut self, next: char) {
        if std::mem::take(&mut self.returned) {
            self.line.clear();
        }
        match self.line.last_mut() {
            Some((style, text)) if *style == self.style => text.push(next),
            Some(_) | None => self.line.push((self.style, next.into())),
        }
    }

    fn erase_last(&mut self) {
        let Some((_, text)) = self.line.last_mut() else { return };
        text.pop();
        if text.is_empty() {
            self.line.pop();
        }
    }

    fn write_line(&mut self) {
        self.returned = false;
        for (style, text) in self.line.drain(..) {
            let classes = style.classes();
            if classes.is_empty() {
                push_text(&mut self.html, &text);
                continue;
            }
            self.html.push_str("<span class=\"");
            self.html.push_str(&classes);
            self.html.push_str("\">");
            push_text(&mut self.html, &text);
            self.html.push_str("</span>");
        }
    }
}

/// An escape sequence.
#[derive(Clone, Copy)]
enum Sequence<'a> {
    /// Changes how text looks, with its numbers.
    Style(&'a str),
    /// Anything else, which moves, erases, names or asks.
    Other,
}

/// The sequence after an escape character, and the text after it.
fn sequence(text: &str) -> (Sequence<'_>, &str) {
    let mut rest = text.chars();
    match rest.next() {
        Some('[') => control_sequence(rest.as_str()),
        // Strings: titles, links, device control. They end with BEL or with ESC and a backslash.
        Some(']' | 'P' | 'X' | '^' | '_') => (Sequence::Other, after_string(rest.as_str())),
        // Two or three characters, such as the choice of a character set.
        Some(' '..='/') => {
            let rest = rest.as_str().trim_start_matches(|c| matches!(c, ' '..='/'));
            (Sequence::Other, rest.strip_prefix(|c| matches!(c, '0'..='~')).unwrap_or(rest))
        }
        Some('0'..='~') => (Sequence::Other, rest.as_str()),
        // Not a sequence; what follows is text.
        Some(_) | None => (Sequence::Other, text),
    }
}

/// A sequence after its introducer: numbers, intermediate characters, and a letter that says what it does.
fn control_sequence(text: &str) -> (Sequence<'_>, &str) {
    let is_number = |c: char| matches!(c, '0'..='?');
    let is_between = |c: char| matches!(c, ' '..='/');
    let after_numbers = text.trim_start_matches(is_number);
    let numbers = text.strip_suffix(after_numbers).unwrap_or_default();
    let after_all = after_numbers.trim_start_matches(is_between);
    match (after_all.strip_prefix('m'), after_all.len() == after_numbers.len()) {
        // With one of `<=>?` the sequence is a private one.
        (Some(after), true) if !numbers.contains(['<', '=', '>', '?']) => {
            (Sequence::Style(numbers), after)
        }
        (Some(_) | None, _) => {
            let after = after_all.strip_prefix(|c| matches!(c, '@'..='~'));
            (Sequence::Other, after.unwrap_or(after_all))
        }
    }
}

/// The text after a string. One without an end is text: output is cut at a limit, and nothing of it may be lost.
fn after_string(text: &str) -> &str {
    let end = text.find(['\u{7}', ESCAPE, '\n']);
    let Some(rest) = end.and_then(|end| text.get(end..)) else { return text };
    rest.strip_prefix('\u{7}').or_else(|| rest.strip_prefix("\u{1b}\\")).unwrap_or(rest)
}
