//! Words, thoughts, tools and plans.

use convoke_core::session::Report;
use serde_json::json;

use super::play;
use super::scene::Scene;
use crate::claude::conversation::Step;

#[test]
fn a_streamed_answer_is_reported_once_though_it_arrives_again_whole() {
    let reported = play(
        r#"
        prompt hello
        {"type":"command_lifecycle","command_uuid":"$1","state":"started"}
        {"type":"system","subtype":"init","session_id":"ses","model":"claude-opus-5-5","permissionMode":"","tools":["Bash"]}
        {"type":"system","subtype":"status","status":"requesting","user_message_uuids":["$1"]}
        {"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","model":"claude-opus-5-5","usage":{"input_tokens":12735,"output_tokens":1}}},"parent_tool_use_id":null}
        {"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}},"parent_tool_use_id":null}
        {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm"}},"parent_tool_use_id":null}
        {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ZmFrZQ=="}},"parent_tool_use_id":null}
        {"type":"assistant","message":{"id":"msg_1","content":[{"type":"thinking","thinking":"hmm","signature":"ZmFrZQ=="}],"usage":{"input_tokens":12735,"output_tokens":1}},"parent_tool_use_id":null}
        {"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ECHO t"}},"parent_tool_use_id":null}
        {"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"urn=1: hello"}},"parent_tool_use_id":null}
        {"type":"assistant","message":{"id":"msg_1","content":[{"type":"text","text":"ECHO turn=1: hello"}],"usage":{"input_tokens":12735,"output_tokens":1}},"parent_tool_use_id":null}
        {"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}},"parent_tool_use_id":null}
        {"type":"stream_event","event":{"type":"message_stop"},"parent_tool_use_id":null}
        {"duration_api_ms":56,"stop_reason":"end_turn","session_id":"ses","total_cost_usd":0.05108,"usage":{"input_tokens":12735,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":7},"modelUsage":{"claude-opus-5-5":{"inputTokens":12735,"contextWindow":1000000}},"terminal_reason":"completed","is_error":false,"num_turns":1,"subtype":"success","api_error_status":null,"result":"ECHO turn=1: hello","type":"result","user_message_uuid":"$1","user_message_uuids":["$1"]}
        {"type":"command_lifecycle","command_uuid":"$1","state":"completed"}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"hello","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    thought "hmm"
    said "ECHO t"
    said "urn=1: hello"
    state {"kind":"usage","inputTokens":12735,"outputTokens":7,"contextUsed":12742,"contextSize":1000000,"cost":{"amount":0.05108,"currency":"USD"}}
    ended 1: The turn ended.
    "#);
}

#[test]
fn an_unstreamed_answer_is_reported_whole() {
    let reported = play(
        r#"
        prompt hello
        {"type":"assistant","message":{"id":"msg_1","content":[{"type":"thinking","thinking":"hmm"},{"type":"text","text":"one"}],"stop_reason":null},"parent_tool_use_id":null,"session_id":"ses"}
        {"type":"assistant","message":{"id":"msg_1","content":[{"type":"text","text":" two"}],"stop_reason":null},"parent_tool_use_id":null,"session_id":"ses"}
        {"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"one two","stop_reason":"end_turn"}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"hello","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    thought "hmm"
    said "one"
    said " two"
    ended 1: The turn ended.
    "#);
}

#[test]
fn a_tool_call_is_reported_when_it_is_complete_and_when_it_is_done() {
    let reported = play(
        r#"
        {"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}},"parent_tool_use_id":null}
        {"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"command\":"}},"parent_tool_use_id":null}
        {"type":"assistant","message":{"id":"msg_1","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"echo hi\necho ho","description":"greet"}}]},"parent_tool_use_id":null}
        {"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"hi","is_error":false}]},"parent_tool_use_id":null,"tool_use_result":{"stdout":"hi"}}
        {"type":"assistant","message":{"id":"msg_2","content":[{"type":"tool_use","id":"toolu_2","name":"Read","input":{"file_path":"/w/none"}}]},"parent_tool_use_id":null}
        {"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_2","type":"tool_result","content":"<tool_use_error>File does not exist.</tool_use_error>","is_error":true}]},"parent_tool_use_id":null}
        {"type":"assistant","message":{"id":"msg_3","content":[{"type":"tool_use","id":"toolu_3","name":"mcp__x__y","input":{}}]},"parent_tool_use_id":null}
        {"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_3","type":"tool_result","content":[{"type":"text","text":"one"},{"type":"image","source":{}},{"type":"text","text":"two"}]}]},"parent_tool_use_id":null}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    tool toolu_1 args={"command":"echo hi\necho ho","description":"greet"} kind="execute" status="running" title="echo hi ⏎ echo ho" tool="Bash"
    tool toolu_1 result={"text":"hi"} status="complete"
    tool toolu_2 args={"file_path":"/w/none"} kind="read" status="running" title="/w/none" tool="Read"
    tool toolu_2 result={"error":"File does not exist."} status="error"
    tool toolu_3 args={} kind="other" status="running" tool="mcp__x__y"
    tool toolu_3 result={"text":"one\n[image]\ntwo"} status="complete"
    "#);
}

#[test]
fn edits_are_reported_with_their_changes() {
    let reported = play(
        r#"
        {"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"replace_all":false,"file_path":"/w/a","old_string":"old","new_string":"new"}}]},"parent_tool_use_id":null}
        {"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"updated"}]},"parent_tool_use_id":null,"tool_use_result":{"filePath":"/w/a","oldString":"old","newString":"new","originalFile":"an old file"}}
        {"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t2","name":"Write","input":{"file_path":"/w/b","content":"new"}}]},"parent_tool_use_id":null}
        {"type":"user","message":{"role":"user","content":[{"tool_use_id":"t2","type":"tool_result","content":"written"}]},"parent_tool_use_id":null,"tool_use_result":{"type":"update","originalFile":"before"}}
        {"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t3","name":"MultiEdit","input":{"file_path":"/w/c","edits":[{"old_string":"","new_string":"1"},{"old_string":"2","new_string":"3"},{"bad":0}]}}]},"parent_tool_use_id":null}
        {"type":"user","message":{"role":"user","content":[{"tool_use_id":"t3","type":"tool_result","content":"no thanks","is_error":true}]},"parent_tool_use_id":null}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    tool t1 args={"file_path":"/w/a","new_string":"new","old_string":"old","replace_all":false} kind="edit" result={"diffs":[{"newText":"new","oldText":"old","path":"/w/a"}]} status="running" title="/w/a" tool="Edit"
    tool t1 result={"diffs":[{"newText":"new","oldText":"old","path":"/w/a"}],"text":"updated"} status="complete"
    tool t2 args={"content":"new","file_path":"/w/b"} kind="edit" result={"diffs":[{"newText":"new","path":"/w/b"}]} status="running" title="/w/b" tool="Write"
    tool t2 result={"diffs":[{"newText":"new","oldText":"before","path":"/w/b"}],"text":"written"} status="complete"
    tool t3 args={"edits":[{"new_string":"1","old_string":""},{"new_string":"3","old_string":"2"},{"bad":0}],"file_path":"/w/c"} kind="edit" result={"diffs":[{"newText":"1","path":"/w/c"},{"newText":"3","oldText":"2","path":"/w/c"}]} status="running" title="/w/c" tool="MultiEdit"
    tool t3 result={"error":"no thanks"} status="error"
    "#);
}

