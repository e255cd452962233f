//! Which addresses become links, and where plain text contains one.

use std::ops::Range;

/// Schemes that leave the page and execute nothing.
const FOLLOWED: [&str; 3] = ["http://", "https://", "mailto:"];

/// The longest address that is shown beside a link that is not followed.
const SHOWN_MAX: usize = 300;

/// Whether an address may become a link.
///
/// Browsers skip white space and control characters before and in the scheme, so neither is
/// allowed. An address without a scheme would be relative to Convoke's own page.
pub(super) fn is_followed(address: &str) -> bool {
    FOLLOWED.iter().any(|start| begins_with(address, start))
}

/// Whether the address of a link that is not followed is shown.
pub(super) const fn is_shown(address: &str) -> bool {
    !address.is_empty() && address.len() <= SHOWN_MAX
}

/// The next address in a text that is to become a link, by the rules of GitHub.
pub(super) fn find(text: &str) -> Option<Range<usize>> {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("://")).map(|at| from + at) {
        from = at + "://".len();
        let Some(start) = scheme_start(text, at) else { continue };
        let end = start + length(text.get(start..)?);
        if end > from {
            return Some(start..end);
        }
    }
    None
}

/// The start of `http` or `https` before a colon, if it is a whole word.
fn scheme_start(text: &str, colon: usize) -> Option<usize> {
    let before = text.get(..colon)?;
    let scheme = ["https", "http"].into_iter().find(|scheme| ends_with(before, scheme))?;
    let start = colon - scheme.len();
    let is_alone = !text.get(..start)?.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    is_alone.then_some(start)
}

/// The length of an address: up to the next blank, without the punctuation of the sentence around it.
fn length(text: &str) -> usize {
    let is_outside =
        |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`');
    let mut end = text.find(is_outside).unwrap_or(text.len());
    let mut open = 0_i64;
    for byte in text.bytes().take(end) {
        open += match byte {
            b'(' => 1,
            b')' => -1,
            _ => 0,
        };
    }
    while let Some(last) = text.get(..end).and_then(|address| address.chars().next_back()) {
        match last {
            ')' if open < 0 => open += 1,
            '?' | '!' | '.' | ',' | ':' | ';' | '*' | '_' | '~' | '\'' | '…' | '”' | '’' => {}
            _ => break,
        }
        end -= last.len_utf8();
    }
    end
}

fn begins_with(text: &str, start: &str) -> bool {
    text.as_bytes().get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start.as_bytes()))
}

fn ends_with(text: &str, end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    let tail = start.and_then(|start| text.as_bytes().get(start..));
    tail.is_some_and(|it| it.eq_ignore_ascii_case(end.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_lead_out_and_run_nothing_are_followed() {
        for address in ["http://a", "HTTPS://a", "mailto:a@b.c", "https://a\"onclick="] {
            assert!(is_followed(address), "{address}");
        }
        for address in [
            "",
            "/",
            "a",
            "#a",
            "//evil.example",
            "\\\\evil",
            "http:evil",
            "http:/evil",
            " https://a",
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "\u{1}javascript:x",
            "java\nscript:x",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:x",
            "ftp://a",
            "httpé://",
        ] {
            assert!(!is_followed(address), "{address}");
        }
    }

    #[test]
    fn an_address_in_a_sentence_ends_where_people_think() {
        let found = |text: &str| find(text).map(|range| text[range].to_owned());
        let cases = [
            ("see https://a.b/c?d=e#f.", Some("https://a.b/c?d=e#f")),
            ("(https://a.b/c_(d))", Some("https://a.b/c_(d)")),
            ("(HTTP://a.b), and", Some("HTTP://a.b")),
            ("\"https://a\"", Some("https://a")),
            ("https://ä.example/ö!", Some("https://ä.example/ö")),
            ("xhttps://a, ftp://b, https://c", Some("https://c")),
            ("https://", None),
            ("http://. x", None),
            ("://", None),
            ("é://https", None),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text).as_deref(), expected, "{text}");
        }
    }
}
