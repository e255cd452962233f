//! Tags that agents put around the user's text and into it, for the model.

/// A text without these blocks. A block without an end tag is kept: it may be the user's own.
pub(crate) fn without(text: &str, tags: &[&str]) -> String {
    if !text.contains('<') {
        return text.to_owned();
    }
    let mut text = text.to_owned();
    for tag in tags {
        text = without_tag(&text, tag);
    }
    text
}

fn without_tag(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, block)) = rest.split_once(&open) {
        let Some((_, after)) = block.split_once(&close) else { break };
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The text in the first block of this name; its tag may have attributes.
pub(crate) fn between<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}"))?;
    let (attributes, rest) = rest.split_once('>')?;
    if !attributes.is_empty() && !attributes.starts_with(' ') {
        return None;
    }
    rest.split_once(&format!("</{tag}>")).map(|(inner, _)| inner)
}

/// The text inside of a wrapper around all of it, else the text unchanged.
pub(crate) fn unwrapped<'a>(text: &'a str, tag: &str) -> &'a str {
    let trimmed = text.trim();
    let is_wrapped =
        trimmed.starts_with(&format!("<{tag}")) && trimmed.ends_with(&format!("</{tag}>"));
    if is_wrapped { between(trimmed, tag).unwrap_or(text) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h1_what_the_user_did_not_say_is_cut_out() {
        let cases = [
            ("plain", "plain"),
            ("<a>x</a>hello<a>y</a>", "hello"),
            ("hello <a>", "hello <a>"),
            ("1 < 2 <b>x</b>", "1 < 2 <b>x</b>"),
            ("</a><a>x</a>", "</a>"),
        ];
        for (text, expected) in cases {
            assert_eq!(without(text, &["a"]), expected);
        }
        assert_eq!(unwrapped("<u mode=\"act\">hi</u>", "u"), "hi");
        assert_eq!(unwrapped("say <u>hi</u>", "u"), "say <u>hi</u>");
        assert_eq!(between("<user>hi</user>", "u"), None);
    }
}
