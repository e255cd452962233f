//! The words that a message repeats. The index has each of them a second time, marked, so that a
//! search finds the messages that are about a word without counting.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::key::Size;

/// A word is frequent if it occurs more than once and makes up at least one in this many words.
const ONE_OF: u32 = 32;
/// Longer runs of letters are not counted as words.
const WORD_BYTES_MAX: usize = 64;
/// The estimated bytes of text per distinct word.
const BYTES_OF_A_WORD: usize = 16;

/// The size of a text, and the words that are frequent in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Measured<'a> {
    pub(crate) size: Size,
    pub(crate) frequent: Vec<&'a str>,
}

/// Measures a text. Its words are only nearly those of the index, which is enough for ranking. A
/// frequent word, however, is one word for the index, too: the rest of one that the index splits
/// could be the scope word of another project.
pub(crate) fn measure(text: &str) -> Measured<'_> {
    let room = text.len() / BYTES_OF_A_WORD;
    let mut counts: HashMap<u64, (u32, &str), BuildHasherDefault<Hashed>> =
        HashMap::with_capacity_and_hasher(room, BuildHasherDefault::default());
    let mut words = 0;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words += 1;
        if word.len() <= WORD_BYTES_MAX {
            counts.entry(hash(word)).or_insert((0, word)).0 += 1;
        }
    }
    let is_frequent = |count: u32| count > 1 && count.saturating_mul(ONE_OF) >= words;
    let frequent = counts.into_values().filter(|(count, _)| is_frequent(*count));
    let frequent = frequent.map(|(_, word)| word);
    let mut frequent: Vec<&str> =
        frequent.filter(|word| word.chars().all(is_of_one_word)).collect();
    frequent.sort_unstable();
    Measured { size: Size::of_words(words as usize), frequent }
}

/// Whether the tokenizer of SQLite never splits a word at this letter or digit. It splits at letters
/// such as `Ⓐ`, which Unicode lists among the symbols, and at letters that are newer than its tables.
const fn is_of_one_word(letter: char) -> bool {
    matches!(letter,
        '0'..='9' | 'A'..='Z' | 'a'..='z'
        | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ɏ'
        | 'Α'..='Ρ' | 'Σ'..='ώ' | 'Ѐ'..='ҁ'
        | 'א'..='ת' | 'ؠ'..='ي'
        | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '一'..='鿋' | '가'..='힣')
}

/// A hash of a word in lower case (FNV-1a). Colliding words are counted as the same, which does no
/// harm.
fn hash(word: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let start = 0xcbf2_9ce4_8422_2325;
    let hash = if word.is_ascii() {
        word.bytes().map(|byte| byte.to_ascii_lowercase()).fold(start, add)
    } else {
        word.to_lowercase().bytes().fold(start, add)
    };
    // The hash table also uses the highest bits, which are the worst of this hash.
    hash ^ hash.rotate_left(32)
}

/// Hashes keys that are hashes already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
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
        assert_eq!(measured("Roof, the (roof)! Été été"), (Size::Short, "Roof Été".to_owned()));
        let filler: String = (0..100).map(|n| format!("filler{n} ")).collect();
        assert_eq!(measured(&format!("{filler} roof roof")), (Size::Long, String::new()));
        let about = measured(&format!("{filler} roof roof roof roof"));
        assert_eq!(about, (Size::Long, "roof".to_owned()));
        let split = "xⒶzzzzp7 xⒶzzzzp7 dach dach";
        assert_eq!(measured(split), (Size::Short, "dach".to_owned()));
    }

    #[test]
    fn h7_the_index_splits_no_word_that_is_marked_as_frequent() {
        let tokenizer = crate::search::lexemes::Tokenizer::new().unwrap();
        let letters: Vec<char> = ('\0'..=char::MAX).filter(|c| is_of_one_word(*c)).collect();
        assert!(letters.len() > 30_000);
        assert!(letters.iter().all(|letter| letter.is_alphanumeric()));
        for some in letters.chunks(500) {
            let text: Vec<String> = some.iter().map(|letter| format!("a{letter}b")).collect();
            assert_eq!(tokenizer.folded(&text.join(" ")).unwrap().len(), some.len(), "{some:?}");
        }
    }
}
