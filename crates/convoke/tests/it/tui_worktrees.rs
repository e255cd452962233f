//! Work trees and comparisons in `convoke tui`: on a real terminal, with a real daemon, real git, and an agent that runs
//! its prompts as shell commands.

use std::fs;

use convoke_testkit::host::example;
use convoke_testkit::tools::search_path;
use convoke_testkit::wait::until;

use crate::convoke::Terminal;
use crate::serve_scene::Daemon;
use crate::worktree_scene::{app, daemon, daemon_on, git, machine};

const ESC: &str = "\u{1b}";
/// Alt and a letter, as terminals send it.
const COMPARE: &str = "\u{1b}c";
const WORKTREE: &str = "\u{1b}w";

/// The terminal UI, where a new session is being written.
fn composing(daemon: &Daemon, (columns, rows): (u16, u16)) -> Terminal {
    // The agent of the last session is that of the next.
    daemon.session_with("shell");
    let mut terminal = daemon.machine.on_terminal_of(columns, rows, "tui");
    terminal.sees("app · shell");
    terminal.types("n");
    terminal.sees("alt-w work tree");
    terminal
}

/// Chooses a work tree, on a new branch if none is named.
fn choose_worktree(terminal: &mut Terminal, branch: Option<&str>) {
    terminal.types(WORKTREE);
    terminal.sees("in which folder does it work?");
    match branch {
        None => terminal.types("2\r"),
        Some(branch) => {
            terminal.types("3\r");
            terminal.sees("on which branch?");
            terminal.types(&format!("{branch}\r"));
        }
    }
    terminal.sees("⎇");
}

/// The first session as the daemon knows it.
fn session(daemon: &Daemon) -> serde_json::Value {
    daemon.get("/api/sessions").json()["sessions"][0].clone()
}

/// Waits until the agent of the first session has nothing to do.
fn idle(daemon: &Daemon) {
    until("the agent is done", || session(daemon)["activity"] == "idle");
}

fn commit(daemon: &Daemon, file: &str, content: &str) {
    fs::write(app(daemon).join(file), content).unwrap();
    git(&app(daemon), &["add", "-A"]);
    git(&app(daemon), &["commit", "-qm", "meanwhile"]);
}

/// A session in a work tree is begun, refused, squashed, and restored.
fn c7_finished_and_restored(size: (u16, u16)) {
    let daemon = daemon();
    let app = app(&daemon);
    git(&app, &["branch", "taken/work"]);
    git(&app, &["switch", "-q", "taken/work"]);
    let mut terminal = composing(&daemon, size);
    choose_worktree(&mut terminal, Some("taken/work"));
    terminal.types("echo b > b.txt; echo writ''ten\r");
    terminal.sees("The session was not started");
    terminal.sees("Hint: choose another name");
    terminal.types(ESC);
    terminal.sees("❯ echo b > b.txt");
    git(&app, &["switch", "-q", "main"]);
    terminal.types("\r");
    terminal.sees("written");
    terminal.sees("⎇ taken/work");
    idle(&daemon);
    terminal.sees("+1 −0");

    // The files of the base are in the way.
    fs::write(app.join("notes.txt"), "mine\n").unwrap();
    terminal.types(WORKTREE);
    terminal.sees("make one commit on main");
    terminal.types("2\r");
    terminal.sees("Message of the commit");
    terminal.types("\u{15}Add b\r");
    terminal.sees("Not done: taken/work");
    terminal.sees("notes.txt");
    terminal.sees("Hint: commit or stash these files first");
    git(&app, &["checkout", "-q", "--", "notes.txt"]);
    terminal.types("\r");
    terminal.sees("make one commit on main");
    terminal.types("\r");
    terminal.sees("Add b");
    terminal.types("\r");
    terminal.sees("main has the changes of taken/work; F restores it.");
    assert_eq!(git(&app, &["log", "--format=%s", "main"]), "Add b\nfirst");
    assert_eq!(fs::read_to_string(app.join("b.txt")).unwrap(), "b\n");

    terminal.sees("⎇ taken/work (squashed)");
    terminal.types(WORKTREE);
    terminal.sees("It was squashed just now.");
    terminal.types("\r");
    terminal.sees("Restored the work tree: R resumes its session.");
    let path = session(&daemon)["worktree"]["path"].as_str().unwrap().to_owned();
    assert!(fs::exists(format!("{path}/b.txt")).unwrap());
}

#[test]
fn c6_c7_a_work_tree_is_chosen_squashed_and_restored_in_a_small_terminal() {
    c7_finished_and_restored((80, 24));
}

