//! The auditor: compares the responses that clients got with the stored state.

mod leftovers;
mod log;
mod prompts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::clients::text_of;
use super::http::Endpoint;
use super::ledger::{Ack, LedgerRecords, Prompt};
use super::machine::Machine;

pub(super) use leftovers::{can_read_database, leftovers};

/// How long turns may take to end once all clients have stopped.
const SETTLE_MAX: Duration = Duration::from_secs(120);
/// How many prompts are searched for.
const SEARCHED: usize = 20;

/// Everything that is stored of sessions.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// The messages of each session, first to last.
    pub(super) logs: BTreeMap<String, Vec<Value>>,
    /// The prompts that wait in each session.
    pub(super) queues: BTreeMap<String, Vec<Value>>,
}

/// Cancels running turns, and reports those that do not end.
pub(super) fn settle(endpoint: &Endpoint, findings: &mut Vec<String>) {
    let deadline = Instant::now() + SETTLE_MAX;
    loop {
        let sessions = sessions(endpoint);
        let busy: Vec<&Value> =
            sessions.iter().filter(|session| is_busy(endpoint, session)).collect();
        if busy.is_empty() && !sessions.is_empty() {
            return;
        }
        if Instant::now() > deadline {
            let ids: Vec<String> = busy.iter().map(|it| text_of(it, "id")).collect();
            findings.push(format!("turns that do not end: {}", ids.join(", ")));
            return;
        }
        for session in busy {
            endpoint.call(
                "POST",
                &format!("/api/sessions/{}/cancel", text_of(session, "id")),
                None,
            );
        }
        let inbox = endpoint.get("/api/inbox").unwrap_or_default();
        for item in inbox.get("items").and_then(Value::as_array).into_iter().flatten() {
            if text_of(item, "kind") == "permission" {
                let path = format!("/api/inbox/{}/reject", text_of(item, "id"));
                endpoint.call("POST", &path, Some(&json!({})));
            }
        }
        thread::sleep(Duration::from_millis(300));
    }
}

/// Whether a turn runs, or an agent has output after its turn that may continue.
fn is_busy(endpoint: &Endpoint, session: &Value) -> bool {
    let next = number_of(session, "messageCount") + 1;
    let path = format!("/api/sessions/{}/messages?before={next}&limit=1", text_of(session, "id"));
    let last = endpoint.get(&path).unwrap_or_default();
    let is_partial = last.pointer("/0/content/partial") == Some(&Value::Bool(true));
    is_partial || text_of(session, "activity") != "idle"
}

fn sessions(endpoint: &Endpoint) -> Vec<Value> {
    let list = endpoint.get("/api/sessions?limit=10000").unwrap_or_default();
    list.get("sessions").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Reads everything, and reports inconsistencies: gaps, duplicates, times that go back, open messages.
pub(super) fn read(endpoint: &Endpoint, findings: &mut Vec<String>) -> Stored {
    let mut stored = Stored::default();
    let mut ids = BTreeSet::new();
    for session in sessions(endpoint) {
        let id = text_of(&session, "id");
        let list = |query: &str| match endpoint.get(&format!("/api/sessions/{id}/messages{query}"))
        {
            Some(Value::Array(messages)) => Some(messages),
            _ => None,
        };
        let state = endpoint.get(&format!("/api/sessions/{id}/state"));
        let (Some(messages), Some(changed), Some(state)) = (list(""), list("?after=0"), state)
        else {
            findings.push(format!("the messages of {id} cannot be read"));
            continue;
        };
        let count = session.get("messageCount").and_then(Value::as_u64);
        if count != Some(messages.len() as u64) {
            findings.push(format!("{id} has {} messages and says {count:?}", messages.len()));
        }
        log::check(&id, &messages, findings);
        log::check_feed(&id, &messages, &changed, number_of(&state, "rev"), findings);
        for message in &messages {
            if !ids.insert(text_of(message, "id")) {
                findings.push(format!("the message {} is there twice", text_of(message, "id")));
            }
        }
        stored.queues.insert(id.clone(), prompts::queue(&state));
        stored.logs.insert(id, messages);
    }
    stored
}

/// Compares the responses that clients of the daemon got with the stored state.
pub(super) fn compare(
    endpoint: &Endpoint,
    records: &LedgerRecords,
    stored: &Stored,
    findings: &mut Vec<String>,
) {
    prompts::compare(records, stored, findings);
    log::shown(records, stored, findings);
    log::verdicts(records, stored, findings);
    search(endpoint, records, findings);
}

/// Checks that prompts are found by search.
fn search(endpoint: &Endpoint, records: &LedgerRecords, findings: &mut Vec<String>) {
    let is_sent = |prompt: &Prompt| prompt.ack == Ack::Done && prompt.change.is_none();
    let done = records.prompts.iter().filter(|(_, prompt)| is_sent(prompt));
    for (text, _) in done.take(SEARCHED) {
        let word = prompts::mark(text);
        let hits = endpoint.get(&format!("/api/search?q={word}")).unwrap_or_default();
        if hits.get("hits").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            findings.push(format!("stored and not found: {text:?}"));
        }
    }
}

/// A number of an object, or 0.
fn number_of(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// Compares the output that askers, answerers and REPLs got with the files.
pub(super) fn compare_files(
    machine: &Machine,
    records: &LedgerRecords,
    findings: &mut Vec<String>,
) {
    let questions = machine.home().join("questions");
    let read = |id: &str, name: &str| -> Option<Value> {
        serde_json::from_slice(&fs::read(questions.join(id).join(name)).ok()?).ok()
    };
    for id in &records.asked {
        if read(id, "request.json").is_none() || read(id, "status.json").is_none() {
            findings.push(format!("lost: the questions {id}"));
        }
    }
    for (id, label) in &records.answered {
        let status = read(id, "status.json").map(|status| text_of(&status, "status"));
        let answers = read(id, "answers.json").unwrap_or_default();
        let chosen = answers.pointer("/answers/0/selectedOption").and_then(Value::as_str);
        if status.as_deref() != Some("completed") || chosen != Some(label) {
            findings.push(format!("lost: the answer {label} to {id} ({status:?}, {chosen:?})"));
        }
    }
    for id in records.said.values().map(|(id, _)| id).collect::<BTreeSet<_>>() {
        let path = machine.home().join(format!("spawn/sessions/{id}.jsonl"));
        compare_transcript(&path, id, records, findings);
    }
}

fn compare_transcript(path: &Path, id: &str, records: &LedgerRecords, findings: &mut Vec<String>) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut said: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        match serde_json::from_str::<Value>(line) {
            Ok(turn) if text_of(&turn, "role") == "user" => {
                *said.entry(text_of(&turn, "content")).or_default() += 1;
            }
            Ok(_) => {}
            Err(error) => findings.push(format!("{id}.jsonl:{}: {error}", number + 1)),
        }
    }
    for (text, (_, ack)) in records.said.iter().filter(|(_, (session, _))| session == id) {
        match (ack, said.get(text).copied().unwrap_or_default()) {
            (Ack::Done, 0) => findings.push(format!("lost in {id}: {text:?}")),
            (_, 2..) => findings.push(format!("twice in {id}: {text:?}")),
            (Ack::Done, _) | (Ack::Unknown | Ack::Refused, _) => {}
        }
    }
}
