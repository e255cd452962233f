//! Full-text search over what was said, newest first.

use convoke_core::id::{ProjectId, SessionId};
use convoke_core::message::Seq;
use convoke_core::time::Timestamp;
use rusqlite::{Connection, Row, params};

use crate::error::{Error, Fault, Result};
use crate::row;
use crate::store::Store;
use crate::write::sessions::number;

/// Hits in one page.
const HITS_MAX: u32 = 100;
/// Words of context around a hit.
const EXCERPT_WORDS: u32 = 24;
/// Words in one query. Of a long pasted text, the first words are enough.
const TERMS_MAX: usize = 32;

/// Letters from which on the beginning of a word can be searched; fewer would match nearly everything, at great cost.
const PREFIX_MIN: usize = 3;

/// What encloses a match in the database's excerpt; never in the text itself.
pub(crate) const MATCH_START: char = '\u{2}';
/// The end of what encloses a match.
pub(crate) const MATCH_END: char = '\u{3}';

/// What is searched for, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// Words that must all occur. Three or more letters that end with `*` match as a prefix; nothing else is special.
    /// Words after the 32nd are ignored.
    pub text: String,
    /// In the sessions of one project.
    pub project: Option<ProjectId>,
    /// In one session.
    pub session: Option<SessionId>,
}

/// One message that contains the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its session.
    pub session_id: SessionId,
    /// Its place there.
    pub seq: Seq,
    /// When it began.
    pub timestamp: Timestamp,
    /// The surroundings of the match, in order.
    pub excerpt: Vec<Fragment>,
}

/// A part of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// The excerpt.
    pub text: String,
    /// Whether they were searched for.
    pub matched: bool,
}

/// Some hits, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitPage {
    /// The hits.
    pub hits: Vec<Hit>,
    /// The cursor for older hits, if there are any.
    pub next: Option<HitPlace>,
}

/// A place in the hits of any search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HitPlace(u64);

impl HitPlace {
    /// The place with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number of the place.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Store {
    /// Searches prompts, answers and questions; hits older than `before`, newest first. An empty query has no hits.
    pub async fn search(
        &self,
        query: SearchQuery,
        before: Option<HitPlace>,
        limit: u32,
    ) -> Result<HitPage> {
        let Some(terms) = terms(&query.text) else {
            return Ok(HitPage { hits: Vec::new(), next: None });
        };
        self.read_aside(move |db| search(db, &query, &terms, before, limit.min(HITS_MAX))).await
    }
}

fn search(
    db: &Connection,
    query: &SearchQuery,
    terms: &str,
    before: Option<HitPlace>,
    limit: u32,
) -> Result<HitPage, Fault> {
    let mut expression = format!("text : ({terms})");
    if let Some(project) = query.project {
        expression.push_str(&format!(" AND scope : {}", project_scope(&project.to_string())));
    }
    if let Some(session) = query.session {
        let n = number(db, session)?.ok_or(Error::UnknownSession { id: session })?;
        expression.push_str(&format!(" AND scope : {}", session_scope(n)));
    }
    // The cross joins fix the order: from a hit to its message to its session. The planner's own is far slower.
    let mut statement = db.prepare_cached(
        "SELECT f.rowid, s.id, m.seq, m.created_at, snippet(message_search, 0, ?1, ?2, '…', ?3)
         FROM message_search AS f
         CROSS JOIN messages AS m ON m.n = f.rowid
         CROSS JOIN agent_sessions AS s ON s.n = m.session
         WHERE message_search MATCH ?4 AND f.rowid < ?5
         ORDER BY f.rowid DESC LIMIT ?6",
    )?;
    let before = before.and_then(|place| i64::try_from(place.get()).ok()).unwrap_or(i64::MAX);
    let (start, end) = (MATCH_START.to_string(), MATCH_END.to_string());
    let params = params![start, end, EXCERPT_WORDS, expression, before, limit];
    let found = statement.query_map(params, |row| Ok((HitPlace(row.get(0)?), hit(row)?)))?;
    let found = found.collect::<rusqlite::Result<Vec<_>>>()?;
    let is_full = found.len() == limit as usize;
    let next = found.last().map(|(place, _)| *place).filter(|_| is_full);
    Ok(HitPage { hits: found.into_iter().map(|(_, hit)| hit).collect(), next })
}

fn hit(row: &Row<'_>) -> rusqlite::Result<Hit> {
    Ok(Hit {
        session_id: row::text(row, 1)?,
        seq: row::seq(row, 2)?,
        timestamp: row::timestamp(row, 3)?,
        excerpt: fragments(row.get_ref(4)?.as_str()?),
    })
}

fn fragments(excerpt: &str) -> Vec<Fragment> {
    let mut matched = false;
    let mut fragments = Vec::new();
    for part in excerpt.split_inclusive([MATCH_START, MATCH_END]) {
        let text = part.trim_end_matches([MATCH_START, MATCH_END]);
        if !text.is_empty() {
            fragments.push(Fragment { text: text.to_owned(), matched });
        }
        matched = part.ends_with(MATCH_START);
    }
    fragments
}

/// Every word quoted, so that none of them is syntax; `None` when there is no word.
fn terms(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.filter(|word| word.chars().any(char::is_alphanumeric));
    let quoted: Vec<String> = words.take(TERMS_MAX).map(quote).collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

fn quote(word: &str) -> String {
    let bare = word.trim_end_matches('*');
    let is_prefix = bare.len() < word.len() && bare.chars().count() >= PREFIX_MIN;
    let prefix = if is_prefix { " *" } else { "" };
    format!("\"{}\"{prefix}", bare.replace('"', "\"\""))
}

/// The word that stands for a session in the index.
pub(crate) fn session_scope(n: i64) -> String {
    format!("s{n}")
}

/// The word that stands for a project in the index.
pub(crate) fn project_scope(id: &str) -> String {
    format!("p{}", id.replace('-', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_quoted_and_only_a_star_at_its_end_means_something() {
        let quoted = [
            "foo-bar",
            "a AND b",
            "say \"hi\"",
            "conv*",
            "*xy* y**",
            " \t\u{0} ",
            "- \" * ()",
            "größe",
        ]
        .map(|text| terms(text).unwrap_or_default());
        assert_eq!(
            quoted,
            [
                r#""foo-bar""#,
                r#""a" "AND" "b""#,
                r#""say" """hi""""#,
                r#""conv" *"#,
                r#""*xy" * "y""#,
                "",
                "",
                r#""größe""#,
            ]
        );
        assert_eq!(terms(&"word ".repeat(33)), terms(&"word ".repeat(32)));
    }

    #[test]
    fn an_excerpt_is_cut_at_its_marks() {
        let cut = fragments("…the \u{2}word\u{3}\u{2}s\u{3} of it…");
        let cut: Vec<_> = cut.iter().map(|part| (&*part.text, part.matched)).collect();
        assert_eq!(cut, [("…the ", false), ("word", true), ("s", true), (" of it…", false)]);
    }
}
