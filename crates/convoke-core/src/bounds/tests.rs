//! Messages and requests above the size limits.

use serde_json::json;

use super::*;
use crate::content::{Diff, PlanStatus, PlanStep, ToolResult, ToolStatus};
use crate::id::{MessageId, RequestId};
use crate::message::Seq;
use crate::notice::{AgentEvent, Notice};
use crate::request::State;
use crate::rule::{Matcher, Proposal};
use crate::session::{Change, Command, Report, Session, Stamp, ToolUpdate};
use crate::time::Timestamp;
use crate::turn::Stop;

fn tool(args: Value, result: Option<ToolResult>) -> Content {
    Content::Tool(Tool {
        tool_call_id: "call-1".to_owned(),
        tool: "Bash".to_owned(),
        title: None,
        kind: None,
        args,
        status: ToolStatus::Complete,
        result,
    })
}

#[test]
fn k4_a_clipped_text_keeps_its_head_and_its_tail_and_says_what_is_missing() {
    assert_eq!(clip("añb", 4), "añb");
    let long = format!("ab{}yz", "ñ".repeat(100));
    assert_eq!(clip(&long, 76), "ab\n[… 200 bytes left out by Convoke …]\nyz");
    assert_eq!(clip(&long, 78), "ab\n[… 200 bytes left out by Convoke …]\nyz");
    assert!(clip(&"x".repeat(1 << 20), 4096).len() <= 4096);
    assert_eq!(clip("ññññ", 3), "\n[… 8 bytes left out by Convoke …]\n");
}

#[test]
fn k4_every_sort_of_message_that_is_too_long_is_shortened_to_the_bound() {
    let long = "\u{1}x".repeat(128 << 10);
    let print = ToolResult { text: Some(long.clone()), ..ToolResult::default() };
    let diff = Diff { path: "a".to_owned(), old_text: Some(long.clone()), new_text: long.clone() };
    let diffs = ToolResult { diffs: vec![diff; 3], ..ToolResult::default() };
    let step = PlanStep { content: "x".repeat(40), status: PlanStatus::Pending, priority: None };
    let event = AgentEvent::Unknown { kind: long.clone(), payload: json!({"a": long}) };
    let contents = [
        tool(json!({"command": "make"}), Some(print)),
        tool(json!({"path": "a"}), Some(diffs)),
        tool(json!({"content": long}), None),
        tool(json!(vec![0; 400 << 10]), None),
        tool(json!(vec![vec![vec!["x"; 20]; 20]; 500]), None),
        Content::Plan { steps: vec![step; 10_000] },
        Content::Notice(Notice::new(event)),
    ];
    for content in contents {
        let before = json_bytes(&content);
        assert!(before > MESSAGE_BYTES_MAX);
        let bounded = content.bounded();
        let after = json_bytes(&bounded);
        assert!(after <= MESSAGE_BYTES_MAX, "{after} of {before} bytes are left");
        assert_eq!(bounded.clone().bounded(), bounded, "what fits is left as it is");
    }
}

#[test]
fn k4_a_request_that_is_too_long_is_shortened_and_cannot_be_allowed_for_good() {
    let record = |title: &str| PermissionRecord {
        by: None,
        request_id: RequestId::from_random([0; 16]),
        tool_call_id: None,
        tool: Some("Bash".to_owned()),
        title: title.to_owned(),
        evidence: Some(Evidence::command("ls".to_owned())),
        rules: vec![Proposal {
            label: "`ls` in a".to_owned(),
            matcher: Matcher::Command { words: vec!["ls".to_owned()], more: false },
            everywhere: false,
        }],
        options: Vec::new(),
        state: State::Pending,
    };
    let short = Content::Permission(record("ls"));
    assert_eq!(short.clone().bounded(), short);
    let bounded = Content::Permission(record(&"x".repeat(1 << 20))).bounded();
    assert!(json_bytes(&bounded) <= REQUEST_BYTES_MAX);
    let Content::Permission(bounded) = bounded else { panic!("{bounded:?}") };
    assert_eq!(bounded.evidence, Some(Evidence::command("ls".to_owned())));
    assert_eq!(bounded.rules, []);
}

