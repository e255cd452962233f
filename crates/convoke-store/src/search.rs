//! Full-text search over messages, newest or best first.

mod best;
mod excerpt;
pub(crate) mod frequent;
pub(crate) mod key;
pub(crate) mod lexemes;
mod matching;
pub(crate) mod scope;
mod sql;

use std::ops::Range;

use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::message::{Role, Seq};
use convoke_core::time::Timestamp;

use crate::db::{Db, Param, Row, SqlResult, params};
use crate::error::{Error, Fault, Result};
use crate::row;
use crate::store::Store;
use crate::write::record::{ROLES, role_word};
use crate::write::refill::Refill;
use crate::write::search::text_of;
use crate::write::sessions::number;

use key::first_key;
use lexemes::Term;
use matching::{Matching, expression};
use scope::{filter_word, session_word};
use sql::Reach;

pub(crate) use excerpt::{MATCH_END, MATCH_START};

/// Hits in one page.
const HITS_MAX: u32 = 100;
/// The most words of a query; of a longer text only the first ones are searched.
const TERMS_MAX: usize = 32;

/// The shortest prefix that can be searched; a shorter one would match nearly everything, and be
/// slow.
const PREFIX_MIN: usize = 3;

/// The words to search for, and filters.
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
    /// Of the newest 10,000 messages with the rarest of the words, those in which the words follow each other, then those
    /// in which they are near each other; of these, messages that repeat them and short ones. Older hits follow by time.
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
    /// Whether it is a match.
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

/// A cursor into the hits of a search: the key in the index and, in the order of relevance, the
/// rank of the hit. It stays valid when messages are added.
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
    /// Searches prompts, answers and questions; returns hits after `after` in the requested order.
    /// An empty query has no hits.
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
    let Some(scope) = scope_words(db, query)? else { return Ok(HitPage::default()) };
    let matching = Matching { db, terms, scope };
    // Read before the hits: messages that are indexed during the search may be missing among them.
    let incomplete = Refill::read(db)? != Refill::Finished;
    let oldest = query.since.map_or(i64::MIN, first_key);
    let range = oldest..query.until.map_or(i64::MAX, first_key);
    let (mut found, next) = match query.order {
        SearchOrder::Newest => newest(&matching, range, after, limit)?,
        SearchOrder::Best => {
            let ranked = best::best(&matching, range, after, limit)?;
            let next = ranked.last().filter(|_| ranked.len() == limit as usize);
            let keys: Vec<i64> = ranked.iter().map(|hit| hit.key).collect();
            (of_keys(db, &keys)?, next.map(best::Ranked::place))
        }
    };
    // The index only selects: what a message may show is decided by its session, since the index may
    // have entries that an earlier version made of forged scope words.
    found.retain(|found| is_within(query, &found.hit));
    Ok(HitPage { hits: with_excerpts(found, terms)?, next, incomplete })
}

/// A hit with its key and its text.
struct Found {
    key: i64,
    hit: Hit,
    text: Option<String>,
}

/// Whether a hit passes the filters of a query.
fn is_within(query: &SearchQuery, hit: &Hit) -> bool {
    let SearchQuery { project, session, agent, role, .. } = query;
    project.is_none_or(|project| project == hit.session.project_id)
        && session.is_none_or(|session| session == hit.session.id)
        && agent.as_ref().is_none_or(|agent| *agent == hit.session.agent)
        && role.is_none_or(|role| role == hit.role)
}

/// The newest hits before a cursor, and the cursor after the last one.
fn newest(
    matching: &Matching<'_>,
    range: Range<i64>,
    after: Option<HitPlace>,
    limit: u32,
) -> Result<(Vec<Found>, Option<HitPlace>), Fault> {
    let Some(words) = matching.all()? else { return Ok((Vec::new(), None)) };
    let after = after.map(|place| i64::try_from(place.get()).unwrap_or(i64::MAX));
    let end = range.end.min(after.unwrap_or(i64::MAX));
    let find = |reach| {
        let params = params![words, range.start, end, limit];
        read(matching.db, &sql::newest_hits(matching.db, reach), params)
    };
    let is_full = |found: &Vec<Found>| found.len() == limit as usize;
    let recent = match matching.db {
        Db::Postgres(_) => Some(find(Reach::Recent)?).filter(is_full),
        Db::Sqlite(_) => None,
    };
    let found = match recent {
        Some(recent) => recent,
        None => find(Reach::All)?,
    };
    let last = found.last().filter(|_| is_full(&found));
    let next = last.and_then(|last| u64::try_from(last.key).ok()).map(HitPlace);
    Ok((found, next))
}

/// The hits with these keys, in their order.
fn of_keys(db: Db<'_>, keys: &[i64]) -> Result<Vec<Found>, Fault> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = read(db, &sql::hits_of_keys(db), params![format!("{keys:?}")])?;
    found.sort_by_key(|found| keys.iter().position(|key| *key == found.key));
    Ok(found)
}

fn read(db: Db<'_>, sql: &str, params: &[Param<'_>]) -> Result<Vec<Found>, Fault> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, hit) = (row.get::<i64>(0)?, hit(&row)?);
        let text = match serde_json::from_str(row.str(6)?) {
            Ok(content) => text_of(&content),
            Err(error) => {
                let (id, seq) = (hit.session.id, hit.seq);
                tracing::error!(session.id = %id, "message {seq} cannot be read: {error}");
                None
            }
        };
        found.push(Found { key, hit, text });
    }
    Ok(found)
}

/// Adds an excerpt around the matches to each hit.
fn with_excerpts(found: Vec<Found>, terms: &[Term]) -> Result<Vec<Hit>, Fault> {
    let texts = found.iter().filter_map(|found| Some((found.key, found.text.as_deref()?)));
    let mut excerpts = excerpt::excerpts(texts, &expression(terms))?;
    let hits = found.into_iter().map(|Found { key, hit, .. }| {
        let excerpt = excerpts.remove(&key).unwrap_or_default();
        Hit { excerpt, ..hit }
    });
    Ok(hits.collect())
}

/// The scope words of the filters; `None` if no message matches them.
fn scope_words(db: Db<'_>, query: &SearchQuery) -> Result<Option<Vec<String>>, Fault> {
    let SearchQuery { project, session, agent, role, .. } = query;
    let Some(session) = *session else {
        return Ok(Some(filter_word(*project, agent.as_ref(), *role).into_iter().collect()));
    };
    // A session has one project and one agent, so only the role is filtered by the index.
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
