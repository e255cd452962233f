//! Questions to teams of a session that belongs to no team.
//!
//! All such sessions, and the callers from outside, share one conversation with a team. An agent reads and cancels only
//! what its own session has asked there.

use convoke_api::bodies::{CancelTurn, ReportStatus, TeamReport, TeamSession};
use convoke_core::id::MessageId;
use convoke_core::session::QueueChoice;
use convoke_core::team::{Pair, TeamName};
use convoke_engine::{Asker, WhichQuestion};
use serde_json::Value;

use super::backend::CallError;
use super::engine::{EngineBackend, McpCaller};
use crate::nodes::request_elsewhere;
use crate::view::teams as view;

impl EngineBackend {
    /// The questions that the caller may read and cancel, oldest first; `None` if it may all of this conversation.
    pub(super) fn own_questions(&self, caller: &McpCaller, pair: &Pair) -> Option<Vec<MessageId>> {
        match (&caller.asker, &pair.from) {
            (Asker::Session(session), None) => Some(self.engine.teams().asked_by(*session, pair)),
            (Asker::Session(_), Some(_)) | (Asker::Outside { .. }, _) => None,
        }
    }

    /// A question and its answer, from the node that has the team.
    pub(super) async fn report(
        &self,
        pair: &Pair,
        which: WhichQuestion,
    ) -> Result<TeamReport, CallError> {
        let Some(node) = self.engine.teams().node_of(&pair.to).await? else {
            return Ok(view::report(self.engine.teams().report(pair, which).await?));
        };
        let message = match which {
            WhichQuestion::Message(id) => Some(id.to_string()),
            WhichQuestion::Last | WhichQuestion::At(_) => None,
        };
        let from = pair.from.as_ref().map(TeamName::as_str);
        let of = [("from", from), ("thread", pair.thread.as_deref())];
        let of = of.into_iter().chain([("messageId", message.as_deref())]);
        let query: Vec<String> = of.filter_map(|(name, value)| Some(part(name, value?))).collect();
        let uri = format!("/api/teams/{}/report?{}", pair.to, query.join("&"));
        Ok(request_elsewhere(&self.app, node, "GET", uri, String::new()).await?)
    }

    /// Cancels the running question of a conversation if it is one of these. The questions of others stay queued.
    pub(super) async fn cancel_own(
        &self,
        pair: &Pair,
        own: &[MessageId],
    ) -> Result<TeamSession, CallError> {
        // One conversation answers in order, so all before an ended question have ended.
        for id in own.iter().rev() {
            // One that was not accepted is in no log.
            let Ok(report) = self.report(pair, WhichQuestion::Message(*id)).await else { continue };
            match report.status {
                ReportStatus::Queued => {}
                ReportStatus::Working => return self.cancel_running(pair, report).await,
                ReportStatus::Answered | ReportStatus::Failed | ReportStatus::Unasked => break,
            }
        }
        Err(CallError::Message(format!(
            "the team {} works on no question of this session; a queued one can be cancelled when its turn has come",
            pair.to
        )))
    }

    async fn cancel_running(
        &self,
        pair: &Pair,
        report: TeamReport,
    ) -> Result<TeamSession, CallError> {
        let session = report.session_id;
        match self.engine.teams().node_of(&pair.to).await? {
            None => {
                self.engine.sessions().cancel_turn(session, QueueChoice::Send).await?;
            }
            Some(node) => {
                let uri = format!("/api/sessions/{session}/cancel");
                let body = CancelTurn { queue: Some(QueueChoice::Send) };
                let body = serde_json::to_string(&body).unwrap_or_default();
                request_elsewhere::<Value>(&self.app, node, "POST", uri, body).await?;
            }
        }
        Ok(view::session(self.engine.teams().find_pair(&session.to_string()).await?))
    }
}

/// The last question of a session, or the one with this id if it is one of its own.
pub(super) fn own_question(
    pair: &Pair,
    own: &[MessageId],
    wanted: Option<MessageId>,
) -> Result<MessageId, CallError> {
    let found = match wanted {
        Some(wanted) => own.iter().rev().find(|id| **id == wanted),
        None => own.last(),
    };
    let what = if wanted.is_some() { "this question" } else { "anything" };
    found.copied().ok_or_else(|| {
        CallError::Message(format!(
            "this session has not asked the team {} {what} since the daemon started",
            pair.to
        ))
    })
}

/// A part of a query.
fn part(name: &str, value: &str) -> String {
    let value = percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC);
    format!("{name}={value}")
}
