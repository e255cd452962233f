//! `convoke spawn` through pipes: every line a prompt, and stdout the answers.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use convoke_testkit::agent::{Script, Step};
use serde_json::json;

use crate::spawn_scene::{Scene, transcript};

const LONG_AGO: &str = "2020-01-01T00:00:00.000Z";

#[test]
fn r1_an_interactive_session_is_kept_in_a_file_of_its_own() {
    let scene = Scene::new();
    let told = scene.pipe("spawn --interactive", "");
    assert_eq!((told.code, told.stdout.as_str(), told.stderr.as_str()), (0, "", ""));
    let names: Vec<String> = fs::read_dir(scene.sessions())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let [name] = names.as_slice() else { panic!("{names:?}") };
    let id = name.strip_suffix(".jsonl").unwrap();
    let metadata = &scene.lines(id)[0];
    assert_eq!(metadata["type"], "metadata");
    assert_eq!(metadata["session_id"], id);
    assert_eq!(metadata["agent"], "demo");
    assert_eq!(metadata["status"], "active");
    assert!(metadata["created_at"].as_str().unwrap().ends_with('Z'));
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(scene.path(id)), mode(scene.sessions())), (0o600, 0o700));
    // A second one is another one.
    scene.pipe("spawn --interactive", "");
    assert_eq!(fs::read_dir(scene.sessions()).unwrap().count(), 2);
}

#[test]
fn r1_a_session_is_named_and_never_made_twice() {
    let scene = Scene::with(&[("echo", Script::new())]);
    scene.pipe("spawn --interactive --agent echo --session mine", "hello\n");
    insta::assert_snapshot!(scene.pipe("spawn --interactive --agent echo --session mine", "x\n").stderr, @"
    error: there is a session mine already
    hint: resume it with `convoke spawn --resume mine`
    ");
    assert_eq!(scene.said("mine"), ["user: hello", "assistant: hello"]);
    for id in ["../../x", "", ".x", "a/b"] {
        let output = scene
            .machine
            .command(&["spawn", "--interactive", "--session", id])
            .current_dir(scene.project())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{id}");
    }
}

#[test]
fn r1_r4_a_role_is_given_to_its_agent_with_the_first_prompt() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let roles = scene.project().join(".convoke/agents");
    fs::create_dir_all(&roles).unwrap();
    let role = "---\nagent: echo\ndescription: tests\n---\nYou test things.\n";
    fs::write(roles.join("qa-test.md"), role).unwrap();
    let told = scene.pipe("spawn --interactive --agent qa-test --session s", "first\nsecond\n");
    assert_eq!(told.stdout, "<role>\nYou test things.\n</role>\n\nfirst\nsecond\n");
    assert_eq!(scene.listed("s"), "qa-test 4 completed");
    assert_eq!(scene.said("s")[0], "user: first");
}

#[test]
fn r2_r7_each_turn_is_one_line_in_order_with_role_content_time_and_tokens() {
    let usage =
        json!({"stopReason": "end_turn", "usage": {"inputTokens": 900, "outputTokens": 42}});
    let script = Script::new()
        .when("count", [Step::say("counted"), Step::Answer(usage)])
        .when("guess", [Step::say("guessed!")]);
    let scene = Scene::with(&[("counter", script)]);
    let told = scene.pipe("spawn --interactive --agent counter --session s", "count\nguess\n");
    assert_eq!((told.code, told.stdout.as_str()), (0, "counted\nguessed!\n"));
    let lines = scene.lines("s");
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["metadata", "agent_session", "turn", "turn", "turn", "turn", "status"]);
    let fields = |line: &serde_json::Value| {
        let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        keys.into_iter().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(fields(&lines[2]), "content role timestamp tokens type");
    let tokens: Vec<u64> =
        lines[2..6].iter().map(|line| line["tokens"].as_u64().unwrap()).collect();
    assert_eq!(tokens, [2, 42, 2, 2]);
    assert_eq!(lines[6]["status"], "completed");
}

#[test]
fn r2_the_prompt_is_saved_before_the_agent_has_answered() {
    let script = Script::new().turn([Step::say("thinking…"), Step::Hang]);
    let scene = Scene::with(&[("slow", script)]);
    let mut talk = scene.start("spawn --interactive --agent slow --session s");
    talk.say("a hard question\n");
    talk.prints("thinking…");
    assert_eq!(scene.said("s"), ["user: a hard question"]);
    talk.signal("KILL");
    assert_eq!(talk.ends().code, -1);
    assert_eq!(scene.said("s"), ["user: a hard question"]);
    assert_eq!(scene.listed("s"), "slow 1 interrupted");
}

