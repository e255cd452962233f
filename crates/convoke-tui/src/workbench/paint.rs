//! A session as lines that fit the screen. Slow compared with drawing, so callers cache the lines.

mod diff;
mod request;
mod tool;

use convoke_api::entry::{Entry, EntryBody, QueuedEntry, Words};
use convoke_core::content::{PlanStatus, PlanStep};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::palette::Palette;
use crate::text::{clean, markdown, wrap};

/// Whether all of an entry is shown, or what it is about.
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
    fold: Fold,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let mut paper = Paper { width, palette, lines: Vec::new() };
    match &entry.body {
        EntryBody::User(prompted) => user(&mut paper, &prompted.content),
        EntryBody::Assistant(words) => {
            paper.lines.extend(markdown::lines(&words.content, width, palette));
        }
        EntryBody::Thinking(words) => thinking(&mut paper, words, fold),
        EntryBody::ToolCall(call) => tool::card(&mut paper, call, fold),
        EntryBody::Plan { steps } => plan(&mut paper, steps),
        EntryBody::Permission(permission) => request::permission(&mut paper, permission),
        EntryBody::Question(set) => request::questions(&mut paper, set),
        EntryBody::Notice(notice) => {
            paper.text("── ", "   ", &notice.text, palette.faint(), palette.faint());
        }
        EntryBody::Queue { prompts, .. } => queue(&mut paper, prompts),
        EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => {}
    }
    if !paper.lines.is_empty() {
        paper.lines.push(Line::default());
    }
    paper.lines
}

/// Whether there is more of an entry than is shown of it when it is folded.
pub(crate) const fn is_foldable(entry: &Entry) -> bool {
    matches!(entry.body, EntryBody::Thinking(_) | EntryBody::ToolCall(_))
}

/// Lines as they are gathered.
struct Paper {
    width: usize,
    palette: Palette,
    lines: Vec<Line<'static>>,
}

impl Paper {
    /// Text with line breaks, in rows that fit behind a margin, which may be another one from the second row on.
    fn text(&mut self, first: &str, rest: &str, text: &str, margin: Style, style: Style) {
        for (index, line) in clean::block(text.trim_end()).lines().enumerate() {
            let first = if index == 0 { first } else { rest };
            self.row(first, rest, margin, &[Span::styled(line.to_owned(), style)]);
        }
    }

    /// One line of harmless styled text, in rows that fit.
    fn row(&mut self, first: &str, rest: &str, margin: Style, spans: &[Span<'static>]) {
        let width = self.width.saturating_sub(wrap::width(rest)).max(WIDTH_MIN);
        for (index, row) in wrap::spans(spans, width).into_iter().enumerate() {
            let before = if index == 0 { first } else { rest };
            let mut line = vec![Span::styled(before.to_owned(), margin)];
            line.extend(row);
            self.lines.push(Line::from(line));
        }
    }

    /// At most so many lines of a text; says how many there are besides.
    fn excerpt(&mut self, margin: &str, text: &str, lines_max: usize, style: Style) {
        let faint = self.palette.faint();
        let text = text.trim_end();
        let mut end = text.len();
        let hidden = match text.match_indices('\n').nth(lines_max.saturating_sub(1)) {
            Some((at, _)) => {
                end = at;
                text.get(at + 1..).unwrap_or_default().lines().count()
            }
            None => 0,
        };
        // A single line may be as long as a file.
        let shown = head(text.get(..end).unwrap_or_default(), EXCERPT_BYTES_MAX);
        let is_cut = shown.len() < end;
        self.text(margin, margin, shown, faint, style);
        if hidden > 0 {
            let more = format!("{margin}… {hidden} more lines");
            self.lines.push(Line::styled(more, faint));
        } else if is_cut {
            self.lines.push(Line::styled(format!("{margin}… and more"), faint));
        }
    }
}

/// Rows narrower than this cannot be read; text runs out of the picture instead.
const WIDTH_MIN: usize = 8;
/// What is shown of a tool's output at most, however few lines it has.
const EXCERPT_BYTES_MAX: usize = 64 * 1024;

/// The beginning of a text, of at most so many bytes.
fn head(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn user(paper: &mut Paper, content: &str) {
    let palette = paper.palette;
    paper.text("❯ ", "  ", content, palette.here(), palette.strong());
}

fn queue(paper: &mut Paper, prompts: &[QueuedEntry]) {
    let news = paper.palette.news();
    for prompt in prompts {
        if !paper.lines.is_empty() {
            paper.lines.push(Line::default());
        }
        user(paper, &prompt.content);
        paper.lines.push(Line::styled("  queued until the turn ends", news));
    }
}

fn thinking(paper: &mut Paper, words: &Words, fold: Fold) {
    let palette = paper.palette;
    let style = palette.faint().add_modifier(Modifier::ITALIC);
    let head = if words.partial { "∴ Thinking… " } else { "∴ Thought: " };
    let lines: Vec<&str> = words.content.lines().filter(|line| !line.trim().is_empty()).collect();
    match fold {
        Fold::Folded => {
            // While it is running, the end is more useful than the beginning.
            let line = if words.partial { lines.last() } else { lines.first() };
            let text = format!("{head}{}", clean::line(line.copied().unwrap_or_default()));
            paper.lines.push(Line::styled(wrap::shorten(&text, paper.width), style));
        }
        Fold::Unfolded => {
            paper.lines.push(Line::styled(head.trim_end().to_owned(), style));
            paper.text("▏ ", "▏ ", &words.content, palette.faint(), style);
        }
    }
}

fn plan(paper: &mut Paper, steps: &[PlanStep]) {
    let palette = paper.palette;
    let done = steps.iter().filter(|step| step.status == PlanStatus::Completed).count();
    let heading = format!("≡ Plan: {done} of {} done", steps.len());
    paper.lines.push(Line::styled(heading, palette.strong()));
    for step in steps {
        let (mark, mark_style, style) = match step.status {
            PlanStatus::Pending => ("  ○ ", palette.faint(), Style::new()),
            PlanStatus::InProgress => ("  ▸ ", palette.here(), palette.strong()),
            PlanStatus::Completed => ("  ✓ ", palette.good(), palette.faint()),
        };
        paper.text(mark, "    ", &step.content, mark_style, style);
    }
}
