//! The tools with which agents ask other teams: their parameters, and the texts that agents read.
//!
//! Only an answer is returned as plain text. Everything else begins with a header that names the team and a status.

use convoke_core::count::counted;
use convoke_core::id::MessageId;
use convoke_core::team::AnswerStatus;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Tool;
use crate::bodies::{
    ReportStatus, Team, TeamAnswer, TeamQuestion, TeamReport, TeamSession, TeamStatus,
};

/// Instructions that clients may show an agent.
pub const INSTRUCTIONS: &str = "Ask other teams about their projects with teams_ask; teams_list lists them. A result that starts with [Team: is a status, not an answer.";

/// Asks a team.
pub const TEAMS_ASK: &str = "teams_ask";
/// Sends a team a message.
pub const TEAMS_SEND: &str = "teams_send_message";
/// Lists the teams.
pub const TEAMS_LIST: &str = "teams_list";
/// Shows the status of teams.
pub const TEAMS_STATUS: &str = "teams_status";
/// Shows the answer to a question, or its status.
pub const TEAMS_REPORT: &str = "teams_report";
/// Cancels the questions to a team.
pub const TEAMS_CANCEL: &str = "teams_cancel";

/// Characters of an id in headers.
const SHORT: usize = 8;
/// The start of every header; an answer that begins like this gets a header, too.
const HEADER: &str = "[Team: ";

/// The parameters of `teams_ask`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskTeam {
    /// The team to ask.
    pub team: String,
    /// The question.
    pub question: String,
    /// The asking team.
    #[serde(default)]
    pub from_team: Option<String>,
    /// The thread.
    #[serde(default)]
    pub thread: Option<String>,
    /// How long to wait, in milliseconds.
    #[serde(default)]
    pub timeout: Option<i64>,
}

/// The parameters of `teams_send_message`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendToTeam {
    /// The receiving team.
    pub to_team: String,
    /// The message.
    pub message: String,
    /// The sending team.
    #[serde(default)]
    pub from_team: Option<String>,
    /// The thread.
    #[serde(default)]
    pub thread: Option<String>,
    /// Whether to wait for the answer.
    #[serde(default)]
    pub wait_for_response: Option<bool>,
    /// How long to wait, in milliseconds.
    #[serde(default)]
    pub timeout: Option<i64>,
}

/// The parameters of `teams_list`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListTeams {}

/// The parameters of `teams_status`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusOfTeam {
    /// Only this team.
    #[serde(default)]
    pub team: Option<String>,
}

/// The parameters of `teams_report`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportOfTeam {
    /// The team that was asked.
    pub team: String,
    /// The asking team.
    #[serde(default)]
    pub from_team: Option<String>,
    /// The thread.
    #[serde(default)]
    pub thread: Option<String>,
    /// The question's id.
    #[serde(default)]
    pub message_id: Option<MessageId>,
}

/// The parameters of `teams_cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelTeam {
    /// The team that was asked.
    pub team: String,
    /// The asking team.
    #[serde(default)]
    pub from_team: Option<String>,
    /// The thread.
    #[serde(default)]
    pub thread: Option<String>,
}

impl From<AskTeam> for (String, TeamQuestion) {
    fn from(ask: AskTeam) -> Self {
        let AskTeam { team, question, from_team, thread, timeout } = ask;
        (team, TeamQuestion { question, from_team, thread, timeout })
    }
}

impl From<SendToTeam> for (String, TeamQuestion) {
    fn from(send: SendToTeam) -> Self {
        let SendToTeam { to_team, message, from_team, thread, wait_for_response, timeout } = send;
        let timeout = if wait_for_response == Some(false) { Some(-1) } else { timeout };
        (to_team, TeamQuestion { question: message, from_team, thread, timeout })
    }
}

/// Whether a tool is read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// It changes nothing.
    ReadOnly,
    /// It has effects.
    Acting,
}

