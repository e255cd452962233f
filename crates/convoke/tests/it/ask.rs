//! `convoke ask`: one program asks, another answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::convoke::Convoke;

/// One question with the options Yes and No.
pub(crate) fn question() -> String {
    json!([{
        "prompt": "Ship it?", "title": "Ship", "multiSelect": false,
        "options": [{"label": "Yes", "description": "now"}, {"label": "No"}],
    }])
    .to_string()
}

/// A machine with questions in `questions.json`.
pub(crate) fn machine() -> Convoke {
    let machine = Convoke::new();
    std::fs::write(machine.path().join("questions.json"), question()).unwrap();
    machine
}

/// Asks without waiting, and tells the id.
pub(crate) fn asked(machine: &Convoke) -> String {
    let told = machine.json("ask --non-blocking questions.json --json");
    assert_eq!(told["status"], "pending");
    told["sessionId"].as_str().unwrap().to_owned()
}

/// An `ask` that waits, and the id of its session.
fn asking(machine: &Convoke, line: &str) -> (Child, String) {
    let args: Vec<&str> = line.split_whitespace().collect();
    let mut child =
        machine.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = loop {
        let listed = machine.json("questions list --status pending --json");
        if let Some(session) = listed["sessions"].get(0) {
            break session["sessionId"].as_str().unwrap().to_owned();
        }
        assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    };
    (child, id)
}

