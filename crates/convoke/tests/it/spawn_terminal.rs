//! `convoke spawn` in front of a person: colours, keys, permissions, and questions about damaged files.
//!
//! A prompt stands below an empty line. Who types before it is there types into a terminal that is not the editor's.

use convoke_testkit::agent::{Ask, Ignored, Script, Step, Tool};
use serde_json::json;

use crate::spawn_scene::{Scene, transcript};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
const UP: &str = "\u{1b}[A";

#[test]
fn r1_r2_a_person_talks_with_an_agent_and_leaves() {
    let script = Script::new().turn([
        Step::Think("Let me see.".to_owned()),
        Step::say("# Title\n\nSome **bold** words and `code`.\n"),
    ]);
    let scene = Scene::with(&[("writer", script)]);
    let mut terminal = scene.terminal("spawn --interactive --agent writer --session s");
    terminal.sees("Session s. /help shows the commands, Ctrl-D leaves.\nwriter›");
    terminal.types("hello\r");
    terminal.sees("Some bold words and code.\n\nwriter›");
    terminal.types(CTRL_D);
    let (screen, code) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("\x1b[1;4mTitle\x1b[0m"), "{screen}");
    assert!(screen.contains("Some \x1b[1mbold\x1b[0m words and \x1b[36mcode\x1b[0m."), "{screen}");
    assert!(screen.contains("\x1b[2mLet me see."), "{screen}");
    assert!(screen.contains("Resume it with `convoke spawn --resume s`"), "{screen}");
    let answer = "assistant: # Title\n\nSome **bold** words and `code`.\n";
    assert_eq!(scene.said("s"), ["user: hello", answer]);
    assert_eq!(scene.listed("s"), "writer 2 completed");
}

#[test]
fn nothing_is_coloured_for_a_person_who_wants_no_colours() {
    let script = Script::new().turn([Step::say("Some **bold** words \u{1b}[31mred\u{202e}.\n")]);
    let mut scene = Scene::with(&[("writer", script)]);
    scene.machine = scene.machine.env("NO_COLOR", "1");
    let mut terminal = scene.terminal("spawn --interactive --agent writer");
    terminal.sees("writer›");
    terminal.types("hello\r");
    terminal.sees("\n\nwriter›");
    terminal.types("/exit\r");
    let (screen, code) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("\x1b[1m") && !screen.contains("\x1b[2m"), "{screen}");
    // What drives a terminal is made harmless.
    assert!(screen.contains("Some **bold** words \u{fffd}[31mred\u{fffd}."), "{screen}");
}

#[test]
fn every_action_of_an_agent_is_shown_on_one_line() {
    let read = Tool::named("a", "Read notes", json!({}));
    let write = Tool::named("b", "Write notes", json!({}));
    let mut failed = write.clone().done("no room\nleft");
    failed.status = Some("failed".to_owned());
    let script = Script::new().turn([
        Step::Plan(vec!["look".to_owned(), "act".to_owned()]),
        Step::Call(read.clone()),
        Step::Update(read.done("12 lines")),
        Step::Call(write),
        Step::say("Meanwhile."),
        Step::Update(failed),
        Step::say("Done."),
    ]);
    let scene = Scene::with(&[("busy", script)]);
    let mut terminal = scene.terminal("spawn --interactive --agent busy");
    terminal.sees("busy›");
    terminal.types("go\r");
    terminal.sees(
        "☰ 0 of 2 steps done\n● Read notes ✓\n● Write notes\nMeanwhile.\n✗ no room Write notes\nDone.\n\nbusy›",
    );
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().1, 0);
}

#[test]
fn ctrl_c_stops_the_turn_and_keeps_what_was_said() {
    let script = Script::new().when("tell", [Step::say("Once upon a time"), Step::Hang]);
    let scene = Scene::with(&[("teller", script)]);
    let mut terminal = scene.terminal("spawn --interactive --agent teller --session s");
    terminal.sees("teller›");
    terminal.types("tell me\r");
    terminal.sees("Once upon a time");
    terminal.types(CTRL_C);
    terminal.sees("The turn was cancelled.\n\nteller›");
    // At the prompt it only clears the line.
    terminal.types("nonsense");
    terminal.types(CTRL_C);
    terminal.sees("Nothing is running; Ctrl-D leaves.\nteller›");
    terminal.types("and now?\r");
    terminal.sees("and now?\n\nteller›");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().1, 0);
    assert_eq!(
        scene.said("s"),
        ["user: tell me", "assistant: Once upon a time", "user: and now?", "assistant: and now?"]
    );
}

