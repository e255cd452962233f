//! "Did you mean": the known word nearest to a mistyped one.

/// What to say about a word that is not among `known`: the nearest one, else all of them.
pub(super) fn hint(word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let list: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
            format!("known are {}", list.join(", "))
        }
    }
}

/// The known word with the fewest edits, unless it is so far off that it would be a guess.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let edits_max = (word.chars().count() / 3).max(1);
    known
        .iter()
        .map(|candidate| (distance(&word.to_lowercase(), candidate), *candidate))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Single-character insertions, deletions, replacements and swaps of neighbours that turn `from` into `to`.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let replaced = at(&row, j) + usize::from(a != b);
            let mut best = replaced.min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let swapped = i > 0 && j > 0 && from.get(i - 1) == Some(b) && to.get(j - 1) == Some(a);
            if swapped {
                best = best.min(at(&above, j - 1) + 1);
            }
            next.push(best);
        }
        above = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(from.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_the_edits_a_typist_would_make() {
        let count = |(from, to)| distance(from, to);
        let pairs = [
            ("", ""),
            ("", "abc"),
            ("abc", ""),
            ("listen", "listen"),
            ("lisen", "listen"),
            ("lsiten", "listen"),
            ("listten", "listen"),
            ("kitten", "sitting"),
            ("größe", "grösse"),
        ];
        assert_eq!(pairs.map(count), [0, 3, 3, 0, 1, 1, 1, 3, 2]);
    }

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_is_not() {
        let known = ["max_active", "idle_timeout_minutes", "workspace_root"];
        assert_eq!(hint("max_actve", &known), "did you mean `max_active`?");
        assert_eq!(hint("Max_Active", &known), "did you mean `max_active`?");
        assert_eq!(
            hint("colour", &known),
            "known are `max_active`, `idle_timeout_minutes`, `workspace_root`"
        );
    }
}
