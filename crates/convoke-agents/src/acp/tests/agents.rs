//! One turn with each agent, in the shapes that were recorded of it.

use convoke_core::session::Reply;
use serde_json::{Value, json};

use super::scene::Scene;
use crate::driver::{Order, Start};

/// What happens in a turn, one after the other.
enum Step {
    Update(Value),
    Line(Value),
    Reply(Reply),
    Cancel,
}
use Step::{Cancel, Line, Update};

/// A new session, a prompt, and what follows; all that comes out of it.
async fn play(hello: &Value, session: &Value, steps: impl IntoIterator<Item = Step>) -> String {
    let (mut scene, launch) = Scene::new(Start::New { id: "unused".to_owned() });
    let hello = json!({"id": "$", "jsonrpc": "2.0", "result": hello});
    let session = json!({"id": "$", "jsonrpc": "2.0", "result": session});
    scene.handshake(&launch, [&[hello][..], &[session]]).await.unwrap();
    scene.prompt("do it").await;
    let mut asked = 0;
    for step in steps {
        match step {
            Update(update) => scene.update([update]).await,
            Line(line) => scene.line(line).await,
            Step::Reply(reply) => {
                scene.reply(asked, reply).await;
                asked += 1;
            }
            Cancel => scene.order(Order::Cancel).await,
        }
    }
    let transcript = scene.transcript();
    let opening = "> initialize\n";
    let begun = transcript.find("session/prompt").and_then(|at| transcript.get(at..));
    assert!(transcript.starts_with(opening));
    begun.and_then(|rest| rest.split_once('\n')).map(|(_, rest)| rest.to_owned()).unwrap()
}

fn chosen(option_id: &str) -> Step {
    Step::Reply(Reply::Chosen { option_id: option_id.to_owned() })
}

fn rejected() -> Step {
    Step::Reply(Reply::Rejected { reason: None })
}

fn says(text: &str) -> Step {
    Update(
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
    )
}

fn ends(reason: &str) -> Step {
    Line(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": reason}}))
}

fn asks(id: u64, call: &Value, options: &Value) -> Step {
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    Line(
        json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}),
    )
}

