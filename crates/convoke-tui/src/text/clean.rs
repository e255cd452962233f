//! Agents' text made harmless: nothing in it can drive the terminal or show itself as something else.

use convoke_core::direction::changes_direction;

/// One line: line breaks and tabs become spaces, and control characters become visible symbols.
pub(crate) fn line(text: &str) -> String {
    block(text).replace('\n', " ")
}

/// Several lines, which end in `\n` alone; else as `line`.
pub(crate) fn block(text: &str) -> String {
    text.replace("\r\n", "\n").chars().map(harmless).collect()
}

/// Typed or pasted text: line breaks become `\n`, and all other control characters but tabs are
/// removed.
pub(crate) fn typed(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

fn harmless(c: char) -> char {
    match c {
        '\n' | '\u{2028}' | '\u{2029}' => '\n',
        '\t' => ' ',
        // The control pictures of Unicode are in the order of the characters that they show.
        '\0'..='\u{1f}' => char::from_u32(u32::from(c) + 0x2400).unwrap_or(REPLACEMENT),
        '\u{7f}' => '␡',
        c if c.is_control() || changes_direction(c) => REPLACEMENT,
        c => c,
    }
}

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_become_pictures_of_themselves() {
        assert_eq!(line("a\u{1b}[2Jb\u{7}\u{7f}\u{9b}31m"), "a␛[2Jb␇␡\u{fffd}31m");
        assert_eq!(line("safe\u{202e}txt.exe"), "safe\u{fffd}txt.exe");
        assert_eq!(line("f(\u{200f}1, 2)"), "f(\u{fffd}1, 2)");
    }

    #[test]
    fn line_breaks_are_kept_or_become_spaces() {
        assert_eq!(block("a\r\nb\rc\u{2028}d\te"), "a\nb␍c\nd e");
        assert_eq!(line("a\r\nb\tc"), "a b c");
    }

    #[test]
    fn what_a_person_pastes_keeps_its_line_breaks_and_tabs_and_loses_its_controls() {
        assert_eq!(typed("a\r\nb\rc\n\td\u{1b}[31m日本\u{200d}"), "a\nb\nc\n\td[31m日本\u{200d}");
    }
}
