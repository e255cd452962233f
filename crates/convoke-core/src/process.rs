//! The state machine of an agent process, driven by the operating system. A session outlives its processes.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Process {
    /// Spawned, and not yet ready for a prompt.
    Starting,
    /// Ready and idle. Only such a process may be evicted.
    Idle,
    /// Working on a turn.
    Busy,
    /// In a turn, with this many requests pending.
    Waiting(u32),
    /// Being stopped, with increasing force.
    Stopping(StopStage),
    /// Ended, and reaped.
    Gone(Exit),
}

/// How a process is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopStage {
    /// Its standard input was closed.
    InputClosed,
    /// Its group was sent SIGTERM.
    Terminated,
    /// Its group was sent SIGKILL.
    Killed,
}

/// What the driver, a timeout or the operating system reports about a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// The handshake is done.
    Ready,
    /// A turn began.
    Begin,
    /// It asked the human.
    Ask,
    /// One of its requests is settled.
    Settle,
    /// Its turn ended.
    End,
    /// It is to be stopped.
    Stop,
    /// The grace period for stopping is over.
    GraceOver,
    /// The operating system reports that it exited.
    Exited(Exit),
}

/// What must be done to a process, or reported to its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Close its standard input.
    CloseInput,
    /// Send SIGTERM to its group.
    Terminate,
    /// Send SIGKILL to its group.
    Kill,
    /// Report that the agent did not start.
    ReportNotStarted(Exit),
    /// Report that the process has exited.
    ReportExit(Exit),
}

/// A command that is impossible in the current state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a process that is {state} cannot {command}")]
pub struct Refusal {
    state: &'static str,
    command: &'static str,
}

impl Process {
    /// Decides what follows from a command.
    pub fn handle(&self, command: Command) -> Result<(Self, Option<Effect>), Refusal> {
        let next = match (self, command) {
            (Self::Gone(_), command) => return Err(self.refuse(&command)),
            (_, Command::Exited(exit)) => return Ok(self.exited(exit)),
            (Self::Stopping(stage), Command::GraceOver) => return Ok(stage.escalate()),
            // Whatever a stopping process still does changes nothing.
            (Self::Stopping(_), _) => return Ok((self.clone(), None)),
            (_, Command::Stop) => {
                return Ok((Self::Stopping(StopStage::InputClosed), Some(Effect::CloseInput)));
            }
            (Self::Starting, Command::Ready) => Self::Idle,
            (Self::Idle, Command::Begin) => Self::Busy,
            (Self::Busy, Command::Ask) => Self::Waiting(1),
            (Self::Waiting(open), Command::Ask) => Self::Waiting(open.saturating_add(1)),
            (Self::Waiting(open), Command::Settle) if *open > 1 => Self::Waiting(open - 1),
            (Self::Waiting(_), Command::Settle) => Self::Busy,
            (Self::Busy | Self::Waiting(_), Command::End) => Self::Idle,
            (
                Self::Starting | Self::Idle | Self::Busy | Self::Waiting(_),
                command @ (Command::Ready
                | Command::Begin
                | Command::Ask
                | Command::Settle
                | Command::End
                | Command::GraceOver),
            ) => return Err(self.refuse(&command)),
        };
        Ok((next, None))
    }

    /// Whether it may be evicted to make room for another.
    pub const fn is_idle(&self) -> bool {
        matches!(self, Self::Idle)
    }

    fn exited(&self, exit: Exit) -> (Self, Option<Effect>) {
        let report = match self {
            Self::Starting => Some(Effect::ReportNotStarted(exit.clone())),
            Self::Idle | Self::Busy | Self::Waiting(_) => Some(Effect::ReportExit(exit.clone())),
            Self::Stopping(_) | Self::Gone(_) => None,
        };
        (Self::Gone(exit), report)
    }

    const fn refuse(&self, command: &Command) -> Refusal {
        Refusal { state: self.word(), command: command.word() }
    }

    const fn word(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Waiting(_) => "waiting",
            Self::Stopping(_) => "stopping",
            Self::Gone(_) => "gone",
        }
    }
}

impl StopStage {
    const fn escalate(self) -> (Process, Option<Effect>) {
        match self {
            Self::InputClosed => (Process::Stopping(Self::Terminated), Some(Effect::Terminate)),
            Self::Terminated | Self::Killed => {
                (Process::Stopping(Self::Killed), Some(Effect::Kill))
            }
        }
    }
}

