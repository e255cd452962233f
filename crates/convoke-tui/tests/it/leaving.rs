//! However it ends, the terminal is as it was.

use std::process::Command;

use rustix::process::Signal;

use crate::folder::Folder;
use crate::person::{Person, program};

#[test]
fn q_gives_the_terminal_back() {
    let folder = Folder::new();
    folder.ask_for_tea();
    let mut person = Person::starts("answer_questions", &folder);
    person.sees("Would you like tea?").types("q");
    person.sees("code 0").has_the_terminal_back();
}

#[test]
fn a_signal_gives_the_terminal_back() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let folder = Folder::new();
        folder.ask_for_tea();
        let mut person = Person::starts("answer_questions", &folder);
        person.sees("Would you like tea?").types("ohalf a thought");
        person.sees("half a thought").signals(signal);
        person.sees("code 0").has_the_terminal_back();
    }
}

#[test]
fn a_panic_gives_the_terminal_back_and_can_be_read() {
    let folder = Folder::new();
    folder.ask_for_tea();
    let mut person = Person::starts("answer_until_panic", &folder);
    person.sees("Would you like tea?").types("j");
    person.sees("code 101").sees("the clock is broken").has_the_terminal_back();
}

#[test]
fn it_ends_with_its_terminal() {
    let folder = Folder::new();
    folder.ask_for_tea();
    let mut person = Person::starts("answer_questions", &folder);
    person.sees("Would you like tea?");
    // The shell survives SIGHUP, so the program hears of it only from the terminal itself.
    person.closes_the_window();
}

#[test]
fn without_a_terminal_nothing_is_shown() {
    let folder = Folder::new();
    let output =
        Command::new(program("answer_questions")).arg(folder.questions.dir()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &*stderr), (Some(1), "Error: NoTerminal\n"));
    assert!(output.stdout.is_empty());
}
