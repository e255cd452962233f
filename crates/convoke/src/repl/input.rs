//! Where prompts come from: a keyboard with a line editor, or a pipe in which every line is a prompt.
//!
//! Reading blocks, so a thread does it, one line whenever one is asked for. Nothing is read ahead.

use std::io::{self, BufRead, IsTerminal};
use std::path::Path;
use std::sync::mpsc as blocking;

use tokio::sync::mpsc;

use super::editor::Editor;
use crate::colour::Colour;

/// What came of reading a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
    /// Nothing more can be read.
    Failed(String),
}

/// Which line is wanted.
#[derive(Debug)]
enum Wanted {
    /// A prompt; these commands can be completed.
    Prompt { prompt: (String, String), commands: Vec<String> },
    /// An answer to what the agent asks.
    Answer { prompt: (String, String) },
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Input {
    is_keyboard: bool,
    colour: Colour,
    wanted: blocking::SyncSender<Wanted>,
    heard: mpsc::Receiver<Heard>,
    is_waiting: bool,
    /// What is wanted after the line that nobody waits for any more.
    next: Option<Wanted>,
}

/// There is never more than one line that was asked for.
const WANTED_MAX: usize = 1;

impl Input {
    /// Reads from this process's standard input; `history` is where prompts are remembered.
    pub(super) fn open(history: &Path, colour: Colour) -> Self {
        let is_keyboard = io::stdin().is_terminal();
        let (wanted, wishes) = blocking::sync_channel(WANTED_MAX);
        let (answers, heard) = mpsc::channel(WANTED_MAX);
        let history = history.to_owned();
        std::thread::spawn(move || {
            if is_keyboard {
                read_keyboard(&history, colour, &wishes, &answers);
            } else {
                read_pipe(&wishes, &answers);
            }
        });
        Self { is_keyboard, colour, wanted, heard, is_waiting: false, next: None }
    }

    /// Whether there is a person who can be asked.
    pub(super) const fn is_keyboard(&self) -> bool {
        self.is_keyboard
    }

    /// Whether a line that was asked for has not come.
    pub(super) const fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Asks for a prompt; it comes out of [`Self::line`].
    pub(super) fn want_prompt(&mut self, name: &str, commands: Vec<String>) {
        let raw = format!("{name}› ");
        let prompt = (raw.clone(), self.colour.good(raw));
        self.want(Wanted::Prompt { prompt, commands });
    }

    /// Asks for an answer; it comes out of [`Self::line`].
    pub(super) fn want_answer(&mut self, prompt: &str) {
        let prompt = (prompt.to_owned(), self.colour.doubtful(prompt));
        self.want(Wanted::Answer { prompt });
    }

    /// A line that was asked for before, and that nobody waits for any more, has to come first.
    fn want(&mut self, wanted: Wanted) {
        if self.is_waiting {
            self.next = Some(wanted);
            return;
        }
        // A reader that broke down is told by the line that does not come.
        self.wanted.try_send(wanted).ok();
        self.is_waiting = true;
    }

    /// The line that was asked for last. Can be given up and asked again.
    pub(super) async fn line(&mut self) -> Heard {
        loop {
            let heard = self.heard.recv().await.unwrap_or(Heard::End);
            self.is_waiting = false;
            match (&heard, self.next.take()) {
                (Heard::Line(_) | Heard::Interrupted, Some(next)) => self.want(next),
                (Heard::End | Heard::Failed(_), _) | (_, None) => return heard,
            }
        }
    }
}

fn read_keyboard(
    history: &Path,
    colour: Colour,
    wishes: &blocking::Receiver<Wanted>,
    answers: &mpsc::Sender<Heard>,
) {
    let mut editor = match Editor::open(history, colour) {
        Ok(editor) => editor,
        Err(error) => {
            answers.blocking_send(Heard::Failed(error.to_string())).ok();
            return;
        }
    };
    while let Ok(wanted) = wishes.recv() {
        let heard = match wanted {
            Wanted::Prompt { prompt, commands } => editor.prompt(&prompt, commands),
            Wanted::Answer { prompt } => editor.answer(&prompt),
        };
        if answers.blocking_send(heard).is_err() {
            return;
        }
    }
}

fn read_pipe(wishes: &blocking::Receiver<Wanted>, answers: &mpsc::Sender<Heard>) {
    let mut input = io::stdin().lock();
    while wishes.recv().is_ok() {
        let mut line = Vec::new();
        let heard = match input.read_until(b'\n', &mut line) {
            Ok(0) => Heard::End,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line);
                Heard::Line(text.trim_end_matches(['\n', '\r']).to_owned())
            }
            Err(error) => Heard::Failed(error.to_string()),
        };
        if answers.blocking_send(heard).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An input whose lines come from the test.
    fn input() -> (Input, blocking::Receiver<Wanted>, mpsc::Sender<Heard>) {
        let (wanted, wishes) = blocking::sync_channel(WANTED_MAX);
        let (answers, heard) = mpsc::channel(WANTED_MAX);
        let colour = Colour::Off;
        let input =
            Input { is_keyboard: true, colour, wanted, heard, is_waiting: false, next: None };
        (input, wishes, answers)
    }

    fn line(text: &str) -> Heard {
        Heard::Line(text.to_owned())
    }

    #[tokio::test]
    async fn a_line_that_nobody_waits_for_any_more_is_not_taken_for_the_next_one() {
        let (mut input, wishes, answers) = input();
        input.want_answer("1 to 2: ");
        assert!(matches!(wishes.try_recv(), Ok(Wanted::Answer { .. })));
        // The agent took its question back, and the person goes on.
        input.want_prompt("demo", Vec::new());
        assert!(wishes.try_recv().is_err(), "the keyboard is still asked for the answer");
        answers.send(line("1")).await.unwrap();
        let heard = tokio::spawn(async move { (input.line().await, input.is_waiting()) });
        while wishes.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        answers.send(line("hello")).await.unwrap();
        assert_eq!(heard.await.unwrap(), (line("hello"), false));
    }

    #[tokio::test]
    async fn the_end_of_a_keyboard_is_told_whatever_was_asked_for() {
        let (mut input, _wishes, answers) = input();
        input.want_answer("1 to 2: ");
        input.want_prompt("demo", Vec::new());
        answers.send(Heard::End).await.unwrap();
        assert_eq!(input.line().await, Heard::End);
        drop(answers);
        assert_eq!(input.line().await, Heard::End);
    }
}
