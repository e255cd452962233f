//! Numbers with their nouns.

use std::fmt::Display;

/// A count with its noun, such as `1 file` or `3 files`. The noun is one whose plural has an `s`.
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let texts = [0_u64, 1, 2, 11].map(|count| counted(count, "file"));
        assert_eq!(texts, ["0 files", "1 file", "2 files", "11 files"]);
    }
}
