//! Where a conversation is shown: answers on stdout, and everything else so that it does not get in their way.
//!
//! On a terminal, words are rendered and what the agent does is told in faint lines between them. In a pipe stdout holds
//! the answers alone, as they were said.

mod activity;

use std::io::{self, IsTerminal, Write};

use convoke_core::content::PlanStep;
use convoke_core::session::ToolUpdate;
use convoke_files::transcripts::{Record, Turn};

use super::markdown::Markdown;
use crate::colour::Colour;
use crate::logs::Loudness;
use crate::output::{Format, Output, aside, plain};
use activity::{Plan, Step, Tools};

/// Who reads along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// A person at a terminal.
    Person,
    /// A program, or a person later.
    Pipe,
    /// A program that wants each answer as an object.
    Program,
}

/// What the last line on the screen is in the middle of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    Nothing,
    Words,
    /// A thought, of which so many characters are shown.
    Thought(usize),
    /// A tool call that runs.
    Tool(String),
}

/// The place where a conversation is shown.
#[derive(Debug)]
pub(super) struct Screen {
    reader: Reader,
    colour: Colour,
    error_colour: Colour,
    /// How much is said besides the answers.
    loudness: Loudness,
    open: Open,
    /// Whether the next character begins a line.
    is_fresh: bool,
    markdown: Markdown,
    tools: Tools,
    plan: Plan,
    /// Why nothing more can be shown.
    trouble: Option<io::Error>,
}

impl Screen {
    pub(super) fn new(output: &Output, loudness: Loudness) -> Self {
        let reader = match output.format {
            Format::Json => Reader::Program,
            Format::Human if io::stdout().is_terminal() => Reader::Person,
            Format::Human => Reader::Pipe,
        };
        Self {
            reader,
            colour: output.colour,
            error_colour: output.error_colour,
            loudness,
            open: Open::Nothing,
            is_fresh: true,
            markdown: Markdown::new(),
            tools: Tools::default(),
            plan: Plan::default(),
            trouble: None,
        }
    }

    /// How the prompt is coloured.
    pub(super) const fn colour(&self) -> Colour {
        self.colour
    }

    /// Whether a person reads along.
    pub(super) fn has_person(&self) -> bool {
        self.reader == Reader::Person
    }

    /// Whether nothing more can be shown; a reader that went away is no error.
    pub(super) const fn is_gone(&self) -> bool {
        self.trouble.is_some()
    }

