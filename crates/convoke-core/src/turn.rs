//! The life of a turn: one prompt until its stop reason. A turn always ends.

mod numbers;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use numbers::TurnNumbers;

/// The state of a turn, tagged by `status`. A prompt that waits in the queue has no turn yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Turn {
    /// The agent works on it.
    Running,
    /// The agent was asked to stop and has not yet confirmed it.
    Cancelling,
    /// It has ended.
    Ended(Stop),
}

/// A command to a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Cancel it, at a human's request.
    Cancel,
    /// It has ended.
    End(Stop),
}

/// An action at the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Tell it to stop.
    Cancel,
}

/// Why a turn refuses a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The turn is over.
    #[error("the turn has already ended")]
    Ended,
}

impl Turn {
    /// Decides what follows from a command.
    pub fn handle(&self, command: Command) -> Result<(Self, Option<Effect>), Refusal> {
        match (self, command) {
            (Self::Running, Command::Cancel) => Ok((Self::Cancelling, Some(Effect::Cancel))),
            (Self::Cancelling, Command::Cancel) => Ok((Self::Cancelling, None)),
            // Some agents answer a cancel with an error; the human asked for it, so it is not a failure.
            (Self::Cancelling, Command::End(Stop::Failed(_))) => {
                Ok((Self::Ended(Stop::Cancelled), None))
            }
            (Self::Running | Self::Cancelling, Command::End(stop)) => Ok((Self::Ended(stop), None)),
            (Self::Ended(_), Command::Cancel | Command::End(_)) => Err(Refusal::Ended),
        }
    }

    /// Whether it has ended.
    pub const fn is_over(&self) -> bool {
        match self {
            Self::Ended(_) => true,
            Self::Running | Self::Cancelling => false,
        }
    }

    /// How it ended, once it has.
    pub const fn stop(&self) -> Option<&Stop> {
        match self {
            Self::Ended(stop) => Some(stop),
            Self::Running | Self::Cancelling => None,
        }
    }
}

/// How a turn ended, tagged by `stopReason`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "stopReason", rename_all = "snake_case")]
pub enum Stop {
    /// The agent ended the turn.
    EndTurn,
    /// A human stopped it.
    Cancelled,
    /// The model refused.
    Refusal,
    /// The model reached its token limit.
    MaxTokens,
    /// The agent took as many steps as it may in one turn.
    MaxTurnRequests,
    /// It broke off.
    Failed(Failure),
}

/// Why a turn broke off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// What sort of failure.
    pub why: FailureKind,
    /// What exactly, for people.
    pub detail: String,
}

/// What sort of failure ended a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Convoke itself was ended in the middle.
    Interrupted,
    /// The agent's process ended in the middle.
    ProcessExited,
    /// The agent said that it failed.
    AgentError,
    /// The agent could not be started.
    NotStarted,
    /// Convoke has a bug, or could not store what was said.
    Internal,
}

impl Stop {
    /// A failed turn.
    pub fn failed(why: FailureKind, detail: impl Into<String>) -> Self {
        Self::Failed(Failure { why, detail: detail.into() })
    }

    /// The end of the turn in a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::EndTurn => "The turn ended.".to_owned(),
            Self::Cancelled => "The turn was cancelled.".to_owned(),
            Self::Refusal => "The model refused to continue.".to_owned(),
            Self::MaxTokens => "The model reached its token limit.".to_owned(),
            Self::MaxTurnRequests => "The turn reached its maximum number of steps.".to_owned(),
            Self::Failed(failure) => format!("The turn failed: {}", failure.detail),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// Plays commands against a running turn and records every state and effect.
    fn play(script: &str) -> String {
        let mut turn = Turn::Running;
        let mut lines = Vec::new();
        for word in script.split_whitespace() {
            let command = match word {
                "cancel" => Command::Cancel,
                "end" => Command::End(Stop::EndTurn),
                "fail" => Command::End(Stop::failed(FailureKind::AgentError, "boom")),
                other => panic!("unknown word {other}"),
            };
            match turn.handle(command) {
                Ok((next, effect)) => {
                    lines.push(format!("{word}: {next:?} {effect:?}"));
                    turn = next;
                }
                Err(refusal) => lines.push(format!("{word}: refused, {refusal}")),
            }
        }
        lines.join("\n")
    }

    #[test]
    fn a_turn_ends_once() {
        insta::assert_snapshot!(play("end end cancel"), @r"
        end: Ended(EndTurn) None
        end: refused, the turn has already ended
        cancel: refused, the turn has already ended
        ");
    }

    #[test]
    fn a_cancelled_turn_that_the_agent_calls_failed_was_cancelled() {
        insta::assert_snapshot!(play("cancel cancel fail"), @r"
        cancel: Cancelling Some(Cancel)
        cancel: Cancelling None
        fail: Ended(Cancelled) None
        ");
    }

    #[test]
    fn a_turn_that_ends_before_the_cancel_arrives_has_ended_well() {
        insta::assert_snapshot!(play("cancel end"), @r"
        cancel: Cancelling Some(Cancel)
        end: Ended(EndTurn) None
        ");
    }

    #[test]
    fn a_turn_keeps_its_shape() {
        let states = [
            Turn::Running,
            Turn::Cancelling,
            Turn::Ended(Stop::EndTurn),
            Turn::Ended(Stop::failed(FailureKind::AgentError, "boom")),
        ];
        let lines = states.map(|turn| serde_json::to_string(&turn).unwrap());
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"status":"running"}
        {"status":"cancelling"}
        {"status":"ended","stopReason":"end_turn"}
        {"status":"ended","stopReason":"failed","why":"agent_error","detail":"boom"}
        "#);
    }

    proptest! {
        #[test]
        fn nothing_leaves_ended(commands in vec(select(vec![
            Command::Cancel,
            Command::End(Stop::EndTurn),
            Command::End(Stop::failed(FailureKind::AgentError, "boom")),
        ]), 0..20)) {
            let mut turn = Turn::Running;
            for command in commands {
                let next = turn.handle(command);
                if turn.is_over() {
                    prop_assert_eq!(next, Err(Refusal::Ended));
                } else if let Ok((next, _)) = next {
                    turn = next;
                }
            }
        }
    }
}
