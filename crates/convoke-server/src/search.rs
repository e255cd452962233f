//! Searching what was said: words and filters, for REST and for the WebSocket.

use convoke_api::bodies::{Fragment, Hit, HitSession, Hits};
use convoke_core::id::{CanonicalId, ProjectId};
use convoke_core::message::Role;
use convoke_core::time::Timestamp;
use convoke_core::title::UNTITLED;
use convoke_engine::{Error, HitPlace, SearchOrder, SearchQuery};

use crate::app::App;
use crate::failure::Failure;
use crate::rest::find_session;

/// Hits in a page, by default.
const LIMIT: u32 = 20;
/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The filters that may stand among the words.
const FILTERS: [&str; 6] = ["agent", "project", "role", "since", "until", "order"];

/// The words and filters of a search. The fields override filters in the text.
#[derive(Debug, Default)]
pub(crate) struct SearchRequest {
    /// Words, and filters such as `agent:codex`.
    pub(crate) text: String,
    pub(crate) project: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) role: Option<String>,
    pub(crate) since: Option<String>,
    pub(crate) until: Option<String>,
    pub(crate) order: Option<String>,
    pub(crate) before: Option<u64>,
    pub(crate) limit: Option<u32>,
}

/// Searches; the newest hits first, unless the best are wanted.
pub(crate) async fn search(app: &App, wanted: SearchRequest) -> Result<Hits, Failure> {
    let SearchRequest { text, project, session, agent, role, since, until, order, before, limit } =
        wanted;
    let written = Written::parse(&text);
    let project = match (project, written.filter("project")) {
        (Some(text), _) => Some(app.engine.projects().find(&text).await?),
        (None, Some(name)) => Some(project_called(app, name).await?),
        (None, None) => None,
    };
    let session = match session {
        Some(text) => Some(find_session(app, &text).await?),
        None => None,
    };
    let agent = agent.as_deref().or_else(|| written.filter("agent"));
    let role = role.as_deref().or_else(|| written.filter("role"));
    let since = since.as_deref().or_else(|| written.filter("since"));
    let until = until.as_deref().or_else(|| written.filter("until"));
    let order = order.as_deref().or_else(|| written.filter("order"));
    let query = SearchQuery {
        project,
        session,
        agent: agent.map(str::parse).transpose().map_err(Error::Invalid)?,
        role: role.map(role_called).transpose()?,
        since: since.map(|text| time("since", text, Day::Begins)).transpose()?,
        until: until.map(|text| time("until", text, Day::Ends)).transpose()?,
        order: order.map(order_called).transpose()?.unwrap_or_default(),
        text: written.words,
    };
    let limit = limit.unwrap_or(LIMIT);
    let page = app.engine.sessions().search(query, before.map(HitPlace::new), limit).await?;
    let hits = page.hits.into_iter().map(hit).collect();
    Ok(Hits { hits, next: page.next.map(HitPlace::get), incomplete: page.incomplete })
}

/// The text of a search field, parsed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Written {
    words: String,
    filters: Vec<(&'static str, String)>,
}

