//! Shaking hands with agents as they were seen to answer.

use serde_json::{Value, json};

use super::introduction;
use crate::acp::tests::scene::{Scene, hello};
use crate::catalogue::Tools;
use crate::driver::{HttpServer, McpServer, Start};
use crate::error::Error;

fn new() -> Start {
    Start::New { id: "unused".to_owned() }
}

fn resume() -> Start {
    Start::Resume { agent_session: "ses_1".to_owned() }
}

fn chunk(session: &str, text: &str) -> Value {
    let update =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    json!({"method": "session/update", "params": {"sessionId": session, "update": update}})
}

#[tokio::test(start_paused = true)]
async fn s6_the_agent_is_given_its_workspace_and_its_servers_of_tools() {
    let (mut scene, mut launch) = Scene::new(new());
    launch.mcp_servers = vec![McpServer {
        name: "convoke".to_owned(),
        command: "/opt/convoke".into(),
        args: vec!["mcp".to_owned()],
        env: [("CONVOKE_SESSION".to_owned(), "1".to_owned())].into(),
        http: None,
    }];
    let hello = json!({"id": "$", "result": {
        "protocolVersion": 1,
        "agentCapabilities": {"loadSession": true, "sessionCapabilities": {"close": {}, "list": {}, "resume": null}},
        "agentInfo": {"name": "codex-acp", "title": "Codex", "version": "2.6.0"},
    }});
    let answer = json!({"id": "$", "result": {"sessionId": "20261115_1", "modes": {"currentModeId": "agent", "availableModes": []}}});
    let started = scene.handshake(&launch, [&[hello][..], &[answer]]).await.unwrap();
    insta::assert_debug_snapshot!(started, @r#"
    Started {
        agent_session: "20261115_1",
        introduced_as: Some(
            "Codex 2.6.0",
        ),
        abilities: Abilities {
            load: true,
            resume: false,
            list: true,
            close: true,
        },
        offers: [
            Modes {
                current: "agent",
                available: [],
            },
        ],
    }
    "#);
    insta::assert_snapshot!(scene.transcript(), @r#"
    > initialize
    > {"id":2,"method":"session/new","params":{"cwd":"/workspace","mcpServers":[{"args":["mcp"],"command":"/opt/convoke","env":[{"name":"CONVOKE_SESSION","value":"1"}],"name":"convoke"}]}}
    ! state {"kind":"modes","current":"agent","available":[]}
    "#);
}

#[tokio::test(start_paused = true)]
async fn l1_an_agent_that_ignores_programs_is_given_the_tools_over_http_or_not_at_all() {
    for (tools, given) in [
        (
            Tools::Http,
            r#"[{"headers":[{"name":"Authorization","value":"Bearer k"}],"name":"convoke","type":"http","url":"http://127.0.0.1:7717/mcp"}]"#,
        ),
        (Tools::Cline, "[]"),
        (Tools::None, "[]"),
    ] {
        let (mut scene, mut launch) = Scene::new(new());
        let http =
            HttpServer { url: "http://127.0.0.1:7717/mcp".to_owned(), token: "k".to_owned() };
        launch.tools = tools;
        launch.mcp_servers = vec![McpServer {
            name: "convoke".to_owned(),
            command: "/opt/convoke".into(),
            args: vec!["mcp".to_owned()],
            env: [].into(),
            http: Some(http),
        }];
        let hello = json!({"id": "$", "result": {"protocolVersion": 1}});
        let answer = json!({"id": "$", "result": {"sessionId": "s"}});
        scene.handshake(&launch, [&[hello][..], &[answer]]).await.unwrap();
        let transcript = scene.transcript();
        assert!(transcript.contains(&format!(r#""mcpServers":{given}"#)), "{transcript}");
    }
}

#[test]
fn convoke_says_what_it_can_do_and_asks_for_version_one() {
    insta::assert_snapshot!(introduction(), @r#"{"clientCapabilities":{"elicitation":{"form":{}},"fs":{"readTextFile":true,"writeTextFile":true},"session":{"compaction":{},"configOptions":{"boolean":{}},"notices":{}},"terminal":true},"clientInfo":{"name":"convoke","title":"Convoke","version":"0.1.0"},"protocolVersion":1}"#);
}

#[tokio::test(start_paused = true)]
async fn another_version_of_the_protocol_is_a_clear_error() {
    for (version, reported) in [
        (json!(2), "it uses version 2 of ACP, and Convoke uses version 1"),
        (json!(null), "it did not send a version of ACP"),
    ] {
        let (mut scene, launch) = Scene::new(new());
        let hello = json!({"id": "$", "result": {"protocolVersion": version}});
        let error = scene.handshake(&launch, [&[hello][..]]).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the agent violates its protocol: {reported}"));
    }
    let (mut scene, launch) = Scene::new(new());
    let refusal = json!({"id": "$", "error": {"code": -32022, "message": "unsupported", "data": {"requested": 1, "supported": [2]}}});
    let error = scene.handshake(&launch, [&[refusal][..]]).await.unwrap_err();
    insta::assert_snapshot!(error, @r#"the agent returned an error: unsupported: {"requested":1,"supported":[2]}"#);
}

/// As cline does without a key.
#[tokio::test(start_paused = true)]
async fn an_agent_that_wants_a_login_says_how() {
    for start in [new(), resume()] {
        let (mut scene, launch) = Scene::new(start);
        let hello = json!({"id": "$", "result": {
            "protocolVersion": 1,
            "agentCapabilities": {"loadSession": true},
            "authMethods": [{"id": "cline", "name": "Sign in with Cline"}, {"id": "x", "type": "terminal", "name": "Log in", "args": ["--login"]}],
        }});
        let refusal = json!({"id": "$", "error": {"code": -32000, "message": "Authentication required: Call authenticate before starting a session"}});
        let error = scene.handshake(&launch, [&[hello][..], &[refusal]]).await.unwrap_err();
        let Error::AuthRequired { methods, detail } = error else { panic!("{error}") };
        assert_eq!(
            methods,
            ["Sign in with Cline", "Log in: run `/opt/agent --login` in a terminal"]
        );
        assert_eq!(detail, "Authentication required: Call authenticate before starting a session");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_or_nameless_new_session_is_an_error() {
    let refusal = json!({"id": "$", "error": {"code": -32603, "message": "Internal error", "data": {"details": "no folder"}}});
    let nameless = json!({"id": "$", "result": {"sessionId": ""}});
    for (answer, reported) in [
        (refusal, "the agent returned an error: Internal error: no folder"),
        (nameless, "the agent violates its protocol: it opened a session without an id"),
    ] {
        let (mut scene, launch) = Scene::new(new());
        let error =
            scene.handshake(&launch, [&[hello(&json!({}))][..], &[answer]]).await.unwrap_err();
        assert_eq!(error.to_string(), reported);
    }
}

/// As kimi does: it reads its notes before it has sent the id of the session.
#[tokio::test(start_paused = true)]
async fn requests_before_there_is_a_session_are_served() {
    let (mut scene, launch) = Scene::new(new());
    std::fs::write(scene.workspace.path().join("AGENTS.md"), "notes").unwrap();
    let path = launch.workspace.join("AGENTS.md");
    let before = [
        json!({"id": 0, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": path}}),
        json!({"method": "_auth/status_update", "params": {}}),
        json!({"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "init", "description": "Begins"}]}}}),
        json!({"id": "$", "result": {"sessionId": "s"}}),
    ];
    scene.handshake(&launch, [&[hello(&json!({}))][..], &before]).await.unwrap();
    insta::assert_snapshot!(scene.transcript(), @r#"
    > initialize
    > {"id":2,"method":"session/new","params":{"cwd":"/workspace","mcpServers":[]}}
    > {"id":0,"result":{"content":"notes"}}
    ! state {"kind":"commands","commands":[{"name":"init","description":"Begins"}]}
    "#);
}

/// As claude and most others do: the history comes before the answer, which has another id.
#[tokio::test(start_paused = true)]
async fn a_loaded_session_replays_without_being_reported() {
    let (mut scene, launch) = Scene::new(resume());
    let replay = [
        json!({"method": "session/update", "params": {"sessionId": "ses_1", "update": {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "hi"}}}}),
        chunk("ses_1", "old words"),
        json!({"method": "session/update", "params": {"sessionId": "ses_1", "update": {"sessionUpdate": "tool_call", "toolCallId": "t", "status": "completed"}}}),
        json!({"method": "session/update", "params": {"sessionId": "ses_1", "update": {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}}}),
        json!({"id": "$", "result": {"sessionId": "ses_1", "configOptions": []}}),
    ];
    let load = hello(&json!({"loadSession": true}));
    let started = scene.handshake(&launch, [&[load][..], &replay]).await.unwrap();
    assert_eq!(started.agent_session, "ses_1");
    scene.line(chunk("ses_1", "news")).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > initialize
    > {"id":2,"method":"session/load","params":{"cwd":"/workspace","mcpServers":[],"sessionId":"ses_1"}}
    ! state {"kind":"modes","current":"plan","available":[]}
    ! state {"kind":"settings","settings":[]}
    ! said "news"
    "#);
}

/// As gemini does.
#[tokio::test(start_paused = true)]
async fn a_replay_after_the_answer_is_still_a_replay() {
    let (mut scene, launch) = Scene::new(resume());
    let replay =
        [json!({"id": "$", "result": null}), chunk("ses_1", "old"), chunk("ses_1", "words")];
    let started = std::time::Duration::from_millis(300);
    let before = tokio::time::Instant::now();
    let load = hello(&json!({"loadSession": true}));
    scene.handshake(&launch, [&[load][..], &replay]).await.unwrap();
    assert!(before.elapsed() >= started);
    assert!(before.elapsed() < 2 * started);
    scene.line(chunk("ses_1", "news")).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > initialize
    > {"id":2,"method":"session/load","params":{"cwd":"/workspace","mcpServers":[],"sessionId":"ses_1"}}
    ! said "news"
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_resumed_without_a_replay_where_the_agent_can() {
    let (mut scene, launch) = Scene::new(resume());
    let able = hello(&json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}));
    let before = tokio::time::Instant::now();
    scene.handshake(&launch, [&[able][..], &[json!({"id": "$", "result": {}})]]).await.unwrap();
    assert!(before.elapsed().as_millis() < 100);
    insta::assert_snapshot!(scene.transcript(), @r#"
    > initialize
    > {"id":2,"method":"session/resume","params":{"cwd":"/workspace","mcpServers":[],"sessionId":"ses_1"}}
    "#);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_promised_to_resume_and_cannot_may_load() {
    let (mut scene, launch) = Scene::new(resume());
    let able = hello(&json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}));
    let unknown = json!({"id": "$", "error": {"code": -32601, "message": "Method not found"}});
    let loaded = json!({"id": "$", "result": null});
    scene.handshake(&launch, [&[able][..], &[unknown], &[loaded]]).await.unwrap();
    insta::assert_snapshot!(scene.transcript(), @r#"
    > initialize
    > {"id":2,"method":"session/resume","params":{"cwd":"/workspace","mcpServers":[],"sessionId":"ses_1"}}
    > {"id":3,"method":"session/load","params":{"cwd":"/workspace","mcpServers":[],"sessionId":"ses_1"}}
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_resumed_is_distinguished_from_a_failure() {
    let refusal = json!({"id": "$", "error": {"code": -32002, "message": "Resource not found"}});
    for (able, reported) in [
        (json!({"loadSession": true}), "Resource not found"),
        (json!({"sessionCapabilities": {"resume": {}}}), "Resource not found"),
        (json!({"loadSession": false}), "it does not support resuming a session"),
    ] {
        let (mut scene, launch) = Scene::new(resume());
        let answers = [&[hello(&able)][..], std::slice::from_ref(&refusal)];
        let error = scene.handshake(&launch, answers).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the agent cannot resume the session: {reported}"));
    }
}
