//! The line editor: history, multiple lines, literal pastes, and completion of commands.

use std::borrow::Cow;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use convoke_files::index::FileIndex;
use convoke_files::mention;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{
    Behavior, Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Event,
    EventContext, EventHandler, Helper, KeyEvent, RepeatCount,
};

use super::input::InputEvent;
use crate::colour::Colour;

/// Prompts that the history keeps; the oldest are dropped.
const HISTORY_MAX: usize = 1000;
/// The first line of a history file, as rustyline writes it.
const HISTORY_HEAD: &[u8] = b"#V2\n";

/// A line editor on the terminal.
pub(super) struct Editor {
    inner: rustyline::Editor<LineCompletion, FileHistory>,
    history: PathBuf,
}

impl Editor {
    /// Opens the terminal; `history` is the file of earlier prompts.
    pub(super) fn open(history: &Path, colour: Colour) -> rustyline::Result<Self> {
        let behavior = if io::IsTerminal::is_terminal(&io::stdout()) {
            Behavior::Stdio
        } else {
            Behavior::PreferTerm
        };
        let config = Config::builder()
            .max_history_size(HISTORY_MAX)?
            .completion_type(CompletionType::List)
            .behavior(behavior)
            .color_mode(match colour {
                Colour::On => ColorMode::Enabled,
                Colour::Off => ColorMode::Disabled,
            })
            .build();
        let mut inner = rustyline::Editor::with_config(config)?;
        inner.set_helper(Some(LineCompletion { commands: Vec::new() }));
        for (key, does) in [('\r', Cmd::Complete), ('\n', Cmd::Complete), ('\t', Cmd::Noop)] {
            let handler = EventHandler::Conditional(Box::new(AtOpenEnd(does)));
            inner.bind_sequence(KeyEvent::from(key), handler);
        }
        if let Err(error) =
            create_history(history).map_err(Into::into).and_then(|()| inner.load_history(history))
        {
            tracing::warn!("the history of prompts cannot be read: {error}");
        }
        Ok(Self { inner, history: history.to_owned() })
    }

    /// Reads a prompt, and adds it to the history.
    pub(super) fn prompt(
        &mut self,
        prompt: &(String, String),
        commands: Vec<String>,
    ) -> InputEvent {
        if let Some(completion) = self.inner.helper_mut() {
            completion.commands = commands;
        }
        let event = self.read(prompt);
        if let InputEvent::Line(line) = &event
            && !line.trim().is_empty()
        {
            let kept = self.inner.add_history_entry(line.as_str());
            if let Err(error) = kept.and_then(|_| self.inner.append_history(&self.history)) {
                tracing::warn!("the prompt is not added to the history: {error}");
            }
        }
        event
    }

    /// Reads an answer, which is not added to the history. Keys that were typed before are dropped.
    pub(super) fn answer(&mut self, prompt: &(String, String)) -> InputEvent {
        if let Some(completion) = self.inner.helper_mut() {
            completion.commands.clear();
        }
        // Best effort: an invalid answer is asked for again.
        rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush).ok();
        self.read(prompt)
    }

    fn read(&mut self, prompt: &(String, String)) -> InputEvent {
        match self.inner.readline(prompt) {
            Ok(line) => InputEvent::Line(line),
            Err(ReadlineError::Eof) => InputEvent::End,
            Err(ReadlineError::Interrupted) => InputEvent::Interrupted,
            Err(error) => InputEvent::Failed(error.to_string()),
        }
    }
}

/// Creates the history file, readable by its owner only.
fn create_history(path: &Path) -> io::Result<()> {
    match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => file.write_all(HISTORY_HEAD),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Completion.
struct LineCompletion {
    /// The commands that can be completed, with their slash.
    commands: Vec<String>,
}

/// Files that a mention is completed to at most.
const MENTIONS_MAX: usize = 20;

/// Commands whose argument is a file.
const WITH_FILE: [&str; 3] = ["/save ", "/export ", "/import "];

impl Completer for LineCompletion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        place: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if place == line.len() && ends_open(line) {
            let line_break = Pair { display: String::new(), replacement: "\n".to_owned() };
            return Ok((place - 1, vec![line_break]));
        }
        let typed = line.get(..place).unwrap_or_default();
        if let Some(name) = WITH_FILE.iter().find_map(|command| typed.strip_prefix(command)) {
            let name = name.trim_start();
            return Ok((place - name.len(), files(name)));
        }
        if let Some((start, letters)) = mention::at(line, place) {
            return Ok((start, mentions(letters)));
        }
        let is_command = typed.starts_with('/') && !typed.contains(char::is_whitespace);
        let fits = |command: &&String| is_command && command.starts_with(typed);
        let pair = |command: &String| Pair {
            display: command.clone(),
            replacement: format!("{command} "),
        };
        Ok((0, self.commands.iter().filter(fits).map(pair).collect()))
    }
}

