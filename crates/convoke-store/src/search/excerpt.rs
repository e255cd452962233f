//! Excerpts of hits. The index stores no texts, so matches are found again in the messages: an
//! in-memory index of the hits alone marks them with the same tokenizer.

use std::cell::OnceCell;
use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::Fragment;
use crate::error::Fault;

/// Words of an excerpt.
const WORDS: usize = 24;
/// Words before the first match.
const WORDS_BEFORE: usize = 6;
/// Bytes of an excerpt, of which this part may be before the first match. A word can be as long as the message.
const BYTES_MAX: usize = 600;
const BYTES_BEFORE_MAX: usize = 150;

/// The start mark of a match; it never occurs in the text itself.
pub(crate) const MATCH_START: char = '\u{2}';
/// The end mark of a match.
pub(crate) const MATCH_END: char = '\u{3}';

thread_local! {
    /// The in-memory index that marks matches. Creating one takes longer than finding a page of
    /// hits.
    static MARKER: Marker = const { Marker { db: OnceCell::new() } };
}

/// The excerpts of the texts in which the terms occur, by key.
pub(super) fn excerpts<'a>(
    texts: impl Iterator<Item = (i64, &'a str)>,
    terms: &str,
) -> Result<HashMap<i64, Vec<Fragment>>, Fault> {
    MARKER.with(|marker| marker.excerpts(texts, terms))
}

struct Marker {
    db: OnceCell<Connection>,
}

impl Marker {
    fn db(&self) -> rusqlite::Result<&Connection> {
        if let Some(db) = self.db.get() {
            return Ok(db);
        }
        let db = Connection::open_in_memory()?;
        db.execute_batch(
            "CREATE VIRTUAL TABLE texts
             USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')",
        )?;
        Ok(self.db.get_or_init(|| db))
    }

    fn excerpts<'a>(
        &self,
        texts: impl Iterator<Item = (i64, &'a str)>,
        terms: &str,
    ) -> Result<HashMap<i64, Vec<Fragment>>, Fault> {
        // Rolled back on drop, so that the index is empty again.
        let transaction = self.db()?.unchecked_transaction()?;
        let mut insert =
            transaction.prepare_cached("INSERT INTO texts (rowid, text) VALUES (?1, ?2)")?;
        for (key, text) in texts {
            insert.execute(params![key, text])?;
        }
        let mut statement = transaction.prepare_cached(
            "SELECT rowid, highlight(texts, 0, ?1, ?2) FROM texts WHERE texts MATCH ?3",
        )?;
        let params = params![MATCH_START.to_string(), MATCH_END.to_string(), terms];
        let marked =
            statement.query_map(params, |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        let excerpts = marked.map(|row| row.map(|(rowid, text)| (rowid, excerpt(&text))));
        Ok(excerpts.collect::<rusqlite::Result<_>>()?)
    }
}

/// The part of a marked text in which most of the searched words are.
fn excerpt(marked: &str) -> Vec<Fragment> {
    let words = words(marked);
    let Some(first) = best_match(&words) else { return Vec::new() };
    let start = first.saturating_sub(WORDS_BEFORE);
    let end = (start + WORDS).min(words.len());
    let start = end.saturating_sub(WORDS).min(start);
    let matched_at = words.get(first).map_or(0, |word| word.start);
    let from = words.get(start).map_or(0, |word| word.start);
    let from = from.max(marked.ceil_char_boundary(matched_at.saturating_sub(BYTES_BEFORE_MAX)));
    let to = end.checked_sub(1).and_then(|last| words.get(last)).map_or(marked.len(), |it| it.end);
    let to = to.min(marked.floor_char_boundary(from + BYTES_MAX));
    let mut fragments = fragments(marked.get(from..to).unwrap_or_default());
    let has_more_before = marked.get(..from).is_some_and(|text| !text.trim().is_empty());
    let has_more_after = marked.get(to..).is_some_and(|text| !text.trim().is_empty());
    if has_more_before {
        add_ellipsis(&mut fragments, Edge::Start);
    }
    if has_more_after {
        add_ellipsis(&mut fragments, Edge::End);
    }
    fragments
}

struct Word<'a> {
    start: usize,
    end: usize,
    /// What is marked in it.
    matched: Option<&'a str>,
}

fn words(marked: &str) -> Vec<Word<'_>> {
    let (mut words, mut next) = (Vec::new(), 0);
    // A match may consist of several words, which are marked together.
    let mut is_open = false;
    for piece in marked.split_inclusive(char::is_whitespace) {
        let start = next;
        next += piece.len();
        let piece = piece.trim_end();
        if piece.is_empty() {
            continue;
        }
        let begin = piece.find(MATCH_START).map(|at| at + MATCH_START.len_utf8());
        let matched = match begin {
            Some(at) => piece.get(at..),
            None => is_open.then_some(piece),
        };
        if let Some(last) = piece.rfind([MATCH_START, MATCH_END]) {
            is_open = piece.get(last..).is_some_and(|mark| mark.starts_with(MATCH_START));
        }
        let matched = matched.and_then(|text| text.split(MATCH_END).next());
        words.push(Word { start, end: start + piece.len(), matched });
    }
    words
}

