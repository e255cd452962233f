//! The language that the first line of a code block names.

/// The longest name of a language; anything longer is ignored.
const NAME_MAX: usize = 40;

/// The language in the words after a fence, as it was written: `rust,ignore` and `ts title="a"` name `rust` and `ts`.
pub(super) fn of_fence(words: &str) -> Option<&str> {
    let words = words.trim_start_matches(['{', '.', ' ', '\t']);
    let is_end =
        |c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '{' | '}' | '=' | '(');
    let name = words.split(is_end).next()?;
    let is_name_char =
        |c: char| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '.' | '_' | '*' | '/');
    let is_name = name.len() <= NAME_MAX
        && name.chars().all(is_name_char)
        && name.contains(char::is_alphabetic);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_after_the_fence_names_the_language() {
        let cases = [
            ("rust", Some("rust")),
            ("rust,ignore", Some("rust")),
            ("ts title=\"a.ts\"", Some("ts")),
            ("{.python .numberLines}", Some("python")),
            ("C++", Some("C++")),
            ("js:src/a.js", Some("js")),
            ("", None),
            ("  ", None),
            ("12:15:src/a.js", None),
            ("\"><script>", None),
            ("<b>", None),
        ];
        for (words, expected) in cases {
            assert_eq!(of_fence(words), expected, "{words}");
        }
        assert_eq!(of_fence(&"x".repeat(41)), None);
    }
}
