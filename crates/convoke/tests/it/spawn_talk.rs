//! Talking through a pipe: what is said where, what goes wrong, and the commands of the REPL itself.

use std::fs;

use convoke_testkit::agent::{Ask, Script, Step, Tool};
use serde_json::json;

use crate::spawn_scene::{Scene, transcript};

#[test]
fn quiet_prints_errors_only() {
    let scene = Scene::with(&[("echo", Script::new())]);
    scene.leave("s", transcript("s", "echo", "2026-11-15T10:00:00.000Z"));
    assert_eq!(scene.pipe("spawn --resume s --quiet", "/save\n").stderr, "");
    let told = scene.pipe("spawn --resume s --quiet", "/nonsense\n");
    assert_eq!(told.stderr, "error: unknown command /nonsense; /help shows them all\n");
}

#[test]
fn a_permission_without_a_terminal_is_refused() {
    let choices = [("yes", "allow_once"), ("no", "reject_once")];
    let ask = Ask::new(Tool::named("t", "rm -rf", json!({})), &choices)
        .then("yes", [Step::say("allowed")])
        .then("no", [Step::say("not allowed")]);
    let scene = Scene::with(&[("asker", Script::new().turn([Step::Ask(ask)]))]);
    let told = scene.pipe("spawn --interactive --agent asker", "do it\n");
    assert_eq!(told.stdout, "not allowed\n");
    assert_eq!(told.stderr, "refused permission, because there is no user to ask: rm -rf\n");
}

#[test]
fn stdout_holds_the_answers_alone() {
    let tool = Tool::named("t", "read", json!({}));
    let steps = [
        Step::Think("hm".to_owned()),
        Step::say("Before."),
        Step::Plan(vec!["one".to_owned()]),
        Step::Call(tool.clone()),
        Step::Update(tool.done("output")),
        Step::say("After \u{1b}[1mthat."),
    ];
    let scene = Scene::with(&[("busy", Script::new().turn(steps))]);
    let told = scene.pipe("spawn --interactive --agent busy --session s", "go\n");
    assert_eq!(told.stdout, "Before.\n\nAfter \u{1b}[1mthat.\n");
    assert_eq!(told.stderr, "");
    assert_eq!(scene.said("s")[1], "assistant: Before.\n\nAfter \u{1b}[1mthat.");
}

#[test]
fn a_turn_that_fails_is_said_and_the_next_one_goes_on() {
    let script = Script::new()
        .when("fail", [Step::say("so far"), Step::fail(-32603, "no luck")])
        .when("crash", [Step::say("oh"), Step::Exit(3)]);
    let scene = Scene::with(&[("clumsy", script)]);
    let told = scene.pipe("spawn --interactive --agent clumsy --session s", "fail\ncrash\nhello\n");
    assert_eq!(told.stdout, "so far\noh\nhello\n");
    assert_eq!(told.code, 1);
    let stderr = told.stderr;
    assert!(stderr.contains("error: the turn failed: no luck"), "{stderr}");
    assert!(stderr.contains("error: the agent's process ended: exit code 3"), "{stderr}");
    assert!(stderr.contains("The agent resumed its own session."), "{stderr}");
    assert!(stderr.ends_with("error: 2 of the turns failed\n"), "{stderr}");
    let said = scene.said("s");
    assert_eq!(said[1], "assistant: so far");
    assert_eq!(said[3], "assistant: oh");
    assert_eq!(said[5], "assistant: hello");
}

#[test]
fn an_agent_that_does_not_start_leaves_no_session() {
    let config = "[agents.broken]\ncommand = \"/bin/false\"\nsandbox = \"off\"\n";
    let scene = Scene::configured(&[], config);
    let told = scene.pipe("spawn --interactive --agent broken --session s", "hello\n");
    assert_eq!(told.code, 1);
    assert!(
        told.stderr.starts_with("error: the agent ended before it was ready"),
        "{}",
        told.stderr
    );
    assert!(!scene.path("s").exists());
    let told = scene.pipe("spawn --interactive --agent nobody", "hello\n");
    assert_eq!(told.code, 1);
    assert!(told.stderr.contains("there is no agent and no role called `nobody`"));
    // One that was there before stays as it is.
    let text = transcript("s", "broken", "2026-11-15T10:00:00.000Z");
    scene.leave("s", &text);
    assert_eq!(scene.pipe("spawn --resume s", "hello\n").code, 1);
    assert_eq!(fs::read_to_string(scene.path("s")).unwrap(), text);
}

#[test]
fn commands_of_the_repl_and_of_the_agent_are_told_apart() {
    let offer = json!({"sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": "dance", "description": "dance"}]});
    let script = Script::new().when("hello", [Step::Tell(offer), Step::say("hi")]);
    let scene = Scene::with(&[("dancer", script)]);
    let input = "hello\n/dance now\n//stats\n/nonsense\n/history 1\n/exit\nnever said\n";
    let told = scene.pipe("spawn --interactive --agent dancer --session s", input);
    let answers: Vec<&str> = told.stdout.lines().collect();
    assert_eq!(answers, ["hi", "/dance now", "/stats", "agent, now:", "/stats", ""]);
    assert_eq!(told.stderr, "error: unknown command /nonsense; /help shows them all\n");
    assert_eq!(scene.said("s").len(), 6);
}

