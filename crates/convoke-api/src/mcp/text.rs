//! The texts that askers read. A contract with agents, pinned by tests.

use convoke_core::id::{RequestId, short};
use convoke_core::question::{AnswerFault, Question, format_answers};
use convoke_core::request::{Answers, State};

/// The current state of questions.
pub fn outcome(
    id: RequestId,
    questions: &[Question],
    state: &State<Answers>,
) -> Result<String, AnswerFault> {
    let id = short(id);
    Ok(match state {
        State::Pending => format!("[Session: {id} | Status: pending]\n\nNo answers yet."),
        State::Answered(Answers { answers }) => {
            let answers = format_answers(questions, answers)?;
            format!("[Session: {id} | Questions: {}]\n\n{answers}", questions.len())
        }
        State::Rejected { reason } => {
            let reason = match reason {
                Some(reason) => format!("Rejection reason: \"{reason}\""),
                None => "No reason provided.".to_owned(),
            };
            format!(
                "[Session: {id} | Status: rejected]\n\nUser rejected this question set.\n\n{reason}"
            )
        }
        State::TimedOut => format!(
            "[Session: {id} | Status: timed_out]\n\nThe user did not answer in time. \
             The questions stay open; a late answer can still be fetched."
        ),
        State::Abandoned => format!(
            "[Session: {id} | Status: abandoned]\n\nThe call that asked has ended without an answer. \
             The questions stay open; a late answer can still be fetched."
        ),
    })
}

/// The questions are pending, and the call does not wait for the answers.
pub fn asked(id: RequestId, questions: &[Question]) -> String {
    format!(
        "[Session: {} | Questions: {} | Status: pending]\n\nThe questions are waiting for the user. \
         Fetch the answers with get_answered_questions and session_id \"{id}\".",
        short(id),
        questions.len()
    )
}
