//! Invariants of several nodes: one history for all of them, one writer for each session, every
//! command once.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::super::audit::{self, Stored};
use super::super::clients::text_of;
use super::super::ledger::{Ack, Ledger, LedgerRecords};
use super::super::{Machine, Totals};
use super::Nodes;

/// How long commands may take after all clients have stopped.
const SETTLE_MAX: Duration = Duration::from_secs(120);

/// Queries of the database whose result must be 0.
const QUESTIONS: [(&str, &str); 7] = [
    (
        "two messages of a session have the same revision",
        "SELECT count(*) FROM (SELECT 1 FROM messages GROUP BY session, rev HAVING count(*) > 1) AS t",
    ),
    (
        "two messages of a session have the same place",
        "SELECT count(*) FROM (SELECT 1 FROM messages GROUP BY session, seq HAVING count(*) > 1) AS t",
    ),
    (
        "a message is newer than its session",
        "SELECT count(*) FROM messages AS m JOIN agent_sessions AS s ON s.n = m.session
         WHERE m.rev > s.rev OR m.seq > s.last_seq",
    ),
    (
        "the pieces of an answer outlive it",
        "SELECT count(*) FROM deltas AS d JOIN messages AS m
             ON m.session = d.session AND m.seq = d.seq
         WHERE m.open = 0",
    ),
    (
        "a session belongs to another node than its project",
        "SELECT count(*) FROM agent_sessions AS s JOIN projects AS p ON p.id = s.project_id
         WHERE s.node IS DISTINCT FROM p.node",
    ),
    ("a session has not arrived where it was moved", "SELECT count(*) FROM session_moves"),
    ("files of a move are left", "SELECT count(*) FROM session_move_parts"),
];

/// Waits until everything is idle, and compares.
pub(super) fn examine(nodes: &Nodes, ledger: &Ledger, total: &mut Totals) -> Result<Vec<String>> {
    for machine in &nodes.machines {
        machine.ended();
        if machine.is_deserted()
            && let Some(status) = machine.start_daemon()?
        {
            anyhow::bail!("a node does not start any more: {status}\n{}", machine.daemon_words());
        }
    }
    let mut records = ledger.records();
    let mut findings = std::mem::take(&mut records.findings);
    moves_end(nodes);
    commands_end(nodes, &mut findings);
    let endpoints = nodes.machines.iter().map(Machine::endpoint).collect::<Option<Vec<_>>>();
    let endpoints = endpoints.context("a node does not say where it is")?;
    let (first, others) = endpoints.split_first().context("there is no node")?;
    audit::settle(first, &mut findings);
    let stored = audit::read(first, &mut findings);
    for (number, endpoint) in others.iter().enumerate() {
        let seen = audit::read(endpoint, &mut Vec::new());
        if seen.logs != stored.logs || seen.queues != stored.queues {
            findings.push(format!("node-{} shows another history than node-0", number + 1));
        }
    }
    forget_refused(&mut records, &stored);
    audit::compare(first, &records, &stored, &mut findings);
    renames(&records, &stored, &mut findings);
    database(nodes, &mut findings);
    total.add(&records, &stored);
    let renamed = records.renames.values().filter(|(_, ack)| *ack == Ack::Done).count();
    total.counts.insert("titles given", renamed as u64);
    let arrived = "SELECT count(*) FROM messages WHERE content LIKE '%\"event\":\"moved\"%'";
    let arrived = nodes.database.value(arrived).and_then(|count| count.parse().ok());
    total.counts.insert("sessions moved", arrived.unwrap_or_default());
    let starts: u64 = nodes.machines.iter().map(Machine::starts).sum();
    total.counts.insert("starts of nodes", starts);
    Ok(findings)
}