/// The files of the project that match some letters. Its folders are walked through with every completion, which people
/// ask for with a key of its own.
fn mentions(letters: &str) -> Vec<Pair> {
    let found = FileIndex::build(Path::new(".")).search(letters, MENTIONS_MAX);
    let pair = |file: String| {
        let after = if file.ends_with('/') { "" } else { " " };
        Pair { replacement: format!("@{file}{after}"), display: file }
    };
    found.into_iter().map(pair).collect()
}

/// The files whose names begin with the typed text. Spaces are not escaped, since commands take the
/// rest of the line.
fn files(typed: &str) -> Vec<Pair> {
    let (folder, begin) = typed.split_at(typed.rfind('/').map_or(0, |slash| slash + 1));
    let place = if folder.is_empty() { "." } else { folder };
    // A folder that cannot be read completes to nothing.
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let pair = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let end = if entry.path().is_dir() { "/" } else { "" };
        let replacement = format!("{folder}{name}{end}");
        name.starts_with(begin).then_some(Pair { display: name, replacement })
    };
    let mut pairs: Vec<Pair> = entries.flatten().filter_map(pair).collect();
    pairs.sort_unstable_by(|a, b| a.display.cmp(&b.display));
    pairs
}

impl Validator for LineCompletion {}

/// The command of a key after a backslash at the end of the text; elsewhere the key keeps its own.
///
/// No command of the editor replaces a backslash by a line break, but a completion can.
struct AtOpenEnd(Cmd);

impl ConditionalEventHandler for AtOpenEnd {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let is_there = context.pos() == context.line().len() && ends_open(context.line());
        is_there.then(|| self.0.clone())
    }
}

/// Whether a text ends with a backslash that is not escaped.
fn ends_open(text: &str) -> bool {
    text.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1
}

impl Hinter for LineCompletion {
    type Hint = String;
}

impl Highlighter for LineCompletion {
    fn highlight_candidate<'c>(&self, candidate: &'c str, _: CompletionType) -> Cow<'c, str> {
        Cow::Borrowed(candidate)
    }
}

impl Helper for LineCompletion {}

#[cfg(test)]
mod tests {
    use rustyline::history::DefaultHistory;

    use super::*;

    #[test]
    fn commands_are_completed_at_the_beginning_of_a_line_only() {
        let commands = ["/help", "/history", "/plan"].map(str::to_owned).to_vec();
        let completion = LineCompletion { commands };
        let history = DefaultHistory::new();
        let complete = |line: &str| {
            let found = completion.complete(line, line.len(), &Context::new(&history)).unwrap().1;
            found.into_iter().map(|pair| pair.replacement).collect::<Vec<_>>().join(",")
        };
        assert_eq!(complete("/h"), "/help ,/history ");
        assert_eq!(complete("/pl"), "/plan ");
        assert_eq!(complete("/"), "/help ,/history ,/plan ");
        assert_eq!(complete("say /h"), "");
        assert_eq!(complete("/history 1"), "");
    }

    #[test]
    fn files_are_completed_by_their_names_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("zz (old)")).unwrap();
        std::fs::write(folder.path().join("zz top's.json"), "").unwrap();
        let place = folder.path().to_str().unwrap();
        let (completion, history) =
            (LineCompletion { commands: Vec::new() }, DefaultHistory::new());
        let complete = |typed: &str| {
            let line = format!("/import  {place}/{typed}");
            let (start, found) =
                completion.complete(&line, line.len(), &Context::new(&history)).unwrap();
            let lines = found.iter().map(|pair| line[..start].to_owned() + &pair.replacement);
            lines.collect::<Vec<_>>().join("\n").replace(place, "[tmp]")
        };
        assert_eq!(complete("zz"), "/import  [tmp]/zz (old)/\n/import  [tmp]/zz top's.json");
        assert_eq!(complete("zz top's"), "/import  [tmp]/zz top's.json");
        assert_eq!(complete("none/zz"), "");
    }

    #[test]
    fn a_backslash_at_the_end_means_that_more_follows() {
        assert!(ends_open("one \\") && ends_open("\\\\\\"));
        assert!(!ends_open("one") && !ends_open("C:\\\\") && !ends_open(""));
    }
}