/// Late names, a permission in the middle, and its own way to take a question back.
#[tokio::test(start_paused = true)]
async fn claude_agent_acp() {
    let hello = json!({"protocolVersion": 1, "agentCapabilities": {"_meta": {"claudeCode": {"promptQueueing": true}}, "loadSession": true, "sessionCapabilities": {"close": {}, "resume": {}}}, "agentInfo": {"name": "@agentclientprotocol/claude-agent-acp", "title": "Claude Agent", "version": "0.99.0"}, "authMethods": []});
    let options = json!([{"optionId": "allow-once", "name": "Allow", "kind": "allow_once"}, {"optionId": "allow-with-updates", "name": "Always allow", "kind": "allow_always"}, {"optionId": "reject", "name": "Reject", "kind": "reject_once"}]);
    let call = json!({"toolCallId": "toolu_1", "title": "`echo hi`", "kind": "execute", "rawInput": {"command": "echo hi"}});
    let played = play(&hello, &json!({"sessionId": "s"}), [
        Update(json!({"_meta": {"claudeCode": {"toolName": "Bash"}}, "toolCallId": "toolu_1", "sessionUpdate": "tool_call", "name": "Bash", "rawInput": {}, "status": "pending", "title": "Terminal", "kind": "execute", "content": []})),
        Update(json!({"toolCallId": "toolu_1", "sessionUpdate": "tool_call_update", "title": "`echo hi`", "rawInput": {"command": "echo hi"}})),
        asks(0, &call, &options),
        chosen("allow-once"),
        Update(json!({"toolCallId": "toolu_1", "sessionUpdate": "tool_call_update", "status": "completed", "rawOutput": "hi", "content": [{"type": "content", "content": {"type": "text", "text": "```console\nhi\n```"}}]})),
        Update(json!({"sessionUpdate": "usage_update", "used": 11734, "size": 1_000_000, "cost": {"amount": 0.14, "currency": "USD"}})),
        Update(json!({"sessionUpdate": "session_info_update", "title": "do it", "updatedAt": "2026-11-15T00:00:00Z"})),
        asks(3, &json!({"toolCallId": "toolu_2", "title": "`ls`", "kind": "execute"}), &options),
        Cancel,
        Line(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 3}})),
        Line(json!({"jsonrpc": "2.0", "method": "_auth/status_update", "params": {}})),
        ends("cancelled"),
    ])
    .await;
    insta::assert_snapshot!(played, @r#"
    ! tool toolu_1, name "Bash", title "Terminal", kind "execute", status Running
    ! tool toolu_1, name "Bash", title "`echo hi`", kind "execute", args {"command":"echo hi"}, status Running
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"toolu_1","tool":"Bash","title":"`echo hi`","evidence":{"kind":"command","command":"echo hi"},"options":[{"optionId":"allow-once","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}],"status":"pending"}
    > {"id":0,"result":{"outcome":{"optionId":"allow-once","outcome":"selected"}}}
    ! tool toolu_1, name "Bash", title "`echo hi`", kind "execute", args {"command":"echo hi"}, status Complete, result {"text":"```console\nhi\n```"}
    ! state {"kind":"usage","contextUsed":11734,"contextSize":1000000,"cost":{"amount":0.14,"currency":"USD"}}
    ! tool toolu_2, title "`ls`", kind "execute"
    ! asked {"kind":"permission","requestId":"01010101-0101-4101-8101-010101010101","toolCallId":"toolu_2","tool":"execute","title":"`ls`","options":[{"optionId":"allow-once","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}],"status":"pending"}
    > {"method":"session/cancel","params":{"sessionId":"s"}}
    > {"id":3,"result":{"outcome":{"outcome":"cancelled"}}}
    ! turn 1 ended {"stopReason":"cancelled"}
    "#);
}

/// A terminal that is its own, warnings as words, and a rejection that ends the turn.
#[tokio::test(start_paused = true)]
async fn codex_acp() {
    let hello = json!({"protocolVersion": 1, "agentInfo": {"name": "@agentclientprotocol/codex-acp", "title": "Codex", "version": "2.6.0"}, "agentCapabilities": {"loadSession": true}});
    let options = json!([{"optionId": "allow_once", "name": "Yes", "kind": "allow_once"}, {"optionId": "accept_execpolicy_amendment", "name": "Always", "kind": "allow_always"}, {"optionId": "cancel", "name": "No", "kind": "reject_once"}]);
    let played = play(&hello, &json!({"sessionId": "s"}), [
        says("Warning: Model metadata for `fake-model` not found.\n"),
        Update(json!({"sessionUpdate": "tool_call", "toolCallId": "call_1", "kind": "execute", "title": "ls", "status": "in_progress", "content": [{"type": "terminal", "terminalId": "call_1"}], "rawInput": {"command": "ls"}, "_meta": {"terminal_info": {"terminal_id": "call_1"}}})),
        Update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call_1", "_meta": {"terminal_output_delta": {"data": "a.txt\n", "terminal_id": "call_1"}}})),
        Update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call_1", "status": "completed", "_meta": {"terminal_output_delta": {"data": "b.txt\n", "terminal_id": "call_1"}, "terminal_exit": {"exit_code": 0, "signal": null, "terminal_id": "call_1"}}})),
        Update(json!({"sessionUpdate": "session_info_update", "_meta": {"codex": {"threadStatus": "active"}}})),
        asks(0, &json!({"toolCallId": "call_2", "title": "touch x", "kind": "execute", "status": "pending"}), &options),
        rejected(),
        Line(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "cancelled", "usage": null}})),
    ])
    .await;
    insta::assert_snapshot!(played, @r#"
    ! said "Warning: Model metadata for `fake-model` not found.\n"
    ! tool call_1, title "ls", kind "execute", args {"command":"ls"}, status Running
    ! tool call_1, title "ls", kind "execute", args {"command":"ls"}, status Complete, result {"text":"a.txt\nb.txt\n"}
    ! tool call_2, title "touch x", kind "execute"
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"call_2","tool":"execute","title":"touch x","options":[{"optionId":"allow_once","name":"Yes","kind":"allow_once"},{"optionId":"cancel","name":"No","kind":"reject_once"}],"status":"pending"}
    > {"id":0,"result":{"outcome":{"optionId":"cancel","outcome":"selected"}}}
    ! turn 1 ended {"stopReason":"cancelled"}
    "#);
}

/// A permission before the call, a mode in words, an HTTP code, and a new file that must read as empty.
#[tokio::test(start_paused = true)]
async fn gemini() {
    let hello = json!({"protocolVersion": 1, "authMethods": [{"id": "gemini-api-key", "name": "Gemini API key"}], "agentInfo": {"name": "gemini-cli", "title": "Gemini CLI", "version": "0.61.0"}, "agentCapabilities": {"loadSession": true}});
    let options = json!([{"optionId": "proceed_always", "name": "Allow always", "kind": "allow_always"}, {"optionId": "proceed_once", "name": "Allow", "kind": "allow_once"}, {"optionId": "cancel", "name": "Reject", "kind": "reject_once"}]);
    let id = "write_file__write_file_1794730310373_0";
    let played = play(&hello, &json!({"sessionId": "s"}), [
        Update(json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "****\npondering"}})),
        says("[MODE_UPDATE] yolo"),
        Line(json!({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "new.txt"}})),
        asks(2, &json!({"toolCallId": id, "status": "pending", "title": "Writing to new.txt", "content": [{"type": "diff", "path": "new.txt", "oldText": "", "newText": "hi"}], "locations": [{"path": "new.txt"}], "kind": "edit"}), &options),
        chosen("proceed_once"),
        Line(json!({"jsonrpc": "2.0", "id": 3, "method": "fs/write_text_file", "params": {"sessionId": "s", "path": "new.txt", "content": "hi"}})),
        Update(json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed", "content": [{"type": "diff", "path": "new.txt", "oldText": "", "newText": "hi"}]})),
        Line(json!({"jsonrpc": "2.0", "id": 3, "error": {"code": 400, "message": "{\"type\":\"error\"}"}})),
    ])
    .await;
    insta::assert_snapshot!(played, @r#"
    ! thought "****\npondering"
    ! said "[MODE_UPDATE] yolo"
    > {"id":1,"result":{"content":""}}
    ! tool write_file__write_file_1794730310373_0, title "Writing to new.txt", kind "edit", result {"diffs":[{"path":"new.txt","oldText":"","newText":"hi"}]}
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"write_file__write_file_1794730310373_0","tool":"edit","title":"Writing to new.txt","evidence":{"kind":"changes","diffs":[{"path":"new.txt","oldText":"","newText":"hi"}]},"options":[{"optionId":"proceed_once","name":"Allow","kind":"allow_once"},{"optionId":"cancel","name":"Reject","kind":"reject_once"}],"status":"pending"}
    > {"id":2,"result":{"outcome":{"optionId":"proceed_once","outcome":"selected"}}}
    > {"id":3,"result":{}}
    ! tool write_file__write_file_1794730310373_0, title "Writing to new.txt", kind "edit", status Complete, result {"diffs":[{"path":"new.txt","oldText":"","newText":"hi"}]}
    ! turn 1 ended {"stopReason":"failed","why":"agent_error","detail":"{\"type\":\"error\"}"}
    "#);
}