#[test]
fn a_list_of_things_to_do_is_a_plan_too() {
    let reported = play(
        r#"
        {"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"TodoWrite","input":{"todos":[{"content":"look","status":"completed","activeForm":"Looking"},{"content":"leap","status":"in_progress"},{"content":"land","status":"pending"},{"status":"pending"}]}}]},"parent_tool_use_id":null}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    tool t1 args={"todos":[{"activeForm":"Looking","content":"look","status":"completed"},{"content":"leap","status":"in_progress"},{"content":"land","status":"pending"},{"status":"pending"}]} kind="think" status="running" tool="TodoWrite"
    Planned([PlanStep { content: "look", status: Completed, priority: None }, PlanStep { content: "leap", status: InProgress, priority: None }, PlanStep { content: "land", status: Pending, priority: None }])
    "#);
}

#[test]
fn a_sub_agent_is_not_heard_but_what_it_does_is_shown() {
    let reported = play(
        r#"
        {"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Task","input":{"description":"do sub","prompt":"touch it","subagent_type":"general-purpose"}}]},"parent_tool_use_id":null}
        {"type":"system","subtype":"task_started","task_id":"a","tool_use_id":"t1","description":"do sub"}
        {"type":"user","message":{"role":"user","content":[{"type":"text","text":"touch it"}]},"parent_tool_use_id":"t1","subagent_type":"general-purpose","task_description":"do sub"}
        {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Calli"}},"parent_tool_use_id":"t1"}
        {"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Calling a tool."}]},"parent_tool_use_id":"t1","subagent_type":"general-purpose","task_description":"do sub"}
        {"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"touch sub.txt"}}]},"parent_tool_use_id":"t1","subagent_type":"general-purpose","task_description":"do sub"}
        {"type":"user","message":{"role":"user","content":[{"tool_use_id":"t2","type":"tool_result","content":"","is_error":false}]},"parent_tool_use_id":"t1","task_description":"do sub"}
        {"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":[{"type":"text","text":"touched"}]}]},"parent_tool_use_id":null}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    tool t1 args={"description":"do sub","prompt":"touch it","subagent_type":"general-purpose"} kind="think" status="running" title="do sub" tool="Task"
    tool t2 args={"command":"touch sub.txt"} kind="execute" status="running" title="do sub: Bash: touch sub.txt" tool="Bash"
    tool t2 result={} status="complete"
    tool t1 result={"text":"touched"} status="complete"
    "#);
}