#[test]
fn k4_a_message_that_fits_is_left_as_it_is() {
    let print = ToolResult { text: Some("x".repeat(400 << 10)), ..ToolResult::default() };
    let content = tool(json!({"command": "make"}), Some(print));
    assert_eq!(content.clone().bounded(), content);
}

#[test]
fn k4_pieces_are_the_text_and_none_is_longer_than_the_bound() {
    let text = "ñ€😀x".repeat(40_000);
    let parts: Vec<&str> = pieces(&text).collect();
    assert_eq!(parts.concat(), text);
    assert!(parts.iter().all(|part| part.len() <= PIECE_BYTES_MAX && !part.is_empty()));
    assert_eq!(pieces("").count(), 0);
}

/// Gives a session a command, and applies and returns the changes.
fn told(session: &mut Session, command: Command) -> Vec<Change> {
    let decision = session.handle(command).unwrap();
    for change in &decision.changes {
        session.apply(change, Timestamp::from_millis(0));
    }
    decision.changes
}

fn prompt() -> Command {
    let stamp = Stamp { id: MessageId::from_random([0; 16]), at: Timestamp::from_millis(0) };
    Command::Prompt { prompt: "go".to_owned().into(), stamp }
}

#[test]
fn k4_a_long_answer_becomes_messages_that_are_no_longer_than_they_may_be() {
    let mut session = Session::new(Timestamp::from_millis(0));
    told(&mut session, prompt());
    let text = "ñ€x".repeat(200_000);
    let (mut messages, mut closed) = (Vec::new(), 0);
    for part in [text.as_str(), "and more", text.as_str()] {
        for change in told(&mut session, Command::Agent(Report::Said(part.to_owned()))) {
            match change {
                Change::Begin(draft) => {
                    let Content::Text { text, partial: true, .. } = draft.content else { panic!() };
                    messages.push(text);
                }
                Change::Append { seq, text } => {
                    assert!(text.len() <= PIECE_BYTES_MAX);
                    assert_eq!(seq.get() as usize, messages.len() + 1, "the newest one grows");
                    messages.last_mut().unwrap().push_str(&text);
                }
                Change::Close { .. } => closed += 1,
                other @ (Change::Replace { .. }
                | Change::Turn { .. }
                | Change::State(_)
                | Change::Seen
                | Change::Described { .. }) => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(messages.concat(), format!("{text}and more{text}"), "nothing is lost");
    assert!(messages.len() > 8 && closed == messages.len() - 1);
    assert!(messages.iter().all(|message| message.len() <= WORDS_BYTES_MAX));
}

#[test]
fn k4_many_huge_tool_calls_in_flight_take_a_bounded_amount_of_memory() {
    let mut session = Session::new(Timestamp::from_millis(0));
    told(&mut session, prompt());
    let (mut begun, mut closed) = (0, 0);
    for number in 0..100 {
        let update = ToolUpdate {
            tool_call_id: format!("call-{number:03}"),
            args: Some(json!({"a": "x".repeat(400 << 10)})),
            ..ToolUpdate::default()
        };
        for change in told(&mut session, Command::Agent(Report::ToolCalled(update))) {
            match change {
                Change::Begin(_) => begun += 1,
                Change::Replace { .. } => closed += 1,
                other @ (Change::Append { .. }
                | Change::Close { .. }
                | Change::Turn { .. }
                | Change::State(_)
                | Change::Seen
                | Change::Described { .. }) => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(begun, 100);
    assert!(closed > 80, "those that are not remembered are closed: {closed}");
    // The others are closed when the turn ends.
    let ended = Report::TurnEnded { turn: Seq::new(1), stop: Stop::EndTurn };
    let rest = told(&mut session, Command::Agent(ended));
    let rest = rest.iter().filter(|change| matches!(change, Change::Replace { .. })).count();
    assert_eq!(closed + rest, begun, "no call stays open");
}
