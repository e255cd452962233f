//! Where stores are, and what conversations have to do with each other.

use std::path::PathBuf;

use convoke_histories::{Agent, Environment, Store};

use crate::scene::Scene;

#[test]
fn h1_variables_move_the_stores() {
    let home = || Environment::new("/home/me");
    let roots = |agent, environment: Environment| Store::roots(agent, &environment);
    let one = |path: &str| vec![PathBuf::from(path)];
    assert_eq!(
        roots(Agent::Claude, home()),
        [PathBuf::from("/home/me/.claude"), PathBuf::from("/home/me/.config/claude")]
    );
    let moved = [
        (Agent::Claude, "CLAUDE_CONFIG_DIR", "/x"),
        (Agent::Codex, "CODEX_HOME", "/x"),
        (Agent::Gemini, "GEMINI_CLI_HOME", "/x/.gemini"),
        (Agent::Opencode, "XDG_DATA_HOME", "/x/opencode"),
        (Agent::Goose, "XDG_DATA_HOME", "/x/goose"),
        (Agent::Goose, "GOOSE_PATH_ROOT", "/x/data"),
        (Agent::Qwen, "QWEN_HOME", "/x"),
        (Agent::Qwen, "QWEN_RUNTIME_DIR", "/x"),
        (Agent::Copilot, "COPILOT_HOME", "/x"),
        (Agent::Cline, "CLINE_DATA_DIR", "/x"),
        (Agent::Cline, "CLINE_DIR", "/x/data"),
        (Agent::Vibe, "VIBE_HOME", "/x"),
        (Agent::Droid, "FACTORY_HOME_OVERRIDE", "/x/.factory"),
    ];
    for (agent, variable, root) in moved {
        assert_eq!(roots(agent, home().with(variable, "/x")), one(root), "{variable}");
        assert!(Environment::VARIABLES.contains(&variable));
        let unmoved = roots(agent, home());
        assert_eq!(roots(agent, home().with(variable, "relative")), unmoved, "{variable}");
        assert_eq!(roots(agent, home().with(variable, "")), unmoved, "{variable}");
    }
    assert_eq!(roots(Agent::Codex, home().with("CODEX_HOME", "~/c")), one("/home/me/c"));
    assert_eq!(roots(Agent::Kimi, home())[0], PathBuf::from("/home/me/.kimi-code"));
}

#[test]
fn h1_an_agent_that_was_never_used_has_no_store() {
    let environment = Environment::new("/nowhere/at/all");
    for agent in Agent::ALL {
        assert!(Store::open(agent, &environment).unwrap().is_empty());
        assert_eq!(agent.as_str().parse::<Agent>(), Ok(agent));
    }
    assert!("cursor".parse::<Agent>().is_err());
}