/// Neither kind nor status, four ways to answer, and an error in words.
#[tokio::test(start_paused = true)]
async fn goose() {
    let hello = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true, "sessionCapabilities": {"list": {}, "delete": {}, "close": {}}}, "agentInfo": {"name": "goose", "version": "1.52.0"}});
    let options = json!([{"optionId": "allow_always", "name": "Allow always", "kind": "allow_always"}, {"optionId": "allow_once", "name": "Allow once", "kind": "allow_once"}, {"optionId": "reject_always", "name": "Reject always", "kind": "reject_always"}, {"optionId": "reject_once", "name": "Reject once", "kind": "reject_once"}]);
    let played = play(&hello, &json!({"sessionId": "s"}), [
        Update(json!({"sessionUpdate": "session_info_update", "_meta": {"goose": {"activeRunId": "r"}}})),
        Update(json!({"sessionUpdate": "tool_call", "toolCallId": "call_1", "title": "shell · echo hi", "rawInput": {"command": "echo hi"}, "_meta": {}})),
        Update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call_1", "kind": "execute"})),
        asks(0, &json!({"toolCallId": "call_1", "title": "shell · echo hi", "rawInput": {"command": "echo hi"}}), &options),
        rejected(),
        Update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call_1", "status": "failed", "content": [{"type": "content", "content": {"type": "text", "text": "declined"}}]})),
        says("Ran into this error: 400"),
        ends("end_turn"),
    ])
    .await;
    insta::assert_snapshot!(played, @r#"
    ! tool call_1, title "shell · echo hi", args {"command":"echo hi"}
    ! tool call_1, title "shell · echo hi", kind "execute", args {"command":"echo hi"}
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"call_1","tool":"execute","title":"shell · echo hi","evidence":{"kind":"command","command":"echo hi"},"options":[{"optionId":"allow_once","name":"Allow once","kind":"allow_once"},{"optionId":"reject_once","name":"Reject once","kind":"reject_once"}],"status":"pending"}
    > {"id":0,"result":{"outcome":{"optionId":"reject_once","outcome":"selected"}}}
    ! tool call_1, title "shell · echo hi", kind "execute", args {"command":"echo hi"}, status Error, result {"error":"declined"}
    ! said "Ran into this error: 400"
    ! turn 1 ended {"stopReason":"end_turn"}
    "#);
}