#[test]
fn r3_an_agent_that_can_resumes_its_own_session_and_stderr_says_so() {
    let scene = Scene::with(&[("echo", Script::new().session("own-1"))]);
    let told = scene.pipe("spawn --interactive --agent echo --session s", "first\n");
    assert_eq!(told.stderr, "");
    let told = scene.pipe("spawn --resume s", "second\n");
    assert_eq!(told.stdout, "second\n");
    assert_eq!(told.stderr, "The agent resumed its own session.\n");
    assert_eq!(
        scene.said("s"),
        ["user: first", "assistant: first", "user: second", "assistant: second"]
    );
    let lines = scene.lines("s");
    let sessions = lines.iter().filter(|line| line["type"] == "agent_session");
    let ids: Vec<&str> = sessions.map(|line| line["agent_session_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["own-1"]);
    let statuses: Vec<&str> = lines
        .iter()
        .filter(|line| line["type"] == "status")
        .map(|line| line["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["completed", "active", "completed"]);
}

#[test]
fn r3_claude_resumes_its_own_session() {
    let scene =
        Scene::with(&[("claude", Script::new().when("two", [Step::say("2"), Step::say("!")]))]);
    let told = scene.pipe("spawn --interactive --agent claude --session s", "one\n");
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("one\n", ""));
    let told = scene.pipe("spawn --resume s", "two\n");
    assert_eq!(told.stdout, "2!\n");
    assert_eq!(told.stderr, "The agent resumed its own session.\n");
    assert_eq!(scene.listed("s"), "claude 4 completed");
}

#[test]
fn r3_an_agent_that_cannot_resume_gets_every_turn_and_stderr_says_so() {
    let forgetful = Script::new().capabilities(json!({}));
    let lost = Script::new().on("session/load", [Step::fail(-32002, "not found")]);
    for script in [forgetful, lost] {
        let scene = Scene::with(&[("echo", script)]);
        scene.leave("s", transcript("s", "echo", "2026-11-15T10:00:00.000Z"));
        let told = scene.pipe("spawn --resume s", "What is my name?\nAnd now?\n");
        assert_eq!(
            told.stderr,
            "The agent was restarted with the transcript of this conversation.\n"
        );
        let lines: Vec<&str> = told.stdout.lines().collect();
        let quoted = lines.iter().filter(|line| line.starts_with("{\"role\"")).copied();
        assert_eq!(
            quoted.collect::<Vec<_>>(),
            [
                "{\"role\":\"user\",\"text\":\"My name is Ann.\"}",
                "{\"role\":\"assistant\",\"text\":\"Hello Ann.\"}"
            ]
        );
        assert!(told.stdout.ends_with("The user now says:\n\nWhat is my name?\nAnd now?\n"));
        assert_eq!(scene.said("s")[2], "user: What is my name?");
        assert_eq!(scene.listed("s"), "echo 6 completed");
    }
}

#[test]
fn r3_a_long_conversation_is_replayed_within_the_budget() {
    let script = Script::new().capabilities(json!({}));
    let scene =
        Scene::configured(&[("echo", script)], "[spawner.interactive]\nmax_tokens = 1000\n");
    let mut text = transcript("s", "echo", "2026-11-15T10:00:00.000Z");
    for number in 0..100 {
        let said = format!("number {number} {}", "x".repeat(80));
        text += &format!(
            "{}\n",
            json!({"type": "turn", "role": "user", "content": said,
            "timestamp": "2026-11-15T10:00:00.000Z", "tokens": 25})
        );
    }
    scene.leave("s", text);
    let told = scene.pipe("spawn --resume s", "go on\n");
    assert!(told.stderr.contains("in the middle left out"), "{}", told.stderr);
    assert!(told.stdout.contains("My name is Ann.") && told.stdout.contains("number 99"));
    assert!(!told.stdout.contains("number 10 ") && told.stdout.contains("turns are left out here"));
    assert!(told.stdout.len() < 6000, "{}", told.stdout.len());
}

#[test]
fn r4_sessions_are_listed_newest_first_and_filtered_by_agent_and_status() {
    let scene = Scene::with(&[("echo", Script::new())]);
    insta::assert_snapshot!(scene.machine.run("spawn --list-sessions"), @"
    exit 0
    --- stdout
    SESSION_ID  AGENT  TURN_COUNT  CREATED_AT  STATUS
    ");
    let now = scene.pipe("spawn --interactive --agent echo --session newest", "hi\n");
    assert_eq!(now.code, 0);
    scene.leave("older", transcript("older", "qa-test", "2026-11-14T10:00:00.000Z"));
    scene.leave("oldest", transcript("oldest", "echo", "2026-11-13T10:00:00.000Z"));
    scene.leave("broken", "garbage\n");
    insta::assert_snapshot!(scene.machine.run("spawn --list-sessions"), @"
    exit 0
    --- stdout
    SESSION_ID  AGENT    TURN_COUNT  CREATED_AT                STATUS
    newest      echo     2           [time]  completed
    older       qa-test  2           [time]  interrupted
    oldest      echo     2           [time]  interrupted
    --- stderr
     WARN the session broken cannot be listed: its first line is not the metadata of a session
    ");
    let ids = |line: &str| {
        let listed = scene.machine.json(line);
        let sessions = listed["sessions"].as_array().unwrap();
        let ids = sessions.iter().map(|session| session["session_id"].as_str().unwrap());
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids("spawn --list-sessions --json --agent echo"), "newest oldest");
    assert_eq!(ids("spawn --list-sessions --json --agent qa-test"), "older");
    assert_eq!(ids("spawn --list-sessions --json --status interrupted"), "older oldest");
    assert_eq!(ids("spawn --list-sessions --json --status active"), "");
    assert_eq!(ids("spawn --list-sessions --json --status completed --agent qa-test"), "");
    let listed = scene.machine.json("spawn --list-sessions --json --agent qa-test");
    let expected = json!({"sessions": [{"session_id": "older", "agent": "qa-test", "turn_count": 2,
        "created_at": "2026-11-14T10:00:00.000Z", "status": "interrupted"}]});
    assert_eq!(listed, expected);
}

#[test]
fn r5_a_session_is_deleted_with_a_confirmation_and_only_on_purpose() {
    let scene = Scene::new();
    scene.leave("session-123", transcript("session-123", "demo", "2026-11-15T10:00:00.000Z"));
    insta::assert_snapshot!(scene.machine.run("spawn --delete-session session-123"), @"
    exit 2
    --- stderr
    error: cannot ask whether to delete the session: this is not a terminal
    hint: add `--yes` to confirm
    ");
    insta::assert_snapshot!(scene.machine.run("spawn --delete-session session-123 --yes"), @"
    exit 0
    --- stdout
    Deleted session session-123
    ");
    assert_eq!(scene.listed("session-123"), "nothing");
    insta::assert_snapshot!(scene.machine.run("spawn --delete-session session-123 --yes"), @"
    exit 1
    --- stderr
    error: Session not found: session-123
    hint: see `convoke spawn --list-sessions`
    ");
    scene.leave("alpha-1", "x");
    scene.leave("alpha-2", "x");
    insta::assert_snapshot!(scene.machine.run("spawn --delete-session alph --yes"), @"
    exit 2
    --- stderr
    error: alph matches several sessions: alpha-1, alpha-2
    hint: give more characters of the id
    ");
    let deleted = scene.machine.json("spawn --delete-session alpha-1 --yes --json");
    assert_eq!(deleted, json!({"session_id": "alpha-1", "deleted": true}));
}

#[test]
fn r6_old_sessions_are_deleted_on_demand_and_their_number_is_printed() {
    let scene = Scene::new();
    for id in ["old-1", "old-2"] {
        scene.leave(id, transcript(id, "demo", LONG_AGO));
    }
    scene.pipe("spawn --interactive --session young", "");
    insta::assert_snapshot!(scene.machine.run("spawn --clean-sessions 30"), @"
    exit 0
    --- stdout
    Deleted 2 sessions older than 30 days
    ");
    assert_eq!(scene.listed("young"), "demo 0 completed");
    let cleaned = scene.machine.json("spawn --clean-sessions 30 --json");
    assert_eq!(cleaned, json!({"deleted": 0, "open": 0, "failed": 0}));
}

#[test]
fn r6_old_sessions_expire_by_themselves_when_the_program_starts() {
    let scene = Scene::configured(&[], "[spawner.interactive]\nsession_expiry_days = 30\n");
    scene.leave("ancient", transcript("ancient", "demo", LONG_AGO));
    assert_eq!(scene.pipe("spawn --list-sessions", "").code, 0);
    assert!(scene.path("ancient").exists(), "a list deletes nothing");
    assert_eq!(scene.pipe("spawn --interactive", "").code, 0);
    assert!(!scene.path("ancient").exists());
}

#[test]
fn r6_without_a_setting_no_session_expires_by_itself() {
    let scene = Scene::new();
    scene.leave("ancient", transcript("ancient", "demo", LONG_AGO));
    // The end of the program waits for a cleaning in the background, so one would be over by then.
    assert_eq!(scene.pipe("spawn --interactive", "").code, 0);
    assert!(scene.path("ancient").exists());
}

#[test]
fn r6_a_session_that_is_open_does_not_expire() {
    let echo = [("echo", Script::new())];
    let scene = Scene::configured(&echo, "[spawner.interactive]\nsession_expiry_days = 30\n");
    scene.leave("ancient", transcript("ancient", "echo", LONG_AGO));
    let mut talk = scene.start("spawn --resume ancient");
    talk.say("still here\n");
    talk.prints("still here");
    assert_eq!(scene.pipe("spawn --list-sessions", "").code, 0);
    assert_eq!(scene.machine.json("spawn --clean-sessions 0 --json")["open"], 1);
    assert_eq!(talk.ends().code, 0);
    assert_eq!(scene.listed("ancient"), "echo 4 completed");
}

#[test]
fn r8_a_damaged_transcript_is_reported_and_recovered_only_on_request() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let good = transcript("s", "echo", "2026-11-15T10:00:00.000Z");
    let bad = format!("{good}garbage\n{{\"type\":\"turn\"}}\n");
    scene.leave("s", &bad);
    let told = scene.pipe("spawn --resume s", "hello\n");
    let stderr = told.stderr.replace(scene.machine.path().to_str().unwrap(), "[tmp]");
    insta::assert_snapshot!(stderr, @"
    error: [tmp]/.convoke/spawn/sessions/s.jsonl is damaged: line 4: expected value at column 1; line 5: the turn has no role
    hint: resume it on a terminal to choose, or send `recover` as the first line of the pipe: bad lines are set aside, and nothing is lost
    ");
    assert_eq!(told.code, 1);
    assert_eq!(fs::read_to_string(scene.path("s")).unwrap(), bad);
    let told = scene.pipe("spawn --resume s", "recover\nhello\n");
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(scene.said("s").len(), 4);
    let aside = fs::read_to_string(scene.sessions().join("s.jsonl.bad")).unwrap();
    assert_eq!(aside, "garbage\n{\"type\":\"turn\"}\n");
}

#[test]
fn r8_a_torn_last_line_recovers_by_itself() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let good = transcript("s", "echo", "2026-11-15T10:00:00.000Z");
    scene.leave("s", format!("{good}{{\"type\":\"turn\",\"role\":\"us"));
    let told = scene.pipe("spawn --resume s", "hello\n");
    assert_eq!(told.code, 0);
    assert!(
        told.stderr.contains("The last line of the transcript was incomplete (25 bytes)"),
        "{}",
        told.stderr
    );
    assert_eq!(scene.said("s").len(), 4);
}

#[test]
fn r9_r10_a_second_writer_is_refused_by_name_and_readers_see_what_was_saved() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let mut talk = scene.start("spawn --interactive --agent echo --session s");
    talk.say("first\n");
    talk.prints("first\n");
    assert_eq!(scene.listed("s"), "echo 2 active");
    let told = scene.pipe("spawn --resume s", "second\n");
    let pid = talk.pid();
    let text = format!(
        "error: the session s is open in process {pid}\n\
         hint: exit it there first, or see what it is: `ps -p {pid}`\n"
    );
    assert_eq!((told.code, told.stderr), (1, text));
    assert!(scene.machine.run("spawn --delete-session s --yes").starts_with("exit 1\n"));
    talk.say("third\n");
    talk.prints("third\n");
    assert_eq!(talk.ends().code, 0);
    assert_eq!(scene.said("s").len(), 4);
    assert_eq!(scene.listed("s"), "echo 4 completed");
}

#[test]
fn r10_a_session_that_was_cut_off_shows_as_interrupted_and_keeps_what_was_said() {
    for (signal, code) in [("TERM", 1), ("HUP", 1), ("INT", 1)] {
        let script = Script::new().turn([Step::say("half an answer"), Step::Hang]);
        let scene = Scene::with(&[("slow", script)]);
        let mut talk = scene.start("spawn --interactive --agent slow --session s");
        talk.say("question\nnever asked\n");
        talk.prints("half an answer");
        talk.signal(signal);
        let told = talk.ends();
        assert_eq!(told.code, code, "{signal}");
        let hint = "hint: it is saved; resume it with `convoke spawn --resume s`\n";
        assert!(told.stderr.ends_with(hint), "{signal}: {}", told.stderr);
        assert_eq!(scene.said("s"), ["user: question", "assistant: half an answer"], "{signal}");
        assert_eq!(scene.listed("s"), "slow 2 interrupted", "{signal}");
    }
}

#[test]
fn r10_a_killed_session_is_interrupted_and_goes_on_where_it_was() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let mut talk = scene.start("spawn --interactive --agent echo --session s");
    talk.say("first\n");
    talk.prints("first\n");
    talk.signal("KILL");
    talk.ends();
    assert_eq!(scene.listed("s"), "echo 2 interrupted");
    assert_eq!(scene.pipe("spawn --resume s", "second\n").stdout, "second\n");
    assert_eq!(scene.listed("s"), "echo 4 completed");
}
