//! The output for the user: answers go to stdout, everything else where it does not disturb them.
//!
//! On a terminal, answers are rendered, with dim lines between them for tool calls and notices. In
//! a pipe, stdout has only the answers, unchanged.

mod activity;

use std::io::{self, IsTerminal, Write};

use convoke_core::content::{PlanStep, Tool, Usage};
use convoke_files::transcripts::{Record, Turn};

use super::markdown::Markdown;
use crate::colour::Colour;
use crate::logs::Verbosity;
use crate::output::{Format, Output, aside, plain};
use activity::{Plan, Step, Tools};

/// The reader of stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// The user, at a terminal.
    Person,
    /// A pipe or a file.
    Pipe,
    /// A program that reads each answer as an object.
    Program,
}

/// The text of an open message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    Answer,
    Thought,
    /// Text that arrives while the user types. It is shown when it is saved.
    Held,
}

/// The state of the last line on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    Nothing,
    Words,
    /// A thought, of which this many characters are shown.
    Thought(usize),
    /// A tool call that runs.
    Tool(String),
}

/// The tool of Convoke's own server by which an agent asks the user through question files.
const ASK_TOOL: &str = "ask_user_questions";

/// The output of a conversation.
#[derive(Debug)]
pub(super) struct Screen {
    reader: Reader,
    colour: Colour,
    error_colour: Colour,
    /// How much is printed besides the answers.
    verbosity: Verbosity,
    words: Words,
    open: Open,
    /// Whether the cursor is at the beginning of a line.
    is_fresh: bool,
    markdown: Markdown,
    tools: Tools,
    plan: Plan,
    /// The last shown usage.
    used: String,
    /// Why stdout cannot be written.
    error: Option<io::Error>,
}

impl Screen {
    pub(super) fn new(output: &Output, verbosity: Verbosity) -> Self {
        let reader = match output.format {
            Format::Json => Reader::Program,
            Format::Human if io::stdout().is_terminal() => Reader::Person,
            Format::Human => Reader::Pipe,
        };
        Self {
            reader,
            colour: output.colour,
            error_colour: output.error_colour,
            verbosity,
            words: Words::Answer,
            open: Open::Nothing,
            is_fresh: true,
            markdown: Markdown::new(output.colour),
            tools: Tools::default(),
            plan: Plan::default(),
            used: String::new(),
            error: None,
        }
    }

    /// Whether stdout has colours.
    pub(super) const fn colour(&self) -> Colour {
        self.colour
    }

    /// Whether stdout is a terminal.
    pub(super) fn has_person(&self) -> bool {
        self.reader == Reader::Person
    }

    /// Whether stdout cannot be written any more.
    pub(super) const fn is_gone(&self) -> bool {
        self.error.is_some()
    }

    /// Why stdout cannot be written, unless its reader closed it.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    /// Begins text.
    pub(super) fn begin(&mut self, words: Words, text: &str) {
        self.words = words;
        self.more(text);
    }

    /// Begins a paragraph; after a line of another kind, text begins on a new line anyway.
    pub(super) fn paragraph(&mut self) {
        if self.open == Open::Words {
            self.put_words("\n\n");
        }
    }

    /// Appends text of the answer or thought.
    pub(super) fn more(&mut self, text: &str) {
        match self.words {
            Words::Answer => self.put_words(text),
            Words::Thought => self.put_thought(text),
            Words::Held => {}
        }
    }

    fn put_words(&mut self, text: &str) {
        match self.reader {
            Reader::Person => {
                self.enter(Open::Words);
                let shown = self.markdown.push(&plain(text), width());
                self.put(&shown);
            }
            Reader::Pipe => {
                self.enter(Open::Words);
                self.put(text);
            }
            Reader::Program => {}
        }
    }

    /// Whether a part of a word is held back.
    pub(super) fn is_holding(&self) -> bool {
        self.open == Open::Words && self.markdown.is_holding()
    }

    /// Shows that part, because its end is delayed.
    pub(super) fn pause(&mut self) {
        let shown = self.markdown.pause(width());
        self.put(&shown);
    }

