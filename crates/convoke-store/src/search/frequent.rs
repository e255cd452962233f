//! What a message is about: the words that it repeats. The index has them once more, marked, so that a search for one of
//! them finds such messages without counting.

use std::borrow::Cow;
use std::collections::HashMap;

use super::key::Size;

/// A word is frequent if it is at least one of so many, and repeated.
const ONE_OF: usize = 32;
/// Longer ones are no words.
const WORD_BYTES_MAX: usize = 64;

/// The size of a text, and the words that are frequent in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Measured<'a> {
    pub(crate) size: Size,
    pub(crate) frequent: Vec<Cow<'a, str>>,
}

/// Measures a text. Its words are nearly those that the index finds, which is enough to rank it.
pub(crate) fn measure(text: &str) -> Measured<'_> {
    let mut counts: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let mut words = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words += 1;
        if word.len() <= WORD_BYTES_MAX {
            *counts.entry(lower(word)).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count > 1 && *count * ONE_OF >= words);
    let mut frequent: Vec<Cow<'_, str>> = counts.into_keys().collect();
    frequent.sort_unstable();
    Measured { size: Size::of_words(words), frequent }
}

fn lower(word: &str) -> Cow<'_, str> {
    let is_lower = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if is_lower { word.into() } else { word.to_lowercase().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h7_words_that_make_up_much_of_a_text_are_frequent_in_it() {
        let measured = |text: &str| {
            let Measured { size, frequent } = measure(text);
            (size, frequent.join(" "))
        };
        assert_eq!(measured("the roof"), (Size::Short, String::new()));
        assert_eq!(measured("Roof, the (roof)! Été été"), (Size::Short, "roof été".to_owned()));
        let filler: String = (0..100).map(|n| format!("filler{n} ")).collect();
        assert_eq!(measured(&format!("{filler} roof roof")), (Size::Long, String::new()));
        let about = measured(&format!("{filler} roof roof roof roof"));
        assert_eq!(about, (Size::Long, "roof".to_owned()));
    }
}
