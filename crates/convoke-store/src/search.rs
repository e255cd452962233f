//! Full-text search over what was said, newest or best first.

mod excerpt;
pub(crate) mod key;
pub(crate) mod lexemes;
pub(crate) mod scope;
mod sql;

use std::collections::HashMap;

use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::message::{Role, Seq};
use convoke_core::time::Timestamp;

use crate::db::{Db, Row, SqlResult, params};
use crate::error::{Error, Fault, Result};
use crate::row;
use crate::store::Store;
use crate::write::record::{ROLES, role_word};
use crate::write::refill::Refill;
use crate::write::search::text_of;
use crate::write::sessions::number;

use excerpt::Marker;
use key::first_key;
use lexemes::Term;
use scope::{filter_word, session_word};
use sql::Reach;

pub(crate) use excerpt::{MATCH_END, MATCH_START};

/// Hits in one page.
const HITS_MAX: u32 = 100;
/// Of so many of the newest matches the best are found; a rank for each match of a common word would take too long.
const BEST_OF: u32 = 10_000;
/// The most words of a query; of a longer text only the first ones are searched.
const TERMS_MAX: usize = 32;

/// Letters from which on the beginning of a word can be searched; fewer would match nearly everything, at great cost.
const PREFIX_MIN: usize = 3;

/// What is searched for, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchQuery {
    /// Words that must all occur. Three or more letters that end with `*` match as a prefix; nothing else is special.
    /// Words after the 32nd are ignored.
    pub text: String,
    /// In the sessions of one project.
    pub project: Option<ProjectId>,
    /// In one session.
    pub session: Option<SessionId>,
    /// In the sessions of one agent.
    pub agent: Option<AgentName>,
    /// Said by one side.
    pub role: Option<Role>,
    /// Begun at this time or later.
    pub since: Option<Timestamp>,
    /// Begun before this time.
    pub until: Option<Timestamp>,
    /// Which hits come first.
    pub order: SearchOrder,
}

/// Which hits come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchOrder {
    /// Those that were said last.
    #[default]
    Newest,
    /// Of the newest 10,000, those in which the words are rarest and most frequent for the length of the message.
    Best,
}

/// One message that contains the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its session.
    pub session: HitSession,
    /// Its id.
    pub message_id: MessageId,
    /// Its place there.
    pub seq: Seq,
    /// Who said it.
    pub role: Role,
    /// When it began.
    pub timestamp: Timestamp,
    /// The surroundings of the match, in order.
    pub excerpt: Vec<Fragment>,
}

/// What a list of hits shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitSession {
    /// Its id.
    pub id: SessionId,
    /// The newest id by which its agent knows it.
    pub agent_session_id: Option<String>,
    /// Its title, once it has one.
    pub title: Option<String>,
    /// The agent it talks to.
    pub agent: AgentName,
    /// The project it works in.
    pub project_id: ProjectId,
    /// The name of that project.
    pub project: String,
    /// Whether lists hide it.
    pub archived: bool,
}

/// A part of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// The excerpt.
    pub text: String,
    /// Whether they were searched for.
    pub matched: bool,
}

/// Some hits, in the wanted order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HitPage {
    /// The hits.
    pub hits: Vec<Hit>,
    /// The cursor for the hits that follow, if there are any.
    pub next: Option<HitPlace>,
    /// Whether the index is still being filled, so that messages may be missing.
    pub incomplete: bool,
}

/// A place in the hits of a search: in the order of time a key of the index, which stays where it is when more is said; in
/// the order of relevance the number of hits before it.
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
    /// Searches prompts, answers and questions; hits after `after` in the wanted order. An empty query has no hits.
    pub async fn search(
        &self,
        query: SearchQuery,
        after: Option<HitPlace>,
        limit: u32,
    ) -> Result<HitPage> {
        let Some(terms) = terms(&query.text) else { return Ok(HitPage::default()) };
        self.read_aside(move |db| search(db, &query, &terms, after, limit.min(HITS_MAX))).await
    }
}

fn search(
    db: Db<'_>,
    query: &SearchQuery,
    terms: &[Term],
    after: Option<HitPlace>,
    limit: u32,
) -> Result<HitPage, Fault> {
    let Some(matching) = Matching::of(db, query, terms)? else { return Ok(HitPage::default()) };
    let after = after.map(|place| i64::try_from(place.get()).unwrap_or(i64::MAX));
    // Before the hits: what is put into the index while they are read may be missing among them.
    let incomplete = Refill::read(db)? != Refill::Finished;
    let recent = match (db, query.order) {
        (Db::Postgres(_), SearchOrder::Newest) => {
            Some(find(db, query, &matching, Reach::Recent, after, limit)?)
        }
        (Db::Postgres(_), SearchOrder::Best) | (Db::Sqlite(_), _) => None,
    };
    let (found, marker) = match recent.filter(|(found, _)| found.len() == limit as usize) {
        Some(recent) => recent,
        None => find(db, query, &matching, Reach::All, after, limit)?,
    };
    let last = found.last().filter(|_| found.len() == limit as usize).map(|(key, _)| *key);
    let next = last.map(|key| match query.order {
        SearchOrder::Newest => key,
        SearchOrder::Best => after.unwrap_or(0).saturating_add(i64::from(limit)),
    });
    let next = next.and_then(|place| u64::try_from(place).ok()).map(HitPlace);
    let expression = expression(terms);
    let mut excerpts =
        if found.is_empty() { HashMap::new() } else { marker.excerpts(&expression)? };
    let hits = found
        .into_iter()
        .map(|(key, hit)| Hit { excerpt: excerpts.remove(&key).unwrap_or_default(), ..hit });
    Ok(HitPage { hits: hits.collect(), next, incomplete })
}

