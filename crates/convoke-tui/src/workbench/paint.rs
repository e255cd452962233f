//! A session as lines that fit the screen. Slow compared with drawing, so callers cache the lines.

mod request;
mod tool;

use convoke_api::entry::{Entry, EntryBody, QueuedEntry, Words};
use convoke_core::content::{PlanStatus, PlanStep};
use convoke_core::notice::{Event, RuleEvent};
use convoke_core::review::ReviewComment;
use convoke_core::user::UserName;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use crate::palette::Palette;
use crate::text::line_buffer::{Excerpt, LineBuffer};
use crate::text::{clean, markdown, wrap};
use crate::workbench::chat::Beside;

/// Lines of a comment's quotation that are shown.
const QUOTE_LINES: usize = 4;

/// Whether an entry is expanded or collapsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    Folded,
    Unfolded,
}

impl Fold {
    pub(crate) const fn toggled(self) -> Self {
        match self {
            Self::Folded => Self::Unfolded,
            Self::Unfolded => Self::Folded,
        }
    }
}

/// The lines of an entry, and a blank one after them.
pub(crate) fn lines(
    entry: &Entry,
    beside: Beside,
    fold: Fold,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    if beside == Beside::Hidden {
        return Vec::new();
    }
    let mut line_buffer = LineBuffer::new(width, palette);
    match &entry.body {
        EntryBody::User(prompted) => {
            user(&mut line_buffer, &prompted.content, &prompted.review);
            who(&mut line_buffer, prompted.by.as_ref());
        }
        EntryBody::Assistant(words) => {
            line_buffer.lines.extend(markdown::lines(&words.content, width, palette));
        }
        EntryBody::Thinking(words) => thinking(&mut line_buffer, words, fold),
        EntryBody::ToolCall(call) => match beside {
            Beside::Run(run) => tool::run(&mut line_buffer, run),
            Beside::Waits => tool::card(&mut line_buffer, call, WaitsFor::Human, fold),
            Beside::Nothing | Beside::Hidden => {
                tool::card(&mut line_buffer, call, WaitsFor::Tool, fold);
            }
        },
        EntryBody::Plan { steps } => plan(&mut line_buffer, steps),
        EntryBody::Permission(permission) => request::permission(&mut line_buffer, permission),
        EntryBody::Question(set) => request::questions(&mut line_buffer, set),
        EntryBody::Notice(notice) => {
            line_buffer.text("── ", "   ", &notice.text, palette.faint(), palette.faint());
            if let Event::Rule(RuleEvent::Applied { rule_id: Some(_), .. }) = &notice.event {
                line_buffer
                    .lines
                    .push(Line::styled("   enter shows the rule, to revoke it", palette.faint()));
            }
        }
        EntryBody::Queue { prompts, held } => queue(&mut line_buffer, prompts, *held),
        EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => {}
    }
    if !line_buffer.lines.is_empty() {
        line_buffer.lines.push(Line::default());
    }
    line_buffer.lines
}

/// Whether a collapsed entry hides a part.
pub(crate) const fn is_foldable(entry: &Entry) -> bool {
    matches!(entry.body, EntryBody::Thinking(_) | EntryBody::ToolCall(_))
}

/// What a running call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitsFor {
    /// Its tool, which runs.
    Tool,
    /// The human's permission.
    Human,
}

fn user(line_buffer: &mut LineBuffer, content: &str, review: &[ReviewComment]) {
    let palette = line_buffer.palette;
    if !content.trim().is_empty() || review.is_empty() {
        line_buffer.text("❯ ", "  ", content, palette.here(), palette.strong());
    }
    for (index, comment) in review.iter().enumerate() {
        let first = if index == 0 && line_buffer.lines.is_empty() { "❯ " } else { "  " };
        line_buffer.text(first, "  ", &comment.place(), palette.here(), palette.code());
        let quote = Excerpt::Head(QUOTE_LINES);
        if !comment.quote.trim().is_empty() {
            line_buffer.output("  ▏ ", &comment.quote, quote, palette.faint());
        }
        line_buffer.text("  ", "  ", &comment.comment, palette.here(), palette.strong());
    }
}

/// The name of the user; nothing for the owner of the daemon.
fn who(line_buffer: &mut LineBuffer, by: Option<&UserName>) {
    if let Some(by) = by {
        line_buffer.lines.push(Line::styled(format!("  from {by}"), line_buffer.palette.faint()));
    }
}

fn queue(line_buffer: &mut LineBuffer, prompts: &[QueuedEntry], held: bool) {
    let news = line_buffer.palette.news();
    let words =
        if held { "  held until you send a prompt" } else { "  queued until the turn ends" };
    for prompt in prompts {
        if !line_buffer.lines.is_empty() {
            line_buffer.lines.push(Line::default());
        }
        user(line_buffer, &prompt.content, &prompt.review);
        who(line_buffer, prompt.by.as_ref());
        let words = match &prompt.waits_for {
            Some(node) => format!("  waits for {}, which is away", clean::line(node)),
            None => words.to_owned(),
        };
        line_buffer.lines.push(Line::styled(words, news));
    }
}

fn thinking(line_buffer: &mut LineBuffer, words: &Words, fold: Fold) {
    let palette = line_buffer.palette;
    let style = palette.faint().add_modifier(Modifier::ITALIC);
    let head = if words.partial { "∴ Thinking… " } else { "∴ Thought: " };
    let lines: Vec<&str> = words.content.lines().filter(|line| !line.trim().is_empty()).collect();
    match fold {
        Fold::Folded => {
            // While it is running, the end is more useful than the beginning.
            let line = if words.partial { lines.last() } else { lines.first() };
            let text = format!("{head}{}", clean::line(line.copied().unwrap_or_default()));
            line_buffer.lines.push(Line::styled(wrap::shorten(&text, line_buffer.width), style));
        }
        Fold::Unfolded => {
            line_buffer.lines.push(Line::styled(head.trim_end().to_owned(), style));
            line_buffer.text("▏ ", "▏ ", &words.content, palette.faint(), style);
        }
    }
}

fn plan(line_buffer: &mut LineBuffer, steps: &[PlanStep]) {
    let palette = line_buffer.palette;
    let done = steps.iter().filter(|step| step.status == PlanStatus::Completed).count();
    let heading = format!("≡ Plan: {done} of {} done", steps.len());
    line_buffer.lines.push(Line::styled(heading, palette.strong()));
    for step in steps {
        let (mark, mark_style, style) = match step.status {
            PlanStatus::Pending => ("  ○ ", palette.faint(), Style::new()),
            PlanStatus::InProgress => ("  ▸ ", palette.here(), palette.strong()),
            PlanStatus::Completed => ("  ✓ ", palette.good(), palette.faint()),
        };
        line_buffer.text(mark, "    ", &step.content, mark_style, style);
    }
}
