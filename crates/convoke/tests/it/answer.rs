//! `convoke answer` on a real terminal.

use serde_json::json;

use crate::ask::{asked, machine};
use crate::daemon_scene::Scene;

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
fn p10_permissions_of_agents_and_questions_in_files_are_answered_in_one_place() {
    let scene = Scene::on(machine());
    let session = scene.session();
    let id = asked(&scene.machine);
    scene.run_args(&["session", "send", &session, "/write notes.txt hello"]);
    let mut terminal = scene.machine.on_terminal("answer");
    terminal.sees("Ship it?");
    terminal.sees("of 2");
    terminal.types("n");
    terminal.sees("notes.txt?");
    terminal.sees("+hello");
    terminal.types("1");
    terminal.sees("Sent");
    terminal.sees("Ship it?");
    terminal.types("q");
    assert_eq!(terminal.ends().1, 0);
    let inbox = scene.machine.json("inbox list --json");
    assert_eq!(inbox["items"].as_array().unwrap().len(), 1, "{inbox}");
    assert_eq!(inbox["items"][0]["id"], json!(id));
}

#[test]
fn answer_without_a_terminal_names_the_alternative() {
    insta::assert_snapshot!(machine().run("answer"), @"
    exit 2
    --- stderr
    error: standard output is not a terminal
    hint: without a terminal, see `convoke questions answer --help` or `convoke session --help`
    ");
}