/// Notes that are not there, a count after the end, and an end without a word.
#[tokio::test(start_paused = true)]
async fn kimi() {
    let hello = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true, "sessionCapabilities": {"resume": {}}}, "agentInfo": {"name": "Kimi Code CLI", "version": "2.1.0"}});
    let played = play(&hello, &json!({"sessionId": "s"}), [
        Line(json!({"jsonrpc": "2.0", "id": "0", "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "AGENTS.md"}})),
        ends("end_turn"),
        Update(json!({"sessionUpdate": "usage_update", "used": 10, "size": 128_000})),
    ])
    .await;
    insta::assert_snapshot!(played, @r#"
    > {"error":{"code":-32002,"message":"AGENTS.md does not exist"},"id":"0"}
    ! turn 1 ended {"stopReason":"failed","why":"agent_error","detail":"the agent ended the turn without saying anything"}
    ! state {"kind":"usage","contextUsed":10,"contextSize":128000}
    "#);
}

/// The prompt as an echo, a permission with nothing but an id, and two ways of always.
#[tokio::test(start_paused = true)]
async fn vibe() {
    let hello = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}, "authMethods": [], "agentInfo": {"name": "@mistralai/mistral-vibe", "title": "Mistral Vibe", "version": "3.0.2"}});
    let options = json!([{"optionId": "allow_once", "name": "Allow once", "kind": "allow_once"}, {"optionId": "allow_session", "name": "Allow for the session", "kind": "allow_always"}, {"optionId": "allow_always", "name": "Allow always", "kind": "allow_always"}, {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"}]);
    let played = play(&hello, &json!({"sessionId": "s"}), [
        Update(json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "do it"}, "messageId": "m"})),
        Update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "bash: echo hi", "kind": "execute", "rawInput": "{\"command\":\"echo hi\"}"})),
        asks(1, &json!({"toolCallId": "c"}), &options),
        chosen("allow_session"),
        Update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "rawOutput": "{\"stdout\":\"hi\"}"})),
        says("Done."),
        ends("end_turn"),
    ])
    .await;
    insta::assert_snapshot!(played, @r#"
    ! tool c, title "bash: echo hi", kind "execute", args "{\"command\":\"echo hi\"}"
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"c","tool":"execute","title":"bash: echo hi","evidence":{"kind":"command","command":"echo hi"},"options":[{"optionId":"allow_once","name":"Allow once","kind":"allow_once"},{"optionId":"reject_once","name":"Reject","kind":"reject_once"}],"status":"pending"}
    > {"id":1,"result":{"outcome":{"optionId":"allow_session","outcome":"selected"}}}
    ! tool c, title "bash: echo hi", kind "execute", args "{\"command\":\"echo hi\"}", status Complete, result {"text":"{\"stdout\":\"hi\"}"}
    ! said "Done."
    ! turn 1 ended {"stopReason":"end_turn"}
    "#);
}

