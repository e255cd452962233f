//! What `convoke session` prints about what was said before, and about the turn that runs.

use std::process::Stdio;

use serde_json::Value;

use crate::daemon_scene::Scene;

#[test]
fn a_watch_prints_the_backlog_as_a_conversation_and_programs_get_it_by_revision() {
    let scene = Scene::new();
    let session = scene.session();
    scene.say(&session, "/plan");
    scene.say(&session, "/think hard");
    let mut watch = scene.start(&["session", "watch", &session, "--after", "0"]);
    let messages =
        scene.machine.json(&format!("session show {session} --json"))["messageCount"].clone();
    let seq = |line: &str| line.split_whitespace().next().unwrap().parse::<u64>().unwrap();
    let seqs: Vec<u64> =
        (0..messages.as_u64().unwrap()).map(|_| seq(&watch.until(|_| true))).collect();
    assert!(seqs.is_sorted(), "{seqs:?}");
    let mut watch = scene.start(&["session", "watch", &session, "--after", "0", "--json"]);
    let rev = |line: &str| serde_json::from_str::<Value>(line).unwrap()["rev"].as_u64().unwrap();
    let revs: Vec<u64> =
        (0..messages.as_u64().unwrap()).map(|_| rev(&watch.until(|_| true))).collect();
    assert!(revs.is_sorted(), "{revs:?}");
}

#[test]
fn a_prompt_behind_a_turn_that_waits_for_the_user_says_so() {
    let scene = Scene::new();
    let session = scene.session();
    let count = scene.count(&session);
    scene.run_args(&["session", "send", &session, "/write notes.txt hello"]);
    scene.asked(&session, &count);
    insta::assert_snapshot!(scene.run_args(&["session", "send", &session, "hello"]), @"
    exit 0
    --- stdout
    queued as [the-id] behind the running turn
    --- stderr
    the running turn waits for you: Write notes.txt
      answer with `convoke inbox allow [the-id]`, or `convoke inbox deny [the-id]`
    ");
}

#[test]
fn a_reader_that_goes_away_ends_a_watch() {
    let scene = Scene::new();
    let session = scene.session();
    scene.say(&session, "/plan");
    let mut command = scene.machine.command(&["session", "watch", &session, "--after", "0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
