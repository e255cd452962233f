//! `convoke inbox`: what agents ask, answered from the command line.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::daemon_scene::{Scene, mask};

/// A session whose agent wants to write a file, and the permission that it asks for.
fn wants_to_write(scene: &Scene, session: &str) -> String {
    let count = scene.count(session);
    scene.run_args(&["session", "send", session, "/write notes.txt hello"]);
    let item = scene.asked(session, &count);
    assert_eq!((&item["kind"], &item["uid"]), (&json!("permission"), &json!(session)));
    item["id"].as_str().unwrap().to_owned()
}

/// Waits until the first turn of a session has ended.
fn ends(scene: &Scene, session: &str) {
    let mut watch = scene.start(&["session", "watch", session, "--after", "0", "--json"]);
    watch.until(|line| line.contains(r#""stopReason":"end_turn""#));
}

#[test]
fn a_permission_is_listed_and_given() {
    let scene = Scene::new();
    let session = scene.session();
    insta::assert_snapshot!(scene.run("inbox list"), @r"
    exit 0
    --- stdout
    No pending requests.
    ");
    let id = wants_to_write(&scene, &session);
    assert_eq!(scene.machine.json("session list --json")["sessions"][0]["activity"], "waiting");
    insta::assert_snapshot!(scene.run("inbox list"), @"
    exit 0
    --- stdout
    REQUEST   KIND        ASKED  FROM         OPTIONS     TITLE
    [the-id]  permission  now    demo in web  allow,deny  Write notes.txt
    ");
    let told = scene.run(&format!("inbox allow {}", &id[..3])).replace(&id[..3], "[id]");
    insta::assert_snapshot!(told, @r"
    exit 2
    --- stderr
    error: [id] is too short for a prefix of an id
    hint: give at least four characters of the id
    ");
    insta::assert_snapshot!(scene.run(&format!("inbox allow {id} --option maybe")), @"
    exit 2
    --- stderr
    error: [the-id] has no option `maybe`; its options are allow, reject
    hint: choose one of them with `--option`
    ");
    insta::assert_snapshot!(scene.run(&format!("inbox allow {}", &id[..4])), @r"
    exit 0
    --- stdout
    [the-id] allowed
    ");
    ends(&scene, &session);
    assert_eq!(fs::read_to_string(scene.web().join("notes.txt")).unwrap(), "hello\n");
    // The first answer won.
    insta::assert_snapshot!(scene.run(&format!("inbox allow {id}")), @"
    exit 1
    --- stderr
    error: no request in the inbox has an id that starts with [id]
    hint: see `convoke inbox list`; it may have been answered already
    ");
    insta::assert_snapshot!(scene.run(&format!("inbox reject {id}")), @r"
    exit 1
    --- stderr
    error: the request is already answered
    hint: see `convoke inbox list`
    ");
}

#[test]
fn a_permission_is_denied_or_rejected_with_a_reason() {
    let scene = Scene::new();
    let session = scene.session();
    let id = wants_to_write(&scene, &session);
    assert_eq!(
        scene.machine.json(&format!("inbox deny {id} --json")),
        json!({"id": id, "status": "answered", "optionId": "reject"})
    );
    ends(&scene, &session);
    let id = wants_to_write(&scene, &session);
    let told = scene.run_args(&["inbox", "reject", &id, "--reason", "not today"]);
    insta::assert_snapshot!(told, @r"
    exit 0
    --- stdout
    [the-id] denied
    ");
    assert!(!scene.web().join("notes.txt").exists());
}

#[test]
fn what_is_allowed_always_is_not_asked_again() {
    let scene = Scene::new();
    let session = scene.session();
    let id = wants_to_write(&scene, &session);
    insta::assert_snapshot!(scene.run(&format!("inbox allow {id} --always")), @r"
    exit 0
    --- stdout
    [the-id] allowed
    rule [the-id] made: Allow changes to `notes.txt` in web
    ");
    ends(&scene, &session);
    fs::remove_file(scene.web().join("notes.txt")).unwrap();
    // A change of the same file is allowed; another one would ask.
    let told = scene.say(&session, "/write notes.txt hello");
    assert!(told.starts_with("exit 0\n"), "{told}");
    assert!(scene.web().join("notes.txt").exists());
    insta::assert_snapshot!(scene.run("rule list"), @r"
    exit 0
    --- stdout
    RULE      WHAT                                 MADE  USED
    [the-id]  Allow changes to `notes.txt` in web  now   1, now
    ");
}

#[test]
fn p1_a_request_is_shown_with_its_evidence_and_the_rules_that_an_answer_can_make() {
    let scene = Scene::new();
    let session = scene.session();
    let id = wants_to_write(&scene, &session);
    insta::assert_snapshot!(scene.run(&format!("inbox show {id}")), @r"
    exit 0
    --- stdout
    permission [the-id] of demo in web, asked now
    Write notes.txt

        --- /dev/null
        +++ [tmp]/web/notes.txt
        @@ -0,0 +1 @@
        +hello

    Options:
      allow   Allow
      reject  Reject
    Rules, made with `convoke inbox allow [the-id] --always N` or `convoke inbox deny [the-id] --always N`:
      1  changes to `notes.txt` in web
      2  changes to `**` in web
    ");
    let shown = scene.machine.json(&format!("inbox show {id} --json"));
    let evidence = &shown["permission"]["evidence"];
    assert_eq!(
        (&evidence["kind"], &evidence["diffs"][0]["newText"]),
        (&json!("changes"), &json!("hello\n"))
    );
    assert_eq!(
        shown["permission"]["rules"][0]["matcher"],
        json!({"kind": "edit", "glob": "notes.txt"})
    );
    insta::assert_snapshot!(scene.run(&format!("inbox allow {id} --always 9")), @r"
    exit 2
    --- stderr
    error: [the-id] offers no rule 9; it offers 1 to 2
    hint: see them with `convoke inbox show ID`
    ");
    scene.run(&format!("inbox deny {id}"));
}

#[test]
fn waiting_for_an_answer_prints_the_command_for_it() {
    let scene = Scene::new();
    let session = scene.session();
    let waiting = ["session", "send", &session, "/write notes.txt hello", "--wait"];
    let mut command = scene.machine.command(&waiting);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let item = scene.asked(&session, "0");
    scene.run(&format!("inbox allow {}", item["id"].as_str().unwrap()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(mask(&String::from_utf8(output.stderr).unwrap()), @"
    The agent asks for permission: Write notes.txt
      `convoke inbox allow [the-id]` or `convoke inbox deny [the-id]`
    ");
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @"I wrote `notes.txt`.");
}

#[test]
fn q19_questions_of_programs_are_answered_in_the_inbox_too() {
    let scene = Scene::new();
    let file = scene.machine.path().join("questions.json");
    let questions = json!([{"prompt": "Ship it?", "title": "Ship", "multiSelect": false,
        "options": [{"label": "Yes"}, {"label": "No"}]}]);
    fs::write(&file, questions.to_string()).unwrap();
    let asked = scene.machine.json("ask questions.json --non-blocking --json");
    let id = asked["sessionId"].as_str().unwrap().to_owned();
    let listed = scene.run("inbox list");
    let row: Vec<&str> = listed.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(row.join(" "), "[the-id] questions now convoke ask in [tmp] 1 Ship");
    insta::assert_snapshot!(scene.run(&format!("inbox allow {id}")), @r"
    exit 2
    --- stderr
    error: [the-id] asks questions, not for permission
    hint: answer them with `convoke inbox answer ID --answers JSON`
    ");
    let answer = |answers: &str| scene.run_args(&["inbox", "answer", &id, "--answers", answers]);
    insta::assert_snapshot!(answer("yes"), @r#"
    exit 2
    --- stderr
    error: cannot parse `--answers`
      expected value at line 1 column 1
    hint: the format is '{"0": {"selectedOption": "A"}}'; see `--help`
    "#);
    insta::assert_snapshot!(answer(r#"{"0": {"selectedOption": "Maybe"}}"#), @r"
    exit 2
    --- stderr
    error: Answer for question 0 references non-existent option: Maybe
    hint: see what it asks with `convoke inbox list --json`; it can still be answered
    ");
    insta::assert_snapshot!(answer(r#"{"0": {"selectedOption": "Yes"}}"#), @r"
    exit 0
    --- stdout
    [the-id] answered
    ");
    let told = scene.machine.run(&format!("questions wait {id}"));
    assert!(told.ends_with("1. Ship it?\n→ Yes\n"), "{told}");
}

#[test]
fn q19_the_answer_to_an_agents_question_reaches_it() {
    let scene = Scene::new();
    let session = scene.session();
    let waiting = ["session", "send", &session, "/ask", "--wait"];
    let mut command = scene.machine.command(&waiting);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let item = scene.asked(&session, "0");
    let (id, question) = (item["id"].as_str().unwrap(), &item["questions"][0]);
    let label = question["options"][1]["label"].as_str().unwrap();
    let answers = json!({"0": {"selectedOption": label}}).to_string();
    let told = scene.run_args(&["inbox", "answer", &id[..8], "--answers", &answers]);
    assert_eq!(told, "exit 0\n--- stdout\n[the-id] answered\n");
    let output = child.wait_with_output().unwrap();
    insta::assert_snapshot!(mask(&String::from_utf8(output.stderr).unwrap()), @r#"
    The agent asks you:
      What should the demo agent do next? [Carry on (recommended) | Stop]
      `convoke inbox answer [the-id] --answers '{"0": {"selectedOption": "…"}}'` or `convoke inbox reject [the-id]`
    "#);
    let answer = String::from_utf8(output.stdout).unwrap();
    assert!(answer.contains(&format!("→ {label}")), "{answer}");
}

#[test]
fn q2_the_questions_folder_is_private_for_every_creator() {
    let scene = Scene::new();
    scene.run("session list");
    let found = std::fs::metadata(scene.machine.home().join("questions")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777, 0o700);
}