#[test]
fn a_conversation_is_exported_and_imported_into_another() {
    let script = Script::new().capabilities(json!({}));
    let scene = Scene::with(&[("echo", script)]);
    let input = "first\n/export talk.jsonl\n/save talk.md\n/export talk.md\n";
    let told = scene.pipe("spawn --interactive --agent echo --session one", input);
    assert_eq!(
        told.stderr,
        "Wrote 2 messages to talk.jsonl\nWrote 2 messages to talk.md\n\
         error: talk.md exists already; choose another name\n"
    );
    let told = scene.pipe(
        "spawn --interactive --agent echo --session two",
        "/import talk.jsonl\nsecond\n/clear\nthird\n",
    );
    assert!(told.stdout.contains("{\"role\":\"user\",\"text\":\"first\"}\n"), "{}", told.stdout);
    assert!(told.stdout.ends_with("The user now says:\n\nsecond\nthird\n"), "{}", told.stdout);
    let expected = ["first", "first", "second"];
    let said = scene.said("two");
    assert!(said.iter().zip(expected).all(|(said, text)| said.ends_with(text)), "{said:?}");
    assert!(told.stderr.contains("without any memory of this conversation"), "{}", told.stderr);
}

#[test]
fn r3_another_agent_goes_on_with_the_same_conversation() {
    let loud = Script::new().when("again", [Step::say("LOUD")]);
    let scene = Scene::with(&[("echo", Script::new()), ("loud", loud)]);
    let input = "first\n/agent nobody\n/agent loud\nagain\n";
    let told = scene.pipe("spawn --interactive --agent echo --session s", input);
    assert_eq!(told.stdout, "first\nLOUD\n");
    assert!(told.stderr.contains("error: there is no agent and no role called `nobody`"));
    assert!(told.stderr.contains("You talk with loud now."), "{}", told.stderr);
    assert_eq!(scene.listed("s"), "loud 4 completed");
    // The last agent is used when the session is resumed, and knows everything.
    let told = scene.pipe("spawn --resume s", "");
    assert_eq!(told.stderr, "The agent resumed its own session.\n");
    let told = scene.pipe("spawn --resume s --agent echo", "back\n");
    assert_eq!(told.stderr, "The agent was restarted with the transcript of this conversation.\n");
    assert!(told.stdout.contains("\"text\":\"LOUD\"}") && told.stdout.ends_with("\nback\n"));
    assert_eq!(scene.listed("s"), "echo 6 completed");
}

#[test]
fn programs_get_each_answer_as_an_object() {
    let scene = Scene::with(&[("echo", Script::new())]);
    let told = scene.pipe("spawn --interactive --agent echo --json", "first\nsecond\n");
    assert_eq!(told.stderr, "");
    let answers: Vec<serde_json::Value> =
        told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<&str> = answers.iter().map(|turn| turn["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["first", "second"]);
    assert_eq!((&answers[0]["type"], &answers[0]["role"]), (&json!("turn"), &json!("assistant")));
}

#[test]
fn a_reader_that_goes_away_ends_the_session_in_order() {
    let script = Script::new().turn([Step::say("a line\n"), Step::Count(5_000), Step::Hang]);
    let scene = Scene::with(&[("talker", script)]);
    let args = ["spawn", "--interactive", "--agent", "talker", "--session", "s"];
    let mut child = scene
        .machine
        .command(&args)
        .current_dir(scene.project())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"go\n").unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut String::new()).unwrap();
    drop(output);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(scene.listed("s"), "talker 2 completed");
}

#[test]
fn a_confined_agent_cannot_be_started_around_the_home() {
    let scene = Scene::new();
    let config = "[agents.demo]\nsandbox = \"workspace\"\n";
    fs::write(scene.machine.home().join("config.toml"), config).unwrap();
    if convoke_agents::sandbox::landlock_generation().is_none() {
        return;
    }
    insta::assert_snapshot!(scene.machine.run("spawn --interactive"), @r#"
    exit 1
    --- stderr
    error: an agent that is confined to [tmp] could write Convoke's home [tmp]/.convoke
    hint: start it in the folder of a project (`cd`), choose another home with `--home`, or set `sandbox = "off"` for the agent
    "#);
    assert_eq!(scene.pipe("spawn --interactive", "hello\n").code, 0);
}

#[test]
fn an_agent_that_is_not_confined_asks_its_human_through_mcp() {
    let scene = Scene::new();
    let mut talk = scene.start("spawn --interactive --session s");
    talk.say("/ask\n");
    let id = loop {
        let listed = scene.machine.json("questions list --status pending --json");
        if let Some(asked) = listed["sessions"].get(0) {
            break asked["sessionId"].as_str().unwrap().to_owned();
        }
    };
    let answers = json!({"0": {"selectedOption": "Stop"}}).to_string();
    scene.machine.run_args(&["questions", "answer", &id, "--answers", &answers]);
    talk.prints("→ Stop");
    let told = talk.ends();
    assert_eq!(told.code, 0);
    assert!(
        told.stderr.contains("answer in another terminal with `convoke answer`"),
        "{}",
        told.stderr
    );
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let scene = Scene::new();
    for line in [
        "spawn --list-sessions --interactive",
        "spawn --resume x --session y",
        "spawn --resume x --list-sessions",
        "spawn --delete-session x --clean-sessions 3",
        "spawn --list-sessions --status asleep",
        "spawn --status active --interactive",
        "spawn --interactive --yes",
        "spawn --clean-sessions -1",
    ] {
        let told = scene.machine.run(line);
        assert!(told.starts_with("exit 2\n"), "{line}: {told}");
    }
}
