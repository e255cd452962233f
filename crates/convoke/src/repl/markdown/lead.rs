//! The beginning of a Markdown line.

use super::Fence;

/// Marks that make a block of code.
const FENCE_MIN: usize = 3;
/// Marks that make a horizontal rule.
const RULE_MIN: usize = 3;
/// The deepest heading.
const LEVEL_MAX: usize = 6;
/// Digits that a numbered line may begin with.
const DIGITS_MAX: usize = 9;

/// The meaning of the beginning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    /// More characters are needed.
    Unclear,
    /// Text.
    Words,
    /// A numbered line.
    Number,
    /// A line of the open block of code.
    Code,
    /// A line of a table.
    Table,
    Heading {
        level: usize,
    },
    Bullet {
        indent: usize,
    },
    Quote {
        indent: usize,
    },
    /// The opening of a block of code.
    Fence(Fence),
    /// The end of the open block of code.
    Closes,
    /// An empty line, which ends a paragraph.
    Blank,
    /// A horizontal rule.
    Rule,
}

impl Lead {
    /// Parses the beginning of a line.
    pub(super) fn of(lead: &str) -> Self {
        let text = lead.trim_start_matches(' ');
        let indent = lead.len() - text.len();
        let Some(first) = text.chars().next() else { return Self::Unclear };
        let (run, rest) = run(text, first);
        match first {
            '#' if run > LEVEL_MAX => Self::Words,
            '#' if rest.is_empty() => Self::Unclear,
            '#' if rest.starts_with(' ') => Self::Heading { level: run },
            '`' | '~' if rest.is_empty() => Self::Unclear,
            '`' | '~' if run >= FENCE_MIN => Self::Fence((first, run)),
            '-' | '*' | '+' if run == 1 && rest == " " => Self::Bullet { indent },
            '-' | '*' | '+' | '_' if rest.is_empty() => Self::Unclear,
            '>' => Self::Quote { indent },
            '|' => Self::Table,
            '0'..='9' => Self::numbered(text),
            _ => Self::Words,
        }
    }

    fn numbered(text: &str) -> Self {
        let digits = text.chars().take_while(char::is_ascii_digit).count();
        match text.get(digits..) {
            Some("") if digits <= DIGITS_MAX => Self::Unclear,
            Some("." | ")") => Self::Unclear,
            Some(". " | ") ") => Self::Number,
            Some(_) | None => Self::Words,
        }
    }

    /// Parses the beginning of a line in a block of code, which may be its end.
    pub(super) fn in_code(lead: &str, (mark, _): Fence) -> Self {
        let may_close = run(lead.trim_start_matches(' '), mark).1.trim_end().is_empty();
        if may_close { Self::Unclear } else { Self::Code }
    }

    /// Parses a line that ended while its beginning was unclear.
    pub(super) fn of_line(line: &str, fence: Option<Fence>) -> Self {
        let text = line.trim();
        let Some(first) = text.chars().next() else {
            return if fence.is_some() { Self::Code } else { Self::Blank };
        };
        let (count, rest) = run(text, first);
        let is_run = rest.is_empty();
        match (fence, first) {
            (Some((mark, length)), _) if first == mark && is_run && count >= length => Self::Closes,
            (Some(_), _) => Self::Code,
            (None, '`' | '~') if is_run && count >= FENCE_MIN => Self::Fence((first, count)),
            (None, '-' | '*' | '_') if is_run && count >= RULE_MIN => Self::Rule,
            (None, _) => Self::Words,
        }
    }
}

/// The count of the same character at the start of a text, and the rest.
fn run(text: &str, mark: char) -> (usize, &str) {
    let rest = text.trim_start_matches(mark);
    ((text.len() - rest.len()) / mark.len_utf8(), rest)
}