#[test]
fn a_second_ctrl_c_ends_an_agent_that_does_not_stop() {
    let script = Script::new()
        .when("tell", [Step::say("Once upon a time"), Step::Hang])
        .ignoring(Ignored::Cancel);
    let scene = Scene::with(&[("deaf", script)]);
    let mut terminal = scene.terminal("spawn --interactive --agent deaf --session s");
    terminal.sees("deaf›");
    terminal.types("tell me\r");
    terminal.sees("Once upon a time");
    terminal.types(CTRL_C);
    terminal.sees("Ctrl-C again ends the agent");
    terminal.types(CTRL_C);
    terminal.sees("it is started again with the next prompt.\n\ndeaf›");
    terminal.types("hello\r");
    terminal.sees("The agent resumed its own session.\nhello\n\ndeaf›");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().1, 0);
    assert_eq!(scene.said("s")[1], "assistant: Once upon a time");
}

#[test]
fn a_person_allows_or_refuses_by_number() {
    let ask = |id: &str| {
        let choices = [("yes", "allow_once"), ("no", "reject_once")];
        let ask = Ask::new(Tool::named(id, &format!("write {id}"), json!({})), &choices);
        let (yes, no) = (format!("{id} is written"), format!("{id} is not written"));
        let ask = ask.then("yes", [Step::say(&yes)]).then("no", [Step::say(&no)]);
        Step::Ask(ask.then("cancelled", [Step::stop("cancelled")]))
    };
    let script = ["one", "two", "three", "four"]
        .iter()
        .fold(Script::new(), |script, name| script.when(name, [ask(name)]));
    let scene = Scene::with(&[("asker", script)]);
    let mut terminal = scene.terminal("spawn --interactive --agent asker --session s");
    terminal.sees("asker›");
    terminal.types("one\r");
    terminal.sees(
        "The agent asks for permission to use a tool:\n    write one\n  1. yes\n  2. no\n1 to 2, or no and why:",
    );
    terminal.types("maybe\r");
    terminal.sees("choose a number from 1 to 2\n1 to 2, or no and why:");
    terminal.types("1\r");
    terminal.sees("one is written\n\nasker›");
    terminal.types("two\r");
    terminal.sees("use a tool:\n    write two\n  1. yes\n  2. no\n1 to 2, or no and why:");
    terminal.types("n\r");
    terminal.sees("two is not written\n\nasker›");
    terminal.types("three\r");
    terminal.sees("use a tool:\n    write three\n  1. yes\n  2. no\n1 to 2, or no and why:");
    terminal.types(CTRL_D);
    terminal.sees("three is not written\n\nasker›");
    terminal.types("four\r");
    terminal.sees("use a tool:\n    write four\n  1. yes\n  2. no\n1 to 2, or no and why:");
    terminal.types(CTRL_C);
    terminal.sees("The turn was cancelled.\n\nasker›");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().1, 0);
    let said = scene.said("s");
    assert_eq!(said.len(), 7, "{said:?}");
}

#[test]
fn a_person_answers_an_agents_own_questions() {
    let questions = json!({"questions": [
        {"question": "Which way?", "header": "Way", "multiSelect": false,
         "options": [{"label": "Left", "description": "uphill"}, {"label": "Right", "description": "flat"}]},
        {"question": "Why?", "header": "Why", "multiSelect": false,
         "options": [{"label": "Fun", "description": ""}, {"label": "Work", "description": ""}]},
    ]});
    let ask = Ask::new(Tool::named("q", "AskUserQuestion", questions), &[]);
    let script = Script::new().turn([Step::Ask(ask.then("allow", [Step::say("On we go.")]))]);
    let scene = Scene::with(&[("claude", script)]);
    let mut terminal = scene.terminal("spawn --interactive --agent claude --session s");
    terminal.sees("claude›");
    terminal.types("where to?\r");
    terminal.sees("The agent asks (1 of 2): Which way?\n  1. Left — uphill\n  2. Right — flat\n1 to 2, or your own words:");
    terminal.types("2\r");
    terminal.sees("(2 of 2): Why?\n  1. Fun — \n  2. Work — \n1 to 2, or your own words:");
    terminal.types("for the view\r");
    terminal.sees("On we go.\n\nclaude›");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().1, 0);
    assert_eq!(scene.said("s"), ["user: where to?", "assistant: On we go."]);
}

#[test]
fn several_lines_are_typed_with_a_backslash_or_pasted_and_sent_as_one() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let mut terminal = scene.terminal("spawn --interactive --agent echo --session s");
    terminal.sees("echo›");
    terminal.types("one\\\rtwo\r");
    terminal.sees("one\ntwo\n\necho›");
    terminal.types("\u{1b}[200~three\nfour\u{1b}[201~\r");
    terminal.sees("three\nfour\n\necho›");
    terminal.types("\u{1b}[200~docker run \\\n -it foo\u{1b}[201~\\\rbar\r");
    terminal.sees("docker run \\\n -it foo\nbar\n\necho›");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().1, 0);
    let said = scene.said("s");
    assert_eq!((&*said[0], &*said[2]), ("user: one\ntwo", "user: three\nfour"));
    assert_eq!(said[4], "user: docker run \\\n -it foo\nbar", "what is pasted stays as it is");
}

