//! Standard input: a keyboard with a line editor, or a pipe in which every line is a prompt.
//!
//! Reading blocks, so a thread reads, one line for each that is requested. It never reads ahead.

use std::io::{self, BufRead, IsTerminal};
use std::path::Path;
use std::sync::mpsc as blocking;

use tokio::sync::mpsc;

use super::editor::Editor;
use crate::colour::Colour;

/// The outcome of reading a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InputEvent {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
    /// Reading failed.
    Failed(String),
}

/// The line that the reading thread is to read.
#[derive(Debug)]
enum ReadRequest {
    /// A prompt; these commands can be completed.
    Prompt { prompt: (String, String), commands: Vec<String> },
    /// An answer to a request of the agent.
    Answer { prompt: (String, String) },
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Input {
    is_keyboard: bool,
    colour: Colour,
    wanted: blocking::SyncSender<ReadRequest>,
    events: mpsc::Receiver<InputEvent>,
    is_waiting: bool,
    /// What to read after a line that was requested and is no longer needed.
    next: Option<ReadRequest>,
}

/// At most one line is requested at a time, so sending never waits.
const WANTED_MAX: usize = 1;

impl Input {
    /// Reads from this process's standard input; `history` is the file of the editor's history.
    pub(super) fn open(history: &Path, colour: Colour) -> Self {
        let is_keyboard = io::stdin().is_terminal();
        let (wanted, requests) = blocking::sync_channel(WANTED_MAX);
        let (answers, events) = mpsc::channel(WANTED_MAX);
        let history = history.to_owned();
        std::thread::spawn(move || {
            if is_keyboard {
                read_keyboard(&history, colour, &requests, &answers);
            } else {
                read_pipe(&requests, &answers);
            }
        });
        Self { is_keyboard, colour, wanted, events, is_waiting: false, next: None }
    }

    /// Whether a user types at a terminal.
    pub(super) const fn is_keyboard(&self) -> bool {
        self.is_keyboard
    }

    /// Whether a requested line has not arrived yet.
    pub(super) const fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Requests a prompt; [`Self::line`] returns it.
    pub(super) fn want_prompt(&mut self, name: &str, commands: Vec<String>) {
        let raw = format!("{name}› ");
        let prompt = (raw.clone(), self.colour.good(raw));
        self.want(ReadRequest::Prompt { prompt, commands });
    }

    /// Requests an answer; [`Self::line`] returns it.
    pub(super) fn want_answer(&mut self, prompt: &str) {
        let prompt = (prompt.to_owned(), self.colour.doubtful(prompt));
        self.want(ReadRequest::Answer { prompt });
    }

    /// Requests a line. A line that was requested before must arrive first, even if it is no longer
    /// needed.
    fn want(&mut self, wanted: ReadRequest) {
        if self.is_waiting {
            self.next = Some(wanted);
            return;
        }
        // A reading thread that panicked has closed the channel, which `line` notices.
        self.wanted.try_send(wanted).ok();
        self.is_waiting = true;
    }

    /// The line that was requested last. Cancel-safe.
    pub(super) async fn line(&mut self) -> InputEvent {
        loop {
            let event = self.events.recv().await.unwrap_or(InputEvent::End);
            self.is_waiting = false;
            match (&event, self.next.take()) {
                (InputEvent::Line(_) | InputEvent::Interrupted, Some(next)) => self.want(next),
                (InputEvent::End | InputEvent::Failed(_), _) | (_, None) => return event,
            }
        }
    }
}

fn read_keyboard(
    history: &Path,
    colour: Colour,
    requests: &blocking::Receiver<ReadRequest>,
    answers: &mpsc::Sender<InputEvent>,
) {
    let mut editor = match Editor::open(history, colour) {
        Ok(editor) => editor,
        Err(error) => {
            answers.blocking_send(InputEvent::Failed(error.to_string())).ok();
            return;
        }
    };
    while let Ok(wanted) = requests.recv() {
        let event = match wanted {
            ReadRequest::Prompt { prompt, commands } => editor.prompt(&prompt, commands),
            ReadRequest::Answer { prompt } => editor.answer(&prompt),
        };
        if answers.blocking_send(event).is_err() {
            return;
        }
    }
}

fn read_pipe(requests: &blocking::Receiver<ReadRequest>, answers: &mpsc::Sender<InputEvent>) {
    let mut input = io::stdin().lock();
    while requests.recv().is_ok() {
        let mut line = Vec::new();
        let event = match input.read_until(b'\n', &mut line) {
            Ok(0) => InputEvent::End,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line);
                InputEvent::Line(text.trim_end_matches(['\n', '\r']).to_owned())
            }
            Err(error) => InputEvent::Failed(error.to_string()),
        };
        if answers.blocking_send(event).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An input whose lines come from the test.
    fn input() -> (Input, blocking::Receiver<ReadRequest>, mpsc::Sender<InputEvent>) {
        let (wanted, requests) = blocking::sync_channel(WANTED_MAX);
        let (answers, events) = mpsc::channel(WANTED_MAX);
        let colour = Colour::Off;
        let input =
            Input { is_keyboard: true, colour, wanted, events, is_waiting: false, next: None };
        (input, requests, answers)
    }

    fn line(text: &str) -> InputEvent {
        InputEvent::Line(text.to_owned())
    }

    #[tokio::test]
    async fn a_line_that_is_no_longer_needed_is_not_taken_for_the_next_one() {
        let (mut input, requests, answers) = input();
        input.want_answer("1 to 2: ");
        assert!(matches!(requests.try_recv(), Ok(ReadRequest::Answer { .. })));
        // The agent withdrew its question, and the next prompt is requested.
        input.want_prompt("demo", Vec::new());
        assert!(requests.try_recv().is_err(), "the keyboard is still asked for the answer");
        answers.send(line("1")).await.unwrap();
        let event = tokio::spawn(async move { (input.line().await, input.is_waiting()) });
        while requests.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        answers.send(line("hello")).await.unwrap();
        assert_eq!(event.await.unwrap(), (line("hello"), false));
    }

    #[tokio::test]
    async fn the_end_of_the_input_is_returned_whatever_was_requested() {
        let (mut input, _requests, answers) = input();
        input.want_answer("1 to 2: ");
        input.want_prompt("demo", Vec::new());
        answers.send(InputEvent::End).await.unwrap();
        assert_eq!(input.line().await, InputEvent::End);
        drop(answers);
        assert_eq!(input.line().await, InputEvent::End);
    }
}
