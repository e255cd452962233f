//! The open session: reading and writing.

use convoke_api::bodies::Activity;
use convoke_api::entry::{EntryBody, PromptState, Prompted, ToolCall, Words};
use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::content::{Diff, PlanStatus, PlanStep, ToolStatus, Usage};
use convoke_core::message::Rev;
use convoke_core::notice::{AgentEvent, Notice};
use convoke_core::state::{OfferedChoice, OfferedSetting};
use serde_json::json;

use super::stage::{Stage, entry, prompt, queue, session, session_id, state, words};
use convoke_api::entry::Entry;

fn tool(seq: u64, status: ToolStatus) -> Entry {
    let call = ToolCall {
        tool_call_id: format!("c{seq}"),
        name: "edit".to_owned(),
        title: Some("Edit src/price.rs".to_owned()),
        kind: Some("edit".to_owned()),
        status,
        args: json!({"path": "src/price.rs", "strict": true}),
        result: Some("ok\nsecond line \u{1b}[31mred".to_owned()),
        diffs: vec![Diff {
            path: "src/price.rs".to_owned(),
            old_text: Some("fn price() {\n    0\n}\n".to_owned()),
            new_text: "fn price() {\n    1\n    + 1\n}\n".to_owned(),
        }],
        error: None,
        html: None,
    };
    entry(&format!("t{seq}"), seq, EntryBody::ToolCall(call))
}

fn thought(seq: u64) -> Entry {
    let content = "The price is wrong.\n\nIt should be two.".to_owned();
    let words = Words { content, html: None, partial: false };
    entry(&format!("m{seq}"), seq, EntryBody::Thinking(words))
}

fn conversation() -> Vec<Entry> {
    let step =
        |content: &str, status| PlanStep { content: content.to_owned(), status, priority: None };
    let steps = vec![
        step("Look at the parser", PlanStatus::Completed),
        step("Fix it", PlanStatus::InProgress),
        step("Test it", PlanStatus::Pending),
    ];
    let text = "The old process had ended.".to_owned();
    let usage = Usage {
        input_tokens: Some(12_000),
        output_tokens: Some(345),
        context_used: Some(20),
        context_size: Some(200),
        cost: None,
    };
    vec![
        prompt(1, "Please fix the *price*.\nIt is wrong."),
        entry("n2", 2, EntryBody::Notice(Notice::worded(AgentEvent::Compacted, text))),
        thought(3),
        entry("p1", 4, EntryBody::Plan { steps }),
        tool(5, ToolStatus::Complete),
        words(6, "Done: the **price** is `2` now."),
        state("usage", 7, EntryBody::Usage(usage)),
    ]
}

#[test]
fn a_conversation_shows_prompts_thoughts_plans_tools_and_words() {
    insta::assert_snapshot!(Stage::talking(80, 30, conversation()).screen());
}

#[test]
fn thoughts_and_tools_unfold() {
    let mut stage = Stage::talking(80, 40, conversation());
    stage.keys("esc up enter");
    stage.keys("up up enter");
    insta::assert_snapshot!(stage.screen());
    stage.keys("z");
    assert_eq!(stage.screen().matches("second line").count(), 0, "{}", stage.screen());
}

#[test]
fn words_stream_in_and_the_end_is_followed_until_the_human_scrolls() {
    let long: String = (1..40).map(|number| format!("Line {number}\n\n")).collect();
    let mut stage = Stage::talking(80, 16, vec![prompt(1, "Count"), words(2, &long)]);
    stage.chunk("m2", "and the end");
    assert!(stage.screen().contains("and the end"), "{}", stage.screen());
    stage.keys("pgup");
    insta::assert_snapshot!(stage.screen());
    let before = stage.screen();
    stage.chunk("m2", "\n\nmore and more");
    assert_eq!(stage.screen(), before, "what is read stays where it is");
    stage.keys("pgdn pgdn");
    assert!(stage.screen().contains("more and more"), "{}", stage.screen());
    stage.chunk("m2", "\n\nfollowed again");
    assert!(stage.screen().contains("followed again"), "{}", stage.screen());
}

#[test]
fn what_is_written_is_sent_and_the_draft_is_kept_by_session() {
    let mut stage = Stage::talking(110, 16, conversation());
    stage.types("Hello there").keys("alt-enter").types("second line");
    insta::assert_snapshot!(stage.screen());
    stage.keys("esc").pass(2000).keys("esc down enter").types("to the other");
    stage.keys("esc esc up enter");
    assert!(stage.screen().contains("Hello there"), "{}", stage.screen());
    assert!(stage.screen().contains("release notes ✎"), "{}", stage.screen());
    stage.said();
    stage.keys("enter");
    let content = "Hello there\nsecond line".to_owned();
    let id = session_id(1).to_string();
    let message_id = None;
    assert_eq!(
        stage.said(),
        [ClientFrame::SessionSend {
            session_id: id,
            content,
            attachments: Vec::new(),
            files: Vec::new(),
            review: Vec::new(),
            message_id
        }]
    );
    assert!(!stage.screen().contains("Hello there"), "{}", stage.screen());
}

#[test]
fn words_that_were_refused_come_back() {
    let mut stage = Stage::talking(80, 16, conversation());
    stage.types("Hello").keys("enter").types("and");
    stage.refuse("33 prompts wait already");
    let screen = stage.screen();
    assert!(screen.contains("❯ Hello") && screen.contains("33 prompts wait already"), "{screen}");
    assert!(screen.lines().any(|line| line.trim() == "and█"), "{screen}");
}

