//! Paints code line by line, and can go on where it stopped when more lines come.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use syntect::parsing::{BasicScopeStackOp, ParseState, ScopeStack, ScopeStackOp};

use super::syntaxes::Syntaxes;
use crate::markdown::escape::push_text;

/// Longest line that is painted. Grammars look ahead, so their time grows with the square or the cube of a line;
/// at this length the worst line we could make takes half a second.
const LINE_MAX: usize = 500;

/// Time that one piece of code may take; what comes after is not painted. Checked between lines. It is the time of this
/// thread and not that of the clock on the wall, so that a busy machine does not decide what has colours.
const TIME_MAX: Duration = Duration::from_secs(1);

/// Code that is being painted.
pub(super) struct Painter {
    syntaxes: Arc<Syntaxes>,
    pen: Pen,
    /// Whole lines that have been painted.
    code: String,
    /// What they became.
    html: String,
    spent: Duration,
}

/// Where in its grammar a painter is.
#[derive(Clone)]
struct Pen {
    state: ParseState,
    scopes: ScopeStack,
    /// How each of the scopes is shown.
    classes: Vec<&'static str>,
    mood: Mood,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Painting,
    /// The grammar took too long or failed; the rest is written without colours.
    GivenUp,
}

impl Painter {
    /// A painter for a language, when its grammar is known.
    pub(super) fn start(syntaxes: &Arc<Syntaxes>, language: &str) -> Option<Self> {
        let state = syntaxes.start(language)?;
        let pen =
            Pen { state, scopes: ScopeStack::new(), classes: Vec::new(), mood: Mood::Painting };
        Some(Self {
            syntaxes: syntaxes.clone(),
            pen,
            code: String::new(),
            html: String::new(),
            spent: Duration::ZERO,
        })
    }

    /// Whether this is the same code, or the same with more at its end.
    pub(super) fn is_beginning_of(&self, code: &str) -> bool {
        code.starts_with(&self.code)
    }

    /// Writes the code; only the lines that were not known before are looked at.
    pub(super) fn paint(&mut self, html: &mut String, code: &str) {
        let started = thread_time();
        let added = code.get(self.code.len()..).unwrap_or_default();
        let whole = added.rfind('\n').map_or(0, |at| at + 1);
        let (lines, rest) = added.split_at_checked(whole).unwrap_or((added, ""));
        for line in lines.split_inclusive('\n') {
            self.watch_the_time(started);
            self.pen.line(&mut self.html, line, &self.syntaxes);
        }
        self.code.push_str(lines);
        html.push_str(&self.html);
        // The last line may go on, so the pen stays where it is.
        if !rest.is_empty() {
            self.watch_the_time(started);
            self.pen.clone().line(html, rest, &self.syntaxes);
        }
        self.spent += thread_time().saturating_sub(started);
    }

    fn watch_the_time(&mut self, started: Duration) {
        if self.spent + thread_time().saturating_sub(started) > TIME_MAX {
            self.pen.mood = Mood::GivenUp;
        }
    }
}

/// How long this thread has been at work.
pub(in crate::markdown) fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

impl Pen {
    fn line(&mut self, html: &mut String, line: &str, syntaxes: &Syntaxes) {
        if self.mood == Mood::GivenUp || line.len() > LINE_MAX {
            return push_text(html, line);
        }
        let start = html.len();
        let painted = catch_unwind(AssertUnwindSafe(|| self.parsed(html, line, syntaxes)));
        if !matches!(painted, Ok(Some(()))) {
            self.mood = Mood::GivenUp;
            html.truncate(start);
            push_text(html, line);
        }
    }

    fn parsed(&mut self, html: &mut String, line: &str, syntaxes: &Syntaxes) -> Option<()> {
        let changes = self.state.parse_line(line, &syntaxes.set).ok()?;
        let mut span = Span { html, class: "" };
        let mut written = 0;
        for (at, change) in changes {
            span.write(self.class(), line.get(written..at)?);
            written = at;
            self.apply(&change, syntaxes)?;
        }
        span.write(self.class(), line.get(written..)?);
        span.show("");
        Some(())
    }

    fn class(&self) -> &'static str {
        self.classes.last().copied().unwrap_or_default()
    }

    fn apply(&mut self, change: &ScopeStackOp, syntaxes: &Syntaxes) -> Option<()> {
        let Self { scopes, classes, .. } = self;
        let known = syntaxes.classes.as_ref()?;
        let applied = scopes.apply_with_hook(change, |change, _| match change {
            BasicScopeStackOp::Push(scope) => {
                let around = classes.last().copied().unwrap_or_default();
                classes.push(known.of(scope, around));
            }
            BasicScopeStackOp::Pop => {
                classes.pop();
            }
        });
        applied.ok()
    }
}

/// Text of one class after the other.
struct Span<'a> {
    html: &'a mut String,
    class: &'static str,
}

impl Span<'_> {
    fn write(&mut self, class: &'static str, text: &str) {
        if text.is_empty() {
            return;
        }
        // Blanks look the same in every colour.
        if !text.trim().is_empty() {
            self.show(class);
        }
        push_text(self.html, text);
    }

    fn show(&mut self, class: &'static str) {
        if class == self.class {
            return;
        }
        if !self.class.is_empty() {
            self.html.push_str("</span>");
        }
        if !class.is_empty() {
            self.html.push_str("<span class=\"");
            self.html.push_str(class);
            self.html.push_str("\">");
        }
        self.class = class;
    }
}
