//! Escaping text and addresses for HTML.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Writes text so that it reads the same between tags and inside of a quoted attribute.
pub(super) fn push_text(html: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\0']) {
        let (plain, special) = rest.split_at(at);
        html.push_str(plain);
        let mut chars = special.chars();
        html.push_str(match chars.next() {
            Some('&') => "&amp;",
            Some('<') => "&lt;",
            Some('>') => "&gt;",
            Some('"') => "&quot;",
            Some('\'') => "&#39;",
            // HTML cannot represent NUL.
            Some(_) | None => "\u{fffd}",
        });
        rest = chars.as_str();
    }
    html.push_str(rest);
}

/// ASCII characters that are percent-encoded in an address.
const NOT_IN_ADDRESS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Writes an address into a quoted attribute, percent-encoding what is not allowed in one.
pub(super) fn push_address(html: &mut String, address: &str) {
    for piece in utf8_percent_encode(address, NOT_IN_ADDRESS) {
        push_text(html, piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let mut html = String::new();
        push_text(&mut html, "<a b=\"c\" d='e'>&amp;\0é");
        assert_eq!(html, "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;\u{fffd}é");
    }

    #[test]
    fn an_address_cannot_leave_its_attribute() {
        let mut html = String::new();
        push_address(&mut html, "https://a/?b=1&c='\"<>` \n\té%20[1]\\^{|}\0\x7f~!");
        assert_eq!(
            html,
            "https://a/?b=1&amp;c=&#39;%22%3C%3E%60%20%0A%09%C3%A9%20[1]%5C%5E%7B%7C%7D%00%7F~!"
        );
    }
}
