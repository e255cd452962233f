//! Translates `session/update` notifications into reports. The only place that knows both vocabularies.

use convoke_core::content::{Cost, PlanPriority, PlanStatus, PlanStep, Usage};
use convoke_core::notice::{AgentEvent, Notice};
use convoke_core::session::Report;
use convoke_core::state::SessionState;
use serde_json::Value;

use super::offer::Offers;
use super::text::{self, UNKNOWN_BYTES_MAX};
use super::tool::{Screens, Tools};

/// Stored updates of unknown kinds in one turn; further ones are only logged, in case a kind is a
/// stream.
const UNKNOWN_MAX: u32 = 64;
/// Steps of a plan; people do not read more.
const STEPS_MAX: usize = 1000;
/// The longest step of a plan; longer ones are cut.
const STEP_BYTES_MAX: usize = 4 << 10;

/// Translates updates, and stores what later ones omit.
#[derive(Debug, Default)]
pub(super) struct Translator {
    pub(super) tools: Tools,
    pub(super) offers: Offers,
    /// The last token count of an agent that reports running totals.
    counted: Option<Usage>,
    /// The last reported context size and total cost; some agents repeat them.
    context: Option<Usage>,
    /// Updates of unknown kinds in this turn.
    unknown: u32,
}

/// Whether updates are new, or replay what happened before the process was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UpdateSource {
    Live,
    Replay,
}

impl Translator {
    /// The report of an update, if it has one.
    pub(super) fn handle(
        &mut self,
        update: &Value,
        source: UpdateSource,
        screens: Screens<'_>,
    ) -> Option<Report> {
        let Some(kind) = update.get("sessionUpdate").and_then(Value::as_str) else {
            tracing::debug!("an update does not say of which kind it is");
            return None;
        };
        // Modes, commands and settings are current even if they arrive during a replay.
        let offer = match kind {
            "available_commands_update" => self.offers.commands(update),
            "current_mode_update" => self.offers.mode(update.get("currentModeId")?.as_str()?),
            "config_option_update" => self.offers.settings(update.get("configOptions")?),
            _ if source == UpdateSource::Replay => return None,
            _ => return self.handle_live(kind, update, screens),
        };
        offer.map(Report::State)
    }

    fn handle_live(&mut self, kind: &str, update: &Value, screens: Screens<'_>) -> Option<Report> {
        match kind {
            "agent_message_chunk" => chunk(update).map(Report::Said),
            "agent_thought_chunk" => chunk(update).map(Report::Thought),
            // Some agents echo the prompt, which is in the log already.
            "user_message_chunk" => None,
            "tool_call" | "tool_call_update" => {
                self.tools.handle(update, screens).map(Report::ToolCalled)
            }
            "plan" => steps(update).map(Report::Planned),
            "usage_update" => {
                self.context(update).map(|usage| Report::State(SessionState::Usage(usage)))
            }
            "notice" => advice(update).map(Report::Noticed),
            "compaction_update" => compaction(update).map(Report::Noticed),
            // Titles are set by the human, and a summary is for the agent itself.
            "session_info_update" | "compaction_summary_chunk" => {
                tracing::debug!(kind, "an update that people need not see");
                None
            }
            _ => self.unknown(kind, update),
        }
    }

    /// Resets the counters for a new turn.
    pub(super) fn begin_turn(&mut self) {
        self.tools.clear();
        self.unknown = 0;
    }

    /// The usage of the turn, from the response to a prompt.
    pub(super) fn usage(&mut self, answer: &Value) -> Option<Usage> {
        let usage = answer.get("usage")?;
        let (input_tokens, output_tokens) =
            (count(usage, "inputTokens"), count(usage, "outputTokens"));
        let counted = non_empty(Usage { input_tokens, output_tokens, ..Usage::default() })?;
        let Some(before) = &mut self.counted else { return Some(counted) };
        let before = std::mem::replace(before, counted.clone());
        // A count that decreased was reset.
        let since = |now: Option<u64>, before: Option<u64>| {
            now.map(|now| now.checked_sub(before.unwrap_or_default()).unwrap_or(now))
        };
        Some(Usage {
            input_tokens: since(counted.input_tokens, before.input_tokens),
            output_tokens: since(counted.output_tokens, before.output_tokens),
            ..counted
        })
    }

