//! `convoke questions show`: one session in full.

use convoke_api::mcp::text;
use convoke_core::id::RequestId;
use convoke_core::question::{Answer, Question};
use convoke_core::time::{Timestamp, relative};
use convoke_files::questions::{Outcome, Set, Status};
use serde::Serialize;

use crate::asking::Asking;
use crate::clock;
use crate::output::{Output, plain};

/// A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    session_id: RequestId,
    status: Status,
    created_at: Timestamp,
    last_modified: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    working_directory: Option<String>,
    rejection_reason: Option<String>,
    questions: Vec<Question>,
    answers: Option<Vec<Answer>>,
}

pub(super) fn run(asking: &Asking, id: &str, output: &Output) -> anyhow::Result<()> {
    let id = asking.questions.find(id)?;
    let Set { request, status, answers } = asking.questions.show(id)?;
    let shown = Shown {
        session_id: id,
        status: status.status,
        created_at: status.created_at,
        last_modified: status.last_modified,
        call_id: request.call_id,
        asked_by: request.asked_by,
        working_directory: request.working_directory,
        rejection_reason: status.rejection_reason,
        questions: request.questions,
        answers: answers.as_ref().map(|file| file.answers.clone()),
    };
    let outcome = answers.map(Outcome::Answered);
    output.show(&shown, |shown, _| plain(&human(shown, outcome)))
}

fn human(shown: &Shown, outcome: Option<Outcome>) -> String {
    let asked = match relative(shown.created_at, clock::now()).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    };
    let mut text = format!("{}  {}, asked {asked}", shown.session_id, shown.status);
    if let Some(name) = &shown.asked_by {
        text += &format!(" by {name}");
    }
    if let Some(folder) = &shown.working_directory {
        text += &format!(" in {folder}");
    }
    text += "\n";
    for (index, question) in shown.questions.iter().enumerate() {
        text += &format!("\n{}. {}\n", index + 1, question.prompt);
        for option in &question.options {
            let mark = if question.multi_select { "[ ]" } else { "( )" };
            let description = option.description.as_deref().unwrap_or_default();
            let dash = if description.is_empty() { "" } else { " — " };
            text += &format!("   {mark} {}{dash}{description}\n", option.label);
        }
    }
    let answers = outcome.and_then(|outcome| {
        text::outcome(shown.session_id, &shown.questions, &outcome.into_state()).ok()
    });
    if let Some((_, answers)) = answers.as_deref().and_then(|text| text.split_once("\n\n")) {
        text += &format!("\n{answers}\n");
    }
    if let Some(reason) = &shown.rejection_reason {
        text += &format!("\nRejected: {reason}\n");
    }
    text
}