    /// Why nothing more can be shown, unless the reader simply went away.
    pub(super) fn trouble(&mut self) -> Option<io::Error> {
        self.trouble.take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    /// The agent said something.
    pub(super) fn said(&mut self, text: &str) {
        match self.reader {
            Reader::Person => {
                self.enter(Open::Words);
                let text = plain(text);
                let shown = match self.colour {
                    Colour::On => self.markdown.push(&text),
                    Colour::Off => text,
                };
                self.put(&shown);
            }
            Reader::Pipe => {
                self.enter(Open::Words);
                self.put(text);
            }
            Reader::Program => {}
        }
    }

    /// The next words begin a paragraph; where something else was shown meanwhile, they do so anyhow.
    pub(super) fn paragraph(&mut self) {
        if self.open == Open::Words {
            self.said("\n\n");
        }
    }

    /// The agent thought aloud. A line of it is enough.
    pub(super) fn thought(&mut self, text: &str) {
        if self.reader != Reader::Person {
            return;
        }
        if !matches!(self.open, Open::Thought(_)) {
            self.enter(Open::Thought(0));
            let mark = self.colour.faint("∴ ");
            self.put(&mark);
        }
        let Open::Thought(shown) = self.open else { return };
        let room = width().saturating_sub(THOUGHT_MARGIN).saturating_sub(shown);
        let line: String =
            plain(text).split_inclusive('\n').map(|line| line.replace('\n', " ")).collect();
        let mut piece: String = line.chars().take(room).collect();
        let count = piece.chars().count();
        if count == room && room > 0 {
            piece.push('…');
        }
        if !piece.is_empty() {
            let piece = self.colour.faint(piece);
            self.put(&piece);
        }
        self.open = Open::Thought(shown + count);
    }

    /// The agent made or changed its plan.
    pub(super) fn planned(&mut self, steps: &[PlanStep]) {
        if let Some(line) = self.plan.change(steps) {
            self.whisper(&plain(&line));
        }
    }

    /// The agent called a tool, or more is known of a call.
    pub(super) fn called(&mut self, update: &ToolUpdate) {
        let room = width().saturating_sub(TOOL_MARGIN);
        for step in self.tools.update(update, room) {
            self.show_step(step);
        }
    }

    fn show_step(&mut self, step: Step) {
        match (self.reader, step) {
            (Reader::Person, Step::Begun { id, line }) => {
                self.enter(Open::Tool(id));
                let line = self.colour.faint(plain(&line));
                self.put(&line);
            }
            (Reader::Person, Step::Ended { id, mark, .. })
                if self.open == Open::Tool(id.clone()) =>
            {
                let mark = self.colour.faint(format!(" {}", plain(&mark)));
                self.put(&format!("{mark}\n"));
                self.open = Open::Nothing;
            }
            (_, Step::Ended { line, .. }) => self.whisper(&plain(&line)),
            (Reader::Pipe | Reader::Program, Step::Begun { .. }) => {}
        }
    }

    /// Something that need not be said to everyone: in a pipe only to a person who watches stderr.
    fn whisper(&mut self, line: &str) {
        match self.reader {
            Reader::Person => self.faint_line(line),
            Reader::Pipe if io::stderr().is_terminal() => aside(&self.error_colour.faint(line)),
            Reader::Pipe | Reader::Program => {}
        }
    }

    /// A fact that everyone must hear of.
    pub(super) fn say(&mut self, line: &str) {
        match self.reader {
            Reader::Person => self.faint_line(&plain(line)),
            Reader::Pipe if self.loudness >= Loudness::Warn => aside(&plain(line)),
            Reader::Pipe | Reader::Program => tracing::info!("{line}"),
        }
    }

    /// Something that went wrong.
    pub(super) fn complain(&mut self, line: &str) {
        self.enter(Open::Nothing);
        match self.reader {
            Reader::Person | Reader::Pipe => {
                aside(&format!("{} {}", self.error_colour.bad("error:"), plain(line)));
            }
            Reader::Program => tracing::error!("{line}"),
        }
    }

    /// What a person at the keyboard is asked, wherever the answers go.
    pub(super) fn ask(&mut self, text: &str) {
        match self.reader {
            Reader::Person => self.tell(text),
            Reader::Pipe | Reader::Program => aside(text.trim_end()),
        }
    }

    /// What a command of the person's comes to.
    pub(super) fn tell(&mut self, text: &str) {
        self.enter(Open::Nothing);
        self.put(text);
    }

    /// A turn that was saved, for programs that want it whole.
    pub(super) fn saved(&mut self, turn: Turn) {
        if self.reader == Reader::Program
            && let Ok(line) = serde_json::to_string(&Record::Turn(turn))
        {
            self.put(&format!("{line}\n"));
        }
    }

    /// The turn is over.
    pub(super) fn end_turn(&mut self) {
        self.enter(Open::Nothing);
        self.tools = Tools::default();
        if self.reader == Reader::Person {
            self.put("\n");
        }
    }

    fn faint_line(&mut self, line: &str) {
        self.enter(Open::Nothing);
        let line = format!("{}\n", self.colour.faint(line));
        self.put(&line);
    }

    /// Ends what the last line is in the middle of, unless it goes on.
    fn enter(&mut self, open: Open) {
        if self.open == open {
            return;
        }
        if self.open == Open::Words {
            let rest = self.markdown.finish();
            self.put(&rest);
        }
        if !self.is_fresh {
            self.put("\n");
        }
        self.open = open;
    }

    fn put(&mut self, text: &str) {
        if text.is_empty() || self.trouble.is_some() {
            return;
        }
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        self.trouble = written.err();
        self.is_fresh = text.ends_with('\n');
    }
}

/// What stands around a thought on its line.
const THOUGHT_MARGIN: usize = 4;
/// What stands around the title of a tool call on its line, with the end of it.
const TOOL_MARGIN: usize = 8;
/// How wide a terminal is that does not say so.
const WIDTH: usize = 80;

fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_col);
    if columns == 0 { WIDTH } else { usize::from(columns) }
}