impl Written {
    /// Separates filters from words. A value with spaces is quoted: `project:"my app"`.
    fn parse(text: &str) -> Self {
        let mut written = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let filter = rest.split_once(':').and_then(|(name, value)| {
                let known = FILTERS.into_iter().find(|known| known.eq_ignore_ascii_case(name))?;
                Some((known, value))
            });
            let after = match filter {
                Some((name, quoted)) if quoted.starts_with('"') => {
                    let quoted = quoted.get(1..).unwrap_or_default();
                    let (value, after) = quoted.split_once('"').unwrap_or((quoted, ""));
                    written.filters.push((name, value.to_owned()));
                    after
                }
                Some((name, value)) => {
                    let (value, after) = value.split_at(word_end(value));
                    if !value.is_empty() {
                        written.filters.push((name, value.to_owned()));
                    }
                    after
                }
                None => {
                    let (word, after) = rest.split_at(word_end(rest));
                    written.words.push_str(word);
                    written.words.push(' ');
                    after
                }
            };
            rest = after.trim_start();
        }
        written.words.truncate(written.words.trim_end().len());
        written
    }

    /// The last value of a filter.
    fn filter(&self, name: &str) -> Option<&str> {
        self.filters.iter().rfind(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

fn word_end(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// The project with this name, or with this id or a prefix of it.
async fn project_called(app: &App, name: &str) -> Result<ProjectId, Failure> {
    let mut called = app.engine.projects().list().await?;
    called.retain(|project| project.name.to_lowercase() == name.to_lowercase());
    match called.as_slice() {
        [] => Ok(app.engine.projects().find(name).await?),
        [project] => Ok(project.id),
        several => {
            let candidates = several.iter().map(|project| project.id.to_string()).collect();
            Err(Error::Ambiguous { prefix: name.to_owned(), candidates }.into())
        }
    }
}

fn role_called(word: &str) -> Result<Role, Failure> {
    match word {
        "user" => Ok(Role::User),
        "agent" => Ok(Role::Agent),
        "system" => Ok(Role::System),
        other => Err(Failure::invalid(format!("role: `{other}` is not user, agent or system"))),
    }
}

fn order_called(word: &str) -> Result<SearchOrder, Failure> {
    match word {
        "newest" => Ok(SearchOrder::Newest),
        "best" => Ok(SearchOrder::Best),
        other => Err(Failure::invalid(format!("order: `{other}` is not newest or best"))),
    }
}

/// Which end of a day a date means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Day {
    Begins,
    Ends,
}

/// A date in UTC, such as `2026-11-15`, or a time in RFC 3339.
pub(crate) fn time(name: &str, text: &str, day: Day) -> Result<Timestamp, Failure> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let midnight: Timestamp = format!("{text}T00:00:00Z").parse().map_err(|_| {
        Failure::invalid(format!("{name}: `{text}` is neither a date nor a time"))
            .hint("write a date such as 2026-11-15, or a time such as 2026-11-15T10:45:00Z")
    })?;
    Ok(match day {
        Day::Begins => midnight,
        Day::Ends => Timestamp::from_millis(midnight.as_millis() + DAY_MS),
    })
}

fn hit(hit: convoke_engine::Hit) -> Hit {
    let session = hit.session;
    let canonical = session.agent_session_id.map(|agent_session| {
        CanonicalId { agent: session.agent.clone(), agent_session }.to_string()
    });
    Hit {
        session_id: session.id,
        session: HitSession {
            id: canonical.unwrap_or_else(|| session.id.to_string()),
            uid: session.id,
            title: session.title.unwrap_or_else(|| UNTITLED.to_owned()),
            agent: session.agent,
            project_id: session.project_id,
            project: session.project,
            archived: session.archived,
        },
        message_id: hit.message_id,
        seq: hit.seq,
        role: hit.role,
        timestamp: hit.timestamp,
        excerpt: hit.excerpt.into_iter().map(fragment).collect(),
    }
}

fn fragment(fragment: convoke_engine::Fragment) -> Fragment {
    Fragment { text: fragment.text, matched: fragment.matched }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p7_filters_are_told_from_words() {
        let read = |text: &str| {
            let Written { words, filters } = Written::parse(text);
            let filters: Vec<String> =
                filters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{words:?} {}", filters.join(" ")).trim_end().to_owned()
        };
        let lines = [
            "roof",
            "agent:codex mend the  roof",
            "mend project:\"my app\" roof",
            "Role:user since:2026-11-01 until:2026-11-15T10:00:00Z x",
            "http://example.com a:b fn:x",
            "agent: roof",
            "project:\"open end",
            "agent:a agent:b",
            "",
        ]
        .map(read);
        insta::assert_snapshot!(lines.join("\n"), @r#"
        "roof"
        "mend the roof" agent=codex
        "mend roof" project=my app
        "x" role=user since=2026-11-01 until=2026-11-15T10:00:00Z
        "http://example.com a:b fn:x"
        "roof"
        "" project=open end
        "" agent=a agent=b
        ""
        "#);
    }

    #[test]
    fn p7_a_date_is_a_whole_day_in_utc() {
        let told = |text: &str, day| {
            time("until", text, day)
                .map_or_else(|failure| failure.message().0.to_owned(), |time| time.to_string())
        };
        let lines = [
            told("2026-11-15", Day::Begins),
            told("2026-11-15", Day::Ends),
            told("2026-11-15T10:00:00+01:00", Day::Ends),
            told("yesterday", Day::Ends),
            told("2026-13-01", Day::Begins),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        2026-11-15T00:00:00.000Z
        2026-11-16T00:00:00.000Z
        2026-11-15T09:00:00.000Z
        until: `yesterday` is neither a date nor a time
        until: `2026-13-01` is neither a date nor a time
        ");
    }
}
