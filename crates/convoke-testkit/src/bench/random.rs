//! Pseudo-random numbers and words, the same in every run.

/// The vocabulary of generated texts, about as large as people use.
const VOCABULARY: f64 = 50_000.0;

/// A sequence of numbers; the same seed gives the same sequence.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts a sequence.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number (`SplitMix64`, which is fast and good enough for made-up texts).
    pub const fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub const fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// Sixteen bytes, as ids need them.
    pub fn bytes(&mut self) -> [u8; 16] {
        let (high, low) = (self.number(), self.number());
        (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
    }

    /// Some words, with the frequencies of natural language: the second is half as frequent as the first, and so on.
    pub fn text(&mut self, words: u64) -> String {
        let mut text = String::new();
        for at in 0..words {
            if at > 0 {
                text.push(' ');
            }
            let fraction = self.number() as f64 / u64::MAX as f64;
            text.push_str(&word(VOCABULARY.powf(fraction) as u64));
        }
        text
    }
}

/// The word with this rank, the most frequent being 1. Six letters, of which the first four are shared by a hundred.
pub fn word(rank: u64) -> String {
    const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
    const VOWELS: &[u8; 5] = b"aeiou";
    let letter =
        |letters: &[u8], at: u64| letters.get(at as usize).copied().map_or('-', char::from);
    let syllable = |number: u64| [letter(CONSONANTS, number / 5), letter(VOWELS, number % 5)];
    [rank / 10_000 % 100, rank / 100 % 100, rank % 100].into_iter().flat_map(syllable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_its_own_word_and_neighbours_begin_alike() {
        assert_eq!(
            [1, 100, 101, 5_000, 49_999].map(word),
            ["bababe", "babeba", "babebe", "banaba", "buzuzu"]
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_text_and_frequent_words_are_frequent() {
        let text = Random::new(7).text(10_000);
        assert_eq!(text, Random::new(7).text(10_000));
        let count = |rank| text.split(' ').filter(|it| **it == word(rank)).count();
        assert!(
            count(1) > 500 && count(10) > 50 && count(10) < count(1),
            "{} {}",
            count(1),
            count(10)
        );
    }
}