/// Waits until every session has arrived where it was moved; the questions to the database find one that has not.
fn moves_end(nodes: &Nodes) {
    let deadline = Instant::now() + SETTLE_MAX;
    let moving = "SELECT count(*) FROM session_moves";
    while nodes.database.value(moving).is_some_and(|count| count != "0") {
        if Instant::now() > deadline {
            return;
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// Waits until every node has executed the commands of the others.
fn commands_end(nodes: &Nodes, findings: &mut Vec<String>) {
    let deadline = Instant::now() + SETTLE_MAX;
    let waiting = "SELECT count(*) FROM node_commands WHERE finished_at IS NULL";
    while let Some(count) = nodes.database.value(waiting).filter(|count| count != "0") {
        if Instant::now() > deadline {
            let oldest = "SELECT request FROM node_commands WHERE finished_at IS NULL ORDER BY id";
            let oldest = nodes.database.value(oldest).unwrap_or_default();
            findings
                .push(format!("{count} commands wait for nodes that run, the first is {oldest}"));
            return;
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// Removes the prompts that their node refused after a wait: the notice in the log reports them to their senders.
fn forget_refused(records: &mut LedgerRecords, stored: &Stored) {
    for message in stored.logs.values().flatten() {
        let content = message.get("content").unwrap_or(&Value::Null);
        if text_of(content, "event") == "prompt_refused"
            && let Some(prompt) = records.prompts.get_mut(&text_of(content, "prompt"))
        {
            prompt.ack = Ack::Refused;
        }
    }
}

/// Checks that every title was set once, on the intended session.
fn renames(records: &LedgerRecords, stored: &Stored, findings: &mut Vec<String>) {
    let mut given: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (session, messages) in &stored.logs {
        for message in messages {
            let content = message.get("content").unwrap_or(&Value::Null);
            if text_of(content, "event") == "renamed" {
                given.entry(text_of(content, "title")).or_default().push(session);
            }
        }
    }
    for (title, (session, ack)) in &records.renames {
        let given = given.get(title).map(Vec::as_slice).unwrap_or_default();
        match (ack, given) {
            (_, [_, _, ..]) => findings.push(format!("a command ran twice: the title {title:?}")),
            (Ack::Done, []) => findings.push(format!("lost: the title {title:?}")),
            (Ack::Refused, [_]) => findings.push(format!("refused and given: {title:?}")),
            (Ack::Done | Ack::Unknown, [other]) if other != session => {
                findings.push(format!("the title {title:?} was given to {other}"));
            }
            (Ack::Done | Ack::Unknown, [_]) | (Ack::Unknown | Ack::Refused, []) => {}
        }
    }
}

fn database(nodes: &Nodes, findings: &mut Vec<String>) {
    let value = |sql: &str| nodes.database.value(sql).unwrap_or_default();
    for (what, sql) in QUESTIONS {
        let count = value(sql);
        if count != "0" {
            findings.push(format!("{what}: {count} times"));
        }
    }
    if value("SELECT count(*) FROM nodes") != nodes.machines.len().to_string() {
        findings.push("there are more nodes than were started".to_owned());
    }
    for (number, machine) in nodes.machines.iter().enumerate() {
        let epoch = value(&format!("SELECT epoch FROM nodes WHERE name = 'node-{number}'"));
        // A start may have been killed before it joined.
        if epoch.parse::<u64>().is_ok_and(|epoch| epoch > machine.starts()) {
            let starts = machine.starts();
            findings.push(format!("node-{number} is at epoch {epoch} after {starts} starts"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::ledger::Prompt;
    use super::*;

    fn stored(contents: Vec<Value>) -> Stored {
        let mut stored = Stored::default();
        let messages = contents.into_iter().map(|content| json!({"content": content})).collect();
        stored.logs.insert("s".to_owned(), messages);
        stored
    }

    #[test]
    fn n9_a_command_that_ran_twice_or_was_lost_is_found() {
        let renamed = |title: &str| json!({"event": "renamed", "title": title});
        let log = stored(vec![renamed("once"), renamed("twice"), renamed("twice"), renamed("no")]);
        let mut records = LedgerRecords::default();
        let given = [
            ("once", "s", Ack::Done),
            ("twice", "s", Ack::Unknown),
            ("no", "s", Ack::Refused),
            ("lost", "s", Ack::Done),
            ("unknown", "s", Ack::Unknown),
        ];
        for (title, session, ack) in given {
            records.renames.insert(title.to_owned(), (session.to_owned(), ack));
        }
        let mut findings = Vec::new();
        renames(&records, &log, &mut findings);
        let expected = [
            "lost: the title \"lost\"",
            "refused and given: \"no\"",
            "a command ran twice: the title \"twice\"",
        ];
        assert_eq!(findings, expected);
    }

    #[test]
    fn n9_a_prompt_that_was_refused_in_the_log_is_not_lost() {
        let log = stored(vec![json!({"event": "prompt_refused", "prompt": "n1n a", "why": "w"})]);
        let mut records = LedgerRecords::default();
        records.prompts.insert("n1n a".to_owned(), Prompt::unchanged(Ack::Done, None));
        records.prompts.insert("n2n b".to_owned(), Prompt::unchanged(Ack::Done, None));
        forget_refused(&mut records, &log);
        let acks: Vec<Ack> = records.prompts.values().map(|prompt| prompt.ack).collect();
        assert_eq!(acks, [Ack::Refused, Ack::Done]);
    }
}
