//! `convoke questions`: looked at and settled from the command line.

use std::fs;

use serde_json::json;

use crate::ask::{asked, machine};
use crate::convoke::Convoke;

/// A machine on which one set of questions was asked.
struct Scene {
    machine: Convoke,
    id: String,
}

impl Scene {
    fn new() -> Self {
        let machine = machine();
        let id = asked(&machine);
        Self { machine, id }
    }

    /// Runs `convoke questions …`; `ID` stands for the session.
    fn run(&self, line: &str) -> String {
        let line = format!("questions {}", line.replace("ID", &self.id));
        self.masked(&self.machine.run(&line))
    }

    fn answer(&self, answers: &str) -> String {
        self.masked(&self.machine.run_args(&[
            "questions",
            "answer",
            &self.id,
            "--answers",
            answers,
        ]))
    }

    fn masked(&self, told: &str) -> String {
        told.replace(&self.id, "[id]").replace(&self.id[..8], "[the-id]")
    }
}

#[test]
fn sessions_are_listed_and_shown() {
    insta::assert_snapshot!(machine().run("questions list"), @"
    exit 0
    --- stdout
    No questions.
    ");
    let scene = Scene::new();
    insta::assert_snapshot!(scene.run("list"), @"
    exit 0
    --- stdout
    SESSION   STATUS   ASKED  QUESTIONS  FROM
    [the-id]  pending  now    1          [tmp]
    ");
    insta::assert_snapshot!(scene.run(&format!("show {}", &scene.id[..4])), @"
    exit 0
    --- stdout
    [id]  pending, asked just now by convoke ask in [tmp]

    1. Ship it?
       ( ) Yes — now
       ( ) No
    ");
    scene.answer(r#"{"0": {"selectedOption": "Yes"}}"#);
    insta::assert_snapshot!(scene.run("show ID"), @"
    exit 0
    --- stdout
    [id]  completed, asked just now by convoke ask in [tmp]

    1. Ship it?
       ( ) Yes — now
       ( ) No

    Here are the user's answers:

    1. Ship it?
    → Yes — now
    ");
}

#[test]
fn q15_answers_that_do_not_fit_are_refused_and_the_session_stays_answerable() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.answer(r#"{"0": {"selectedOption": "Maybe"}}"#), @"
    exit 2
    --- stderr
    error: Answer for question 0 references non-existent option: Maybe
    hint: see the options with `convoke questions show`; the session can still be answered
    ");
    insta::assert_snapshot!(scene.answer(r#"{"1": {"selectedOption": "Yes"}}"#), @"
    exit 2
    --- stderr
    error: Answer references invalid question index: 1
    hint: see the options with `convoke questions show`; the session can still be answered
    ");
    insta::assert_snapshot!(scene.answer("{}"), @"
    exit 2
    --- stderr
    error: No answers provided
    hint: see the options with `convoke questions show`; the session can still be answered
    ");
    insta::assert_snapshot!(scene.answer("yes"), @r#"
    exit 2
    --- stderr
    error: cannot parse `--answers`
      expected value at line 1 column 1
    hint: the format is '{"0": {"selectedOption": "A"}}'; see `--help`
    "#);
}

#[test]
fn q9_q10_the_first_verdict_wins_and_the_second_fails() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.answer(r#"{"0": {"selectedOption": "Yes"}}"#), @"
    exit 0
    --- stdout
    [the-id] completed
    ");
    insta::assert_snapshot!(scene.answer(r#"{"0": {"selectedOption": "No"}}"#), @"
    exit 1
    --- stderr
    error: Session [id] is already completed
    hint: see `convoke questions show [the-id]`
    ");
    insta::assert_snapshot!(scene.run("reject ID"), @"
    exit 1
    --- stderr
    error: Session [id] is already completed
    hint: see `convoke questions show [the-id]`
    ");
}

#[test]
fn sessions_are_filtered_by_status() {
    let machine = machine();
    let (first, second) = (asked(&machine), asked(&machine));
    machine.run(&format!("questions reject {first}"));
    let listed = |status: &str| {
        let listed = machine.json(&format!("questions list --status {status} --json"));
        listed["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["sessionId"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed("rejected"), [first.as_str()]);
    assert_eq!(listed("pending"), [second.as_str()]);
    assert_eq!(listed("timed_out"), [""; 0]);
    assert!(machine.run("questions list --status lost").starts_with("exit 2\n"));
}

#[test]
fn q16_validation_ends_with_1_when_something_is_wrong() {
    let machine = machine();
    let id = asked(&machine);
    assert_eq!(
        machine.run(&format!("questions validate {id}")),
        format!("exit 0\n--- stdout\n{id} is valid\n")
    );
    let status = machine.home().join("questions").join(&id).join("status.json");
    fs::remove_file(status).unwrap();
    let told = machine.run(&format!("questions validate {id} --json"));
    let (head, body) = told.split_once("--- stdout\n").unwrap();
    assert_eq!(head, "exit 1\n");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(body).unwrap(),
        json!({"sessionId": id, "isValid": false, "issues": ["Required file missing: status.json"]})
    );
    insta::assert_snapshot!(machine.run("questions validate ../etc"), @"
    exit 2
    --- stderr
    error: Invalid session ID format: ../etc
    hint: give an id, or at least its first four characters
    ");
}

#[test]
fn q13_old_sessions_are_cleaned_and_counted() {
    let machine = machine();
    asked(&machine);
    asked(&machine);
    insta::assert_snapshot!(machine.run("questions clean"), @"
    exit 0
    --- stdout
    deleted 0 question sessions
    ");
    assert_eq!(
        machine.json("questions clean --older-than-days 0 --json"),
        json!({"deleted": 2, "waitedOn": 0, "failed": 0})
    );
}

#[test]
fn q13_q17_a_retention_of_0_days_keeps_every_session() {
    let machine = machine().file("config.toml", "[questions]\nretention_days = 0\n");
    let id = asked(&machine);
    let status = machine.home().join("questions").join(&id).join("status.json");
    let old = fs::read_to_string(&status).unwrap().replace("\"20", "\"19");
    fs::write(&status, old).unwrap();
    assert_eq!(
        machine.json("questions clean --json"),
        json!({"deleted": 0, "waitedOn": 0, "failed": 0})
    );
    assert_eq!(machine.json("questions list --json")["sessions"][0]["sessionId"], json!(id));
    assert_eq!(machine.json("questions clean --older-than-days 30 --json")["deleted"], 1);
}

#[test]
fn q18_a_damaged_session_is_warned_of_and_hides_no_other() {
    let machine = machine();
    let (bad, good) = (asked(&machine), asked(&machine));
    for name in ["status.json", "request.json"] {
        fs::write(machine.home().join("questions").join(&bad).join(name), "garbage").unwrap();
    }
    let told = machine
        .run("questions list")
        .replace(&bad, "[bad]")
        .replace(&bad[..8], "[bad-id]")
        .replace(&good[..8], "[goodid]");
    insta::assert_snapshot!(told, @"
    exit 0
    --- stdout
    SESSION   STATUS   ASKED  QUESTIONS  FROM
    [goodid]  pending  now    1          [tmp]
    --- stderr
     WARN question session [bad-id]: [tmp]/.convoke/questions/[bad]/status.json is damaged; see `convoke questions validate [bad-id]`
    ");
}

#[test]
fn questions_lie_where_the_configuration_says() {
    let machine = machine();
    let elsewhere = machine.path().join("elsewhere");
    let machine = machine.env("CONVOKE_QUESTIONS_DIR", elsewhere.to_str().unwrap());
    let id = asked(&machine);
    assert!(elsewhere.join(id).join("request.json").exists());
}
