//! Tool calls in the shapes that agents were seen to send.

use convoke_core::session::Report;
use serde_json::{Value, json};

use super::*;
use crate::acp::tests::scene::reported;

fn handle(updates: impl IntoIterator<Item = Value>) -> String {
    let mut tools = Tools::default();
    let screens = |id: &str| (id == "terminal-1").then(|| "printed\n".to_owned());
    let heard = updates.into_iter().filter_map(|update| tools.handle(&update, &screens));
    heard.map(|update| reported(&Report::ToolCalled(update))).collect::<Vec<_>>().join("\n")
}

#[test]
fn claude_names_and_fills_a_call_late() {
    insta::assert_snapshot!(handle([
        json!({"_meta": {"claudeCode": {"toolName": "Bash"}}, "toolCallId": "toolu_1", "sessionUpdate": "tool_call", "rawInput": {}, "status": "pending", "title": "Terminal", "kind": "execute", "content": []}),
        json!({"toolCallId": "toolu_1", "sessionUpdate": "tool_call_update", "title": "echo hi", "rawInput": {"command": "echo hi"}}),
        json!({"toolCallId": "toolu_1", "sessionUpdate": "tool_call_update", "_meta": {"claudeCode": {"toolResponse": {"stdout": "hi"}}}}),
        json!({"toolCallId": "toolu_1", "sessionUpdate": "tool_call_update", "status": "completed", "rawOutput": "hi", "content": [{"type": "content", "content": {"type": "text", "text": "```console\nhi\n```"}}]}),
    ]), @r#"
    ! tool toolu_1, name "Bash", title "Terminal", kind "execute", status Running
    ! tool toolu_1, name "Bash", title "echo hi", kind "execute", args {"command":"echo hi"}, status Running
    ! tool toolu_1, name "Bash", title "echo hi", kind "execute", args {"command":"echo hi"}, status Complete, result {"text":"```console\nhi\n```"}
    "#);
}

#[test]
fn a_diff_is_kept_until_the_call_ends() {
    insta::assert_snapshot!(handle([
        json!({"toolCallId": "t", "name": "Write", "title": "Write a.txt", "content": [{"type": "diff", "path": "/w/a.txt", "oldText": null, "newText": "hi"}]}),
        json!({"toolCallId": "t", "status": "completed"}),
    ]), @r#"
    ! tool t, name "Write", title "Write a.txt", result {"diffs":[{"path":"/w/a.txt","newText":"hi"}]}
    ! tool t, name "Write", title "Write a.txt", status Complete, result {"diffs":[{"path":"/w/a.txt","newText":"hi"}]}
    "#);
}

#[test]
fn goose_says_neither_kind_nor_status_and_shows_a_terminal() {
    insta::assert_snapshot!(handle([
        json!({"toolCallId": "call_1", "title": "shell · echo hi", "rawInput": {"command": "echo hi"}, "_meta": {}}),
        json!({"toolCallId": "call_1", "kind": "execute"}),
        json!({"toolCallId": "call_1", "content": [{"type": "terminal", "terminalId": "terminal-1"}]}),
        json!({"toolCallId": "call_1", "status": "completed"}),
    ]), @r#"
    ! tool call_1, title "shell · echo hi", args {"command":"echo hi"}
    ! tool call_1, title "shell · echo hi", kind "execute", args {"command":"echo hi"}
    ! tool call_1, title "shell · echo hi", kind "execute", args {"command":"echo hi"}, status Complete, result {"text":"printed\n"}
    "#);
}

#[test]
fn codex_shows_its_own_terminal_and_separates_the_output() {
    insta::assert_snapshot!(handle([
        json!({"toolCallId": "call_1", "kind": "execute", "title": "touch x", "status": "in_progress", "content": [{"type": "terminal", "terminalId": "call_1"}], "rawInput": {"command": "touch x"}, "_meta": {"terminal_info": {}}}),
        json!({"toolCallId": "call_1", "_meta": {"terminal_output_delta": {"data": "hello\n", "terminal_id": "call_1"}}}),
        json!({"toolCallId": "call_1", "status": "completed", "_meta": {"terminal_output_delta": {"data": "bye\n", "terminal_id": "call_1"}, "terminal_exit": {"exit_code": 0}}}),
        json!({"toolCallId": "call_2", "status": "completed", "rawOutput": {"formatted_output": "hello\n", "exit_code": 0}}),
    ]), @r#"
    ! tool call_1, title "touch x", kind "execute", args {"command":"touch x"}, status Running
    ! tool call_1, title "touch x", kind "execute", args {"command":"touch x"}, status Complete, result {"text":"hello\nbye\n"}
    ! tool call_2, status Complete, result {"text":"hello\n"}
    "#);
}

#[test]
fn a_failed_call_says_why_and_may_fail_twice() {
    insta::assert_snapshot!(handle([
        json!({"toolCallId": "t", "title": "apply_patch", "kind": "other"}),
        json!({"toolCallId": "t", "status": "failed", "content": [{"type": "content", "content": {"type": "text", "text": "rejected"}}]}),
        json!({"toolCallId": "t", "status": "failed"}),
    ]), @r#"
    ! tool t, title "apply_patch", kind "other"
    ! tool t, title "apply_patch", kind "other", status Error, result {"error":"rejected"}
    ! tool t, status Error
    "#);
}

#[test]
fn two_calls_with_one_id_are_one_call() {
    insta::assert_snapshot!(handle([
        json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "one", "status": "pending"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "two", "status": "in_progress"}),
    ]), @r#"
    ! tool t, title "one", status Running
    ! tool t, title "two", status Running
    "#);
}

#[test]
fn odd_outputs_are_reported_as_well_as_possible() {
    let outputs = [
        json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        json!({"x": 1}),
        json!([1]),
        json!(5),
        json!(""),
        json!(null),
    ];
    let updates = outputs
        .map(|output| json!({"toolCallId": "t", "status": "completed", "rawOutput": output}));
    insta::assert_snapshot!(handle(updates), @r#"
    ! tool t, status Complete, result {"text":"a\nb"}
    ! tool t, status Complete, result {"text":"{\"x\":1}"}
    ! tool t, status Complete, result {"text":"[1]"}
    ! tool t, status Complete, result {"text":"5"}
    ! tool t, status Complete
    ! tool t, status Complete
    "#);
}

/// As kimi does while its model writes the arguments, and opencode while a command prints.
#[test]
fn the_output_of_a_running_call_is_reported_when_it_ends() {
    let printed = |text: &str| json!({"toolCallId": "t", "status": "in_progress", "content": [{"type": "content", "content": {"type": "text", "text": text}}]});
    insta::assert_snapshot!(handle([
        printed("a"),
        printed("ab"),
        printed("abc"),
        json!({"toolCallId": "t", "status": "completed"}),
    ]), @r#"
    ! tool t, status Running
    ! tool t, status Complete, result {"text":"abc"}
    "#);
}

#[test]
fn results_and_diffs_are_cut() {
    let long = "x".repeat(2 << 20);
    let mut tools = Tools::default();
    let update = json!({"toolCallId": "t", "status": "completed", "rawInput": {"a": long}, "content": [
        {"type": "content", "content": {"type": "text", "text": long}},
        {"type": "diff", "path": "a", "oldText": long, "newText": long},
    ]});
    let heard = tools.handle(&update, &|_| None).unwrap();
    let result = heard.result.unwrap();
    let diff = result.diffs.into_iter().next().unwrap();
    for text in [result.text.unwrap(), diff.old_text.unwrap(), diff.new_text] {
        assert!(text.len() <= TEXT_BYTES_MAX && text.starts_with("xx") && text.ends_with("xx"));
        assert!(text.contains("bytes left out by Convoke …]"));
    }
    assert!(heard.args.unwrap().to_string().len() < 20_000);
}

#[test]
fn k4_many_huge_calls_in_flight_take_a_bounded_amount_of_memory() {
    let mut tools = Tools::default();
    let long = "x".repeat(1 << 20);
    for number in 10..22 {
        let update = json!({"toolCallId": number.to_string(), "rawInput": {"a": long}, "content": [
            {"type": "content", "content": {"type": "text", "text": long}},
            {"type": "diff", "path": "a", "newText": long},
        ]});
        tools.handle(&update, &|_| None).unwrap();
        let bytes: usize = tools.calls.values().map(|call| call.bytes).sum();
        assert!(bytes <= CALLS_BYTES_MAX, "{bytes} bytes after call {number}");
    }
    assert!(tools.calls.len() > 1 && tools.known("21").is_some());
}

#[test]
fn no_more_calls_are_remembered_than_there_is_room_for() {
    let mut tools = Tools::default();
    for number in 0..2 * CALLS_MAX {
        tools.handle(&json!({"toolCallId": format!("{number:04}"), "title": "x"}), &|_| None);
    }
    assert_eq!(tools.calls.len(), CALLS_MAX);
    assert_eq!(tools.known("0000"), None);
    assert_eq!(tools.known("0511").and_then(|known| known.title.as_deref()), Some("x"));
    assert_eq!(tools.handle(&json!({"title": "of no call"}), &|_| None), None);
}