/// All tools about teams.
#[expect(clippy::too_many_lines, reason = "a table: one entry a tool")]
pub fn team_tools() -> Vec<(Tool, ToolKind)> {
    let team = ("team", json!({"type": "string", "minLength": 1, "description": "The team."}));
    let from = (
        "fromTeam",
        json!({"type": "string", "description":
        "The team that you speak for. Leave it out in a session that Convoke started."}),
    );
    let thread = (
        "thread",
        json!({"type": "string", "description":
        "A named conversation beside the main one."}),
    );
    let timeout = (
        "timeout",
        json!({"type": "integer", "minimum": -1, "description":
        "Milliseconds to wait. 0, the default, waits without limit; -1 returns at once. The team keeps working in any case; fetch a late answer with teams_report."}),
    );
    let words =
        |description: &str| json!({"type": "string", "minLength": 1, "description": description});
    let question = ("question", words("The question, with all the context that the team needs."));
    let message = ("message", words("The message."));
    let to = ("toTeam", json!({"type": "string", "minLength": 1, "description": "The team."}));
    let wait = (
        "waitForResponse",
        json!({"type": "boolean", "default": true, "description":
        "Whether to wait for the answer."}),
    );
    let message_id = (
        "messageId",
        json!({"type": "string", "format": "uuid", "description":
        "The messageId that was returned for the question; the last question, if left out."}),
    );
    let asked = [team.clone(), question, from.clone(), thread.clone(), timeout.clone()];
    let sent = [to, message, from.clone(), thread.clone(), wait, timeout];
    let pair = [team.clone(), from, thread];
    let [reported, cancelled] = [pair.iter().cloned().chain([message_id]).collect(), pair.to_vec()];
    vec![
        (
            tool(
                TEAMS_ASK,
                "Ask a team",
                "Ask another team's agent, which works in its own project \
                and remembers what you asked before. Returns its whole answer, or a status that starts with [Team: …].",
                &asked,
                &["team", "question"],
            ),
            ToolKind::Acting,
        ),
        (
            tool(
                TEAMS_SEND,
                "Tell a team",
                "Send another team's agent a message, and wait for its answer unless waitForResponse is false.",
                &sent,
                &["toTeam", "message"],
            ),
            ToolKind::Acting,
        ),
        (
            tool(
                TEAMS_LIST,
                "List the teams",
                "List the teams that can be asked, and what they are \
                for.",
                &[],
                &[],
            ),
            ToolKind::ReadOnly,
        ),
        (
            tool(
                TEAMS_STATUS,
                "Show team status",
                "Show what a team, or every team, is working on and how many questions wait.",
                &[team],
                &[],
            ),
            ToolKind::ReadOnly,
        ),
        (
            tool(
                TEAMS_REPORT,
                "Fetch a team's answer",
                "Fetch the answer to a question that you asked before, or its status.",
                &reported,
                &["team"],
            ),
            ToolKind::ReadOnly,
        ),
        (
            tool(
                TEAMS_CANCEL,
                "Stop a team",
                "Cancel your running and queued questions to a team.",
                &cancelled,
                &["team"],
            ),
            ToolKind::Acting,
        ),
    ]
}

fn tool(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    properties: &[(&str, Value)],
    required: &[&str],
) -> Tool {
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    Tool { name, title, description, schema }
}

/// What the agent reads, and whether it is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolText {
    /// A result.
    Result(String),
    /// An error.
    Failure(String),
}

/// The answer to a question, or its status.
pub fn answer(answer: &TeamAnswer) -> ToolText {
    let head = header(answer.team.as_str(), answer.status.as_str(), session_of(answer));
    let said = answer.response.trim_end();
    match answer.status {
        AnswerStatus::Answered => ToolText::Result(whole(&head, &answer.response)),
        AnswerStatus::Queued => {
            let place = match answer.queued.unwrap_or_default() {
                0 => "The team is working on it.".to_owned(),
                1 => "One question is ahead of it.".to_owned(),
                count => format!("{count} questions are ahead of it."),
            };
            ToolText::Result(format!("{head}\n\nNo answer yet. {place} {}", fetch(answer)))
        }
        AnswerStatus::TimedOut => {
            let waited = seconds(answer.duration_ms);
            let so_far = said_so_far(said);
            ToolText::Result(format!(
                "{head}\n\nNo answer within {waited} s. The team is still working on it; do not ask again. {}{so_far}",
                fetch(answer)
            ))
        }
        AnswerStatus::Failed => {
            let error = answer.error.as_deref().unwrap_or("The team did not answer.");
            ToolText::Failure(format!("{head}\n\n{error}{}", said_so_far(said)))
        }
    }
}

