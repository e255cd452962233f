//! Prints a turn as it happens: the agent's answer on stdout, all else on stderr, dimmed and only
//! on a terminal.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};

use convoke_api::entry::{Entry, EntryBody, Words};
use convoke_core::content::ToolStatus;

use super::lines;
use crate::colour::Colour;
use crate::output::{Output, plain};

/// Prints the changes of a conversation.
pub(super) struct Printer {
    colour: Colour,
    /// Whether anything but the answer is shown.
    details: Details,
    /// Whether both streams are the same terminal, so that they share a cursor.
    is_shared: bool,
    /// The open text at the cursor: of an entry, or of a thought.
    open: Option<Open>,
    /// Whether text of an earlier entry was printed, from which the next is separated.
    has_spoken: bool,
    /// Entries that were shown already.
    told: BTreeSet<String>,
}

/// Whether thoughts, tools and plans are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Details {
    Shown,
    Hidden,
}

/// The open text, and whether its line is unfinished.
struct Open {
    entry_id: String,
    stream: Stream,
    /// How many bytes of its text were printed.
    printed: usize,
    is_mid_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Words,
    Thoughts,
}

impl Printer {
    /// Prints to this process's streams.
    pub(super) fn new(output: &Output) -> Self {
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            colour: output.error_colour,
            details: if err { Details::Shown } else { Details::Hidden },
            is_shared: out && err,
            open: None,
            has_spoken: false,
            told: BTreeSet::new(),
        }
    }

    /// Prints that the turn is being cancelled.
    pub(super) fn stopping(&mut self) -> io::Result<()> {
        self.aside("stopping …")
    }

    /// Ends the last line.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.close()
    }

    /// Prints an entry, or the new part of it.
    pub(super) fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        match &entry.body {
            EntryBody::Assistant(words) => self.words(entry, words, Stream::Words),
            EntryBody::Thinking(words) => self.words(entry, words, Stream::Thoughts),
            EntryBody::ToolCall(call) => {
                // A call is printed when it begins, and again only if it fails.
                let key = format!("{} {}", entry.entry_id, call.status == ToolStatus::Error);
                self.once(key, &entry.body)
            }
            EntryBody::Permission(_) | EntryBody::Question(_) => self.asked(entry),
            EntryBody::Plan { .. } | EntryBody::Notice(_) => {
                lines::aside(&entry.body).map_or(Ok(()), |line| self.aside(&line))
            }
            EntryBody::User(_)
            | EntryBody::Queue { .. }
            | EntryBody::Commands { .. }
            | EntryBody::Modes { .. }
            | EntryBody::Settings { .. }
            | EntryBody::Usage(_) => Ok(()),
        }
    }

    fn words(&mut self, entry: &Entry, words: &Words, stream: Stream) -> io::Result<()> {
        if self.told.insert(entry.entry_id.clone()) {
            self.close()?;
            if stream == Stream::Words && std::mem::replace(&mut self.has_spoken, true) {
                io::stdout().write_all(b"\n")?;
            }
            let entry_id = entry.entry_id.clone();
            self.open = Some(Open { entry_id, stream, printed: 0, is_mid_line: false });
        }
        let Some(open) = self.open.as_ref().filter(|open| open.entry_id == entry.entry_id) else {
            return Ok(());
        };
        // A complete entry also has its last text, which may not have been sent separately.
        if let Some(rest) = words.content.get(open.printed..) {
            self.append(&entry.entry_id, rest)?;
        }
        if words.partial { Ok(()) } else { self.close() }
    }

    /// Prints text that is appended to an entry.
    pub(super) fn append(&mut self, entry_id: &str, content: &str) -> io::Result<()> {
        let Some(open) = self.open.as_mut().filter(|open| open.entry_id == entry_id) else {
            return Ok(());
        };
        open.printed += content.len();
        let text = plain(content);
        if !text.is_empty() {
            open.is_mid_line = !text.ends_with('\n');
        }
        match (open.stream, self.details) {
            (Stream::Words, _) => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(text.as_bytes())?;
                stdout.flush()
            }
            (Stream::Thoughts, Details::Shown) => {
                write!(io::stderr(), "{}", self.colour.faint(text))
            }
            (Stream::Thoughts, Details::Hidden) => Ok(()),
        }
    }

    /// Ends the line of the open text.
    fn close(&mut self) -> io::Result<()> {
        let Some(Open { stream, is_mid_line: true, .. }) = self.open.take() else { return Ok(()) };
        match (stream, self.details) {
            (Stream::Words, _) => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(b"\n")?;
                stdout.flush()
            }
            (Stream::Thoughts, Details::Shown) => io::stderr().write_all(b"\n"),
            (Stream::Thoughts, Details::Hidden) => Ok(()),
        }
    }

    fn once(&mut self, key: String, body: &EntryBody) -> io::Result<()> {
        match lines::aside(body) {
            Some(line) if self.told.insert(key) => self.aside(&line),
            Some(_) | None => Ok(()),
        }
    }

    /// Requests are printed even if stderr is not a terminal: the session waits for their answers.
    fn asked(&mut self, entry: &Entry) -> io::Result<()> {
        match lines::way_to_answer(&entry.body) {
            Some(text) if self.told.insert(entry.entry_id.clone()) => {
                self.break_line()?;
                writeln!(io::stderr(), "{text}")
            }
            Some(_) => Ok(()),
            None => lines::aside(&entry.body).map_or(Ok(()), |line| self.aside(&line)),
        }
    }

    fn aside(&mut self, line: &str) -> io::Result<()> {
        match self.details {
            Details::Shown => {
                self.break_line()?;
                writeln!(io::stderr(), "{}", self.colour.faint(line))
            }
            Details::Hidden => Ok(()),
        }
    }

    /// Begins a new line, if unfinished text shares the cursor.
    fn break_line(&mut self) -> io::Result<()> {
        let Some(open) = self.open.as_mut().filter(|open| open.is_mid_line) else { return Ok(()) };
        if self.is_shared || open.stream == Stream::Thoughts {
            open.is_mid_line = false;
            return io::stderr().write_all(b"\n");
        }
        Ok(())
    }
}
