//! The title of a session, taken from the first thing the human says.

/// Characters of a title before its ellipsis.
const CHARS_MAX: usize = 50;
/// A space at or before this place would leave too little of the title.
const LAST_SPACE_MIN: usize = 20;

/// What a session is called before anything was said in it.
pub const UNTITLED: &str = "New Session";

/// The title that a first message gives its session.
///
/// Longer than fifty characters: cut at the last space after the twentieth, or right there, and `...`.
pub fn from_prompt(prompt: &str) -> String {
    let trimmed = prompt.trim();
    let Some((end, _)) = trimmed.char_indices().nth(CHARS_MAX) else {
        return trimmed.to_owned();
    };
    let head = trimmed.get(..end).unwrap_or(trimmed);
    let cut = head.rfind(' ').and_then(|space| head.get(..space));
    match cut {
        Some(words) if words.chars().count() > LAST_SPACE_MIN => format!("{words}..."),
        Some(_) | None => format!("{head}..."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w3_a_title_is_cut_at_a_word_within_fifty_characters() {
        let cases = [
            ("  Fix the bug \n", "Fix the bug"),
            // Exactly fifty characters stay whole.
            (
                "12345678901234567890123456789012345678901234567890",
                "12345678901234567890123456789012345678901234567890",
            ),
            (
                "123456789012345678901234567890123456789012345678901",
                "12345678901234567890123456789012345678901234567890...",
            ),
            (
                "Please rewrite the whole parser so that it handles errors",
                "Please rewrite the whole parser so that it...",
            ),
            // The last space is at the twentieth character: too early to cut there.
            (
                "12345678901234567890 234567890123456789012345678901234567890",
                "12345678901234567890 23456789012345678901234567890...",
            ),
            (
                "123456789012345678901 34567890123456789012345678901234567890",
                "123456789012345678901...",
            ),
            // A space at the fiftieth character is beyond the part that is searched.
            (
                "12345678901234567890123456789012345678901234567890 more",
                "12345678901234567890123456789012345678901234567890...",
            ),
            ("日本語", "日本語"),
        ];
        for (prompt, title) in cases {
            assert_eq!(from_prompt(prompt), title, "title of {prompt:?}");
        }
        assert_eq!(from_prompt(&"語".repeat(60)), format!("{}...", "語".repeat(50)));
    }
}
