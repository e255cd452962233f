//! `convoke tui` on a real terminal, with a real daemon and the demo agent.

use convoke_testkit::tools::search_path;
use convoke_testkit::wait::until;
use rustix::process::{Pid, Signal, kill_process};

use crate::convoke::Convoke;
use crate::daemon_scene::Scene;

const ESC: &str = "\u{1b}";
/// Alt and a letter, as terminals send it.
const HOME: &str = "\u{1b}1";
const SESSIONS: &str = "\u{1b}2";
const CHANGES: &str = "\u{1b}c";

#[test]
fn p1_p3_a_person_works_in_the_terminal_from_the_first_session_to_the_last_key() {
    let scene = Scene::new();
    scene.run("project add web");
    let mut terminal = scene.machine.on_terminal("tui");
    terminal.sees("No sessions yet.");

    terminal.types("n");
    terminal.sees("web · Demo");
    terminal.types("/write notes.txt hello\r");
    terminal.sees("tab answers");
    terminal.types("\t");
    terminal.sees("+hello");
    terminal.sees("▸ 1  Allow");
    terminal.types("y");
    terminal.sees("I wrote notes.txt.");
    let written = std::fs::read_to_string(scene.web().join("notes.txt")).unwrap();
    assert_eq!(written.trim(), "hello");

    terminal.types("/ask\r");
    terminal.sees("Home (1)");
    terminal.types(HOME);
    terminal.sees("Needs you");
    terminal.sees("enter answer");
    terminal.types("\r");
    terminal.sees("What should the demo agent do next?");
    terminal.types("2");
    terminal.types("s");
    terminal.sees("Send these answers");
    terminal.types("\r");
    terminal.sees("→ Stop");
    terminal.types(SESSIONS);
    terminal.sees("→ Stop");

    let daemon = Pid::from_raw(i32::try_from(scene.pid()).unwrap()).unwrap();
    kill_process(daemon, Signal::KILL).unwrap();
    terminal.sees("no daemon");
    terminal.types("Are you there?\r");
    terminal.sees("nothing was done");
    // Any command that needs the daemon starts it.
    scene.run("project list");
    terminal.sees("Reconnected to the daemon.");
    terminal.types("\r");
    terminal.sees("You said: Are you there?");
    // Two Esc would stop a turn that still runs.
    terminal.sees("○ /write notes.txt hello");

    terminal.types(ESC);
    terminal.sees("i write");
    terminal.types(ESC);
    terminal.sees("n new");
    terminal.types("a");
    terminal.sees("u undoes it");
    let sessions = scene.machine.json("session list --archived --json");
    assert_eq!(sessions["total"], 1);
    terminal.types("q");
    let (screen, code) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("\u{1b}[?1049l\u{1b}[?25h"), "the terminal is given back");
}

#[test]
fn c3_c4_c5_changes_are_read_reviewed_and_reverted_in_the_terminal() {
    // Git is on the search path.
    let scene = Scene::on(Convoke::new().env("PATH", &search_path()));
    scene.run("project add web");
    let mut terminal = scene.machine.on_terminal("tui");
    terminal.sees("No sessions yet.");
    terminal.types("n");
    terminal.sees("web · Demo");
    terminal.types("/write notes.txt hello\r");
    terminal.sees("tab answers");
    terminal.types("\t");
    terminal.sees("▸ 1  Allow");
    terminal.types("y");
    terminal.sees("I wrote notes.txt.");
    terminal.sees("+1 −0");

    terminal.types(CHANGES);
    terminal.sees("A notes.txt");
    terminal.types("\r");
    terminal.sees("@@ -0,0 +1,1 @@");
    terminal.types("j");
    terminal.types("c");
    terminal.sees("Comment on notes.txt, line 1");
    terminal.types("Say more.\r");
    terminal.sees("1 comment: s sends");
    terminal.types("s");
    terminal.sees("Comments that are not sent");
    terminal.types("s");
    terminal.sees("Review comments on the changes:");
    // Nothing is reverted while the agent works.
    until("the agent has answered", || {
        scene.machine.json("session list --json")["sessions"][0]["activity"] == "idle"
    });

    terminal.types(CHANGES);
    terminal.sees("A notes.txt");
    terminal.types("d");
    terminal.sees("Revert notes.txt to what it was before the session?");
    terminal.types("y");
    terminal.sees("No file changed.");
    assert!(!scene.web().join("notes.txt").exists());
    terminal.types("u");
    terminal.sees("Undo the last restore of files?");
    terminal.types("y");
    terminal.sees("A notes.txt");
    let written = std::fs::read_to_string(scene.web().join("notes.txt")).unwrap();
    assert_eq!(written.trim(), "hello");

    terminal.types("R");
    terminal.sees("Restore to before turn");
    terminal.types("k");
    terminal.types("b");
    terminal.sees("in a new session?");
    terminal.types("y");
    until("the file is restored", || !scene.web().join("notes.txt").exists());
    until("there is a new session", || scene.machine.json("session list --json")["total"] == 2);
}

#[test]
fn s10_a_prompt_resumes_a_session_that_ended_by_idleness() {
    // Six hundred milliseconds.
    let scene = Scene::on(Convoke::new().env("AGENT_SESSION_IDLE_TIMEOUT", "0.01"));
    let session = scene.session();
    let mut watch = scene.start(&["session", "watch", &session, "--after", "0"]);
    watch.until(|line| line.contains("completed: it was idle"));
    let mut terminal = scene.machine.on_terminal("tui");
    terminal.sees("New Session");
    terminal.types("\r");
    terminal.sees("Ended because it was idle: the next prompt resumes it.");
    terminal.types("/plan\r");
    terminal.sees("The plan is done.");
}

#[test]
fn s10_a_session_that_a_human_completed_refuses_prompts() {
    let scene = Scene::new();
    let session = scene.session();
    scene.run(&format!("session complete {session}"));
    let mut terminal = scene.machine.on_terminal("tui");
    terminal.sees("New Session");
    terminal.types("\r");
    terminal.sees("Ended: press esc, then R to resume.");
    terminal.types("/plan\r");
    terminal.sees("This session has ended: press esc, then R to resume.");
    assert_eq!(scene.count(&session), "1", "only its end is a message");
}

#[test]
fn tui_without_a_terminal_names_the_alternative() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.run("tui"), @r"
    exit 2
    --- stderr
    error: standard output is not a terminal
    hint: without a terminal, see `convoke questions answer --help` or `convoke session --help`
    ");
}
