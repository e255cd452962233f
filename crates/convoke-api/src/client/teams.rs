//! The calls about teams. A call that waits for an answer has no timeout.

use std::time::Duration;

use convoke_core::id::MessageId;
use convoke_core::message::Seq;
use convoke_core::team::PairStatus;
use convoke_core::time::Timestamp;
use hyper::Method;

use super::query::{query, segment};
use super::{Call, Client};
use crate::bodies::{
    Compacted, StoppedAgents, TeamAnswer, TeamCancel, TeamMessage, TeamQuestion, TeamReport,
    TeamSession, TeamSessions, TeamStats, TeamStatus, Teams,
};
use crate::error::Result;

/// In effect no timeout, but still a duration that clocks can add.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// Which conversations of teams to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamSessionQuery {
    /// Those of one asker.
    pub from: Option<String>,
    /// Only those of external callers.
    pub external: Option<bool>,
    /// Those with one answering team.
    pub to: Option<String>,
    /// Those with this status.
    pub status: Option<PairStatus>,
    /// Those created later than this.
    pub created_after: Option<Timestamp>,
    /// Those used later than this.
    pub used_after: Option<Timestamp>,
    /// How many at most.
    pub limit: Option<u64>,
}

/// Which question to report on; the last one, by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamReportQuery {
    /// The team that asked.
    pub from: Option<String>,
    /// The thread.
    pub thread: Option<String>,
    /// The question's seq in its session.
    pub seq: Option<Seq>,
    /// The question's id.
    pub message_id: Option<MessageId>,
}

impl TeamSessionQuery {
    fn encoded(&self) -> String {
        query(&[
            ("from", self.from.clone()),
            ("external", self.external.map(|only| only.to_string())),
            ("to", self.to.clone()),
            ("status", self.status.map(|status| status.as_str().to_owned())),
            ("createdAfter", self.created_after.map(|time| time.to_string())),
            ("usedAfter", self.used_after.map(|time| time.to_string())),
            ("limit", self.limit.map(|limit| limit.to_string())),
        ])
    }
}

impl TeamReportQuery {
    fn encoded(&self) -> String {
        query(&[
            ("from", self.from.clone()),
            ("thread", self.thread.clone()),
            ("seq", self.seq.map(|seq| seq.to_string())),
            ("messageId", self.message_id.map(|id| id.to_string())),
        ])
    }
}

impl Client {
    /// All teams.
    pub async fn teams(&self) -> Result<Teams> {
        self.fetch(Call::get("/api/teams")).await
    }

    /// Reloads the teams' file.
    pub async fn reload_teams(&self) -> Result<Teams> {
        self.fetch(Call::post("/api/teams/reload").lasting()).await
    }

    /// A page of conversations of teams, most recently used first.
    pub async fn team_sessions(&self, query: &TeamSessionQuery) -> Result<TeamSessions> {
        self.fetch(Call::get(format!("/api/teams/sessions{}", query.encoded()))).await
    }

    /// Counts the conversations of teams.
    pub async fn team_stats(&self) -> Result<TeamStats> {
        self.fetch(Call::get("/api/teams/stats")).await
    }

    /// The status of a team.
    pub async fn team_status(&self, team: &str) -> Result<TeamStatus> {
        self.fetch(Call::get(team_path(team, "/status"))).await
    }

    /// Asks a team.
    pub async fn ask_team(&self, team: &str, question: &TeamQuestion) -> Result<TeamAnswer> {
        self.fetch(Call::post(team_path(team, "/ask")).json(question).lasting()).await
    }

    /// Sends a team a message.
    pub async fn send_to_team(&self, team: &str, message: &TeamMessage) -> Result<TeamAnswer> {
        self.fetch(Call::post(team_path(team, "/send")).json(message).lasting()).await
    }

    /// The answer to a question, or its status.
    pub async fn team_report(&self, team: &str, query: &TeamReportQuery) -> Result<TeamReport> {
        self.fetch(Call::get(team_path(team, "/report") + &query.encoded())).await
    }

    /// Cancels the questions of a caller to a team.
    pub async fn cancel_team(&self, team: &str, cancel: &TeamCancel) -> Result<TeamSession> {
        self.fetch(Call::post(team_path(team, "/cancel")).json(cancel)).await
    }

    /// Stops the idle processes of a team.
    pub async fn sleep_team(&self, team: &str) -> Result<StoppedAgents> {
        self.fetch(Call::post(team_path(team, "/sleep")).patient()).await
    }

    /// Starts the process of a team.
    pub async fn wake_team(&self, team: &str) -> Result<TeamSession> {
        self.fetch(Call::post(team_path(team, "/wake")).lasting()).await
    }

    /// Compacts a conversation of teams.
    pub async fn compact_team_session(&self, id: &str) -> Result<Compacted> {
        let path = format!("/api/teams/sessions/{}/compact", segment(id));
        self.fetch(Call::post(path).lasting()).await
    }

    /// Deletes a conversation of teams; the agent's own file is kept.
    pub async fn delete_team_session(&self, id: &str) -> Result<TeamSession> {
        let path = format!("/api/teams/sessions/{}", segment(id));
        self.fetch(Call::new(Method::DELETE, path).patient()).await
    }

    /// Deletes a conversation of teams, and the agent's own file.
    pub async fn delete_team_session_with_file(&self, id: &str) -> Result<TeamSession> {
        let path = format!("/api/teams/sessions/{}?withFile=true", segment(id));
        self.fetch(Call::new(Method::DELETE, path).patient()).await
    }

    /// Cancels all turns and stops all agent processes.
    pub async fn stop_agents(&self) -> Result<StoppedAgents> {
        self.fetch(Call::post("/api/agents/stop").patient()).await
    }
}

impl Call {
    /// Removes the timeout.
    fn lasting(self) -> Self {
        Self { timeout: FOR_EVER, ..self }
    }
}

fn team_path(team: &str, rest: &str) -> String {
    format!("/api/teams/{}{rest}", segment(team))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t5_queries_are_encoded() {
        let sessions = TeamSessionQuery {
            from: Some("a b".to_owned()),
            external: Some(true),
            to: Some("backend".to_owned()),
            status: Some(PairStatus::CompactPending),
            created_after: Some(Timestamp::from_millis(0)),
            used_after: None,
            limit: Some(5),
        };
        let report = TeamReportQuery {
            from: None,
            thread: Some("api".to_owned()),
            seq: Some(Seq::new(7)),
            message_id: None,
        };
        insta::assert_snapshot!([sessions.encoded(), report.encoded()].join("\n"), @r"
        ?from=a%20b&external=true&to=backend&status=compact_pending&createdAfter=1970-01-01T00%3A00%3A00.000Z&limit=5
        ?thread=api&seq=7
        ");
    }
}
