//! Full-text search over what was said, newest first.

mod excerpt;
pub(crate) mod lexemes;

use std::collections::HashMap;

use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::message::{Role, Seq};
use convoke_core::time::Timestamp;

use crate::db::{Db, Param, Row, SqlResult, ToParam as _, params};
use crate::error::{Error, Fault, Result};
use crate::row;
use crate::store::Store;
use crate::write::record::{ROLES, role_word};
use crate::write::search::text_of;
use crate::write::sessions::number;

use excerpt::Marker;
use lexemes::Term;

pub(crate) use excerpt::{MATCH_END, MATCH_START};

/// Hits in one page.
const HITS_MAX: u32 = 100;
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
    db: Db<'_>,
    query: &SearchQuery,
    terms: &[Term],
    before: Option<HitPlace>,
    limit: u32,
) -> Result<HitPage, Fault> {
    let Some(words) = words_for(db, query, terms)? else {
        return Ok(HitPage { hits: Vec::new(), next: None });
    };
    let before = before.and_then(|place| i64::try_from(place.get()).ok()).unwrap_or(i64::MAX);
    let agent = query.agent.as_ref().map(AgentName::as_str);
    let (role, since, until) = (query.role.map(role_word), query.since, query.until);
    let (since, until) = (since.map(Timestamp::as_millis), until.map(Timestamp::as_millis));
    let given = [
        ("AND s.agent = ", agent.to_param()),
        ("AND m.role = ", role.to_param()),
        ("AND m.created_at >= ", since.to_param()),
        ("AND m.created_at < ", until.to_param()),
    ];
    let given = given.into_iter().filter(|(_, value)| *value != Param::Null);
    let (mut filters, mut params) = (String::new(), params![words, before, limit].to_vec());
    for (filter, value) in given {
        params.push(value);
        filters.push_str(&format!("{filter}?{} ", params.len()));
    }
    let mut statement = db.prepare_cached(&hits_sql(db, &filters))?;
    let mut rows = statement.query(params.as_slice())?;
    let marker = Marker::new()?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (n, hit) = (row.get::<i64>(0)?, hit(&row)?);
        match serde_json::from_str(row.str(6)?) {
            Ok(content) => {
                if let Some(text) = text_of(&content) {
                    marker.add(n, &text)?;
                }
            }
            Err(error) => {
                let (id, seq) = (hit.session.id, hit.seq);
                tracing::error!(session.id = %id, "message {seq} cannot be read: {error}");
            }
        }
        found.push((n, hit));
    }
    let next = found.last().filter(|_| found.len() == limit as usize).map(|(n, _)| *n);
    let expression = expression(terms);
    let mut excerpts =
        if found.is_empty() { HashMap::new() } else { marker.excerpts(&expression)? };
    let hits = found
        .into_iter()
        .map(|(n, hit)| Hit { excerpt: excerpts.remove(&n).unwrap_or_default(), ..hit });
    let next = next.and_then(|n| u64::try_from(n).ok()).map(HitPlace);
    Ok(HitPage { hits: hits.collect(), next })
}

/// What the index is asked; `None` if nothing can match.
fn words_for(db: Db<'_>, query: &SearchQuery, terms: &[Term]) -> Result<Option<String>, Fault> {
    let mut scope = Vec::new();
    if let Some(project) = query.project {
        scope.push(project_scope(&project.to_string()));
    }
    if let Some(session) = query.session {
        let n = number(db, session)?.ok_or(Error::UnknownSession { id: session })?;
        scope.push(session_scope(n));
    }
    match db {
        Db::Sqlite(_) => {
            let scope: String = scope.iter().map(|it| format!(" AND scope : {it}")).collect();
            Ok(Some(format!("text : ({}){scope}", expression(terms))))
        }
        Db::Postgres(session) => Ok(session.tokenizer()?.query(terms, &scope)?),
    }
}

/// The statement that finds hits with their sessions.
fn hits_sql(db: Db<'_>, filters: &str) -> String {
    let joined = match filters {
        "" => "",
        _ => {
            "CROSS JOIN messages AS m ON m.n = f.rowid \
             CROSS JOIN agent_sessions AS s ON s.n = m.session"
        }
    };
    let matches = match db {
        Db::Sqlite(_) => "message_search MATCH ?1",
        Db::Postgres(_) => "f.vector @@ CAST(CAST(?1 AS TEXT) AS tsquery)",
    };
    // The cross joins fix the order: from a hit to its message to its session. The planner's own is far slower. What is
    // only shown is joined after the limit.
    format!(
        "SELECT hit.n, s.id, m.id, m.seq, m.role, m.created_at, m.content, s.agent_session_id,
             s.title, s.agent, s.project_id, p.name, s.archived
         FROM (
             SELECT f.rowid AS n FROM message_search AS f {joined}
             WHERE {matches} AND f.rowid < ?2 {filters}
             ORDER BY f.rowid DESC LIMIT ?3
         ) AS hit
         CROSS JOIN messages AS m ON m.n = hit.n
         CROSS JOIN agent_sessions AS s ON s.n = m.session
         CROSS JOIN projects AS p ON p.id = s.project_id
         ORDER BY hit.n DESC"
    )
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
