//! `convoke answer` on a real terminal.

use serde_json::json;

use crate::ask::{asked, machine};

#[test]
fn q19_a_person_answers_in_the_terminal() {
    let machine = machine();
    let id = asked(&machine);
    let mut terminal = machine.on_terminal("answer");
    terminal.sees("Ship it?");
    terminal.types("1");
    terminal.types("s");
    terminal.sees("Send these answers");
    terminal.types("\r");
    terminal.sees("Sent");
    terminal.types("q");
    assert_eq!(terminal.ends().1, 0);
    let shown = machine.json(&format!("questions show {id} --json"));
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["answers"][0]["selectedOption"], json!("Yes"));
}

#[test]
fn without_a_terminal_the_way_out_is_told() {
    insta::assert_snapshot!(machine().run("answer"), @"
    exit 2
    --- stderr
    error: standard output is not a terminal
    hint: without a terminal, see `convoke questions answer --help` or `convoke session --help`
    ");
}