/// The matched word from which on most different words are matched within an excerpt's length.
fn best_match(words: &[Word<'_>]) -> Option<usize> {
    let matches: Vec<(usize, String)> = words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| Some((at, word.matched?.to_lowercase())))
        .collect();
    let mut within: HashMap<&str, usize> = HashMap::new();
    let (mut best, mut end) = (None, 0);
    for (first, text) in &matches {
        while let Some((_, text)) =
            matches.get(end).filter(|(at, _)| at - first < WORDS - WORDS_BEFORE)
        {
            *within.entry(text).or_default() += 1;
            end += 1;
        }
        if best.is_none_or(|(count, _)| within.len() > count) {
            best = Some((within.len(), *first));
        }
        if let Some(count) = within.get_mut(text.as_str()) {
            *count -= 1;
            if *count == 0 {
                within.remove(text.as_str());
            }
        }
    }
    best.map(|(_, first)| first)
}

fn fragments(marked: &str) -> Vec<Fragment> {
    // The text may begin within a match that the excerpt cuts.
    let mut matched = marked
        .find([MATCH_START, MATCH_END])
        .and_then(|at| marked.get(at..))
        .is_some_and(|mark| mark.starts_with(MATCH_END));
    let mut fragments = Vec::new();
    for part in marked.split_inclusive([MATCH_START, MATCH_END]) {
        let text = part.trim_end_matches([MATCH_START, MATCH_END]);
        if !text.is_empty() {
            fragments.push(Fragment { text: text.to_owned(), matched });
        }
        matched = part.ends_with(MATCH_START);
    }
    fragments
}

#[derive(Clone, Copy)]
enum Edge {
    Start,
    End,
}

fn add_ellipsis(fragments: &mut Vec<Fragment>, edge: Edge) {
    let at = match edge {
        Edge::Start => 0,
        Edge::End => fragments.len(),
    };
    let beside = match edge {
        Edge::Start => fragments.first_mut(),
        Edge::End => fragments.last_mut(),
    };
    match (beside, edge) {
        (Some(Fragment { text, matched: false }), Edge::Start) => text.insert(0, '…'),
        (Some(Fragment { text, matched: false }), Edge::End) => text.push('…'),
        _ => fragments.insert(at, Fragment { text: "…".to_owned(), matched: false }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An excerpt with matches in brackets.
    fn shown(text: &str, terms: &str) -> String {
        let excerpts = excerpts([(7, text)].into_iter(), terms).unwrap();
        let show = |part: &Fragment| match part.matched {
            true => format!("[{}]", part.text),
            false => part.text.clone(),
        };
        excerpts.get(&7).map_or_else(String::new, |parts| parts.iter().map(show).collect())
    }

    #[test]
    fn matches_are_marked_by_the_rules_of_the_index() {
        assert_eq!(shown("Ein Gruß an die Größe.", "\"grosse\""), "");
        assert_eq!(shown("Über den\tGarten", "\"uber\""), "[Über] den\tGarten");
        assert_eq!(shown("the foo-bar is", "\"foo-bar\""), "the [foo-bar] is");
        assert_eq!(shown("the foo\nbar is", "\"foo-bar\""), "the [foo\nbar] is");
        assert_eq!(shown("convoke convokes", "\"conv\" *"), "[convoke] [convokes]");
    }

    #[test]
    fn the_part_with_most_of_the_words_is_chosen() {
        let filler = "filler ".repeat(40);
        let text = format!("alpha {filler}then alpha and beta {filler}beta");
        let shown = shown(&text, "\"alpha\" \"beta\"");
        let begin = "…filler filler filler filler filler then [alpha] and [beta] filler";
        assert!(shown.starts_with(begin), "{shown}");
        assert!(shown.ends_with("filler…"), "{shown}");
        assert_eq!(shown.split_whitespace().count(), WORDS);
    }

    #[test]
    fn an_excerpt_is_bounded_in_bytes() {
        let long = "字".repeat(1000);
        let marker = shown(&format!("{long} word {long}"), "\"word\"");
        assert!(marker.contains("[word]") && marker.len() <= BYTES_MAX + 10, "{marker}");
        let whole = shown(&long, &format!("\"{long}\""));
        assert!(whole.starts_with("[字") && whole.len() <= BYTES_MAX + 10, "{whole}");
    }

    #[test]
    fn a_text_full_of_matches_takes_linear_time() {
        let text = "word ".repeat(200_000);
        assert!(shown(&text, "\"word\"").starts_with("[word] [word]"));
    }
}