#[test]
fn commands_are_completed_and_prompts_are_remembered_for_the_next_session() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let mut terminal = scene.terminal("spawn --interactive --agent echo --session a");
    terminal.sees("echo›");
    terminal.types("/sta\t\r");
    terminal.sees("session  a");
    terminal.sees("a.jsonl\necho›");
    terminal.types("remember me\r");
    terminal.sees("remember me\n\necho›");
    terminal.types(CTRL_D);
    terminal.ends();
    let mut terminal = scene.terminal("spawn --interactive --agent echo --session b");
    terminal.sees("echo›");
    terminal.types(UP);
    terminal.sees("echo› remember me");
    terminal.types("\r");
    terminal.sees("remember me\n\necho›");
    terminal.types(CTRL_D);
    terminal.ends();
    assert_eq!(scene.said("b")[0], "user: remember me");
    use std::os::unix::fs::PermissionsExt;
    let history = std::fs::metadata(scene.machine.home().join("spawn/history")).unwrap();
    assert_eq!(history.permissions().mode() & 0o777, 0o600);
}

#[test]
fn r3_a_resumed_session_shows_where_it_was() {
    let scene = Scene::with(&[("echo", Script::new())]);
    scene.leave("s", transcript("s", "echo", "2026-11-15T10:00:00.000Z"));
    let mut terminal = scene.terminal("spawn --resume s");
    terminal.sees("The agent was restarted with the transcript of this conversation.");
    terminal.sees("My name is Ann.");
    terminal.sees("Hello Ann.");
    terminal.sees("Ctrl-D leaves.\necho›");
    terminal.types("/history 1\r");
    terminal.sees("Hello Ann.\n\necho›");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().1, 0);
}

#[test]
fn r8_a_person_is_asked_about_a_damaged_transcript() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let good = transcript("s", "echo", "2026-11-15T10:00:00.000Z");
    let damaged = format!("{good}garbage\n");
    let question = "[recover/delete/leave]";

    scene.leave("s", &damaged);
    let mut terminal = scene.terminal("spawn --resume s");
    terminal.sees("is damaged: line 4");
    terminal.sees(question);
    terminal.types("leave\r");
    let (screen, code) = terminal.ends();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.ends_with("the session s is unchanged\n"), "{screen}");
    assert_eq!(std::fs::read_to_string(scene.path("s")).unwrap(), damaged);

    let mut terminal = scene.terminal("spawn --resume s");
    terminal.sees(question);
    terminal.types("recover\r");
    terminal.sees("Recovered: kept 3 lines, moved 1 to ");
    terminal.sees("Ctrl-D leaves.\necho›");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().1, 0);
    assert!(scene.sessions().join("s.jsonl.bad").exists());

    scene.leave("s", &damaged);
    let mut terminal = scene.terminal("spawn --resume s");
    terminal.sees(question);
    terminal.types("delete\r");
    let (screen, code) = terminal.ends();
    assert!(code == 0 && screen.contains("Deleted session s"), "{screen}");
    assert!(!scene.path("s").exists());
}

#[test]
fn r5_a_person_is_asked_before_a_session_is_deleted() {
    let scene = Scene::new();
    scene.leave("s", transcript("s", "demo", "2026-11-15T10:00:00.000Z"));
    let delete = |answer: &str| {
        let mut terminal = scene.terminal("spawn --delete-session s");
        terminal.sees("Delete the session s for good? [y/N]");
        terminal.types(answer);
        terminal.ends()
    };
    let (screen, code) = delete("n\r");
    assert_eq!(code, 4, "{screen}");
    assert!(screen.contains("nothing was deleted") && scene.path("s").exists(), "{screen}");
    let (screen, code) = delete("y\r");
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Deleted session s") && !scene.path("s").exists(), "{screen}");
}

#[test]
fn r10_a_terminated_spawn_restores_the_terminal() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let mut terminal = scene.terminal("spawn --interactive --agent echo --session s");
    terminal.sees("echo›");
    signal(&scene, "s", "TERM");
    let (screen, code) = terminal.ends();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("\x1b[?2004l"), "{screen}");
    assert!(screen.contains("convoke spawn --resume s"), "{screen}");
    assert_eq!(scene.listed("s"), "echo 0 interrupted");
}

/// Sends a signal to the process that has a session open.
fn signal(scene: &Scene, id: &str, name: &str) {
    let lock = scene.sessions().join(format!("{id}.jsonl.lock"));
    let pid = std::fs::read_to_string(lock).unwrap();
    let sent = std::process::Command::new("kill").args([&format!("-{name}"), &pid]).status();
    assert!(sent.unwrap().success());
}
