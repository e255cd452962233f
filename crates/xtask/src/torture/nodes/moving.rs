//! Moves sessions from one node to another while clients prompt and watch them.

use std::time::Duration;

use anyhow::Result;
use convoke_testkit::bench::random::Random;
use serde_json::json;

use super::super::faults::Made;
use super::super::http::{Answer, Outcome};
use super::super::ledger::Ledger;
use super::super::machine::Machine;
use super::Nodes;

/// Sessions that are moved at once.
const SESSIONS: u32 = 3;
/// The polling interval of the database.
const PAUSE: Duration = Duration::from_millis(50);

/// Where the sessions are that move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// On a node that runs.
    Running,
    /// On a node that is stopped, and whose lease has expired.
    Away,
}

/// Moves some sessions of a node to another one. Refusals are fine; an internal error is not.
pub(super) fn move_sessions(
    nodes: &Nodes,
    number: usize,
    from: From,
    random: &mut Random,
    ledger: &Ledger,
) -> Result<Made> {
    let others: Vec<usize> = (0..nodes.machines.len()).filter(|other| *other != number).collect();
    let Some(to) = others.get(random.below(others.len().max(1) as u64) as usize).copied() else {
        return Ok(Made::No);
    };
    let Some(project) = nodes.database.value(&format!(
        "SELECT p.id FROM projects AS p JOIN nodes AS n ON n.id = p.node
         WHERE n.name = 'node-{to}' AND p.removed_at IS NULL ORDER BY random() LIMIT 1"
    )) else {
        return Ok(Made::No);
    };
    let sessions = nodes.database.value(&format!(
        "SELECT string_agg(id, ' ') FROM (SELECT s.id FROM agent_sessions AS s
             JOIN nodes AS n ON n.id = s.node
             WHERE n.name = 'node-{number}' AND s.kind = 'session' AND s.worktree IS NULL
             ORDER BY random() LIMIT {SESSIONS}) AS t"
    ));
    // Any node may be asked, except one that is suspended.
    let asked = others.get(random.below(others.len().max(1) as u64) as usize).copied();
    let endpoint = asked.and_then(|asked| nodes.machines.get(asked)).and_then(Machine::endpoint);
    let Some(endpoint) = endpoint else { return Ok(Made::No) };
    let mut made = Made::No;
    for session in sessions.unwrap_or_default().split(' ').filter(|id| !id.is_empty()) {
        let body = match from {
            From::Running => json!({"to": format!("node-{to}"), "project": project, "stop": true}),
            From::Away => json!({"to": format!("node-{to}"), "project": project, "fromAway": true}),
        };
        match endpoint.call("POST", &format!("/api/sessions/{session}/move"), Some(&body)) {
            Outcome::Answered(Answer { status: 200, .. }) => made = Made::Yes,
            Outcome::Answered(Answer { status: 500, body }) => {
                ledger.complain(format!("a move of {session} to node-{to} is answered {body}"));
            }
            Outcome::Answered(_) | Outcome::Unknown | Outcome::NotSent => {
                std::thread::sleep(PAUSE);
            }
        }
    }
    Ok(made)
}
