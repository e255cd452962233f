//! What must hold of every log, whatever happened to it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::clients::text_of;
use super::super::ledger::Book;
use super::Stored;

/// Tells what is wrong with a log: places, moments, and turns without an end or with two.
pub(super) fn check(session: &str, messages: &[Value], findings: &mut Vec<String>) {
    let mut ends: BTreeMap<u64, usize> = BTreeMap::new();
    let mut prompts = Vec::new();
    let mut before = String::new();
    for (index, message) in messages.iter().enumerate() {
        let seq = message.get("seq").and_then(Value::as_u64).unwrap_or_default();
        if seq != index as u64 + 1 {
            findings.push(format!("{session}: message {} has the number {seq}", index + 1));
        }
        let at = text_of(message, "timestamp");
        if at < before {
            findings.push(format!("{session}: message {seq} is earlier than the one before"));
        }
        before = at;
        if text_of(message, "role") == "user" {
            prompts.push(seq);
        }
        let content = message.get("content").unwrap_or(&Value::Null);
        if text_of(content, "event") == "turn_ended" {
            let turn = content.get("turn").and_then(Value::as_u64).unwrap_or_default();
            *ends.entry(turn).or_default() += 1;
        }
    }
    for prompt in prompts {
        match ends.remove(&prompt) {
            Some(1) => {}
            None => findings.push(format!("{session}: the turn of prompt {prompt} has no end")),
            Some(count) => {
                findings
                    .push(format!("{session}: the turn of prompt {prompt} ended {count} times"));
            }
        }
    }
    for turn in ends.keys() {
        findings.push(format!("{session}: a turn {turn} ended that never began"));
    }
}

/// Compares the permissions that were answered with what their logs say of them last.
pub(super) fn verdicts(book: &Book, stored: &Stored, findings: &mut Vec<String>) {
    let mut last: BTreeMap<String, &Value> = BTreeMap::new();
    for message in stored.logs.values().flatten() {
        let content = message.get("content").unwrap_or(&Value::Null);
        if text_of(content, "type") == "permission" {
            last.insert(text_of(content, "requestId"), content);
        }
    }
    for (id, option) in &book.verdicts {
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

    fn message(seq: u64, at: &str, role: &str, content: &Value) -> Value {
        json!({"seq": seq, "timestamp": at, "role": role, "content": content})
    }

    #[test]
    fn a_log_without_fault_has_no_finding_and_every_fault_has_one() {
        let end = |turn: u64| json!({"type": "notice", "event": "turn_ended", "turn": turn});
        let prompt = message(1, "a", "user", &json!({"type": "text"}));
        let ended = |seq: u64| message(seq, "a", "system", &end(1));
        assert_eq!(found(&[prompt.clone(), ended(2)]), [""; 0]);
        assert_eq!(found(std::slice::from_ref(&prompt)), ["s: the turn of prompt 1 has no end"]);
        let twice = [prompt.clone(), ended(2), ended(3)];
        assert_eq!(found(&twice), ["s: the turn of prompt 1 ended 2 times"]);
        assert_eq!(found(&[prompt, ended(3)]), ["s: message 2 has the number 3"]);
        let back = [message(1, "b", "agent", &json!({})), message(2, "a", "system", &end(7))];
        assert_eq!(
            found(&back),
            ["s: message 2 is earlier than the one before", "s: a turn 7 ended that never began"]
        );
    }
}
