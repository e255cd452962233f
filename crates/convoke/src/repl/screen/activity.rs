//! What an agent does besides talking, in one line each.

use std::collections::BTreeMap;

use convoke_core::content::{PlanStatus, PlanStep, ToolStatus};
use convoke_core::session::ToolUpdate;

/// The tool calls of a turn.
#[derive(Debug, Default)]
pub(super) struct Tools(BTreeMap<String, Call>);

/// What is known of one call.
#[derive(Debug, Default)]
struct Call {
    title: Option<String>,
    is_begun: bool,
    is_over: bool,
}

/// What is to be shown of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It runs.
    Begun { id: String, line: String },
    /// It ended: the mark to put behind its line, and a line of its own for when others came between.
    Ended { id: String, mark: String, line: String },
}

impl Tools {
    /// Takes note of an update, and tells what is to be shown in so many characters.
    pub(super) fn update(&mut self, update: &ToolUpdate, room: usize) -> Vec<Step> {
        let id = update.tool_call_id.clone();
        let call = self.0.entry(id.clone()).or_default();
        if call.is_over {
            return Vec::new();
        }
        if let Some(title) = update.title.as_ref().or(update.tool.as_ref()) {
            call.title = Some(title.clone());
        }
        let end = update.status.and_then(|status| mark(status, update));
        let title = match (&call.title, &end) {
            (Some(title), _) => short(title, room),
            (None, Some(_)) => "a tool".to_owned(),
            // Some agents tell later what it is that they called.
            (None, None) => return Vec::new(),
        };
        let mut steps = Vec::new();
        if !std::mem::replace(&mut call.is_begun, true) {
            steps.push(Step::Begun { id: id.clone(), line: format!("● {title}") });
        }
        if let Some(mark) = end {
            call.is_over = true;
            let mark = short(&mark, room);
            let line = format!("{mark} {title}");
            steps.push(Step::Ended { id, mark, line });
        }
        steps
    }
}

/// How an end is marked; a call that runs has none.
fn mark(status: ToolStatus, update: &ToolUpdate) -> Option<String> {
    match status {
        ToolStatus::Running => None,
        ToolStatus::Complete => Some("✓".to_owned()),
        ToolStatus::Error => {
            let result = update.result.as_ref();
            let why = result.and_then(|result| result.error.as_ref().or(result.text.as_ref()));
            let why = why.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
            Some(why.map_or("✗".to_owned(), |why| format!("✗ {}", why.trim())))
        }
    }
}

/// A text in one line of so many characters.
fn short(text: &str, room: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= room {
        return line;
    }
    line.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// The agent's plan, as far as it was shown.
#[derive(Debug, Default)]
pub(super) struct Plan {
    shown: String,
}

impl Plan {
    /// The line for a plan that has changed.
    pub(super) fn change(&mut self, steps: &[PlanStep]) -> Option<String> {
        let done = steps.iter().filter(|step| step.status == PlanStatus::Completed).count();
        let current = steps.iter().find(|step| step.status == PlanStatus::InProgress);
        let current = current.map_or(String::new(), |step| format!(": {}", step.content));
        let line = format!("☰ {done} of {} steps done{current}", steps.len());
        if line == self.shown {
            return None;
        }
        self.shown.clone_from(&line);
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use convoke_core::content::ToolResult;

    use super::*;

    fn update(id: &str, title: &str, status: Option<ToolStatus>) -> ToolUpdate {
        let title = Some(title.to_owned()).filter(|title| !title.is_empty());
        ToolUpdate { tool_call_id: id.to_owned(), title, status, ..ToolUpdate::default() }
    }

    fn begun(id: &str, line: &str) -> Step {
        Step::Begun { id: id.to_owned(), line: line.to_owned() }
    }

    fn ended(id: &str, mark: &str, line: &str) -> Step {
        Step::Ended { id: id.to_owned(), mark: mark.to_owned(), line: line.to_owned() }
    }

    #[test]
    fn a_call_is_shown_when_its_title_is_known_and_once_more_when_it_ends() {
        let mut tools = Tools::default();
        let mut hear = |update: &ToolUpdate| tools.update(update, 20);
        assert_eq!(hear(&update("a", "", Some(ToolStatus::Running))), []);
        assert_eq!(hear(&update("a", "Read\nx", None)), [begun("a", "● Read x")]);
        assert_eq!(hear(&update("a", "Read x", Some(ToolStatus::Running))), []);
        assert_eq!(
            hear(&update("a", "", Some(ToolStatus::Complete))),
            [ended("a", "✓", "✓ Read x")]
        );
        assert_eq!(hear(&update("a", "late", Some(ToolStatus::Error))), []);
        let mut failed = update("b", "", Some(ToolStatus::Error));
        failed.result = Some(ToolResult {
            error: Some("\nno such file\nat all".to_owned()),
            ..ToolResult::default()
        });
        assert_eq!(
            hear(&failed),
            [begun("b", "● a tool"), ended("b", "✗ no such file", "✗ no such file a tool")]
        );
        let long = "a title that has no end to it";
        assert_eq!(hear(&update("c", long, None)), [begun("c", "● a title that has no…")]);
    }

    #[test]
    fn a_plan_is_told_when_it_changes() {
        let step = |content: &str, status| PlanStep {
            content: content.to_owned(),
            status,
            priority: None,
        };
        let mut plan = Plan::default();
        let steps = [step("look", PlanStatus::InProgress), step("act", PlanStatus::Pending)];
        assert_eq!(plan.change(&steps).as_deref(), Some("☰ 0 of 2 steps done: look"));
        assert_eq!(plan.change(&steps), None);
        let steps = [step("look", PlanStatus::Completed), step("act", PlanStatus::Completed)];
        assert_eq!(plan.change(&steps).as_deref(), Some("☰ 2 of 2 steps done"));
    }
}
