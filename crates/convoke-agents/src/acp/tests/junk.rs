//! The conversation survives anything that an agent sends.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::scene::Scene;

/// Words that mean something, so that the generated messages are nearly right.
const WORDS: [&str; 40] = [
    "method",
    "params",
    "id",
    "result",
    "error",
    "code",
    "message",
    "data",
    "sessionId",
    "update",
    "sessionUpdate",
    "content",
    "text",
    "type",
    "toolCallId",
    "toolCall",
    "options",
    "optionId",
    "kind",
    "status",
    "completed",
    "diff",
    "path",
    "newText",
    "entries",
    "availableCommands",
    "configOptions",
    "modes",
    "currentModeId",
    "usage",
    "used",
    "stopReason",
    "requestId",
    "s",
    "line",
    "limit",
    "terminalId",
    "tool_call",
    "agent_message_chunk",
    "rawInput",
];

/// Every method that an agent may use, but the one that runs programs.
const METHODS: [&str; 10] = [
    "session/update",
    "session/request_permission",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/output",
    "terminal/kill",
    "terminal/release",
    "terminal/wait_for_exit",
    "$/cancel_request",
    "_x/y",
];

const KINDS: [&str; 14] = [
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "usage_update",
    "notice",
    "compaction_update",
    "session_info_update",
    "else",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![select(&WORDS[..]).prop_map(str::to_owned), any::<String>()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..5u64).prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            btree_map(word(), inner, 0..6).prop_map(Value::from_iter),
        ]
    })
}

fn line() -> impl Strategy<Value = Value> {
    let request = (value(), select(&METHODS[..]), value())
        .prop_map(|(id, method, params)| json!({"id": id, "method": method, "params": params}));
    let notification = (select(&METHODS[..]), value())
        .prop_map(|(method, params)| json!({"method": method, "params": params}));
    let update =
        (select(&KINDS[..]), btree_map(word(), value(), 0..6)).prop_map(|(kind, fields)| {
            let mut update = Value::from_iter(fields);
            update["sessionUpdate"] = json!(kind);
            json!({"method": "session/update", "params": {"sessionId": "s", "update": update}})
        });
    let answer = (0..6u64, value()).prop_map(|(id, result)| json!({"id": id, "result": result}));
    let failure = (0..6u64, value()).prop_map(|(id, error)| json!({"id": id, "error": error}));
    prop_oneof![value(), request, notification, update, answer, failure]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_line_of_json_ends_the_conversation(lines in vec(line(), 1..20)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut scene = Scene::ready().await;
            scene.prompt("hello").await;
            for line in lines {
                scene.line(line).await;
            }
            scene.transcript();
            scene.line(json!({"id": "are you there?", "method": "no/such/method"})).await;
            assert!(scene.transcript().contains(r#""id":"are you there?""#));
            assert_eq!(scene.end, None);
        });
    }
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_not_json_or_too_long_are_passed_by() {
    let mut scene = Scene::ready().await;
    scene.raw(b"Debugger attached.\n\n\xff\xfe\n{\"half\": \n").await;
    scene.raw(&vec![b'x'; (32 << 20) + 1]).await;
    scene.raw(b"\n").await;
    scene.line(json!({"id": null, "method": "no/such/method"})).await;
    insta::assert_snapshot!(scene.transcript(), @r#"
    ! noticed {"event":"advice","severity":"warning","text":"Convoke skipped a line of 33554433 bytes that the agent sent: at most 12582912 bytes and 200000 values are read."}
    > {"error":{"code":-32601,"message":"Convoke does not know no/such/method"},"id":null}
    "#);
}
