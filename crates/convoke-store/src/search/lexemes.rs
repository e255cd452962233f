//! Texts and queries for PostgreSQL, split by SQLite's tokenizer, so that both databases find the
//! same.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rusqlite::Connection;

use crate::db::SqlResult;

/// The last position in a `tsvector`; later words get this position.
const POSITION_MAX: u32 = 16_383;
/// Longer words are not searched: a lexeme has at most 2046 bytes.
const WORD_BYTES_MAX: u32 = 1_000;

/// Splits texts into words, by SQLite's own rules.
pub(crate) struct Tokenizer {
    db: Connection,
}

impl Tokenizer {
    pub(crate) fn new() -> SqlResult<Self> {
        let db = Connection::open_in_memory()?;
        db.execute_batch(
            "CREATE VIRTUAL TABLE texts
             USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2', content = '');
             CREATE VIRTUAL TABLE words USING fts5vocab (texts, instance);",
        )?;
        Ok(Self { db })
    }

    /// The words of a text with their positions, from 1.
    fn words(&self, text: &str) -> SqlResult<Vec<(u32, String)>> {
        self.db
            .prepare_cached("INSERT INTO texts (rowid, text) VALUES (1, ?1)")?
            .execute([text])?;
        let mut statement = self.db.prepare_cached(
            // The end of a very long word may be an incomplete character.
            "SELECT \"offset\" + 1, term FROM words WHERE octet_length(term) <= ?1",
        )?;
        let words = statement.query_map([WORD_BYTES_MAX], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut words = words.collect::<rusqlite::Result<Vec<(u32, String)>>>()?;
        self.db.execute("INSERT INTO texts (texts) VALUES ('delete-all')", [])?;
        words.sort();
        Ok(words)
    }

    /// A text as a `tsvector`, together with its scope words.
    pub(crate) fn vector(&self, text: &str, scope: &[String]) -> SqlResult<String> {
        let mut positions: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (position, word) in self.words(text)? {
            let of_word = positions.entry(word).or_default();
            let position = position.min(POSITION_MAX);
            if of_word.last() != Some(&position) {
                of_word.push(position);
            }
        }
        let mut vector = String::new();
        for (word, positions) in positions {
            let positions: Vec<String> = positions.iter().map(u32::to_string).collect();
            write!(vector, "{}:{} ", quote(&word), positions.join(",")).ok();
        }
        vector.extend(scope.iter().map(|word| format!("{} ", scope_lexeme(word))));
        Ok(vector)
    }

    /// The words of a text, without their positions.
    pub(crate) fn folded(&self, text: &str) -> SqlResult<Vec<String>> {
        Ok(self.words(text)?.into_iter().map(|(_, word)| word).collect())
    }

    /// Words as parts of a `tsquery`; `None` if one of them has nothing to search for.
    pub(crate) fn phrases(&self, words: &[Term]) -> SqlResult<Option<Vec<String>>> {
        let mut phrases = Vec::new();
        for term in words {
            let found = self.words(&term.text)?;
            let Some((_, last)) = found.last() else { return Ok(None) };
            let last = if term.is_prefix { format!("{}:*", quote(last)) } else { quote(last) };
            let before = found.iter().rev().skip(1).rev().map(|(_, word)| quote(word));
            let phrase: Vec<String> = before.chain([last]).collect();
            phrases.push(format!("({})", phrase.join(" <-> ")));
        }
        Ok(Some(phrases))
    }
}

/// One word of a query as it was typed. The tokenizer may split it into several words, which must
/// follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) text: String,
    pub(crate) is_prefix: bool,
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\\', "\\\\").replace('\'', "''"))
}

/// A lexeme with a character that no word of a text has.
pub(super) fn scope_lexeme(word: &str) -> String {
    format!("'{}'", bare_scope_lexeme(word))
}

/// As `scope_lexeme`, without quotes.
pub(crate) fn bare_scope_lexeme(word: &str) -> String {
    format!("@{word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_sqlite() {
        let tokenizer = Tokenizer::new().unwrap();
        let vector = tokenizer.vector("Größe foo-bar, größe: l'été!", &["s7".to_owned()]).unwrap();
        assert_eq!(vector, "'bar':3 'ete':6 'foo':2 'große':1,4 'l':5 '@s7' ");
        let term = |text: &str, is_prefix| Term { text: text.to_owned(), is_prefix };
        let phrases = tokenizer.phrases(&[term("foo-BA", true), term("Été", false)]).unwrap();
        assert_eq!(phrases.unwrap(), ["('foo' <-> 'ba':*)", "('ete')"]);
        assert_eq!(tokenizer.phrases(&[term("'\"", false)]).unwrap(), None);
    }
}