    /// Expects running totals for the session instead of counts per turn.
    pub(super) fn expect_running_count(&mut self) {
        self.counted = Some(Usage::default());
    }

    fn context(&mut self, update: &Value) -> Option<Usage> {
        let usage = context(update).filter(|usage| self.context.as_ref() != Some(usage))?;
        self.context = Some(usage.clone());
        Some(usage)
    }

    fn unknown(&mut self, kind: &str, update: &Value) -> Option<Report> {
        self.unknown = self.unknown.saturating_add(1);
        if self.unknown > UNKNOWN_MAX {
            tracing::debug!(kind, "one more update of an unknown kind");
            return None;
        }
        let payload = text::cut_value(update, UNKNOWN_BYTES_MAX);
        let event = AgentEvent::Unknown { kind: text::cut_to(kind, STEP_BYTES_MAX), payload };
        Some(Report::Noticed(Notice::new(event)))
    }
}

fn chunk(update: &Value) -> Option<String> {
    text::of_block(update.get("content")?).filter(|text| !text.is_empty())
}

fn steps(update: &Value) -> Option<Vec<PlanStep>> {
    let entries = update.get("entries")?.as_array()?;
    Some(entries.iter().take(STEPS_MAX).filter_map(step).collect())
}

fn step(entry: &Value) -> Option<PlanStep> {
    let word = |name: &str| entry.get(name).and_then(Value::as_str);
    Some(PlanStep {
        content: text::cut_to(word("content")?, STEP_BYTES_MAX),
        status: match word("status") {
            Some("in_progress") => PlanStatus::InProgress,
            Some("completed") => PlanStatus::Completed,
            Some(_) | None => PlanStatus::Pending,
        },
        priority: match word("priority") {
            Some("high") => Some(PlanPriority::High),
            Some("medium") => Some(PlanPriority::Medium),
            Some("low") => Some(PlanPriority::Low),
            Some(_) | None => None,
        },
    })
}

/// How full the context is, and what the session has cost.
fn context(update: &Value) -> Option<Usage> {
    let cost = update.get("cost").and_then(|cost| {
        let currency = cost.get("currency")?.as_str()?.to_owned();
        Some(Cost { amount: cost.get("amount")?.as_f64()?, currency })
    });
    let (context_used, context_size) = (count(update, "used"), count(update, "size"));
    non_empty(Usage { context_used, context_size, cost, ..Usage::default() })
}

fn non_empty(usage: Usage) -> Option<Usage> {
    Some(usage).filter(|usage| *usage != Usage::default())
}

fn count(value: &Value, field: &str) -> Option<u64> {
    value.get(field)?.as_u64()
}

fn advice(update: &Value) -> Option<Notice> {
    let word = |name: &str| {
        let text = update.get(name)?.as_str().filter(|text| !text.is_empty())?;
        Some(text::cut_to(text, UNKNOWN_BYTES_MAX))
    };
    let words = [word("title"), word("description")];
    let text = words.into_iter().flatten().collect::<Vec<_>>().join(": ");
    let severity = word("severity").unwrap_or_else(|| "info".to_owned());
    (!text.is_empty()).then(|| Notice::worded(AgentEvent::Advice { severity }, text))
}

fn compaction(update: &Value) -> Option<Notice> {
    match update.get("status").and_then(Value::as_str) {
        Some("completed") => Some(Notice::new(AgentEvent::Compacted)),
        Some("failed") => {
            let why = update.get("error").and_then(Value::as_str).unwrap_or("it does not say why");
            let text = format!("The agent could not compact its context: {}", text::cut(why));
            Some(Notice::worded(AgentEvent::Advice { severity: "error".to_owned() }, text))
        }
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests;