/// The current state of a question.
pub fn report(report: &TeamReport) -> ToolText {
    let session = report.session_id.to_string();
    let head = header(report.team.as_str(), report.status.as_str(), Some(session));
    let said = said_so_far(report.response.trim_end());
    let text = match report.status {
        ReportStatus::Answered => return ToolText::Result(whole(&head, &report.response)),
        ReportStatus::Failed => {
            let error = report.error.as_deref().unwrap_or("The team did not answer.");
            return ToolText::Failure(format!("{head}\n\n{error}{said}"));
        }
        ReportStatus::Working => {
            format!("The team is still working on it. Fetch the answer later.{said}")
        }
        ReportStatus::Queued => {
            let place = report.queued.unwrap_or_default();
            format!("It is queued, with {place} ahead of it. Fetch the answer later.")
        }
        ReportStatus::Unasked => "You have not asked this team anything yet.".to_owned(),
    };
    ToolText::Result(format!("{head}\n\n{text}"))
}

/// The teams in a list.
pub fn list(teams: &[Team]) -> String {
    if teams.is_empty() {
        return "There are no teams. They are configured in teams.json in Convoke's home."
            .to_owned();
    }
    let line = |team: &Team| {
        let description = team.description.as_deref().map(|it| format!(": {it}"));
        format!("- {}{} ({})", team.name, description.unwrap_or_default(), team.agent)
    };
    teams.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The status of teams.
pub fn statuses(statuses: &[TeamStatus]) -> String {
    if statuses.is_empty() {
        return list(&[]);
    }
    statuses.iter().map(status).collect::<Vec<_>>().join("\n\n")
}

fn status(status: &TeamStatus) -> String {
    let team = &status.team;
    let mut text = format!(
        "{}: {} of {} busy, {} waiting",
        team.name,
        team.busy,
        counted(team.sessions, "conversation"),
        counted(team.queued, "question")
    );
    for now in &status.sessions {
        let from = now.session.from_team.as_ref().map_or("external", |from| from.as_str());
        let thread = now.session.thread.as_deref().map(|it| format!(" #{it}")).unwrap_or_default();
        text.push_str(&format!(
            "\n- from {from}{thread}: {}, {}, {}",
            now.session.status.as_str(),
            now.activity,
            counted(now.session.message_count, "message")
        ));
    }
    text
}

/// The confirmation of a cancellation.
pub fn cancelled(session: &TeamSession) -> String {
    let head = header(session.to_team.as_str(), "cancelled", Some(session.session_id.to_string()));
    format!("{head}\n\nThe team was asked to stop. Callers that wait for the answer are notified.")
}

fn header(team: &str, status: &str, session: Option<String>) -> String {
    let session = session.map_or_else(|| "new".to_owned(), |id| id.chars().take(SHORT).collect());
    format!("{HEADER}{team} | Status: {status} | Session: {session}]")
}

fn session_of(answer: &TeamAnswer) -> Option<String> {
    answer.session_id.map(|id| id.to_string())
}

/// An answer as it is, unless it could be mistaken for a header.
fn whole(head: &str, said: &str) -> String {
    if said.trim().is_empty() {
        return format!("{head}\n\nThe team gave an empty answer.");
    }
    if said.trim_start().starts_with(HEADER) {
        return format!("{head}\n\n{said}");
    }
    said.to_owned()
}

fn said_so_far(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("\n\nAnswer so far:\n\n{said}") }
}

/// How to fetch a late answer.
fn fetch(answer: &TeamAnswer) -> String {
    let mut wanted = vec![format!("team \"{}\"", answer.team)];
    wanted.extend(answer.from_team.as_ref().map(|from| format!("fromTeam \"{from}\"")));
    wanted.extend(answer.thread.as_ref().map(|thread| format!("thread \"{thread}\"")));
    wanted.extend(answer.message_id.map(|id| format!("messageId \"{id}\"")));
    format!("Fetch the answer later with teams_report: {}.", wanted.join(", "))
}

fn seconds(millis: u64) -> String {
    let text = format!("{:.1}", millis as f64 / 1000.0);
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests;