impl Command {
    const fn word(&self) -> &'static str {
        match self {
            Self::Ready => "become ready",
            Self::Begin => "begin a turn",
            Self::Ask => "ask the human",
            Self::Settle => "get an answer",
            Self::End => "end a turn",
            Self::Stop => "be stopped",
            Self::GraceOver => "outlive its grace",
            Self::Exited(_) => "exit",
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    /// Its exit code, when it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The last lines of its stderr.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.exit_code, self.signal) {
            (Some(code), _) => write!(f, "exit code {code}")?,
            (None, Some(signal)) => write!(f, "signal {signal}")?,
            (None, None) => write!(f, "for an unknown reason")?,
        }
        match &self.stderr_tail {
            Some(tail) => write!(f, ", last output: {tail}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// Plays commands against a new process and records every state and effect.
    fn play(script: &str) -> String {
        let mut process = Process::Starting;
        let mut lines = Vec::new();
        for word in script.split_whitespace() {
            let command = match word {
                "ready" => Command::Ready,
                "begin" => Command::Begin,
                "ask" => Command::Ask,
                "settle" => Command::Settle,
                "end" => Command::End,
                "stop" => Command::Stop,
                "grace" => Command::GraceOver,
                "exit" => Command::Exited(Exit { exit_code: Some(1), ..Exit::default() }),
                other => panic!("unknown word {other}"),
            };
            match process.handle(command) {
                Ok((next, effect)) => {
                    let effect = effect.map_or(String::new(), |effect| format!(" {effect:?}"));
                    lines.push(format!("{word}: {}{effect}", next.word()));
                    process = next;
                }
                Err(refusal) => lines.push(format!("{word}: {refusal}")),
            }
        }
        lines.join("\n")
    }

    #[test]
    fn a_process_waits_until_the_last_request_is_settled() {
        insta::assert_snapshot!(play("ready begin ask ask settle settle end"), @r"
        ready: idle
        begin: busy
        ask: waiting
        ask: waiting
        settle: waiting
        settle: busy
        end: idle
        ");
    }

    #[test]
    fn a_process_that_does_not_leave_is_stopped_by_ever_stronger_means() {
        insta::assert_snapshot!(play("ready stop end grace grace grace exit stop"), @r"
        ready: idle
        stop: stopping CloseInput
        end: stopping
        grace: stopping Terminate
        grace: stopping Kill
        grace: stopping Kill
        exit: gone
        stop: a process that is gone cannot be stopped
        ");
    }

    #[test]
    fn an_exit_is_reported_unless_it_was_asked_for() {
        let exit = "Exit { exit_code: Some(1), signal: None, stderr_tail: None }";
        assert_eq!(play("exit"), format!("exit: gone ReportNotStarted({exit})"));
        assert!(play("ready begin exit").ends_with(&format!("exit: gone ReportExit({exit})")));
        assert!(play("ready begin ask exit").ends_with(&format!("exit: gone ReportExit({exit})")));
        assert!(play("ready stop exit").ends_with("exit: gone"));
    }

    #[test]
    fn a_turn_cannot_begin_before_the_process_is_ready() {
        insta::assert_snapshot!(play("begin ready end"), @r"
        begin: a process that is starting cannot begin a turn
        ready: idle
        end: a process that is idle cannot end a turn
        ");
    }

    proptest! {
        #[test]
        fn gone_is_final_and_every_exit_leads_to_it(commands in vec(select(vec![
            Command::Ready,
            Command::Begin,
            Command::Ask,
            Command::Settle,
            Command::End,
            Command::Stop,
            Command::GraceOver,
            Command::Exited(Exit::default()),
        ]), 0..30)) {
            let mut process = Process::Starting;
            for command in commands {
                let exited = matches!(command, Command::Exited(_));
                let next = process.handle(command);
                if let Process::Gone(_) = process {
                    prop_assert!(next.is_err());
                } else if let Ok((next, _)) = next {
                    prop_assert_eq!(exited, matches!(next, Process::Gone(_)));
                    process = next;
                } else {
                    prop_assert!(!exited);
                }
            }
        }
    }
}