#[test]
fn text_of_claude_in_the_users_name_is_not_reported() {
    let reported = play(
        r#"
        {"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null}
        {"type":"user","message":{"role":"user","content":"This session is being continued from a previous conversation"},"isSynthetic":true,"isReplay":false}
        {"type":"user","message":{"role":"user","content":"<local-command-stdout>Compacted </local-command-stdout>"},"isReplay":true}
        {"type":"system","subtype":"thinking_tokens","estimated_tokens":1}
        {"type":"keep_alive"}
        "#,
    );
    assert_eq!(reported, "");
}

#[test]
fn a_huge_result_is_cut_and_says_so() {
    let mut scene = Scene::new();
    let content = "ä".repeat(2_500_000);
    let block = json!({"type": "tool_result", "tool_use_id": "t", "content": content});
    let steps =
        scene.conversation.handle(&json!({"type": "user", "message": {"content": [block]}}));
    let [Step::Report(Report::ToolCalled(update))] = steps.as_slice() else { panic!("{steps:?}") };
    let text = update.result.clone().unwrap().text.unwrap();
    assert!(text.len() <= 1 << 20 && text.starts_with("ää") && text.ends_with("ää"));
    assert!(text.contains("\n[… 3951496 bytes left out by Convoke …]\n"));
}

#[test]
fn an_unknown_frame_is_kept_when_it_may_be_part_of_the_conversation() {
    let reported = play(
        r#"
        {"type":"hologram","content":"wave"}
        {"type":"hologram","battery":7}
        {"message":"no type"}
        {"type":5}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    notice {"event":"unknown","kind":"hologram","payload":{"content":"wave","type":"hologram"}}: The agent sent an update of an unknown kind: hologram.
    notice {"event":"unknown","kind":"","payload":{"message":"no type"}}: The agent sent an update of an unknown kind: .
    "#);
}