#[test]
fn h1_claude_subagents_belong_to_their_session() {
    let scene = Scene::new(Agent::Claude);
    let line = |session: &str| {
        format!(
            r#"{{"type":"user","uuid":"u","isSidechain":true,"sessionId":"{session}","cwd":"/p","timestamp":"2026-11-01T10:00:00.000Z","message":{{"role":"user","content":"look"}}}}"#
        )
    };
    scene.lines("projects/-p/s1/subagents/agent-a1.jsonl", &[&line("s1")]);
    scene.lines("projects/-p/agent-a2.jsonl", &[&line("s2")]);
    insta::assert_snapshot!(scene.render(), @r#"
    # look
    agent-a2, in /p, part of s2
    2026-11-01 10:00:00.000 to 2026-11-01 10:00:00.000
    tokens: 0 in, 0 out, 0 + 0 cached
    2026-11-01 10:00:00.000 user "look"

    # look
    agent-a1, in /p, part of s1
    2026-11-01 10:00:00.000 to 2026-11-01 10:00:00.000
    tokens: 0 in, 0 out, 0 + 0 cached
    2026-11-01 10:00:00.000 user "look"
    "#);
}

#[test]
fn h1_a_codex_fork_does_not_repeat_its_parent() {
    let parent = "019a0000-0000-7000-8000-00000000000a";
    let child = "019a0000-5000-7000-8000-00000000000b";
    let said = |turn: &str, text: &str| {
        [
            format!(
                r#"{{"timestamp":"2026-11-01T11:00:00.000Z","type":"event_msg","payload":{{"type":"task_started","turn_id":"{turn}"}}}}"#
            ),
            format!(
                r#"{{"timestamp":"2026-11-01T11:00:00.000Z","type":"turn_context","payload":{{"turn_id":"{turn}","cwd":"/p","model":"gpt"}}}}"#
            ),
            format!(
                r#"{{"timestamp":"2026-11-01T11:00:00.000Z","type":"event_msg","payload":{{"type":"user_message","message":"{text}"}}}}"#
            ),
        ]
    };
    let meta = |id: &str, more: &str| {
        format!(
            r#"{{"timestamp":"2026-11-01T11:00:00.000Z","type":"session_meta","payload":{{"id":"{id}","cwd":"/p"{more}}}}}"#
        )
    };
    let mut lines =
        vec![meta(child, &format!(r#","forked_from_id":"{parent}""#)), meta(parent, "")];
    lines.extend(said("019a0000-1000-7000-8000-000000000001", "in the parent"));
    lines.extend(said("019a0000-6000-7000-8000-000000000002", "in the fork"));
    let scene = Scene::new(Agent::Codex);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    scene.lines(&format!("sessions/2026/11/01/rollout-2026-11-01T11-00-00-{child}.jsonl"), &lines);
    insta::assert_snapshot!(scene.render(), @r#"
    # in the fork
    019a0000-5000-7000-8000-00000000000b, in /p, by gpt, forked from 019a0000-0000-7000-8000-00000000000a
    2026-11-01 11:00:00.000 to 2026-11-01 11:00:00.000
    tokens: 0 in, 0 out, 0 + 0 cached
    2026-11-01 11:00:00.000 user "in the fork"
    "#);
}

#[test]
fn h1_gemini_documents_from_before_the_lines_are_read() {
    let scene = Scene::new(Agent::Gemini);
    scene.write("tmp/p/.project_root", "/p\n");
    scene.write("tmp/p/chats/session-2026-11-01T10-00-bbbbbbbb.json", r#"{
        "sessionId": "bbbbbbbb-0000-4000-8000-000000000000",
        "startTime": "2026-11-01T10:00:00.000Z",
        "messages": [
            {"id": "1", "timestamp": "2026-11-01T10:00:01.000Z", "type": "user", "content": "fix it"},
            {"id": "2", "timestamp": "2026-11-01T10:00:02.000Z", "type": "gemini", "content": "Fixed", "model": "flash"}
        ],
        "summary": "A fix"
    }"#);
    insta::assert_snapshot!(scene.render(), @r#"
    # A fix
    bbbbbbbb-0000-4000-8000-000000000000, in /p, by flash
    2026-11-01 10:00:00.000 to 2026-11-01 10:00:02.000
    tokens: 0 in, 0 out, 0 + 0 cached
    2026-11-01 10:00:01.000 user "fix it"
    2026-11-01 10:00:02.000 agent "Fixed"
    "#);
}

#[test]
fn h1_kimi_cli_from_before_kimi_code_is_read() {
    let scene = Scene::new(Agent::Kimi);
    scene.lines("sessions/0123abcd/88888888/wire.jsonl", &[
        r#"{"type":"metadata","protocol_version":"1.1"}"#,
        r#"{"timestamp":1793527201.5,"message":{"type":"TurnBegin","payload":{"user_input":"fix it"}}}"#,
        r#"{"timestamp":1793527202.0,"message":{"type":"ContentPart","payload":{"type":"think","think":"hm"}}}"#,
        r#"{"timestamp":1793527203.0,"message":{"type":"ToolCall","payload":{"type":"function","id":"t1","function":{"name":"Shell","arguments":"{\"command\":\"make\"}"}}}}"#,
        r#"{"timestamp":1793527204.0,"message":{"type":"ToolResult","payload":{"tool_call_id":"t1","return_value":{"is_error":true,"output":"","message":"no rule"}}}}"#,
    ]);
    insta::assert_snapshot!(scene.render(), @r#"
    # fix it
    88888888
    2026-11-01 10:00:01.500 to 2026-11-01 10:00:04.000
    tokens: 0 in, 0 out, 0 + 0 cached
    2026-11-01 10:00:01.500 user "fix it"
    2026-11-01 10:00:02.000 agent thinks "hm"
    2026-11-01 10:00:03.000 - Shell (execute) {"command":"make"} Error error "no rule"
    "#);
}

#[test]
fn h1_a_conversation_says_what_it_is_without_being_read_whole() {
    for agent in Agent::ALL {
        let scene = crate::stories::story(agent);
        let mut store = scene.store();
        let history = store.scan().unwrap().remove(0);
        let identity = store.identify(&history).unwrap();
        assert_eq!(identity.cwd.as_deref(), Some("/p"), "{agent}");
        assert!(identity.title.is_some() && !identity.id.is_empty(), "{agent}: {identity:?}");
        assert!(identity.created_at.is_some(), "{agent}");
    }
}
