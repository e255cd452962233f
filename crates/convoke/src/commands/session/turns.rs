//! Which turn is meant: people number a session's turns from 1, and the daemon names them by the seqs of their prompts.

use convoke_api::bodies::{SessionChanges, code};
use convoke_api::{Client, Error, Transcript};
use convoke_core::message::Seq;
use convoke_core::turn::TurnNumbers;

/// Why there is no such turn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnError {
    /// The session has fewer turns.
    #[error("there is no turn {number}; the session has {}", counted(*last))]
    Unknown {
        /// The number that was given.
        number: u64,
        /// The number of the last turn.
        last: u64,
    },
    /// The turn has no checkpoint.
    #[error(
        "there is no checkpoint of turn {number}; there are checkpoints of {}",
        listed(numbers)
    )]
    NoCheckpoint {
        /// The number that was given.
        number: u64,
        /// Those of the turns that have checkpoints.
        numbers: Vec<u64>,
    },
}

/// The prompt of the turn with this number.
pub(super) async fn prompt(client: &Client, id: &str, number: u64) -> anyhow::Result<Seq> {
    let Transcript { mut messages, .. } = client.transcript(id).await?;
    let mut turns = TurnNumbers::default();
    while let Some(message) = messages.next().await? {
        if turns.count(&message) == Some(number) {
            return Ok(message.seq);
        }
    }
    Err(TurnError::Unknown { number, last: turns.last() }.into())
}

/// The error of a call about a turn, with the numbers of the turns that have checkpoints.
pub(super) async fn explain(client: &Client, id: &str, number: u64, error: Error) -> anyhow::Error {
    if !is_no_checkpoint(&error) {
        return error.into();
    }
    // The session itself may have no checkpoint; the first error says so as well.
    match client.changes(id, None).await {
        Ok(SessionChanges { numbers, .. }) if !numbers.contains(&number) => {
            TurnError::NoCheckpoint { number, numbers }.into()
        }
        Ok(_) | Err(_) => error.into(),
    }
}

fn is_no_checkpoint(error: &Error) -> bool {
    let problem = error.problem();
    problem.is_some_and(|it| it.status == 404 && it.code != code::SESSION_NOT_FOUND)
}

fn counted(last: u64) -> String {
    match last {
        0 => "none".to_owned(),
        1 => "turn 1 alone".to_owned(),
        last => format!("turns 1 to {last}"),
    }
}

fn listed(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match numbers.len() {
        0 => "none".to_owned(),
        1 => format!("turn {}", numbers.concat()),
        _ => format!("turns {}", numbers.join(", ")),
    }
}
