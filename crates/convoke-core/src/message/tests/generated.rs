//! Contents of any size and shape, for properties.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::samples;
use crate::content::{Content, Cost, Diff, Tool, ToolResult, ToolStatus, Usage};
use crate::evidence::Evidence;
use crate::id::RequestId;
use crate::message::Seq;
use crate::notice::{AgentEvent, Event, LifecycleEvent, Notice, TurnEvent};
use crate::question::{Answer, Choice as Offered, Question};
use crate::request::{Answers, Choice, PermissionRecord, QuestionRecord, State};
use crate::state::SessionState;
use crate::time::Timestamp;
use crate::turn::{FailureKind, Stop};

/// Any state.
pub(super) fn state_of_session() -> impl Strategy<Value = SessionState> {
    prop_oneof![select(samples::states()), usage().prop_map(SessionState::Usage)]
}

/// Any content: the samples of every variant, and the variants that hold free text, filled with anything.
pub(super) fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        select(samples::all()),
        (any::<String>(), any::<bool>()).prop_map(|(text, partial)| match partial {
            true => Content::partial_text(text),
            false => Content::text(text),
        }),
        (any::<String>(), any::<bool>())
            .prop_map(|(text, partial)| Content::Thinking { text, partial }),
        tool().prop_map(Content::Tool),
        permission().prop_map(Content::Permission),
        question().prop_map(Content::Question),
        notice().prop_map(Content::Notice),
    ]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e300..1e300f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((any::<String>(), inner), 0..4)
                .prop_map(|fields| fields.into_iter().collect::<Value>()),
        ]
    })
}

fn tool() -> impl Strategy<Value = Tool> {
    let status = select(vec![ToolStatus::Running, ToolStatus::Complete, ToolStatus::Error]);
    let diff = (any::<String>(), of(any::<String>()), any::<String>())
        .prop_map(|(path, old_text, new_text)| Diff { path, old_text, new_text });
    let result = (of(any::<String>()), vec(diff, 0..3), of(any::<String>()))
        .prop_map(|(text, diffs, error)| ToolResult { text, diffs, error });
    let names = (any::<String>(), any::<String>(), of(any::<String>()), of(any::<String>()));
    (names, json(), status, of(result)).prop_map(|(names, args, status, result)| {
        let (tool_call_id, tool, title, kind) = names;
        Tool { tool_call_id, tool, title, kind, args, status, result }
    })
}

fn usage() -> impl Strategy<Value = Usage> {
    let tokens = || of(any::<u64>());
    let cost =
        (-1e9..1e9f64, any::<String>()).prop_map(|(amount, currency)| Cost { amount, currency });
    (tokens(), tokens(), tokens(), tokens(), of(cost)).prop_map(
        |(input_tokens, output_tokens, context_used, context_size, cost)| Usage {
            input_tokens,
            output_tokens,
            context_used,
            context_size,
            cost,
        },
    )
}

fn state<A: Clone + std::fmt::Debug>(
    answer: impl Strategy<Value = A>,
) -> impl Strategy<Value = State<A>> {
    prop_oneof![
        Just(State::Pending),
        Just(State::TimedOut),
        Just(State::Abandoned),
        of(any::<String>()).prop_map(|reason| State::Rejected { reason }),
        answer.prop_map(State::Answered),
    ]
}

fn permission() -> impl Strategy<Value = PermissionRecord> {
    let choice = any::<String>().prop_map(|option_id| Choice { option_id });
    (any::<[u8; 16]>(), of(any::<String>()), any::<String>(), state(choice)).prop_map(
        |(id, tool_call_id, title, state)| PermissionRecord {
            by: None,
            request_id: RequestId::from_random(id),
            tool: tool_call_id.clone(),
            tool_call_id,
            evidence: Some(Evidence::command(title.clone())),
            rules: Vec::new(),
            title,
            options: Vec::new(),
            state,
        },
    )
}

fn question() -> impl Strategy<Value = QuestionRecord> {
    let option = (any::<String>(), of(any::<String>()))
        .prop_map(|(label, description)| Offered { label, description });
    let asked = (any::<String>(), any::<String>(), vec(option, 0..3), any::<bool>()).prop_map(
        |(prompt, title, options, multi_select)| Question { prompt, title, options, multi_select },
    );
    let chosen = (of(any::<String>()), of(vec(any::<String>(), 0..3)), of(any::<String>()));
    let answer = (any::<u16>(), chosen, any::<i64>()).prop_map(|(index, chosen, millis)| {
        let (selected_option, selected_options, custom_text) = chosen;
        Answer {
            question_index: usize::from(index),
            selected_option,
            selected_options,
            custom_text,
            timestamp: Timestamp::from_millis(millis),
        }
    });
    let answers = vec(answer, 0..3).prop_map(|answers| Answers { answers });
    (any::<[u8; 16]>(), vec(asked, 0..3), state(answers)).prop_map(|(id, questions, state)| {
        QuestionRecord { by: None, request_id: RequestId::from_random(id), questions, state }
    })
}

fn notice() -> impl Strategy<Value = Notice> {
    let event = prop_oneof![
        (any::<u64>(), any::<String>()).prop_map(|(turn, detail)| {
            let stop = Stop::failed(FailureKind::AgentError, detail);
            Event::from(TurnEvent::Ended { turn: Seq::new(turn), stop })
        }),
        any::<String>().prop_map(|title| LifecycleEvent::Renamed { title }.into()),
        any::<String>().prop_map(|error| LifecycleEvent::Failed { error }.into()),
        any::<String>().prop_map(|word| LifecycleEvent::Completed { reason: word.into() }.into()),
        (any::<String>(), json())
            .prop_map(|(kind, payload)| AgentEvent::Unknown { kind, payload }.into()),
    ];
    (event, any::<String>()).prop_map(|(event, text)| Notice::worded(event, text))
}