    /// Shows the beginning of a thought, as much as one line holds.
    fn put_thought(&mut self, text: &str) {
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

    /// A plan was made or changed.
    pub(super) fn planned(&mut self, steps: &[PlanStep]) {
        if let Some(line) = self.plan.change(steps) {
            self.print_detail(&plain(&line));
        }
    }

    /// Shows the usage of the conversation, if it has changed.
    pub(super) fn used(&mut self, usage: &Usage) {
        let line = activity::used(usage);
        if !line.is_empty() && line != self.used {
            self.print_detail(&plain(&line));
            self.used = line;
        }
    }

    /// A tool call began, or changed.
    pub(super) fn called(&mut self, tool: &Tool) {
        let room = width().saturating_sub(TOOL_MARGIN);
        for step in self.tools.update(tool, room) {
            let is_asking = matches!(step, Step::Begun { .. }) && tool.tool.ends_with(ASK_TOOL);
            self.show_step(step);
            if is_asking {
                self.print_notice(
                    "The agent asks you something; answer in another terminal with `convoke answer`",
                );
            }
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
            (_, Step::Ended { line, .. }) => self.print_detail(&plain(&line)),
            (Reader::Pipe | Reader::Program, Step::Begun { .. }) => {}
        }
    }

    /// A line that scripts need not see: in a pipe it goes to stderr only if that is a terminal.
    fn print_detail(&mut self, line: &str) {
        match self.reader {
            Reader::Person => self.faint_line(line),
            Reader::Pipe if io::stderr().is_terminal() => aside(&self.error_colour.faint(line)),
            Reader::Pipe | Reader::Program => {}
        }
    }

    /// A line that every user should see.
    pub(super) fn print_notice(&mut self, line: &str) {
        match self.reader {
            Reader::Person => self.faint_line(&plain(line)),
            Reader::Pipe if self.verbosity >= Verbosity::Warn => aside(&plain(line)),
            Reader::Pipe | Reader::Program => tracing::info!("{line}"),
        }
    }

    /// An error.
    pub(super) fn print_error(&mut self, line: &str) {
        self.enter(Open::Nothing);
        match self.reader {
            Reader::Person | Reader::Pipe => {
                aside(&format!("{} {}", self.error_colour.bad("error:"), plain(line)));
            }
            Reader::Program => tracing::error!("{line}"),
        }
    }

    /// A question to the user at the keyboard, wherever stdout goes.
    pub(super) fn print_question(&mut self, text: &str) {
        match self.reader {
            Reader::Person => self.print_result(text),
            Reader::Pipe | Reader::Program => aside(text.trim_end()),
        }
    }

    /// The result of a command.
    pub(super) fn print_result(&mut self, text: &str) {
        self.enter(Open::Nothing);
        self.put(text);
    }

    /// An answer without a prompt, whole.
    pub(super) fn unprompted(&mut self, text: &str) {
        self.put_words(text);
        self.end_turn();
    }

    /// An answer that was saved, for programs that read turns.
    pub(super) fn saved(&mut self, turn: &Turn) {
        if self.reader == Reader::Program
            && let Ok(line) = serde_json::to_string(&Record::Turn(turn.clone()))
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

    /// Ends the last line, unless it is continued.
    fn enter(&mut self, open: Open) {
        if self.open == open {
            return;
        }
        if self.open == Open::Words {
            let rest = self.markdown.finish(width());
            self.put(&rest);
        }
        if !self.is_fresh {
            self.put("\n");
        }
        self.open = open;
    }

    fn put(&mut self, text: &str) {
        if text.is_empty() || self.error.is_some() {
            return;
        }
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        self.error = written.err();
        self.is_fresh = text.ends_with('\n');
    }
}

/// Columns around a thought on its line.
const THOUGHT_MARGIN: usize = 4;
/// Columns around the title of a tool call on its line, its mark included.
const TOOL_MARGIN: usize = 8;
/// The width of a terminal that does not report one.
const WIDTH: usize = 80;

fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_col);
    if columns == 0 { WIDTH } else { usize::from(columns) }
}