#[test]
fn prompts_behind_a_running_turn_stand_at_the_end_until_their_turn_begins() {
    let mut stage = Stage::talking(80, 24, conversation());
    stage.update(queue(8, &[(1, "Next, please"), (2, "And then?")]));
    stage.update(words(7, "Something else meanwhile."));
    insta::assert_snapshot!(stage.screen());
    let state = PromptState::Running;
    let begun = Prompted {
        by: None,
        content: "Next, please".to_owned(),
        html: None,
        attachments: Vec::new(),
        files: Vec::new(),
        review: Vec::new(),
        state,
    };
    stage.update(queue(9, &[(2, "And then?")]));
    stage.update(entry("m10", 10, EntryBody::User(begun)));
    stage.update(words(11, "Its answer."));
    insta::assert_snapshot!(stage.screen());
    stage.update(queue(12, &[]));
    assert!(!stage.screen().contains("queued"), "{}", stage.screen());
}

#[test]
fn the_queue_can_be_read_like_an_entry() {
    let mut stage = Stage::talking(80, 16, conversation());
    stage.update(queue(8, &[(1, "Next, please")]));
    stage.keys("esc up down");
    assert!(stage.screen().contains("▌ ❯ Next, please"), "{}", stage.screen());
    stage.update(queue(9, &[]));
    assert!(stage.screen().contains("▌ Done: the price"), "{}", stage.screen());
}

#[test]
fn frames_that_come_twice_or_late_change_nothing() {
    let mut stage = Stage::talking(80, 16, vec![prompt(1, "Count"), words(2, "One, ")]);
    stage.chunk("m2", "two.");
    let before = stage.screen();
    stage.update(words(2, "One, "));
    stage.chunk("m9", "of an entry that is not there");
    assert_eq!(stage.screen(), before);
    assert!(before.contains("One, two."), "{before}");
}

#[test]
fn leaving_with_unsent_words_asks_once() {
    let mut stage = Stage::talking(80, 16, conversation());
    stage.types("q").keys("ctrl-c");
    assert!(stage.screen().contains("would be lost"), "{}", stage.screen());
    assert_eq!(stage.effects(), []);
    stage.keys("ctrl-c");
    assert_eq!(stage.effects(), [crate::workbench::message::Effect::Quit]);
}

#[test]
fn a_title_that_changes_is_shown() {
    let mut stage = Stage::talking(80, 16, conversation());
    let (id, uid) = ("claude-code:1".to_owned(), session_id(1));
    let title = "Prices".to_owned();
    stage.receive(ServerFrame::SessionTitleUpdated { session_id: id, uid, title });
    assert!(stage.screen().contains("◐ Prices"), "{}", stage.screen());
    let session = session(1, 0, "Prices", Activity::Idle);
    stage.receive(ServerFrame::SessionChanged { session });
    assert!(stage.screen().contains("○ Prices"), "{}", stage.screen());
    let (session_id, rev) = ("claude-code:1".to_owned(), Rev::new(9));
    stage.receive(ServerFrame::SessionOpened { session_id, uid, rev, generation: "1".to_owned() });
    assert_eq!(stage.rev(), Rev::new(9));
}

fn choice(id: &str, description: Option<&str>) -> OfferedChoice {
    let (name, description) = (id.to_uppercase(), description.map(ToOwned::to_owned));
    OfferedChoice { id: id.to_owned(), name, description }
}

#[test]
fn modes_and_settings_of_the_agent_are_chosen() {
    let (current, available) = (
        "code".to_owned(),
        vec![choice("code", Some("Writes files")), choice("plan", Some("Only plans \u{1b}[2J"))],
    );
    let model = OfferedSetting {
        id: "m".to_owned(),
        name: "Model".to_owned(),
        category: Some("model".to_owned()),
        current: "large".to_owned(),
        choices: vec![choice("small", None), choice("large", None)],
    };
    let mut stage = Stage::talking(80, 14, conversation());
    stage.keys("ctrl-o");
    assert!(stage.screen().contains("This agent offers no modes or settings."));
    stage.update(state("modes", 90, EntryBody::Modes { current, available: available.clone() }));
    stage.update(state("settings", 91, EntryBody::Settings { settings: vec![model] }));
    stage.keys("ctrl-o down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter");
    let session_id = session_id(1).to_string();
    let mode = ClientFrame::SessionMode { session_id: session_id.clone(), mode: "plan".to_owned() };
    assert_eq!(stage.said(), [mode]);
    stage.answer(ServerFrame::SessionChanged { session: session(1, 2, "Prices", Activity::Idle) });
    assert!(stage.screen().contains("Mode: PLAN"), "{}", stage.screen());
    stage.update(state("modes", 92, EntryBody::Modes { current: "plan".to_owned(), available }));
    assert!(stage.screen().contains(" PLAN · LARGE · 10% of context"), "{}", stage.screen());
    // While reading a letter is enough.
    stage.keys("esc m down down enter");
    let (setting, choice) = ("m".to_owned(), "large".to_owned());
    assert_eq!(stage.said(), [ClientFrame::SessionSetting { session_id, setting, choice }]);
}
