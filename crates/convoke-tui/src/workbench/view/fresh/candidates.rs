//! Draws the choices for a comparison: agents, models, and a test command.

use convoke_core::id::AgentName;
use ratatui::text::{Line, Span};

use super::{At, field, row, text, titled};
use crate::editor::Editor;
use crate::picture::Strip;
use crate::text::{clean, wrap};
use crate::workbench::comparisons::CandidateDraft;
use crate::workbench::model::Model;

/// The agents and models that can be compared, with those marked that are.
pub(super) fn candidates(
    model: &Model,
    cursor: usize,
    unfolded: Option<&AgentName>,
    width: usize,
) -> Strip {
    let palette = model.palette;
    let mut strip = titled(model, "Compare: which agents get the prompt?");
    let draft = model.home.composer.comparison.as_ref();
    for (index, candidate) in model.candidates_offered(unfolded).into_iter().enumerate() {
        let is_chosen = draft.is_some_and(|draft| draft.is_chosen(&candidate));
        let mark = if is_chosen { "[x] " } else { "[ ] " };
        let name = match &candidate.model {
            None => model.candidate_name(&candidate),
            Some(choice) => format!("  {}", clean::line(&choice.name)),
        };
        let spans = vec![
            Span::styled(mark, palette.here()),
            Span::raw(wrap::shorten(&name, width.saturating_sub(24))),
            Span::styled(models(model, &candidate, unfolded), palette.faint()),
        ];
        row(&mut strip, model, At::from(index == cursor), spans);
    }
    strip.gap();
    let test = draft.and_then(|draft| draft.test.as_deref());
    strip.push(Line::from(vec![
        Span::styled("  Test  ", palette.strong()),
        match test {
            Some(test) => Span::styled(
                wrap::shorten(&clean::line(test), width.saturating_sub(8)),
                palette.code(),
            ),
            None => Span::styled("none; t sets a command", palette.faint()),
        },
    ]));
    strip.gap();
    let words = "Each works in a work tree of its own. One is kept in the end, and the others are discarded.";
    text(&mut strip, words, width, palette.faint());
    strip
}

/// How many models an agent offers, and the chosen ones that are not shown.
fn models(model: &Model, candidate: &CandidateDraft, unfolded: Option<&AgentName>) -> String {
    let agent = model.agents.iter().find(|agent| agent.cli_type == candidate.agent);
    let count = agent.map_or(0, |agent| agent.models.len());
    if candidate.model.is_some() || count == 0 || unfolded == Some(&candidate.agent) {
        return String::new();
    }
    let draft = model.home.composer.comparison.as_ref();
    let candidates = draft.map(|draft| draft.candidates.as_slice()).unwrap_or_default();
    let of_it = candidates.iter().filter(|it| it.agent == candidate.agent && it.model.is_some());
    match (count, of_it.count()) {
        (1, 0) => "  → 1 model".to_owned(),
        (count, 0) => format!("  → {count} models"),
        (count, chosen) => format!("  → {chosen} of {count} models"),
    }
}

/// The line with the test command.
pub(super) fn test(model: &Model, line: &Editor, width: usize) -> Strip {
    let mut strip = titled(model, "Compare: which command tests the work?");
    field(&mut strip, model, line, width);
    strip.gap();
    let words = "It runs in each work tree when its agent is done, and passes with exit code 0. Empty: no test.";
    text(&mut strip, words, width, model.palette.faint());
    strip
}