/// What a program that has ended printed, and its exit code.
fn ended(child: Child) -> (String, i32) {
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

fn answer(machine: &Convoke, id: &str, label: &str) -> String {
    let answers = json!({"0": {"selectedOption": label}}).to_string();
    machine.run_args(&["questions", "answer", id, "--answers", &answers])
}

#[test]
fn q19_q11_an_answer_from_another_program_ends_the_wait() {
    let machine = machine();
    let (child, id) = asking(&machine, "ask questions.json");
    let short = &id[..8];
    assert_eq!(answer(&machine, short, "Yes"), format!("exit 0\n--- stdout\n{short} completed\n"));
    let text = format!(
        "[Session: {short} | Questions: 1]\n\nHere are the user's answers:\n\n1. Ship it?\n→ Yes — now\n"
    );
    assert_eq!(ended(child), (text, 0));
}

#[test]
fn q11_q10_a_rejection_ends_the_wait_with_4() {
    let machine = machine();
    let (child, id) = asking(&machine, "ask questions.json --json");
    machine.run_args(&["questions", "reject", &id, "--reason", "not now"]);
    let (text, code) = ended(child);
    let told: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({"sessionId": id, "status": "rejected", "rejectionReason": "not now"});
    assert_eq!((told, code), (expected, 4));
}

#[test]
fn q11_q17_an_answer_that_does_not_come_in_time_ends_the_wait_with_5() {
    let machine = machine();
    let told = machine.run("ask questions.json --timeout-ms 30");
    assert!(told.starts_with("exit 5\n--- stdout\n[Session: "), "{told}");
    let configured = machine.file("config.toml", "[questions]\ntimeout_ms = 30\n");
    assert!(configured.run("ask questions.json").starts_with("exit 5\n"));
    let listed = configured.json("questions list --json");
    let statuses: Vec<&Value> =
        listed["sessions"].as_array().unwrap().iter().map(|session| &session["status"]).collect();
    assert_eq!(statuses, ["timed_out", "timed_out"]);
}

#[test]
fn q4_a_late_answer_can_still_be_had() {
    let machine = machine();
    let told = machine.run("ask questions.json --timeout-ms 30 --json");
    assert!(told.starts_with("exit 5\n"), "{told}");
    let id = machine.json("questions list --json")["sessions"][0]["sessionId"].clone();
    let id = id.as_str().unwrap();
    answer(&machine, id, "No");
    let waited = machine.json(&format!("questions wait {id} --json"));
    assert_eq!(waited["status"], "completed");
    assert_eq!(waited["answers"][0]["selectedOption"], "No");
}

#[test]
fn a_timeout_of_another_waiter_leaves_the_set_pending() {
    let machine = machine();
    let (child, id) = asking(&machine, "ask questions.json");
    assert!(machine.run(&format!("questions wait {id} --timeout-ms 30")).starts_with("exit 5\n"));
    assert_eq!(machine.json(&format!("questions show {id} --json"))["status"], "pending");
    answer(&machine, &id, "Yes");
    assert_eq!(ended(child).1, 0);
}

#[test]
fn a_misspelt_field_is_refused() {
    let machine = machine();
    let text = question().replace("multiSelect", "multiselect");
    std::fs::write(machine.path().join("bad.json"), text).unwrap();
    let told = machine.run("ask bad.json");
    assert!(told.starts_with("exit 2\n") && told.contains("unknown field `multiselect`"), "{told}");
}

#[test]
fn what_is_asked_cannot_drive_the_terminal() {
    let machine = machine();
    let text = question().replace("Ship it?", "\\u001b[2JShip\\u202e it?");
    std::fs::write(machine.path().join("questions.json"), text).unwrap();
    let id = asked(&machine);
    let told = machine.run(&format!("questions show {id}"));
    assert!(told.contains("1. \u{fffd}[2JShip\u{fffd} it?"), "{told}");
}

#[test]
fn q12_an_asker_with_a_call_id_gets_the_answer_with_that_call_id() {
    let machine = machine();
    let (child, id) = asking(&machine, "ask questions.json --call-id call-7 --json");
    answer(&machine, &id, "Yes");
    assert_eq!(ended(child).1, 0);
    let shown = machine.json(&format!("questions show {id} --json"));
    assert_eq!(shown["callId"], "call-7");
}

#[test]
fn q12_answers_to_another_call_are_waited_past_by_ask_and_by_questions_wait() {
    let machine = machine();
    let (child, id) = asking(&machine, "ask questions.json --call-id call-7 --timeout-ms 2000");
    // As another program writes them.
    let at = "2026-11-15T10:00:00.000Z";
    let answers = json!({
        "sessionId": id, "timestamp": at, "callId": "call-8",
        "answers": [{"questionIndex": 0, "selectedOption": "Yes", "timestamp": at}],
    });
    let folder = machine.home().join("questions").join(&id);
    std::fs::write(folder.join("answers.tmp"), answers.to_string()).unwrap();
    std::fs::rename(folder.join("answers.tmp"), folder.join("answers.json")).unwrap();
    assert_eq!(ended(child).1, 5);
    let wait =
        |call| machine.run(&format!("questions wait {id} --call-id {call} --timeout-ms 100"));
    assert!(wait("call-7").starts_with("exit 5\n"));
    assert!(wait("call-8").starts_with("exit 0\n"));
}

#[test]
fn a_terminated_ask_leaves_an_abandoned_set_that_can_be_answered() {
    let machine = machine();
    let (child, id) = asking(&machine, "ask questions.json");
    std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let short = &id[..8];
    assert!(
        stderr.contains(&format!("wait again with `convoke questions wait {short}`")),
        "{stderr}"
    );
    let shown = machine.json(&format!("questions show {id} --json"));
    assert_eq!(shown["status"], "abandoned");
    assert!(answer(&machine, &id, "Yes").starts_with("exit 0\n"));
}

#[test]
fn an_asker_that_is_killed_leaves_nothing_locked() {
    let machine = machine();
    let (mut child, id) = asking(&machine, "ask questions.json");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(answer(&machine, &id, "Yes").starts_with("exit 0\n"));
}

#[test]
fn questions_are_read_from_standard_input_too() {
    let machine = machine();
    for form in [
        question(),
        json!({"questions": serde_json::from_str::<Value>(&question()).unwrap()}).to_string(),
    ] {
        let mut child = machine
            .command(&["ask", "-", "--non-blocking"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(form.as_bytes()).unwrap();
        let mut id = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut id).unwrap();
        assert_eq!(id.trim().len(), 36);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn q3_what_cannot_be_asked_is_refused_with_the_way_out() {
    let machine = machine();
    let ask = |text: &str| {
        std::fs::write(machine.path().join("bad.json"), text).unwrap();
        machine.run("ask bad.json")
    };
    insta::assert_snapshot!(ask("[]"), @"
    exit 2
    --- stderr
    error: At least one question is required to create a session
    hint: see `convoke ask --help` for the format and `convoke config show` for the limits
    ");
    insta::assert_snapshot!(ask(r#"{"questions": [{"title": "x"}]}"#), @"
    exit 2
    --- stderr
    error: cannot parse the questions from bad.json
      missing field `prompt` at line 1 column 29
    hint: see `convoke ask --help` for the format
    ");
    insta::assert_snapshot!(ask(r#"[{"prompt": "?", "options": [{"label": "A"}]}]"#), @"
    exit 2
    --- stderr
    error: Question 0 has 1 options, between 2 and 5 are allowed
    hint: see `convoke ask --help` for the format and `convoke config show` for the limits
    ");
    insta::assert_snapshot!(machine.run("ask missing.json"), @"
    exit 2
    --- stderr
    error: cannot read the questions from missing.json
      No such file or directory (os error 2)
    hint: give a file that can be read, or - for standard input
    ");
    assert_eq!(machine.json("questions list --json"), json!({"sessions": []}));
}

#[test]
fn q17_limits_of_the_configuration_are_enforced() {
    let config = "[questions]\nmax_sessions = 1\nmax_options = 2\nmax_questions = 1\n";
    let machine = machine().file("config.toml", config);
    let two: Value = serde_json::from_str(&question()).unwrap();
    std::fs::write(machine.path().join("two.json"), json!([two[0], two[0]]).to_string()).unwrap();
    insta::assert_snapshot!(machine.run("ask --non-blocking two.json"), @"
    exit 2
    --- stderr
    error: Too many questions: 2, at most 1 are allowed
    hint: see `convoke ask --help` for the format and `convoke config show` for the limits
    ");
    asked(&machine);
    insta::assert_snapshot!(machine.run("ask --non-blocking questions.json"), @"
    exit 1
    --- stderr
    error: 1 question session already waiting for an answer
    hint: answer some of them with `convoke answer`, or raise questions.max_sessions
    ");
}

#[test]
fn ask_without_questions_on_a_terminal_is_refused() {
    let (screen, code) = machine().run_on_terminal("ask", "");
    assert_eq!(code, 2);
    assert!(screen.contains("no questions given: standard input is a terminal"), "{screen}");
}

#[test]
fn ask_on_a_terminal_prints_the_command_that_answers() {
    let machine = machine();
    let (screen, code) = machine.run_on_terminal("ask questions.json --timeout-ms 100", "");
    assert_eq!(code, 5);
    assert!(screen.contains("answer with `convoke answer`"), "{screen}");
    let mut piped = machine
        .command(&["ask", "questions.json", "--timeout-ms", "30"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stderr = String::new();
    piped.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    piped.wait().unwrap();
    assert_eq!(stderr, "");
}
