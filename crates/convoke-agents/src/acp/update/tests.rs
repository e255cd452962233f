//! Updates of every kind, as agents were seen to send them.

use convoke_core::notice::Event;
use serde_json::{Value, json};

use super::*;
use crate::acp::tests::scene::reported;

fn handle(source: UpdateSource, updates: impl IntoIterator<Item = Value>) -> String {
    let mut translator = Translator::default();
    let reports =
        updates.into_iter().filter_map(|update| translator.handle(&update, source, &|_| None));
    reports.map(|report| reported(&report)).collect::<Vec<_>>().join("\n")
}

fn every_kind() -> Vec<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    vec![
        json!({"sessionUpdate": "agent_message_chunk", "content": text("ECHO tur"), "messageId": "msg_1"}),
        json!({"content": text(""), "_meta": {"usage": {}}, "sessionUpdate": "agent_message_chunk"}),
        json!({"sessionUpdate": "agent_thought_chunk", "content": text("****\npondering")}),
        json!({"sessionUpdate": "user_message_chunk", "content": text("echoed prompt")}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x"}),
        json!({"sessionUpdate": "plan", "entries": [
            {"content": "first", "priority": "high", "status": "completed"},
            {"content": "second", "priority": "urgent", "status": "in_progress"},
            {"content": "third"},
            {"status": "pending"},
        ]}),
        json!({"sessionUpdate": "usage_update", "used": 11734, "size": 1_000_000, "cost": {"amount": 0.14, "currency": "USD"}}),
        json!({"sessionUpdate": "usage_update"}),
        json!({"sessionUpdate": "session_info_update", "title": "hello one", "updatedAt": "2026-11-15T00:00:00Z"}),
        json!({"sessionUpdate": "session_info_update", "_meta": {"goose": {"activeRunId": "r"}}}),
        json!({"sessionUpdate": "config_option_update", "configOptions": [{"id": "effort", "name": "Effort", "category": "thought_level", "currentValue": "low", "options": []}]}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "https://agentclientprotocol.com/protocol/session-modes#agent"}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "init", "description": "Begins"}], "_meta": {"availableSkillDetails": "x".repeat(500_000)}}),
        json!({"sessionUpdate": "notice", "severity": "warning", "title": "Low on credit", "description": "Soon over"}),
        json!({"sessionUpdate": "notice"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "failed", "error": "no model"}),
        json!({"sessionUpdate": "subagent_update", "sessionId": "child"}),
        json!({"sessionUpdate": 5}),
        json!(null),
    ]
}

#[test]
fn every_kind_of_update_is_translated() {
    insta::assert_snapshot!(handle(UpdateSource::Live, every_kind()), @r#"
    ! said "ECHO tur"
    ! thought "****\npondering"
    ! tool t, title "x"
    ! planned [{"content":"first","status":"completed","priority":"high"},{"content":"second","status":"in_progress"},{"content":"third","status":"pending"}]
    ! state {"kind":"usage","contextUsed":11734,"contextSize":1000000,"cost":{"amount":0.14,"currency":"USD"}}
    ! state {"kind":"settings","settings":[{"id":"effort","name":"Effort","category":"thought_level","current":"low","choices":[]}]}
    ! state {"kind":"modes","current":"https://agentclientprotocol.com/protocol/session-modes#agent","available":[]}
    ! state {"kind":"commands","commands":[{"name":"init","description":"Begins"}]}
    ! noticed {"event":"advice","severity":"warning","text":"Low on credit: Soon over"}
    ! noticed {"event":"compacted","text":"The agent compacted its context."}
    ! noticed {"event":"advice","severity":"error","text":"The agent could not compact its context: no model"}
    ! noticed {"event":"unknown","kind":"subagent_update","payload":{"sessionId":"child","sessionUpdate":"subagent_update"},"text":"The agent sent an update of an unknown kind: subagent_update."}
    "#);
}

#[test]
fn a_replay_reports_only_current_state() {
    insta::assert_snapshot!(handle(UpdateSource::Replay, every_kind()), @r#"
    ! state {"kind":"settings","settings":[{"id":"effort","name":"Effort","category":"thought_level","current":"low","choices":[]}]}
    ! state {"kind":"modes","current":"https://agentclientprotocol.com/protocol/session-modes#agent","available":[]}
    ! state {"kind":"commands","commands":[{"name":"init","description":"Begins"}]}
    "#);
}

#[test]
fn an_unknown_update_is_kept_short_and_not_too_often() {
    let flood = || json!({"sessionUpdate": "smoke_signal", "data": "x".repeat(100_000)});
    let mut translator = Translator::default();
    let mut handle = || translator.handle(&flood(), UpdateSource::Live, &|_| None);
    let Some(Report::Noticed(Notice {
        event: Event::Agent(AgentEvent::Unknown { kind, payload }),
        ..
    })) = handle()
    else {
        panic!("nothing was reported")
    };
    assert_eq!(kind, "smoke_signal");
    assert!(payload.to_string().len() < 17_000);
    assert_eq!((0..100).filter(|_| handle().is_some()).count(), 63);
    translator.begin_turn();
    assert!(translator.handle(&flood(), UpdateSource::Live, &|_| None).is_some());
}

#[test]
fn long_words_are_cut() {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x".repeat(3 << 20)}});
    let report = Translator::default().handle(&update, UpdateSource::Live, &|_| None);
    let Some(Report::Said(text)) = report else { panic!("{report:?}") };
    assert!(text.len() <= 1 << 20 && text.ends_with("xx"));
    assert!(text.contains("\n[… 2097224 bytes left out by Convoke …]\n"));
}
