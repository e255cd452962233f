//! Requests to the human, and their outcome.

use convoke_api::entry::{Permission, QuestionSet, Verdict};
use convoke_core::question::Answer;
use convoke_core::request::Status;
use convoke_core::user::UserName;
use ratatui::style::Style;
use ratatui::text::Span;

use crate::text::clean;
use crate::text::line_buffer::LineBuffer;

/// A permission.
pub(super) fn permission(line_buffer: &mut LineBuffer, permission: &Permission) {
    let palette = line_buffer.palette;
    let who = permission.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let (mark, words, style) = match permission.verdict() {
        None => ("◆ ", "needs your answer".to_owned(), palette.news()),
        Some(Verdict::Allowed(text)) => {
            ("✓ ", format!("{}{who}", clean::line(&text)), palette.good())
        }
        Some(Verdict::Denied(text)) => {
            let because = permission.reason.as_ref().map(|why| format!(": {why}"));
            let because = because.unwrap_or_default();
            ("✗ ", format!("{}{who}{because}", clean::line(&text)), palette.bad())
        }
        // The turn that asked is over, so an answer would have no effect.
        Some(Verdict::Unanswered(text)) => ("◇ ", text.to_owned(), palette.faint()),
    };
    line_buffer.text(mark, "  ", &permission.title, style, palette.strong());
    line_buffer.text("  ", "  ", &words, style, style);
}

/// A set of questions with its answers.
pub(super) fn questions(line_buffer: &mut LineBuffer, set: &QuestionSet) {
    let palette = line_buffer.palette;
    let (mark, words, style) =
        outcome(line_buffer, set.status, set.reason.as_deref(), set.by.as_ref());
    for (index, question) in set.questions.iter().enumerate() {
        let mark = if index == 0 { mark } else { "  " };
        line_buffer.text(mark, "  ", &question.prompt, style, palette.strong());
        let answers = set.answers.iter().flatten();
        for answer in answers.filter(|answer| answer.question_index == index) {
            let text = clean::block(&said(answer));
            line_buffer.row("  → ", "    ", palette.good(), &[Span::raw(text.replace('\n', " "))]);
        }
    }
    if set.status != Status::Answered || set.by.is_some() {
        line_buffer.text("  ", "  ", &words, style, style);
    }
}

fn outcome(
    line_buffer: &LineBuffer,
    status: Status,
    reason: Option<&str>,
    by: Option<&UserName>,
) -> (&'static str, String, Style) {
    let palette = line_buffer.palette;
    let who = by.map(|by| format!(" by {by}")).unwrap_or_default();
    let because = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    match status {
        Status::Pending => ("◆ ", "needs your answer".to_owned(), palette.news()),
        Status::Answered => ("✓ ", format!("answered{who}"), palette.good()),
        Status::Rejected => {
            let who = by.map_or("you", UserName::as_str);
            ("✗ ", format!("{who} declined{because}"), palette.bad())
        }
        Status::TimedOut => {
            ("◇ ", "timed out; it can still be answered".to_owned(), palette.news())
        }
        Status::Abandoned => {
            ("◇ ", "the asker has left; it can still be answered".to_owned(), palette.news())
        }
    }
}

fn said(answer: &Answer) -> String {
    let options = answer.selected_options.iter().flatten();
    let mut said: Vec<&str> =
        answer.selected_option.iter().chain(options).map(|it| &**it).collect();
    said.extend(answer.custom_text.as_deref());
    if said.is_empty() { "(No selection)".to_owned() } else { said.join(", ") }
}
