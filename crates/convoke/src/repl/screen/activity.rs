//! Tool calls and plans, in one line each.

use std::collections::BTreeMap;

use convoke_core::content::{PlanStatus, PlanStep, Tool, ToolStatus, Usage};

/// The tool calls of a turn that were shown.
#[derive(Debug, Default)]
pub(super) struct Tools(BTreeMap<String, Shown>);

/// How much of a call was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Begun,
    Ended,
}

/// A step of a call that is to be shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The call runs.
    Begun { id: String, line: String },
    /// The call ended: the mark for the end of its line, and a separate line in case others came
    /// between.
    Ended { id: String, mark: String, line: String },
}

impl Tools {
    /// Updates a call; returns the steps to show, in this many characters.
    pub(super) fn update(&mut self, tool: &Tool, room: usize) -> Vec<Step> {
        let id = tool.tool_call_id.clone();
        let end = mark(tool);
        let shown = self.0.get(&id).copied();
        // Some agents name the tool only after they called it.
        let is_unnamed = tool.title.is_none() && tool.tool == Tool::UNNAMED;
        if shown == Some(Shown::Ended) || (is_unnamed && end.is_none()) {
            return Vec::new();
        }
        let title = tool.title.as_ref().unwrap_or(&tool.tool);
        let title = if is_unnamed { "a tool".to_owned() } else { short(title, room) };
        let mut steps = Vec::new();
        if shown.is_none() {
            steps.push(Step::Begun { id: id.clone(), line: format!("● {title}") });
            self.0.insert(id.clone(), Shown::Begun);
        }
        if let Some(mark) = end {
            self.0.insert(id.clone(), Shown::Ended);
            let mark = short(&mark, room);
            let line = format!("{mark} {title}");
            steps.push(Step::Ended { id, mark, line });
        }
        steps
    }
}

/// The mark of a call that has ended.
fn mark(tool: &Tool) -> Option<String> {
    match tool.status {
        ToolStatus::Running => None,
        ToolStatus::Complete => Some("✓".to_owned()),
        ToolStatus::Error => {
            let result = tool.result.as_ref();
            let why = result.and_then(|result| result.error.as_ref().or(result.text.as_ref()));
            let why = why.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
            Some(why.map_or("✗".to_owned(), |why| format!("✗ {}", why.trim())))
        }
    }
}

/// A text in one line of at most this many characters.
fn short(text: &str, room: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= room {
        return line;
    }
    line.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// The line of the agent's plan that was shown last.
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

/// The used part of the context, and the cost of the conversation.
pub(super) fn used(usage: &Usage) -> String {
    let context = match (usage.context_used, usage.context_size) {
        (Some(used), Some(size)) if size > 0 => Some(format!("{}% of context", used * 100 / size)),
        (_, _) => None,
    };
    let cost = usage.cost.as_ref().map(|cost| format!("{:.2} {}", cost.amount, cost.currency));
    context.into_iter().chain(cost).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use convoke_core::content::ToolResult;

    use super::*;

    fn call(id: &str, title: &str, status: ToolStatus) -> Tool {
        Tool {
            tool_call_id: id.to_owned(),
            tool: Tool::UNNAMED.to_owned(),
            title: Some(title.to_owned()).filter(|title| !title.is_empty()),
            kind: None,
            args: serde_json::Value::Null,
            status,
            result: None,
        }
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
        let mut update = |tool: &Tool| tools.update(tool, 20);
        assert_eq!(update(&call("a", "", ToolStatus::Running)), []);
        assert_eq!(update(&call("a", "Read\nx", ToolStatus::Running)), [begun("a", "● Read x")]);
        assert_eq!(update(&call("a", "Read x", ToolStatus::Running)), []);
        assert_eq!(
            update(&call("a", "Read x", ToolStatus::Complete)),
            [ended("a", "✓", "✓ Read x")]
        );
        assert_eq!(update(&call("a", "late", ToolStatus::Error)), []);
        let mut failed = call("b", "", ToolStatus::Error);
        failed.result = Some(ToolResult {
            error: Some("\nno such file\nat all".to_owned()),
            ..ToolResult::default()
        });
        assert_eq!(
            update(&failed),
            [begun("b", "● a tool"), ended("b", "✗ no such file", "✗ no such file a tool")]
        );
        let long = "a title that has no end to it";
        assert_eq!(
            update(&call("c", long, ToolStatus::Running)),
            [begun("c", "● a title that has no…")]
        );
    }

    #[test]
    fn p12_context_and_cost_are_told() {
        let cost = Some(convoke_core::content::Cost { amount: 0.415, currency: "USD".to_owned() });
        let usage =
            Usage { context_used: Some(30), context_size: Some(200), cost, ..Usage::default() };
        assert_eq!(used(&usage), "15% of context · 0.41 USD");
        assert_eq!(used(&Usage::default()), "");
    }

    #[test]
    fn a_plan_is_shown_when_it_changes() {
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
