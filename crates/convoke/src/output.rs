//! Standard output: the only place that prints a command's result, for people or for machines.
//!
//! If the reader closes the pipe (`convoke … | head -1`), that is no error.

mod indent;

use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Context;
use clap::builder::StyledStr;
use convoke_core::direction::changes_direction;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::colour::Colour;
use crate::environment::Environment;
use crate::pager::{Paged, Pager};

pub(crate) use indent::Indenter;

/// The format of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A person.
    Human,
    /// A program.
    Json,
}

impl Format {
    /// The format in a command line, even an invalid one.
    pub(crate) fn asked_for(words: &[OsString]) -> Self {
        let mut options = words.iter().take_while(|word| *word != "--");
        if options.any(|word| word == "--json") { Self::Json } else { Self::Human }
    }
}

/// Where results go.
#[derive(Debug)]
pub(crate) struct Output {
    /// Who reads it.
    pub(crate) format: Format,
    /// Whether stdout is coloured.
    pub(crate) colour: Colour,
    /// Whether stderr is coloured, where errors and logs go.
    pub(crate) error_colour: Colour,
    /// The pager for long texts.
    pub(crate) pager: Pager,
}

impl Output {
    /// Prints to this process's stdout.
    pub(crate) fn new(environment: &Environment, format: Format) -> Self {
        Self {
            format,
            colour: Colour::of(&io::stdout(), environment),
            error_colour: Colour::of(&io::stderr(), environment),
            pager: Pager::of(environment),
        }
    }

    /// Prints a result: as JSON, or as the text that `human` returns.
    pub(crate) fn show<T: Serialize>(
        &self,
        result: &T,
        human: impl FnOnce(&T, Colour) -> String,
    ) -> anyhow::Result<()> {
        match self.format {
            Format::Human => self.long_text(&human(result, self.colour)),
            Format::Json => self.line(&serde_json::to_string_pretty(result)?),
        }
    }

    /// Prints a help text.
    pub(crate) fn help(&self, text: &StyledStr) -> anyhow::Result<()> {
        match self.colour {
            Colour::On => self.text(&text.ansi().to_string()),
            Colour::Off => self.text(&text.to_string()),
        }
    }

    /// Prints a text, through the pager if a terminal is too small for it.
    fn long_text(&self, text: &str) -> anyhow::Result<()> {
        let paged = self.pager.start_for(text)?;
        let mut stream = Stream { output: self, paged };
        stream.write(text)?;
        stream.finish()
    }

    /// A long text for a person that is printed in pieces, through the pager if there is one.
    pub(crate) fn stream(&self) -> anyhow::Result<Stream<'_>> {
        Ok(Stream { output: self, paged: self.pager.start()? })
    }

    /// Prints a line.
    pub(crate) fn line(&self, text: &str) -> anyhow::Result<()> {
        self.text(&format!("{text}\n"))
    }

    fn text(&self, text: &str) -> anyhow::Result<()> {
        self.piece(text).map(|_| ())
    }

    /// Prints a piece of a streamed result, and returns whether stdout is still open.
    pub(crate) fn piece(&self, text: &str) -> anyhow::Result<Reader> {
        self.bytes(text.as_bytes())
    }

    /// The same for text that may be cut within a letter.
    pub(crate) fn bytes(&self, text: &[u8]) -> anyhow::Result<Reader> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(Reader::There),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
            Err(error) => Err(error).context("cannot write to standard output"),
        }
    }
}

/// A text that is printed in pieces.
#[derive(Debug)]
pub(crate) struct Stream<'a> {
    pub(crate) output: &'a Output,
    pub(crate) paged: Option<Paged>,
}

impl Stream<'_> {
    /// Prints a piece, and returns whether it is still read.
    pub(crate) fn write(&mut self, text: &str) -> anyhow::Result<Reader> {
        match &mut self.paged {
            Some(paged) => Ok(paged.write(text)),
            None => self.output.piece(text),
        }
    }

    /// Ends the text, and waits until it was read.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.paged.map_or(Ok(()), Paged::wait)
    }
}

/// Whether stdout is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// It is open.
    There,
    /// The reader has closed the pipe.
    Gone,
}

/// A text by others with everything in it that could drive the terminal made visible and harmless.
pub(crate) fn plain(text: &str) -> String {
    let is_harmless = |c: char| c == '\n' || c == '\t' || !(c.is_control() || changes_direction(c));
    text.chars().map(|c| if is_harmless(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Blanks between two columns.
const GAP: usize = 2;

/// An aligned table without lines, a row per line, that `grep` and `awk` can read. No cell drives the terminal.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: Vec<[String; N]>) -> String {
    let mut lines = vec![header.map(ToOwned::to_owned)];
    lines.extend(
        rows.into_iter().map(|row| row.map(|cell| plain(&cell).replace(['\n', '\t'], " "))),
    );
    let mut widths = [0; N];
    for row in &lines {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let mut text = String::new();
    for row in &lines {
        for (width, cell) in widths.iter().zip(row) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', width - cell.width() + GAP));
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}

/// Prints progress on a terminal; prints nothing into a pipe.
pub(crate) fn aside_on_terminal(text: &str) {
    if io::stderr().is_terminal() {
        aside(text);
    }
}

/// Prints a message for a person on stderr; stdout is for the result.
pub(crate) fn aside(text: &str) {
    // If stderr is closed, the message is not needed.
    writeln!(io::stderr(), "{text}").ok();
}

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// `y` or `yes`.
    Yes,
    /// Anything else.
    No,
    /// There is no person: input or errors are not on a terminal.
    NoTerminal,
}

/// Asks a yes-or-no question on the terminal; stdout is for the result.
pub(crate) fn ask(question: &str) -> io::Result<Answer> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(Answer::NoTerminal);
    }
    write!(io::stderr(), "{question} [y/N] ")?;
    let mut said = String::new();
    io::stdin().lock().read_line(&mut said)?;
    match said.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(Answer::Yes),
        _ => Ok(Answer::No),
    }
}
