//! Turns, permissions and orders, as agents were seen to treat them.

use convoke_core::session::Reply;
use serde_json::{Value, json};

use crate::acp::tests::scene::Scene;
use crate::driver::{Order, Start};

fn chunk(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

fn permission(id: &Value, call: &Value) -> Value {
    let options = json!([
        {"optionId": "proceed_once", "name": "Yes", "kind": "allow_once"},
        {"optionId": "proceed_all", "name": "Yes, and for all", "kind": "allow_once"},
        {"optionId": "no_always", "name": "Never", "kind": "reject_always"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params})
}

fn bare(id: u64) -> Value {
    permission(&json!(id), &json!({"toolCallId": "t"}))
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_one_prompt_until_its_answer() {
    let mut scene = Scene::ready().await;
    scene.prompt("hello").await;
    scene.update([chunk("Hel"), chunk("lo")]).await;
    let usage = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15});
    scene.line(json!({"id": 3, "result": {"stopReason": "end_turn", "usage": usage}})).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > {"id":3,"method":"session/prompt","params":{"prompt":[{"text":"hello","type":"text"}],"sessionId":"s"}}
    ! said "Hel"
    ! said "lo"
    ! state {"kind":"usage","inputTokens":10,"outputTokens":5}
    ! turn 1 ended {"stopReason":"end_turn"}
    "#);
}

#[tokio::test(start_paused = true)]
async fn every_stop_reason_is_understood_and_an_unknown_one_is_reported() {
    let mut scene = Scene::ready().await;
    let reasons =
        ["end_turn", "cancelled", "refusal", "max_tokens", "max_turn_requests", "boredom"];
    let mut reported = Vec::new();
    for (id, reason) in (3..).zip(reasons) {
        scene.prompt("x").await;
        scene.update([chunk("y")]).await;
        scene.transcript();
        scene.line(json!({"id": id, "result": {"stopReason": reason, "usage": null}})).await;
        reported.push(scene.transcript());
    }
    insta::assert_snapshot!(reported.join("\n"), @r#"
    ! turn 1 ended {"stopReason":"end_turn"}
    ! turn 2 ended {"stopReason":"cancelled"}
    ! turn 3 ended {"stopReason":"refusal"}
    ! turn 4 ended {"stopReason":"max_tokens"}
    ! turn 5 ended {"stopReason":"max_turn_requests"}
    ! noticed {"event":"advice","severity":"warning","text":"The agent ended its turn for an unknown reason: boredom"}
    ! turn 6 ended {"stopReason":"end_turn"}
    "#);
}

/// Claude, codex by Zed, gemini and goose fail with an error; the code may be an HTTP code.
#[tokio::test(start_paused = true)]
async fn an_error_fails_the_turn_with_its_words() {
    let mut scene = Scene::ready().await;
    let mut reported = Vec::new();
    for (id, error) in (3..).zip([
        json!({"code": -32603, "message": "Internal error", "data": {"details": "API Error: 400"}}),
        json!({"code": 400, "message": "bad request"}),
        json!({"code": -32800, "message": "cancelled"}),
        json!({"code": -32000, "message": "Authentication required"}),
    ]) {
        scene.prompt("x").await;
        scene.transcript();
        scene.line(json!({"id": id, "error": error})).await;
        reported.push(scene.transcript());
    }
    insta::assert_snapshot!(reported.join("\n"), @r#"
    ! turn 1 ended {"stopReason":"failed","why":"agent_error","detail":"Internal error: API Error: 400"}
    ! turn 2 ended {"stopReason":"failed","why":"agent_error","detail":"bad request"}
    ! turn 3 ended {"stopReason":"cancelled"}
    ! turn 4 ended {"stopReason":"failed","why":"agent_error","detail":"Authentication required"}
    "#);
}

/// As copilot does.
#[tokio::test(start_paused = true)]
async fn a_running_total_is_reported_turn_by_turn() {
    let (mut scene, launch) = Scene::new(Start::New { id: "unused".to_owned() });
    let hello =
        json!({"id": "$", "result": {"protocolVersion": 1, "agentInfo": {"name": "Copilot"}}});
    let session = json!({"id": "$", "result": {"sessionId": "s"}});
    scene.handshake(&launch, [&[hello][..], &[session]]).await.unwrap();
    for (id, input) in [(3, 100), (4, 250), (5, 250), (6, 10)] {
        scene.prompt("/x").await;
        let usage = json!({"inputTokens": input, "outputTokens": 7 * id, "totalTokens": 0});
        scene.line(json!({"id": id, "result": {"stopReason": "end_turn", "usage": usage}})).await;
    }
    let transcript = scene.transcript();
    let spent = transcript.lines().filter(|line| line.contains(r#""kind":"usage""#));
    insta::assert_snapshot!(spent.collect::<Vec<_>>().join("\n"), @r#"
    ! state {"kind":"usage","inputTokens":100,"outputTokens":21}
    ! state {"kind":"usage","inputTokens":150,"outputTokens":7}
    ! state {"kind":"usage","inputTokens":0,"outputTokens":7}
    ! state {"kind":"usage","inputTokens":10,"outputTokens":7}
    "#);
}

/// As kimi does when its model answers with an error.
#[tokio::test(start_paused = true)]
async fn a_turn_in_which_nothing_was_said_has_failed() {
    let mut scene = Scene::ready().await;
    scene.prompt("hello").await;
    scene
        .update([
            chunk(""),
            json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
            json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
            json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "hello"}}),
        ])
        .await;
    scene.transcript();
    scene.end_turn(3).await;
    insta::assert_snapshot!(scene.transcript(), @r#"! turn 1 ended {"stopReason":"failed","why":"agent_error","detail":"the agent ended the turn without saying anything"}"#);
}

#[tokio::test(start_paused = true)]
async fn a_turn_of_tools_or_a_command_needs_no_words() {
    let mut scene = Scene::ready().await;
    scene.prompt("do it").await;
    scene.update([json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x"})]).await;
    scene.end_turn(3).await;
    scene.prompt("/compact").await;
    scene.end_turn(4).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > {"id":3,"method":"session/prompt","params":{"prompt":[{"text":"do it","type":"text"}],"sessionId":"s"}}
    ! tool t, title "x"
    ! turn 1 ended {"stopReason":"end_turn"}
    > {"id":4,"method":"session/prompt","params":{"prompt":[{"text":"/compact","type":"text"}],"sessionId":"s"}}
    ! turn 2 ended {"stopReason":"end_turn"}
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_second_prompt_is_never_sent_into_a_running_turn() {
    let mut scene = Scene::ready().await;
    scene.prompt("one").await;
    scene.prompt("two").await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > {"id":3,"method":"session/prompt","params":{"prompt":[{"text":"one","type":"text"}],"sessionId":"s"}}
    ! turn 2 ended {"stopReason":"failed","why":"internal","detail":"a turn is running already"}
    "#);
}

/// As gemini and codex by Zed do: the request is the first that is heard of the tool.
#[tokio::test(start_paused = true)]
async fn a_permission_for_a_tool_that_was_never_announced_announces_it() {
    let mut scene = Scene::ready().await;
    scene.prompt("write").await;
    scene.transcript();
    let call = json!({"toolCallId": "write_file__1", "title": "Writing to a.txt", "kind": "edit", "status": "pending",
        "content": [{"type": "diff", "path": "a.txt", "oldText": null, "newText": "hi"}]});
    scene.line(permission(&json!(0), &call)).await;
    scene.reply(0, Reply::Chosen { option_id: "proceed_all".to_owned() }).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    ! tool write_file__1, title "Writing to a.txt", kind "edit", result {"diffs":[{"path":"a.txt","newText":"hi"}]}
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"write_file__1","tool":"edit","title":"Writing to a.txt","evidence":{"kind":"changes","diffs":[{"path":"a.txt","newText":"hi"}]},"options":[{"optionId":"proceed_once","name":"Yes","kind":"allow_once"},{"optionId":"proceed_all","name":"Yes, and for all","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}],"status":"pending"}
    > {"id":0,"result":{"outcome":{"optionId":"proceed_all","outcome":"selected"}}}
    "#);
}

/// As vibe does.
#[tokio::test(start_paused = true)]
async fn a_permission_with_a_bare_id_is_titled_by_the_call() {
    let mut scene = Scene::ready().await;
    scene.prompt("run").await;
    scene
        .update([
            json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Terminal", "rawInput": {}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "echo hi"}),
        ])
        .await;
    scene.transcript();
    scene.line(bare(7)).await;
    scene.line(permission(&json!("other"), &json!({"toolCallId": "unheard of"}))).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"t","title":"echo hi","options":[{"optionId":"proceed_once","name":"Yes","kind":"allow_once"},{"optionId":"proceed_all","name":"Yes, and for all","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}],"status":"pending"}
    ! asked {"kind":"permission","requestId":"01010101-0101-4101-8101-010101010101","toolCallId":"unheard of","title":"The agent asks for permission","options":[{"optionId":"proceed_once","name":"Yes","kind":"allow_once"},{"optionId":"proceed_all","name":"Yes, and for all","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}],"status":"pending"}
    "#);
}

/// As qwen and vibe do: titles do not name the tool of a server. What is asked for counts for more than what was
/// announced under the same id, which a model may use twice.
#[tokio::test(start_paused = true)]
async fn l1_a_permission_is_for_the_tool_that_the_agents_program_names() {
    let mut scene = Scene::ready().await;
    scene.prompt("ask").await;
    let ask = "mcp__convoke__ask_user_questions";
    scene
        .update([
            json!({"sessionUpdate": "tool_call", "toolCallId": "q", "title": "ask_user_questions (convoke MCP Server)", "kind": "read", "rawInput": {}, "_meta": {"toolName": ask, "provenance": "mcp", "serverId": "convoke"}}),
            json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "mcp_convoke.ask_user_questions", "kind": "other", "rawInput": {"questions": []}, "_meta": {"tool_name": "mcp_convoke.ask_user_questions", "effect_kind": "tool"}}),
        ])
        .await;
    scene.transcript();
    for call in [
        json!({"toolCallId": "q", "title": "{\"questions\":[]}", "kind": "read", "rawInput": {"questions": []}, "_meta": {"toolName": ask}}),
        json!({"toolCallId": "q", "title": "x", "kind": "other", "rawInput": {"prompt": "x"}, "_meta": {"toolName": "agent"}}),
        json!({"toolCallId": "t"}),
    ] {
        scene.line(permission(&json!(0), &call)).await;
    }
    let asked = scene.transcript();
    let tools: Vec<&str> =
        asked.lines().filter_map(|line| line.split("\"options\"").next()).collect();
    insta::assert_snapshot!(tools.join("\n"), @r#"
    ! tool q, name "mcp__convoke__ask_user_questions", title "{\"questions\":[]}", kind "read", args {"questions":[]}
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"q","tool":"mcp__convoke__ask_user_questions","title":"{\"questions\":[]}","evidence":{"kind":"tool","server":"convoke","tool":"ask_user_questions","args":{"questions":[]}},
    ! tool q, name "agent", title "x", kind "other", args {"prompt":"x"}
    ! asked {"kind":"permission","requestId":"01010101-0101-4101-8101-010101010101","toolCallId":"q","tool":"agent","title":"x","evidence":{"kind":"tool","tool":"agent","args":{"prompt":"x"}},
    ! asked {"kind":"permission","requestId":"02020202-0202-4202-8202-020202020202","toolCallId":"t","tool":"mcp_convoke.ask_user_questions","title":"mcp_convoke.ask_user_questions","evidence":{"kind":"tool","tool":"mcp_convoke.ask_user_questions","args":{"questions":[]}},
    "#);
}

/// Kimi's title is no more than the tool's name, and copilot's is what the model says of its command.
#[tokio::test(start_paused = true)]
async fn a_permission_says_what_for() {
    let mut scene = Scene::ready().await;
    scene.prompt("run").await;
    scene.transcript();
    let text = json!([{"type": "content", "content": {"type": "text", "text": "Requesting approval to Running: echo hi"}}]);
    for call in [
        json!({"toolCallId": "a", "title": "Bash", "content": text}),
        json!({"toolCallId": "b", "title": "bash", "rawInput": {"command": "echo hi"}}),
        json!({"toolCallId": "c", "title": "Lists files", "rawInput": {"command": "rm -rf x"}}),
        json!({"toolCallId": "d", "title": "`echo hi`", "rawInput": {"command": "echo hi"}}),
        json!({"toolCallId": "e", "title": "Write a.txt", "content": text}),
        json!({"toolCallId": "f", "title": "Fetch"}),
    ] {
        scene.line(permission(&json!(0), &call)).await;
    }
    let transcript = scene.transcript();
    let titles =
        transcript.lines().filter_map(|line| line.split(r#""title":""#).nth(1)?.split('"').next());
    insta::assert_snapshot!(titles.collect::<Vec<_>>().join("\n"), @r"
    Bash: Requesting approval to Running: echo hi
    bash: echo hi
    Lists files: rm -rf x
    `echo hi`
    Write a.txt
    Fetch
    ");
}

#[tokio::test(start_paused = true)]
async fn a_rejection_takes_the_mildest_no_and_a_timeout_none() {
    let mut scene = Scene::ready().await;
    scene.prompt("run").await;
    for id in 0..4 {
        scene.line(bare(id)).await;
    }
    let only_yes = json!({"id": 4, "method": "session/request_permission", "params": {"options": [{"optionId": "y", "kind": "new_kind"}]}});
    scene.line(only_yes).await;
    scene.transcript();
    scene.reply(0, Reply::Rejected { reason: Some("no".to_owned()) }).await;
    scene.reply(1, Reply::TimedOut).await;
    scene.reply(2, Reply::Cancelled).await;
    scene.reply(3, Reply::Answered(Vec::new())).await;
    scene.reply(4, Reply::Rejected { reason: None }).await;
    // Never twice.
    scene.reply(0, Reply::Chosen { option_id: "proceed_once".to_owned() }).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > {"id":0,"result":{"outcome":{"optionId":"no","outcome":"selected"}}}
    > {"id":1,"result":{"outcome":{"outcome":"cancelled"}}}
    > {"id":2,"result":{"outcome":{"outcome":"cancelled"}}}
    > {"id":3,"result":{"outcome":{"outcome":"cancelled"}}}
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_permission_that_cannot_be_answered_is_refused() {
    let mut scene = Scene::ready().await;
    for (id, params) in
        (0..).zip([json!(null), json!({"options": []}), json!({"options": [{"name": "no id"}]})])
    {
        scene
            .line(json!({"id": id, "method": "session/request_permission", "params": params}))
            .await;
    }
    insta::assert_snapshot!(scene.transcript(), @r#"
    > {"error":{"code":-32602,"message":"a permission needs options to choose from that hold once"},"id":0}
    > {"error":{"code":-32602,"message":"a permission needs options to choose from that hold once"},"id":1}
    > {"error":{"code":-32602,"message":"a permission needs options to choose from that hold once"},"id":2}
    "#);
}

/// As claude does when its turn is cancelled, but without a cancellation.
#[tokio::test(start_paused = true)]
async fn the_agent_may_take_its_request_back() {
    let mut scene = Scene::ready().await;
    scene.prompt("run").await;
    scene.line(bare(3)).await;
    scene.transcript();
    let cancel = json!({"method": "$/cancel_request", "params": {"requestId": 3}});
    scene.line(cancel.clone()).await;
    scene.line(cancel).await;
    scene.reply(0, Reply::Cancelled).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > {"error":{"code":-32800,"message":"the request was cancelled"},"id":3}
    ! withdrew 00000000-0000-4000-8000-000000000000
    "#);
}

#[tokio::test(start_paused = true)]
async fn s3_a_cancel_is_sent_before_open_permissions_are_answered() {
    let mut scene = Scene::ready().await;
    scene.prompt("run").await;
    scene.line(bare(0)).await;
    scene.line(bare(1)).await;
    scene.transcript();
    scene.order(Order::Cancel).await;
    // The session answers them, too, and claude takes them back besides.
    scene.reply(0, Reply::Cancelled).await;
    scene.line(json!({"method": "$/cancel_request", "params": {"requestId": 1}})).await;
    // One more has crossed our cancel.
    scene.line(bare(2)).await;
    scene.order(Order::Cancel).await;
    scene.line(json!({"id": 3, "result": {"stopReason": "cancelled"}})).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > {"method":"session/cancel","params":{"sessionId":"s"}}
    > {"id":0,"result":{"outcome":{"outcome":"cancelled"}}}
    > {"id":1,"result":{"outcome":{"outcome":"cancelled"}}}
    > {"id":2,"result":{"outcome":{"outcome":"cancelled"}}}
    ! turn 1 ended {"stopReason":"cancelled"}
    "#);
}

#[tokio::test(start_paused = true)]
async fn s3_replies_may_come_before_the_cancel() {
    let mut scene = Scene::ready().await;
    scene.prompt("run").await;
    scene.line(bare(0)).await;
    scene.transcript();
    scene.reply(0, Reply::Cancelled).await;
    scene.order(Order::Cancel).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > {"id":0,"result":{"outcome":{"outcome":"cancelled"}}}
    > {"method":"session/cancel","params":{"sessionId":"s"}}
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_that_does_not_end_is_given_up_and_its_end_is_stale() {
    let mut scene = Scene::ready().await;
    scene.prompt("run").await;
    scene.order(Order::Cancel).await;
    scene.wait(9).await;
    scene.transcript();
    scene.wait(1).await;
    scene.prompt("next").await;
    scene.line(json!({"id": 3, "result": {"stopReason": "cancelled"}})).await;
    scene.update([chunk("news")]).await;
    scene.end_turn(4).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    ! turn 1 ended {"stopReason":"cancelled"}
    > {"id":4,"method":"session/prompt","params":{"prompt":[{"text":"next","type":"text"}],"sessionId":"s"}}
    ! said "news"
    ! turn 2 ended {"stopReason":"end_turn"}
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_without_a_turn_is_nothing() {
    let mut scene = Scene::ready().await;
    scene.order(Order::Cancel).await;
    assert_eq!(scene.transcript(), "");
}

#[tokio::test(start_paused = true)]
async fn s10_the_end_of_a_session_cancels_it_at_the_agent_with_and_without_a_turn() {
    let mut scene = Scene::ready().await;
    scene.order(Order::End).await;
    assert_eq!(scene.transcript(), r#"> {"method":"session/cancel","params":{"sessionId":"s"}}"#);
    scene.prompt("run").await;
    scene.transcript();
    scene.order(Order::End).await;
    scene.order(Order::End).await;
    assert_eq!(scene.transcript(), r#"> {"method":"session/cancel","params":{"sessionId":"s"}}"#);
}

#[tokio::test(start_paused = true)]
async fn a_mode_or_setting_is_changed_when_the_agent_says_so() {
    let mut scene = Scene::ready().await;
    scene.order(Order::SetMode { mode: "plan".to_owned() }).await;
    scene.line(json!({"id": 3, "result": null})).await;
    scene.update([json!({"sessionUpdate": "current_mode_update", "currentModeId": "plan"})]).await;
    let (setting, choice) = ("model".to_owned(), "b".to_owned());
    scene.order(Order::SetSetting { setting: setting.clone(), choice: choice.clone() }).await;
    let options = json!([{"id": "model", "name": "Model", "currentValue": "b", "options": [{"value": "b", "name": "B"}]}]);
    scene.line(json!({"id": 4, "result": {"configOptions": options}})).await;
    scene.order(Order::SetSetting { setting, choice }).await;
    scene.line(json!({"id": 5, "error": {"code": -32602, "message": "no such model"}})).await;
    scene.order(Order::SetMode { mode: "x".to_owned() }).await;
    scene.line(json!({"id": 6, "error": {"code": -32601, "message": "Method not found"}})).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    > {"id":3,"method":"session/set_mode","params":{"modeId":"plan","sessionId":"s"}}
    ! state {"kind":"modes","current":"plan","available":[]}
    > {"id":4,"method":"session/set_config_option","params":{"configId":"model","sessionId":"s","value":"b"}}
    ! state {"kind":"settings","settings":[{"id":"model","name":"Model","current":"b","choices":[{"id":"b","name":"B"}]}]}
    > {"id":5,"method":"session/set_config_option","params":{"configId":"model","sessionId":"s","value":"b"}}
    ! noticed {"event":"advice","severity":"warning","text":"The agent did not change its setting model: no such model"}
    > {"id":6,"method":"session/set_mode","params":{"modeId":"x","sessionId":"s"}}
    ! noticed {"event":"advice","severity":"warning","text":"The agent did not change its mode: Method not found"}
    "#);
}

#[tokio::test(start_paused = true)]
async fn changes_do_not_pile_up_at_an_agent_that_does_not_answer() {
    let mut scene = Scene::ready().await;
    for _ in 0..40 {
        scene.order(Order::SetMode { mode: "plan".to_owned() }).await;
    }
    let transcript = scene.transcript();
    assert_eq!(transcript.matches("session/set_mode").count(), 32);
    assert_eq!(transcript.matches("has not confirmed earlier changes").count(), 8);
}

#[tokio::test(start_paused = true)]
async fn updates_of_other_sessions_and_answers_to_nothing_are_passed_by() {
    let mut scene = Scene::ready().await;
    let update =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}});
    scene
        .line(
            json!({"method": "session/update", "params": {"sessionId": "other", "update": update}}),
        )
        .await;
    scene.line(json!({"id": 99, "result": {}})).await;
    scene.line(json!({"id": 2, "result": {"sessionId": "again"}})).await;
    assert_eq!(scene.transcript(), "");
}

/// The file is written by Convoke, after the user has seen the whole change.
#[tokio::test(start_paused = true)]
async fn k10_a_change_of_a_protected_file_is_a_permission_request_with_its_diff() {
    let mut scene = Scene::ready().await;
    let hook = scene.workspace.path().canonicalize().unwrap().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let write = |id: u64, text: &str| {
        let params = json!({"sessionId": "s", "path": hook, "content": text});
        json!({"jsonrpc": "2.0", "id": id, "method": "fs/write_text_file", "params": params})
    };
    // Outside of a turn there is no one to ask.
    scene.line(write(0, "zero")).await;
    scene.prompt("plant").await;
    scene.line(write(1, "one")).await;
    scene.reply(0, Reply::Rejected { reason: Some("no hooks".to_owned()) }).await;
    assert!(!hook.exists());
    scene.line(write(2, "two")).await;
    scene.reply(1, Reply::Chosen { option_id: "allow".to_owned() }).await;
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), "two");
    scene.line(write(3, "three")).await;
    scene.order(Order::Cancel).await;
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), "two");
    insta::assert_snapshot!(without_call_ids(&scene.transcript()), @r#"
    > {"error":{"code":-32602,"message":".git/hooks/pre-commit is protected and was not changed: the user is asked only while a turn runs"},"id":0}
    > {"id":3,"method":"session/prompt","params":{"prompt":[{"text":"plant","type":"text"}],"sessionId":"s"}}
    ! tool protected-…, title "Create .git/hooks/pre-commit, which programs outside of the sandbox obey", kind "edit", status Running, result {"diffs":[{"path":".git/hooks/pre-commit","newText":"one"}]}
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"protected-…","title":"Create .git/hooks/pre-commit, which programs outside of the sandbox obey","evidence":{"kind":"changes","diffs":[{"path":".git/hooks/pre-commit","newText":"one"}]},"options":[{"optionId":"allow","name":"Allow this change","kind":"allow_once"},{"optionId":"deny","name":"Deny","kind":"reject_once"}],"status":"pending"}
    > {"error":{"code":-32602,"message":".git/hooks/pre-commit is protected and was not changed: the user denied the change: no hooks"},"id":1}
    ! tool protected-…, title "Create .git/hooks/pre-commit, which programs outside of the sandbox obey", kind "edit", status Error, result {"diffs":[{"path":".git/hooks/pre-commit","newText":"one"}]}
    ! tool protected-…, title "Create .git/hooks/pre-commit, which programs outside of the sandbox obey", kind "edit", status Running, result {"diffs":[{"path":".git/hooks/pre-commit","newText":"two"}]}
    ! asked {"kind":"permission","requestId":"01010101-0101-4101-8101-010101010101","toolCallId":"protected-…","title":"Create .git/hooks/pre-commit, which programs outside of the sandbox obey","evidence":{"kind":"changes","diffs":[{"path":".git/hooks/pre-commit","newText":"two"}]},"options":[{"optionId":"allow","name":"Allow this change","kind":"allow_once"},{"optionId":"deny","name":"Deny","kind":"reject_once"}],"status":"pending"}
    > {"id":2,"result":{}}
    ! tool protected-…, title "Create .git/hooks/pre-commit, which programs outside of the sandbox obey", kind "edit", status Complete, result {"diffs":[{"path":".git/hooks/pre-commit","newText":"two"}]}
    ! tool protected-…, title "Change .git/hooks/pre-commit, which programs outside of the sandbox obey", kind "edit", status Running, result {"diffs":[{"path":".git/hooks/pre-commit","oldText":"two","newText":"three"}]}
    ! asked {"kind":"permission","requestId":"02020202-0202-4202-8202-020202020202","toolCallId":"protected-…","title":"Change .git/hooks/pre-commit, which programs outside of the sandbox obey","evidence":{"kind":"changes","diffs":[{"path":".git/hooks/pre-commit","oldText":"two","newText":"three"}]},"options":[{"optionId":"allow","name":"Allow this change","kind":"allow_once"},{"optionId":"deny","name":"Deny","kind":"reject_once"}],"status":"pending"}
    > {"method":"session/cancel","params":{"sessionId":"s"}}
    > {"error":{"code":-32800,"message":"the turn was cancelled, and nothing written"},"id":3}
    "#);
}

/// Calls get their ids on threads for blocking work, and which one of these it is is not determined.
fn without_call_ids(transcript: &str) -> String {
    let mut parts = transcript.split("protected-");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "protected-…" + &part[32..])
}
