//! The conversation survives any input.

use convoke_core::session::Report;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::scene::Scene;
use crate::claude::conversation::Step;

/// Words that mean something to us, in any place.
const WORDS: [&str; 24] = [
    "stream_event",
    "assistant",
    "user",
    "system",
    "result",
    "control_request",
    "control_response",
    "control_cancel_request",
    "command_lifecycle",
    "rate_limit_event",
    "content_block_delta",
    "text_delta",
    "text",
    "tool_use",
    "tool_result",
    "can_use_tool",
    "AskUserQuestion",
    "TodoWrite",
    "Edit",
    "init",
    "api_retry",
    "compact_boundary",
    "success",
    "convoke-1",
];
/// Fields that we read, with any value.
const FIELDS: [&str; 30] = [
    "type",
    "subtype",
    "event",
    "message",
    "id",
    "content",
    "delta",
    "text",
    "usage",
    "name",
    "input",
    "todos",
    "edits",
    "tool_use_id",
    "is_error",
    "request_id",
    "request",
    "response",
    "tool_name",
    "questions",
    "options",
    "label",
    "permission_suggestions",
    "rules",
    "origin",
    "user_message_uuids",
    "modelUsage",
    "attempt",
    "commands",
    "models",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        select(WORDS.to_vec()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        let field = (select(FIELDS.to_vec()).prop_map(str::to_owned), inner.clone());
        let object = prop::collection::vec(field, 0..8)
            .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()));
        prop_oneof![prop::collection::vec(inner, 0..4).prop_map(Value::from), object.boxed()]
    })
}

fn any_frame() -> impl Strategy<Value = Value> {
    (select(WORDS.to_vec()), any_json()).prop_map(|(kind, mut frame)| {
        if let Some(fields) = frame.as_object_mut() {
            fields.insert("type".to_owned(), kind.into());
        }
        frame
    })
}

fn endings(steps: &[Step]) -> usize {
    steps.iter().filter(|step| matches!(step, Step::Report(Report::TurnEnded { .. }))).count()
}

proptest! {
    #[test]
    fn whatever_claude_says_a_turn_ends_once_and_the_next_can_begin(
        frames in prop::collection::vec(any_frame(), 0..20)
    ) {
        let mut scene = Scene::new();
        scene.play("greet\nprompt one");
        let heard: Vec<Step> =
            frames.iter().flat_map(|frame| scene.conversation.handle(frame)).collect();
        prop_assert!(endings(&heard) <= 1);
        let result = json!({"type": "result", "subtype": "success"});
        let last = scene.conversation.handle(&result);
        prop_assert_eq!(endings(&heard) + endings(&last), 1);
        prop_assert!(scene.play("prompt two").contains("\"content\":\"two\""));
    }
}