#[test]
fn c6_c7_a_work_tree_is_chosen_squashed_and_restored_in_a_wide_terminal() {
    c7_finished_and_restored((120, 40));
}

#[test]
fn c7_conflicts_are_given_to_the_agent_in_the_terminal() {
    let daemon = daemon();
    let mut terminal = composing(&daemon, (80, 24));
    choose_worktree(&mut terminal, None);
    terminal.types("echo theirs > notes.txt; echo writ''ten\r");
    terminal.sees("written");
    terminal.sees("⎇ convoke/");
    idle(&daemon);
    commit(&daemon, "notes.txt", "ours\n");
    terminal.types(WORKTREE);
    terminal.sees("merge its commits into main");
    terminal.types("1\r");
    terminal.sees("Message of the commit");
    terminal.types("\r");
    terminal.sees("main and the branch changed these files differently:");
    terminal.sees("  notes.txt");
    terminal.types("g");
    terminal.sees("The agent was prompted to resolve the conflicts.");
    terminal.sees("git merge main");
    let notes = fs::read_to_string(app(&daemon).join("notes.txt")).unwrap();
    assert_eq!(notes, "ours\n", "nothing was merged");
}

#[test]
fn c7_files_that_no_snapshot_holds_are_deleted_only_when_confirmed_in_the_terminal() {
    let daemon = daemon();
    let mut terminal = composing(&daemon, (120, 40));
    choose_worktree(&mut terminal, None);
    terminal.types("head -c 3000000 /dev/zero > big.bin; echo writ''ten\r");
    terminal.sees("written");
    idle(&daemon);
    let path = session(&daemon)["worktree"]["path"].as_str().unwrap().to_owned();
    terminal.types(ESC);
    terminal.sees("F finish");
    terminal.types("F");
    terminal.sees("merge nothing");
    terminal.types("6\r");
    terminal.sees("Discard this work tree?");
    terminal.types("y");
    terminal.sees("No snapshot holds these files");
    terminal.sees("big.bin");
    assert!(fs::exists(format!("{path}/big.bin")).unwrap());
    terminal.types("d");
    terminal.sees("Discarded convoke/");
    assert!(!fs::exists(&path).unwrap());
    assert_eq!(git(&app(&daemon), &["branch", "--format=%(refname:short)"]), "main");
}

/// Two agents are compared, and one of them is kept.
fn c8_compared_and_kept(size: (u16, u16)) {
    let second = format!("[agents.second]\ncommand = {:?}\n", example("shell_agent"));
    let daemon = daemon_on(machine(), &second, &search_path());
    let app = app(&daemon);
    let mut terminal = composing(&daemon, size);
    terminal.types(COMPARE);
    terminal.sees("which agents get the prompt?");
    let screen = terminal.sees_times(1, "[x] shell");
    let row = |text: &str| screen.lines().position(|line| line.contains(text)).unwrap();
    terminal.types(&"j".repeat(row("[ ] second") - row("▸")));
    terminal.types(" ");
    terminal.sees("▸ [x] second");
    terminal.types("t");
    terminal.sees("which command tests the work?");
    terminal.types("test -e a.txt\r");
    terminal.sees("Test  test -e a.txt");
    terminal.types("\r");
    terminal.sees("compare shell, second");
    terminal.types("echo a > a.txt\r");
    terminal.sees("5 Compare");
    terminal.sees_times(2, "✓ passed");
    terminal.sees_times(2, "+1 −0");

    terminal.types("\r");
    terminal.sees("⎇ convoke/");
    terminal.types("\u{1b}5");
    terminal.sees("K keep");
    terminal.types("K");
    terminal.sees("The other candidate is discarded");
    terminal.types("1\r");
    terminal.sees("Message of the commit");
    terminal.types("\r");
    terminal.sees("Keep this candidate (merge)?");
    terminal.types("y");
    terminal.sees("The others were discarded.");
    terminal.sees("★ shell");
    terminal.sees("discarded");
    assert_eq!(fs::read_to_string(app.join("a.txt")).unwrap(), "a\n");
    assert_eq!(git(&app, &["branch", "--format=%(refname:short)"]), "main");
    // The other one is restorable.
    terminal.types("jF");
    terminal.sees("It was discarded just now.");
    terminal.types("\r");
    terminal.sees("Restored the work tree");
}

#[test]
fn c8_agents_are_compared_and_one_is_kept_in_a_small_terminal() {
    c8_compared_and_kept((80, 24));
}

#[test]
fn c8_agents_are_compared_and_one_is_kept_in_a_wide_terminal() {
    c8_compared_and_kept((120, 40));
}