/// The hits of a page with their keys, and their texts.
fn find(
    db: Db<'_>,
    query: &SearchQuery,
    matching: &Matching,
    reach: Reach,
    after: Option<i64>,
    limit: u32,
) -> Result<(Vec<(i64, Hit)>, Marker), Fault> {
    let oldest = query.since.map_or(i64::MIN, first_key);
    let newest = query.until.map_or(i64::MAX, first_key);
    let Matching { words, terms } = matching;
    let mut statement = db.prepare_cached(&sql::hits(db, query.order, reach))?;
    let mut rows = match query.order {
        SearchOrder::Newest => {
            let newest = newest.min(after.unwrap_or(i64::MAX));
            statement.query(params![words, oldest, newest, limit])?
        }
        SearchOrder::Best => {
            let skipped = after.unwrap_or(0);
            let given = params![words, oldest, newest, limit, skipped, BEST_OF, terms];
            // SQLite ranks by the words that match.
            let used = match db {
                Db::Sqlite(_) => given.len() - 1,
                Db::Postgres(_) => given.len(),
            };
            statement.query(given.get(..used).unwrap_or_default())?
        }
    };
    let marker = Marker::new()?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, hit) = (row.get::<i64>(0)?, hit(&row)?);
        match serde_json::from_str(row.str(6)?) {
            Ok(content) => {
                if let Some(text) = text_of(&content) {
                    marker.add(key, &text)?;
                }
            }
            Err(error) => {
                let (id, seq) = (hit.session.id, hit.seq);
                tracing::error!(session.id = %id, "message {seq} cannot be read: {error}");
            }
        }
        found.push((key, hit));
    }
    Ok((found, marker))
}

/// What the index is asked.
struct Matching {
    /// The terms and the words of the filters.
    words: String,
    /// The terms alone.
    terms: String,
}

impl Matching {
    /// `None` if nothing can match.
    fn of(db: Db<'_>, query: &SearchQuery, terms: &[Term]) -> Result<Option<Self>, Fault> {
        let Some(scope) = scope_words(db, query)? else { return Ok(None) };
        Ok(match db {
            Db::Sqlite(_) => {
                let scope: String = scope.iter().map(|it| format!(" AND scope : {it}")).collect();
                let terms = format!("text : ({})", expression(terms));
                Some(Self { words: format!("{terms}{scope}"), terms })
            }
            Db::Postgres(session) => {
                let tokenizer = session.tokenizer()?;
                match (tokenizer.query(terms, &scope)?, tokenizer.query(terms, &[])?) {
                    (Some(words), Some(terms)) => Some(Self { words, terms }),
                    (Some(_), None) | (None, _) => None,
                }
            }
        })
    }
}

/// The words of the filters; `None` if no message fits them.
fn scope_words(db: Db<'_>, query: &SearchQuery) -> Result<Option<Vec<String>>, Fault> {
    let SearchQuery { project, session, agent, role, .. } = query;
    let Some(session) = *session else {
        return Ok(Some(filter_word(*project, agent.as_ref(), *role).into_iter().collect()));
    };
    // A session has one project and one agent, so that only the role is left to the index.
    let n = number(db, session)?.ok_or(Error::UnknownSession { id: session })?;
    let (of_project, of_agent): (ProjectId, AgentName) = db
        .prepare_cached("SELECT project_id, agent FROM agent_sessions WHERE n = ?1")?
        .query_row([n], |row| Ok((row::text(row, 0)?, row::text(row, 1)?)))?;
    if project.is_some_and(|wanted| wanted != of_project)
        || agent.as_ref().is_some_and(|wanted| *wanted != of_agent)
    {
        return Ok(None);
    }
    Ok(Some([session_word(n)].into_iter().chain(filter_word(None, None, *role)).collect()))
}

fn hit(row: &Row<'_>) -> SqlResult<Hit> {
    Ok(Hit {
        session: HitSession {
            id: row::text(row, 1)?,
            agent_session_id: row.get(7)?,
            title: row.get(8)?,
            agent: row::text(row, 9)?,
            project_id: row::text(row, 10)?,
            project: row.get(11)?,
            archived: row.get(12)?,
        },
        message_id: MessageId::from_bytes(row.get(2)?)
            .ok_or_else(|| row::unreadable(2, "not an id"))?,
        seq: row::seq(row, 3)?,
        role: row::word(row, 4, &ROLES, role_word)?,
        timestamp: row::timestamp(row, 5)?,
        excerpt: Vec::new(),
    })
}

/// The words of a query; `None` when there is no word.
fn terms(text: &str) -> Option<Vec<Term>> {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.filter(|word| word.chars().any(char::is_alphanumeric));
    let terms: Vec<Term> = words.take(TERMS_MAX).map(term).collect();
    (!terms.is_empty()).then_some(terms)
}

fn term(word: &str) -> Term {
    let bare = word.trim_end_matches('*');
    let is_prefix = bare.len() < word.len() && bare.chars().count() >= PREFIX_MIN;
    Term { text: bare.to_owned(), is_prefix }
}

/// The words as SQLite reads them: every word quoted, so that none of them is syntax.
fn expression(terms: &[Term]) -> String {
    let quoted = terms.iter().map(|Term { text, is_prefix }| {
        let prefix = if *is_prefix { " *" } else { "" };
        format!("\"{}\"{prefix}", text.replace('"', "\"\""))
    });
    quoted.collect::<Vec<_>>().join(" ")
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
        .map(|text| expression(&terms(text).unwrap_or_default()));
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
}
