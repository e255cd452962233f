//! Invariants of every conversation, whatever faults it went through.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::clients::text_of;
use super::super::ledger::LedgerRecords;
use super::{Stored, number_of};

/// Reports errors in a conversation without a running turn: places, times, and messages that are still open.
pub(super) fn check(session: &str, messages: &[Value], findings: &mut Vec<String>) {
    let mut stops: BTreeMap<u64, String> = BTreeMap::new();
    let mut before = String::new();
    for (index, message) in messages.iter().enumerate() {
        let seq = number_of(message, "seq");
        if seq != index as u64 + 1 {
            findings.push(format!("{session}: message {} has the place {seq}", index + 1));
        }
        let at = text_of(message, "timestamp");
        if at < before {
            findings.push(format!("{session}: message {seq} is earlier than the one before"));
        }
        before = at;
        if let Some(why) = open(message) {
            findings.push(format!("{session}: message {seq} is open: {why}"));
        }
        if let Some(turn) = message.get("turn") {
            stops.insert(seq, text_of(turn, "stopReason"));
        }
        let content = message.get("content").unwrap_or(&Value::Null);
        if text_of(content, "event") == "turn_ended" {
            let (turn, stop) = (number_of(content, "turn"), text_of(content, "stopReason"));
            // Each prompt has one notice at most, with the same end.
            if stops.remove(&turn).as_ref() != Some(&stop) {
                findings.push(format!("{session}: message {seq} ends turn {turn} with {stop}"));
            }
        }
    }
}

/// Why more changes of a message are expected, if they are.
fn open(message: &Value) -> Option<String> {
    let content = message.get("content").unwrap_or(&Value::Null);
    let status = text_of(content, "status");
    if content.get("partial") == Some(&Value::Bool(true)) {
        return Some("its words are partial".to_owned());
    }
    if matches!(status.as_str(), "running" | "pending") && text_of(content, "type") != "notice" {
        return Some(format!("its status is {status}"));
    }
    let turn = message.get("turn").map(|turn| text_of(turn, "status"));
    let is_prompt = text_of(message, "role") == "user";
    (is_prompt && turn.as_deref() != Some("ended")).then(|| format!("its turn is {turn:?}"))
}

/// Compares the change feed with the conversation: every message once, by revisions that grow up to the session's.
pub(super) fn check_feed(
    session: &str,
    messages: &[Value],
    changed: &[Value],
    newest: u64,
    findings: &mut Vec<String>,
) {
    let mut before = 0;
    for message in changed {
        let rev = number_of(message, "rev");
        if rev <= before {
            findings.push(format!("{session}: revision {rev} comes after {before}"));
        }
        before = rev;
    }
    if before > newest {
        findings.push(format!("{session}: revision {before} is newer than the session's {newest}"));
    }
    let mut sorted: Vec<&Value> = changed.iter().collect();
    sorted.sort_by_key(|message| number_of(message, "seq"));
    if !sorted.into_iter().eq(messages) {
        findings.push(format!("{session}: the messages by revision are not those by place"));
    }
}

/// Compares what watchers received with the stored state.
pub(super) fn shown(records: &LedgerRecords, stored: &Stored, findings: &mut Vec<String>) {
    for (session, message) in &records.shown {
        let (seq, rev) = (number_of(message, "seq"), number_of(message, "rev"));
        let index = usize::try_from(seq.wrapping_sub(1)).unwrap_or(usize::MAX);
        let kept = stored.logs.get(session).and_then(|log| log.get(index));
        let kept = kept.filter(|kept| kept.get("id") == message.get("id"));
        let Some(kept) = kept.filter(|kept| number_of(kept, "rev") >= rev) else {
            findings.push(format!("shown and not stored: message {seq} of {session} at {rev}"));
            continue;
        };
        let is_same = |key: &str| kept.get(key) == message.get(key);
        if number_of(kept, "rev") == rev && !["role", "content", "turn"].into_iter().all(is_same) {
            findings.push(format!("message {seq} of {session} was shown otherwise than stored"));
        }
    }
}

/// Compares the permissions that were answered with their last state in the logs.
pub(super) fn verdicts(records: &LedgerRecords, stored: &Stored, findings: &mut Vec<String>) {
    let mut last: BTreeMap<String, &Value> = BTreeMap::new();
    for message in stored.logs.values().flatten() {
        let content = message.get("content").unwrap_or(&Value::Null);
        if text_of(content, "type") == "permission" {
            last.insert(text_of(content, "requestId"), content);
        }
    }
    for (id, option) in &records.verdicts {
        let chosen = last.get(id).map(|content| text_of(content, "optionId"));
        if chosen.as_ref() != Some(option) {
            findings.push(format!("lost: the answer {option} to permission {id} ({chosen:?})"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(messages: &[Value]) -> Vec<String> {
        let mut findings = Vec::new();
        check("s", messages, &mut findings);
        findings
    }

    fn message(seq: u64, at: &str, content: &Value) -> Value {
        json!({"seq": seq, "timestamp": at, "role": "agent", "content": content})
    }

    fn prompt(turn: &Value) -> Value {
        json!({"seq": 1, "timestamp": "a", "role": "user", "content": {"type": "text"}, "turn": turn})
    }

    #[test]
    fn a_conversation_without_fault_has_no_finding_and_every_fault_has_one() {
        let ended = |stop: &str| prompt(&json!({"status": "ended", "stopReason": stop}));
        let notice = |turn: u64, stop: &str| json!({"type": "notice", "event": "turn_ended", "turn": turn, "stopReason": stop});
        let end = |seq: u64| message(seq, "a", &notice(1, "cancelled"));
        assert_eq!(found(&[ended("end_turn")]), [""; 0]);
        assert_eq!(found(&[ended("cancelled"), end(2)]), [""; 0]);
        assert_eq!(
            found(&[prompt(&json!({"status": "running"}))]),
            ["s: message 1 is open: its turn is Some(\"running\")"]
        );
        assert_eq!(
            found(&[ended("cancelled"), end(2), end(3)]),
            ["s: message 3 ends turn 1 with cancelled"]
        );
        assert_eq!(
            found(&[ended("end_turn"), end(2)]),
            ["s: message 2 ends turn 1 with cancelled"]
        );
        assert_eq!(found(&[ended("cancelled"), end(3)]), ["s: message 2 has the place 3"]);
        let partial = json!({"type": "text", "text": "a", "partial": true});
        let tool = json!({"type": "tool", "status": "running"});
        assert_eq!(
            found(&[message(1, "b", &partial), message(2, "a", &tool)]),
            [
                "s: message 1 is open: its words are partial",
                "s: message 2 is earlier than the one before",
                "s: message 2 is open: its status is running",
            ]
        );
    }

    #[test]
    fn a_change_feed_has_every_message_once_and_its_revisions_grow() {
        let feed = |changed: &[Value], newest: u64| {
            let messages = [json!({"seq": 1, "rev": 4}), json!({"seq": 2, "rev": 3})];
            let mut findings = Vec::new();
            check_feed("s", &messages, changed, newest, &mut findings);
            findings
        };
        let (one, two) = (json!({"seq": 1, "rev": 4}), json!({"seq": 2, "rev": 3}));
        assert_eq!(feed(&[two.clone(), one.clone()], 5), [""; 0]);
        assert_eq!(feed(&[one.clone(), two.clone()], 5), ["s: revision 3 comes after 4"]);
        assert_eq!(
            feed(std::slice::from_ref(&one), 5),
            ["s: the messages by revision are not those by place"]
        );
        assert_eq!(feed(&[two, one], 3), ["s: revision 4 is newer than the session's 3"]);
    }
}
