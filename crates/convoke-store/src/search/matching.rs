//! Builds the queries of words and filters in the language of each database.

use super::lexemes::{Term, scope_lexeme};
use super::scope::frequent_word;
use crate::db::Db;
use crate::error::Fault;

/// How many other words may be between two that count as near.
const NEAR: usize = 7;

/// The words of a search and of its filters.
pub(super) struct Matching<'a> {
    pub(super) db: Db<'a>,
    pub(super) terms: &'a [Term],
    /// The words of filters.
    pub(super) scope: Vec<String>,
}

impl Matching<'_> {
    /// All words, anywhere in a message. As for all queries here, `None` if nothing can match.
    pub(super) fn all(&self) -> Result<Option<String>, Fault> {
        self.written(self.terms, |terms| terms.join(" "), |terms| terms.join(" & "))
    }

    /// The words one after the other, as they were typed. Only the last may be a prefix.
    pub(super) fn in_a_row(&self) -> Result<Option<String>, Fault> {
        match self.terms {
            [] | [_] => Ok(None),
            [before @ .., _] if before.iter().any(|term| term.is_prefix) => Ok(None),
            terms => self.written(terms, |terms| terms.join(" + "), |terms| terms.join(" <-> ")),
        }
    }

    /// Each word near the previous one.
    pub(super) fn near(&self) -> Result<Option<String>, Fault> {
        if self.terms.windows(2).all(|pair| matches!(pair, [one, other] if one == other)) {
            return Ok(None);
        }
        let pairs = |terms: &[String], near: fn(&str, &str) -> String| {
            let pairs = terms.windows(2).filter_map(|pair| match pair {
                [one, other] if one != other => Some(near(one, other)),
                _ => None,
            });
            pairs.collect::<Vec<_>>()
        };
        self.written(
            self.terms,
            |terms| pairs(terms, |one, other| format!("NEAR({one} {other}, {NEAR})")).join(" AND "),
            |terms| {
                let near = |one: &str, other: &str| {
                    let apart =
                        |words| format!("{one} <{words}> {other} | {other} <{words}> {one}");
                    format!("({})", (1..=NEAR + 1).map(apart).collect::<Vec<_>>().join(" | "))
                };
                pairs(terms, near).join(" & ")
            },
        )
    }

    /// All words are repeated in the message.
    pub(super) fn repeated(&self) -> Result<Option<String>, Fault> {
        let is_word = |term: &Term| !term.is_prefix && term.text.chars().all(char::is_alphanumeric);
        if !self.terms.iter().all(is_word) {
            return Ok(None);
        }
        let words = self.terms.iter().map(|term| match self.db {
            Db::Sqlite(_) => Ok(Some(format!("scope : {}", frequent_word(&term.text)))),
            Db::Postgres(session) => Ok(match &*session.tokenizer()?.folded(&term.text)? {
                [word] => Some(scope_lexeme(&frequent_word(word))),
                [] | [_, _, ..] => None,
            }),
        });
        let words: Option<Vec<String>> = words.collect::<Result<_, Fault>>()?;
        let separator = match self.db {
            Db::Sqlite(_) => " AND ",
            Db::Postgres(_) => " & ",
        };
        Ok(words.map(|words| {
            words.into_iter().chain(self.scope_parts()).collect::<Vec<_>>().join(separator)
        }))
    }

    /// Whether there is nothing but one word, and no filter.
    pub(super) const fn is_one_word(&self) -> bool {
        matches!(self.terms, [_]) && self.scope.is_empty()
    }

    /// A query for each word and each filter; none if there is only one word.
    pub(super) fn each(&self) -> Result<Vec<String>, Fault> {
        if self.is_one_word() {
            return Ok(Vec::new());
        }
        let mut each = Vec::new();
        for term in self.terms.chunks(1) {
            each.extend(self.alone(term)?);
        }
        each.extend(self.scope_parts());
        Ok(each)
    }

    /// A query of some terms without filters.
    fn alone(&self, terms: &[Term]) -> Result<Option<String>, Fault> {
        Matching { db: self.db, terms, scope: Vec::new() }.all()
    }

    /// Builds a query of terms in the language of the database, with the filters.
    fn written(
        &self,
        terms: &[Term],
        sqlite: impl FnOnce(&[String]) -> String,
        postgres: impl FnOnce(&[String]) -> String,
    ) -> Result<Option<String>, Fault> {
        let (terms, separator) = match self.db {
            Db::Sqlite(_) => {
                let terms: Vec<String> = terms.iter().map(quoted).collect();
                (format!("text : ({})", sqlite(&terms)), " AND ")
            }
            Db::Postgres(session) => match session.tokenizer()?.phrases(terms)? {
                Some(terms) => (postgres(&terms), " & "),
                None => return Ok(None),
            },
        };
        Ok(Some([terms].into_iter().chain(self.scope_parts()).collect::<Vec<_>>().join(separator)))
    }

    fn scope_parts(&self) -> impl Iterator<Item = String> {
        self.scope.iter().map(|word| match self.db {
            Db::Sqlite(_) => format!("scope : {word}"),
            Db::Postgres(_) => scope_lexeme(word),
        })
    }
}

/// A word as SQLite reads it: quoted, so that it is never syntax.
fn quoted(term: &Term) -> String {
    let prefix = if term.is_prefix { " *" } else { "" };
    format!("\"{}\"{prefix}", term.text.replace('"', "\"\""))
}

/// Words as SQLite reads them, all of which must occur.
pub(super) fn expression(terms: &[Term]) -> String {
    terms.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
