//! Mentions of files in a text: an `@` at the beginning of a word, then the path.

/// The paths that a text mentions, without the `@`.
pub fn all(text: &str) -> Vec<String> {
    let words = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
    let path = |word: &str| {
        // Punctuation that ends a sentence is not part of a path.
        let path = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'']);
        (!path.is_empty()).then(|| path.to_owned())
    };
    let mut paths: Vec<String> = words.filter_map(path).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The mention at the cursor: the byte offset of its `@`, and the letters after it.
pub fn at(text: &str, cursor: usize) -> Option<(usize, &str)> {
    let before = text.get(..cursor)?;
    let start = before.rfind(char::is_whitespace).map_or(0, |at| {
        at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
    });
    let letters = before.get(start..)?.strip_prefix('@')?;
    Some((start, letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l2_a_text_mentions_what_follows_an_at_sign() {
        let text = "see @src/main.rs, and @docs/ (not me@example.com) or @a.b. @ @src/main.rs";
        assert_eq!(all(text), ["a.b", "docs/", "src/main.rs"]);
        assert_eq!(all("nothing"), Vec::<String>::new());
    }

    #[test]
    fn l2_what_is_mentioned_at_the_cursor_is_completed() {
        assert_eq!(at("see @src/ma", 11), Some((4, "src/ma")));
        assert_eq!(at("see @src/ma now", 11), Some((4, "src/ma")));
        assert_eq!(at("@", 1), Some((0, "")));
        assert_eq!(at("ä\u{a0}@x", 6), Some((4, "x")));
        assert_eq!(at("me@x", 4), None);
        assert_eq!(at("@x y", 4), None);
    }
}
