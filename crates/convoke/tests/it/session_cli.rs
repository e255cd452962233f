//! `convoke session`: a conversation from the command line, with the demo agent.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use convoke_testkit::agent::{Script, Step};
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::daemon_scene::{Scene, mask};
use crate::serve_scene::Daemon;

#[test]
fn s8_a_session_begins_in_a_folder_that_becomes_a_project() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.run("session list"), @r"
    exit 0
    --- stdout
    No sessions. Create one with `convoke session new --project PATH`
    ");
    insta::assert_snapshot!(scene.run("session new --project web --agent demo"), @r"
    exit 0
    --- stdout
    [the-id] demo in web
    --- stderr
    [tmp]/web is now the project web
    ");
    insta::assert_snapshot!(scene.run("session list"), @r"
    exit 0
    --- stdout
    SESSION   STATUS  ATTENTION  AGENT  PROJECT  ACTIVE  TITLE
    [the-id]  active  -          demo   web      now     New Session
    ");
    // Inside of the project, nothing need be said.
    let inside = scene.web().join("src");
    fs::create_dir(&inside).unwrap();
    let mut command = scene.machine.command(&["session", "new", "--agent", "demo"]);
    let output = command.current_dir(inside).output().unwrap();
    assert_eq!(mask(&String::from_utf8(output.stdout).unwrap()), "[the-id] demo in web\n");
    insta::assert_snapshot!(scene.run("session new"), @"
    exit 2
    --- stderr
    error: [tmp] is not in a project, and contains Convoke's home
    hint: name a project with `--project`, or change to a folder of one; see `convoke project list`
    ");
    // A git repository becomes a project, from any folder inside of it.
    let nested = scene.machine.path().join("repository/src");
    fs::create_dir_all(nested.join("../.git")).unwrap();
    let mut command = scene.machine.command(&["session", "new", "--agent", "demo"]);
    let output = command.current_dir(nested).output().unwrap();
    assert_eq!(mask(&String::from_utf8(output.stdout).unwrap()), "[the-id] demo in repository\n");
    insta::assert_snapshot!(scene.run("session new --project web --agent nobody"), @r"
    exit 1
    --- stderr
    error: there is no agent called nobody
    hint: see `convoke agent list`
    ");
    insta::assert_snapshot!(scene.run("session new --project shop"), @r"
    exit 1
    --- stderr
    error: there is no project shop
    hint: see `convoke project list`; a folder is added with `convoke project add PATH`
    ");
}

#[test]
fn s4_sessions_are_listed_by_project_and_status() {
    let scene = Scene::new();
    let (first, second) = (scene.session(), scene.session());
    scene.run(&format!("session complete {first}"));
    let ids = |line: &str| -> Vec<String> {
        let listed = scene.machine.json(&format!("session list --json {line}"));
        let sessions = listed["sessions"].as_array().unwrap().iter();
        sessions.map(|session| session["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(""), [&*second, &*first]);
    assert_eq!(ids("--status active"), [&*second]);
    assert_eq!(ids("--status active,completed --project web"), [&*second, &*first]);
    assert_eq!(ids("--limit 1 --offset 1"), [&*first]);
    scene.run(&format!("session archive {}", &first[..8]));
    assert_eq!(ids("--archived"), [&*first]);
    assert_eq!(ids(""), [&*second]);
    scene.run(&format!("session unarchive {first}"));
    assert_eq!(ids("").len(), 2);
    insta::assert_snapshot!(scene.run("session list --status lost"), @r"
    exit 2
    --- stderr
    error: invalid value 'lost' for '--status <STATUS>'
      [possible values: active, completed, cancelled, error]

    For more information, try 'convoke session list --help'.
    ");
    insta::assert_snapshot!(scene.run("session list --limit 0"), @r"
    exit 2
    --- stderr
    error: invalid value '0' for '--limit <N>': expected a number from 1 to 10000

    For more information, try 'convoke session list --help'.
    ");
}

#[test]
fn s8_an_answer_is_printed_as_it_comes_and_the_turn_decides_the_exit_code() {
    let scene = Scene::new();
    let session = scene.session();
    insta::assert_snapshot!(scene.say(&session[..4], "/plan"), @r"
    exit 0
    --- stdout
    The plan is done.
    ");
    insta::assert_snapshot!(scene.say(&session, "/fail"), @r"
    exit 1
    --- stderr
    error: The turn failed: the demo agent was asked to fail
    ");
    insta::assert_snapshot!(scene.run_args(&["session", "send", &session, " "]), @r"
    exit 2
    --- stderr
    error: the prompt is empty
    ");
    let told = scene.say(&session, "/crash");
    assert!(told.starts_with("exit 1\n--- stdout\nI will be gone in a moment.\n--- stderr\nerror: The turn failed: the agent's process ended"), "{told}");
    // A crashed process is no end of the session.
    assert!(scene.say(&session, "/plan").starts_with("exit 0\n"));
}

#[test]
fn an_answer_is_one_object_for_programs() {
    let scene = Scene::new();
    let session = scene.session();
    let answered = scene.machine.json(&format!("session send {session} /plan --wait --json"));
    assert_eq!(answered["text"], "The plan is done.");
    assert_eq!((&answered["stopReason"], &answered["queued"]), (&json!("end_turn"), &json!(false)));
    let sent = scene.machine.json(&format!("session send {session} hello --json"));
    assert_eq!(sent["accepted"], true);
    assert!(sent.get("stopReason").is_none());
}

#[test]
fn a_prompt_may_come_from_standard_input() {
    let scene = Scene::new();
    let session = scene.session();
    let file = scene.machine.path().join("prompt.txt");
    fs::write(&file, "/plan\n").unwrap();
    let mut command = scene.machine.command(&["session", "send", &session, "-", "--wait"]);
    let output = command.stdin(fs::File::open(file).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "The plan is done.\n");
}

#[test]
fn m2_the_last_words_are_printed_however_they_come() {
    // Words and the end of their turn that are stored in one commit come as one whole message, without a delta.
    let pieces = ["The ", "end is ", "near."].map(str::to_owned).to_vec();
    let turns = 20;
    let script = (0..turns).fold(Script::new(), |script, _| {
        script.turn([Step::say("First: "), Step::Stream(pieces.clone())])
    });
    let daemon = Daemon::new(&script);
    let session = daemon.session();
    for _ in 0..turns {
        let output =
            daemon.machine.command(&["session", "send", &session, "go", "--wait"]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "First: The end is near.\n");
    }
}

#[test]
fn a_prompt_behind_a_running_turn_prints_its_own_answer_only() {
    let scene = Scene::new();
    let session = scene.session();
    let mut long = scene.start(&["session", "watch", &session, "--after", "0"]);
    scene.run_args(&["session", "send", &session, "/long 40"]);
    long.until(|line| line.contains("agent  word"));
    let told = scene.say(&session, "/plan");
    insta::assert_snapshot!(told, @r"
    exit 0
    --- stdout
    The plan is done.
    ");
}

#[test]
fn a_turn_is_stopped_and_the_session_goes_on() {
    let scene = Scene::new();
    let session = scene.session();
    let waiting = ["session", "send", &session, "/long 100000", "--wait"];
    let mut command = scene.machine.command(&waiting);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut watch = scene.start(&["session", "watch", &session, "--after", "0", "--json"]);
    watch.until(|line| line.contains(r#""text":"word"#));
    insta::assert_snapshot!(scene.run(&format!("session cancel {session} --turn")), @r"
    exit 0
    --- stdout
    [the-id] is stopping its turn
    ");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"error: The turn was cancelled.");
    insta::assert_snapshot!(scene.run(&format!("session cancel {session} --turn")), @r"
    exit 1
    --- stderr
    error: no turn is running
    ");
    assert!(scene.say(&session, "/plan").starts_with("exit 0\n"));
}

#[test]
fn prompts_that_wait_are_listed_edited_removed_and_sent() {
    let scene = Scene::new();
    let session = scene.session();
    let run = |line: &str| scene.run(&format!("session queue {}", line.replace("ID", &session)));
    insta::assert_snapshot!(run("list ID"), @"
    exit 0
    --- stdout
    No queued prompts.
    ");
    scene.run_args(&["session", "send", &session, "/long 100000"]);
    for text in ["first", "second", "third\nwith a line"] {
        scene.run_args(&["session", "send", &session, text]);
    }
    insta::assert_snapshot!(run("list ID"), @"
    exit 0
    --- stdout
    PROMPT    TEXT
    [the-id]  first
    [the-id]  second
    [the-id]  third with a line
    ");
    let prompts = scene.machine.json(&format!("session queue list {session} --json"));
    let ids: Vec<String> = prompts["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["id"].as_str().unwrap().to_owned())
        .collect();
    insta::assert_snapshot!(run(&format!("remove ID {}", &ids[0][..8])), @"
    exit 0
    --- stdout
    [the-id] removed
    ");
    let edit = ["session", "queue", "edit", &session, &ids[1], "/plan"];
    insta::assert_snapshot!(scene.run_args(&edit), @"
    exit 0
    --- stdout
    [the-id] changed
    ");
    insta::assert_snapshot!(run(&format!("remove ID {}", ids[0])), @"
    exit 1
    --- stderr
    error: no queued prompt has an id that starts with [id]
    hint: it may have been sent; see `convoke session queue list [id]`
    ");
    insta::assert_snapshot!(run("send ID 123"), @"
    exit 2
    --- stderr
    error: 123 is too short for a prefix of an id
    hint: give at least four characters of the id
    ");
    insta::assert_snapshot!(run(&format!("send ID {}", ids[2])), @"
    exit 0
    --- stdout
    [the-id] is sent next
    ");
    let mut watch = scene.start(&["session", "watch", &session, "--after", "0"]);
    watch.until(|line| line.contains("you    third with a line"));
    watch.until(|line| line.contains("you    /plan"));
    watch.until(|line| line.contains("The plan is done."));
    insta::assert_snapshot!(run("list ID"), @"
    exit 0
    --- stdout
    No queued prompts.
    ");
}

#[test]
fn who_stops_waiting_does_not_stop_the_turn() {
    let scene = Scene::new();
    let session = scene.session();
    let mut waiting = scene.start(&["session", "send", &session, "/long 100000", "--wait"]);
    let mut watch = scene.start(&["session", "watch", &session, "--after", "0", "--json"]);
    watch.until(|line| line.contains(r#""text":"word"#));
    assert_eq!(waiting.end(), Some(1));
    let state = scene.machine.json("session list --json")["sessions"][0]["activity"].clone();
    assert_eq!(state, "running");
}

#[test]
fn s3_a_session_is_ended_resumed_renamed_and_cancelled() {
    let scene = Scene::new();
    let session = scene.session();
    let run = |line: &str| scene.run(&format!("session {}", line.replace("ID", &session)));
    insta::assert_snapshot!(run("complete ID"), @r"
    exit 0
    --- stdout
    [the-id] completed
    ");
    insta::assert_snapshot!(run("send ID hello"), @r"
    exit 1
    --- stderr
    error: the session is completed
    hint: resume it first: `convoke session resume [the-id]`
    ");
    insta::assert_snapshot!(run("complete ID"), @r"
    exit 1
    --- stderr
    error: the session is completed
    hint: resume it first: `convoke session resume ID`
    ");
    assert!(run("cancel ID").contains("[the-id] has already ended: completed"));
    insta::assert_snapshot!(run("resume ID"), @r"
    exit 0
    --- stdout
    [the-id] active
    ");
    insta::assert_snapshot!(run("resume ID"), @r"
    exit 1
    --- stderr
    error: the session is already active
    hint: send it a prompt: `convoke session send ID TEXT`
    ");
    insta::assert_snapshot!(run("rename ID Parser"), @r"
    exit 0
    --- stdout
    [the-id] is now called Parser
    ");
    insta::assert_snapshot!(run("archive ID"), @r"
    exit 0
    --- stdout
    [the-id] archived
    ");
    insta::assert_snapshot!(run("cancel ID"), @r"
    exit 0
    --- stdout
    [the-id] cancelled
    ");
    insta::assert_snapshot!(run("resume ID"), @r"
    exit 1
    --- stderr
    error: a cancelled session cannot be resumed
    hint: create a new one: `convoke session new`
    ");
    let other = "00000000-0000-4000-8000-000000000000";
    insta::assert_snapshot!(scene.run(&format!("session show {other}")), @"
    exit 1
    --- stderr
    error: there is no session [id]
    hint: see `convoke session list`, and the archived ones with `--archived`
    ");
}

#[test]
fn s10_a_session_that_ended_by_idleness_is_resumed_by_the_next_prompt() {
    // Six hundred milliseconds.
    let machine = Convoke::new().env("AGENT_SESSION_IDLE_TIMEOUT", "0.01");
    let scene = Scene::on(machine);
    let session = scene.session();
    let mut watch = scene.start(&["session", "watch", &session, "--after", "0"]);
    watch.until(|line| line.contains("completed: it was idle"));
    assert!(scene.run("session list").contains("  completed  "));
    insta::assert_snapshot!(scene.say(&session, "/plan"), @r"
    exit 0
    --- stdout
    The plan is done.
    ");
}

#[test]
fn s10_a_session_that_a_human_completed_refuses_prompts() {
    let scene = Scene::new();
    let session = scene.session();
    scene.run(&format!("session complete {session}"));
    insta::assert_snapshot!(scene.say(&session, "/plan").replace(&session[..8], "[the-id]"), @r"
    exit 1
    --- stderr
    error: the session is completed
    hint: resume it first: `convoke session resume [the-id]`
    ");
}

#[test]
fn s2_a_session_is_shown_with_everything_that_was_said() {
    let scene = Scene::new();
    let session = scene.session();
    scene.say(&session, "/plan");
    scene.say(&session, "/fail");
    let told = scene.run(&format!("session show {session}"));
    // How many messages there are is the demo agent's business.
    let told: Vec<&str> = told.lines().filter(|line| !line.starts_with("begun")).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    exit 0
    --- stdout
    /plan
    [id]  active, demo in web ([tmp]/web)
    created just now, last active just now, 5 messages

    Turn 1
    > /plan
    - plan, 3 of 3 done

    The plan is done.

    Turn 2
    > /fail
    - The turn failed: the demo agent was asked to fail
    ");
    let shown = scene.machine.json(&format!("session show {session} --json"));
    let messages = shown["messages"].as_array().unwrap();
    assert_eq!(shown["messageCount"], messages.len());
    assert_eq!((&shown["id"], &shown["repo"]["name"]), (&json!(session), &json!("web")));
    let prompts: Vec<&Value> = messages.iter().filter(|it| it["role"] == "user").collect();
    assert_eq!(prompts[1]["content"], json!({"type": "text", "text": "/fail"}));
    // The agent's name of the session is as good as ours.
    let canonical = format!("demo:{}", shown["agentSessionId"].as_str().unwrap());
    assert_eq!(scene.machine.json(&format!("session show {canonical} --json"))["id"], *session);
}

#[test]
fn a_watch_goes_on_after_a_restart_of_the_daemon() {
    let scene = Scene::new();
    let session = scene.session();
    let mut watch = scene.start(&["session", "watch", &session[..8], "--json", "--after", "0"]);
    let mut lines = scene.start(&["session", "watch", &session, "--after", "0"]);
    let rev = |line: &str| serde_json::from_str::<Value>(line).unwrap()["rev"].as_u64().unwrap();
    let is_end = |line: &str| line.contains("\"status\":\"ended\"");
    scene.say(&session, "/plan");
    let first = rev(&watch.until(is_end));
    let pid = scene.pid();
    scene.run("stop");
    let told = scene.say(&session, "/plan");
    assert!(told.starts_with("exit 0\n"), "{told}");
    assert_ne!(scene.pid(), pid);
    // Nothing comes twice.
    let mut last = first;
    loop {
        let line = watch.until(|_| true);
        assert!(rev(&line) > last, "{line} after {last}");
        last = rev(&line);
        if is_end(&line) {
            break;
        }
    }
    lines.until(|line| line.contains("agent  The plan is done."));
    lines.until(|line| line.contains("notice The turn ended."));
    assert_eq!(watch.end(), Some(0));
}

#[test]
fn a_turn_cut_off_by_a_restart_fails_send() {
    let scene = Scene::new();
    let session = scene.session();
    let waiting = ["session", "send", &session, "/long 100000", "--wait"];
    let mut command = scene.machine.command(&waiting);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut watch = scene.start(&["session", "watch", &session, "--after", "0"]);
    watch.until(|line| line.contains("you    /long"));
    scene.run("stop");
    scene.run("project list");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"error: The turn failed: Convoke stopped during the turn");
}

#[test]
fn thoughts_and_plans_are_for_the_terminal_and_dimmed() {
    let scene = Scene::new();
    let session = scene.session();
    let line = format!("session send {session} /plan --wait");
    let (screen, code) = scene.machine.run_on_terminal(&line, "");
    assert_eq!(code, 0, "{screen}");
    assert!(
        screen.contains("\u{1b}[2mplan, 3 of 3 done\u{1b}[0m\nThe plan is done.\n"),
        "{screen}"
    );
}

#[test]
fn watching_ends_with_its_reader_also_when_nothing_is_said() {
    let scene = Scene::new();
    let session = scene.session();
    scene.say(&session, "hello");
    let args = ["session", "watch", &session, "--after", "0"];
    let mut watch = scene.machine.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(watch.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(!first.is_empty());
    assert_eq!(watch.wait().unwrap().code(), Some(0));
}
