//! How messages and state are shown, from what a session of the core's decides.

use convoke_core::content::{PlanStatus, ToolResult};
use convoke_core::id::SessionId;
use convoke_core::session::{Command, Report, Session, Stamp, ToolUpdate};
use convoke_core::state::SessionState;
use convoke_core::turn::Stop;
use convoke_core::update::{OpenMessages, Update, UpdateStamp};
use serde_json::json;

use super::*;

/// Every update of a session to which these words happen, a line each, under its revision.
fn updates(script: &str) -> String {
    let mut session = Session::new(Timestamp::from_millis(0));
    let mut open = OpenMessages::default();
    let (mut lines, mut count) = (Vec::new(), 0);
    for word in script.split_whitespace() {
        count += 1;
        let command = command(&session, word, count);
        for change in session.handle(command).unwrap().changes {
            count += 1;
            let at = Timestamp::from_millis(1_794_736_800_000);
            session.apply(&change, at);
            let summary = session.summary();
            let stamp = UpdateStamp {
                session_id: SessionId::from_random([1; 16]),
                id: message_id(count),
                seq: summary.last_seq,
                rev: summary.rev,
                at,
            };
            let update = open.apply(change, stamp).unwrap();
            lines.push(format!("{} {}", update.rev(), told(&update)));
        }
    }
    lines.join("\n")
}

fn told(update: &Update) -> String {
    let entry = match update {
        Update::Message(message) => Entry::from(&**message),
        Update::State { rev, state } => Entry::of_state(state, *rev),
        Update::Delta(delta) => return format!("{} += {:?}", delta.seq, delta.text),
    };
    let (place, mut value) = (entry.seq, json!(entry));
    let fields = value.as_object_mut().unwrap();
    for name in ["entryId", "seq", "rev", "timestamp"] {
        fields.remove(name);
    }
    format!("{place}: {value}")
}

fn message_id(number: u8) -> MessageId {
    let mut bytes = [0; 16];
    bytes[15] = number;
    MessageId::from_random(bytes)
}

fn command(session: &Session, word: &str, count: u8) -> Command {
    let tool = |status, text: Option<&str>| {
        Report::ToolCalled(ToolUpdate {
            tool_call_id: "t1".to_owned(),
            tool: Some("Read".to_owned()),
            args: Some(json!({"path": "a.txt"})),
            status,
            result: text
                .map(|text| ToolResult { text: Some(text.to_owned()), ..ToolResult::default() }),
            ..ToolUpdate::default()
        })
    };
    let step = |status| PlanStep { content: "step".to_owned(), status, priority: None };
    Command::Agent(match word {
        "prompt" => {
            let stamp = Stamp { id: message_id(count), at: Timestamp::from_millis(0) };
            return Command::Prompt { prompt: format!("prompt {count}").into(), stamp };
        }
        "think" => Report::Thought("hm ".to_owned()),
        "say" => Report::Said("well ".to_owned()),
        "plan" => Report::Planned(vec![step(PlanStatus::Pending)]),
        "tool" => tool(None, None),
        "done" => tool(Some(ToolStatus::Complete), Some("out")),
        "spend" => {
            Report::State(SessionState::Usage(Usage { input_tokens: Some(9), ..Usage::default() }))
        }
        "end" => Report::TurnEnded { turn: session.running().unwrap(), stop: Stop::EndTurn },
        "refuse" => Report::TurnEnded { turn: session.running().unwrap(), stop: Stop::Refusal },
        other => panic!("unknown word {other}"),
    })
}

#[test]
fn w7_a_turn_becomes_its_entries() {
    insta::assert_snapshot!(updates("prompt think think say tool done plan say spend end"), @r#"
    1 1: {"content":"prompt 1","state":"running","type":"user"}
    2 2: {"content":"hm ","partial":true,"type":"thinking"}
    3 2 += "hm "
    4 2: {"content":"hm hm ","partial":false,"type":"thinking"}
    5 3: {"content":"well ","partial":true,"type":"assistant"}
    6 3: {"content":"well ","partial":false,"type":"assistant"}
    7 4: {"args":{"path":"a.txt"},"name":"Read","status":"running","toolCallId":"t1","type":"tool-call"}
    8 4: {"args":{"path":"a.txt"},"name":"Read","result":"out","status":"complete","toolCallId":"t1","type":"tool-call"}
    9 5: {"steps":[{"content":"step","status":"pending"}],"type":"plan"}
    10 6: {"content":"well ","partial":true,"type":"assistant"}
    11 0: {"inputTokens":9,"type":"usage"}
    12 6: {"content":"well ","partial":false,"type":"assistant"}
    13 1: {"content":"prompt 1","state":"done","type":"user"}
    "#);
}

#[test]
fn a_prompt_that_waits_is_part_of_the_queue_until_its_turn_begins() {
    insta::assert_snapshot!(updates("prompt prompt say end refuse"), @r#"
    1 1: {"content":"prompt 1","state":"running","type":"user"}
    2 0: {"prompts":[{"content":"prompt 3","id":"00000000-0000-4000-8000-000000000003","timestamp":"1970-01-01T00:00:00.000Z"}],"type":"queue"}
    3 2: {"content":"well ","partial":true,"type":"assistant"}
    4 2: {"content":"well ","partial":false,"type":"assistant"}
    5 1: {"content":"prompt 1","state":"done","type":"user"}
    6 0: {"prompts":[],"type":"queue"}
    7 3: {"content":"prompt 3","state":"running","type":"user"}
    8 3: {"content":"prompt 3","state":"done","type":"user"}
    9 4: {"event":"turn_ended","stopReason":"refusal","text":"The model refused to continue.","turn":3,"type":"notice"}
    "#);
}