/// Empty chunks, a request of its own, and two ways of once.
#[tokio::test(start_paused = true)]
async fn qwen() {
    let hello = json!({"protocolVersion": 1, "agentInfo": {"name": "qwen-code", "title": "Qwen Code", "version": "0.24.4"}, "agentCapabilities": {"loadSession": true}});
    let options = json!([{"optionId": "proceed_once", "name": "Yes", "kind": "allow_once"}, {"optionId": "proceed_once_and_switch_to_default", "name": "Yes, and ask me from now on", "kind": "allow_once"}, {"optionId": "cancel", "name": "No", "kind": "reject_once"}]);
    let played = play(&hello, &json!({"sessionId": "s"}), [
        Update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""}, "_meta": {"usage": {"inputTokens": 5}}})),
        asks(0, &json!({"toolCallId": "run_1", "title": "echo hi", "kind": "execute", "rawInput": {"command": "echo hi"}}), &options),
        chosen("proceed_once_and_switch_to_default"),
        Line(json!({"jsonrpc": "2.0", "id": 1, "method": "craft/drainMidTurnQueue", "params": {"sessionId": "s"}})),
        ends("end_turn"),
    ])
    .await;
    insta::assert_snapshot!(played, @r#"
    ! tool run_1, title "echo hi", kind "execute", args {"command":"echo hi"}
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"run_1","tool":"execute","title":"echo hi","evidence":{"kind":"command","command":"echo hi"},"options":[{"optionId":"proceed_once","name":"Yes","kind":"allow_once"},{"optionId":"proceed_once_and_switch_to_default","name":"Yes, and ask me from now on","kind":"allow_once"},{"optionId":"cancel","name":"No","kind":"reject_once"}],"status":"pending"}
    > {"id":0,"result":{"outcome":{"optionId":"proceed_once_and_switch_to_default","outcome":"selected"}}}
    > {"error":{"code":-32601,"message":"Convoke does not know craft/drainMidTurnQueue"},"id":1}
    ! turn 1 ended {"stopReason":"end_turn"}
    "#);
}

/// A cancelled call that never ends, and modes that are addresses.
#[tokio::test(start_paused = true)]
async fn copilot() {
    let hello = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true, "sessionCapabilities": {"close": {}, "list": {}}}, "agentInfo": {"name": "Copilot", "title": "Copilot", "version": "1.0.102"}});
    let mode = "https://agentclientprotocol.com/protocol/session-modes#agent";
    let session = json!({"sessionId": "s", "modes": {"currentModeId": mode, "availableModes": [{"id": mode, "name": "Agent"}]}});
    let played = play(&hello, &session, [
        Update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run", "kind": "execute", "status": "pending"})),
        Cancel,
        Line(json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "cancelled", "usage": {"inputTokens": 100, "outputTokens": 7, "totalTokens": 107}}})),
    ])
    .await;
    insta::assert_snapshot!(played, @r#"
    ! tool c, title "Run", kind "execute", status Running
    > {"method":"session/cancel","params":{"sessionId":"s"}}
    ! state {"kind":"usage","inputTokens":100,"outputTokens":7}
    ! turn 1 ended {"stopReason":"cancelled"}
    "#);
}

/// Cline reports one rejection twice.
#[tokio::test(start_paused = true)]
async fn cline() {
    let hello = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true, "promptCapabilities": {"image": true}}, "agentInfo": {"name": "cline", "version": "3.0.65"}});
    let options = json!([{"optionId": "yes", "name": "Approve", "kind": "allow_once"}, {"optionId": "no", "name": "Reject", "kind": "reject_once"}]);
    let failed = || {
        Update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}))
    };
    let played = play(&hello, &json!({"sessionId": "s"}), [
        Update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "apply_patch", "kind": "other", "status": "in_progress", "rawInput": {"patch": "*** Begin"}})),
        asks(0, &json!({"toolCallId": "c", "title": "apply_patch", "kind": "other"}), &options),
        rejected(),
        failed(),
        failed(),
        says("All right."),
        ends("end_turn"),
    ])
    .await;
    insta::assert_snapshot!(played, @r#"
    ! tool c, title "apply_patch", kind "other", args {"patch":"*** Begin"}, status Running
    ! asked {"kind":"permission","requestId":"00000000-0000-4000-8000-000000000000","toolCallId":"c","title":"apply_patch","evidence":{"kind":"tool","tool":"other","args":{"patch":"*** Begin"}},"options":[{"optionId":"yes","name":"Approve","kind":"allow_once"},{"optionId":"no","name":"Reject","kind":"reject_once"}],"status":"pending"}
    > {"id":0,"result":{"outcome":{"optionId":"no","outcome":"selected"}}}
    ! tool c, title "apply_patch", kind "other", args {"patch":"*** Begin"}, status Error
    ! tool c, status Error
    ! said "All right."
    ! turn 1 ended {"stopReason":"end_turn"}
    "#);
}
