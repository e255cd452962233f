//! Query parameters of lists, and their encoding.

use convoke_core::session::Status;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Which sessions to list; the defaults are the server's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionQuery {
    /// Those of one project.
    pub repo_id: Option<String>,
    /// Those with one of these statuses; none means all.
    pub statuses: Vec<Status>,
    /// Only archived ones, or only the others.
    pub archived: Option<bool>,
    /// How many at most.
    pub limit: Option<u64>,
    /// How many to skip.
    pub offset: Option<u64>,
}

/// The words to search for, and filters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words.
    pub text: String,
    /// In the sessions of one project.
    pub repo_id: Option<String>,
    /// In one session.
    pub session_id: Option<String>,
    /// In the sessions of one agent.
    pub agent: Option<String>,
    /// Said by `user`, `agent` or `system`.
    pub role: Option<String>,
    /// Begun at this date or time, or later.
    pub since: Option<String>,
    /// Begun before this time, or until the end of this date.
    pub until: Option<String>,
    /// `newest` first, or `best`.
    pub order: Option<String>,
    /// After this, the `next` of the page before.
    pub before: Option<u64>,
    /// How many at most.
    pub limit: Option<u64>,
}

impl SessionQuery {
    pub(super) fn encoded(&self) -> String {
        let statuses: Vec<&str> = self.statuses.iter().map(|status| status.as_str()).collect();
        let statuses = (!statuses.is_empty()).then(|| statuses.join(","));
        query(&[
            ("repoId", self.repo_id.clone()),
            ("status", statuses),
            ("archived", self.archived.map(|only| only.to_string())),
            ("limit", self.limit.map(|limit| limit.to_string())),
            ("offset", self.offset.map(|offset| offset.to_string())),
        ])
    }
}

impl SearchQuery {
    pub(super) fn encoded(&self) -> String {
        query(&[
            ("q", Some(self.text.clone())),
            ("repoId", self.repo_id.clone()),
            ("sessionId", self.session_id.clone()),
            ("agent", self.agent.clone()),
            ("role", self.role.clone()),
            ("since", self.since.clone()),
            ("until", self.until.clone()),
            ("order", self.order.clone()),
            ("before", self.before.map(|before| before.to_string())),
            ("limit", self.limit.map(|limit| limit.to_string())),
        ])
    }
}

/// The query string of the fields that are set, or nothing.
pub(super) fn query(fields: &[(&str, Option<String>)]) -> String {
    let mut text = String::new();
    for (name, value) in fields {
        if let Some(value) = value {
            text.push(if text.is_empty() { '?' } else { '&' });
            text.push_str(name);
            text.push('=');
            text.push_str(&segment(value));
        }
    }
    text
}

/// All but the characters that RFC 3986 calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as part of a path or a query.
pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_encoded() {
        let sessions = SessionQuery {
            repo_id: Some("a b&c".to_owned()),
            statuses: vec![Status::Active, Status::Error],
            archived: Some(true),
            limit: Some(5),
            offset: Some(10),
        };
        let search =
            SearchQuery { text: "what? 100% #1 + ü/ö".to_owned(), ..SearchQuery::default() };
        insta::assert_snapshot!(
            [
                sessions.encoded(),
                SessionQuery::default().encoded(),
                search.encoded(),
                segment("claude-code:ses/1"),
            ].join("\n"), @r"
        ?repoId=a%20b%26c&status=active%2Cerror&archived=true&limit=5&offset=10

        ?q=what%3F%20100%25%20%231%20%2B%20%C3%BC%2F%C3%B6
        claude-code%3Ases%2F1
        ");
    }
}
