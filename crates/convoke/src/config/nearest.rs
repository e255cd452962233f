//! "Did you mean": the known word nearest to a mistyped one.

use strsim::osa_distance;

/// The hint for a word that is not among `known`: the nearest one, else all of them.
pub(super) fn hint(word: &str, known: &[&str]) -> String {
    match nearest(word, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let list: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
            format!("known are {}", list.join(", "))
        }
    }
}

/// The known word with the fewest edits, unless it is so far off that it would be a guess. Two swapped letters are one edit.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let edits_max = (word.chars().count() / 3).max(1);
    known
        .iter()
        .map(|candidate| (osa_distance(&word.to_lowercase(), candidate), *candidate))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_is_not() {
        let known = ["max_active", "idle_timeout_minutes", "workspace_root"];
        for word in ["max_actve", "max_acctive", "max_actibe", "max_atcive", "Max_Active"] {
            assert_eq!(hint(word, &known), "did you mean `max_active`?", "{word}");
        }
        assert_eq!(nearest("grösse", &["größe"]), Some("größe"), "letters count, not bytes");
        assert_eq!(nearest("on", &["no"]), Some("no"), "a swap is one edit");
        assert_eq!(
            hint("colour", &known),
            "known are `max_active`, `idle_timeout_minutes`, `workspace_root`"
        );
    }
}
