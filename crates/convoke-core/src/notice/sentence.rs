//! Events in sentences for people.

use super::{AgentEvent, Event, LifecycleEvent, ProcessEvent, Resumed, RuleEvent, TurnEvent};
use crate::session::EndReason;

impl Event {
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Turn(event) => turn(event),
            Self::Process(event) => process(event),
            Self::Lifecycle(event) => lifecycle(event),
            Self::Rule(event) => rule(event),
            Self::Agent(event) => agent(event),
        }
    }
}

fn turn(event: &TurnEvent) -> String {
    match event {
        TurnEvent::Ended { stop, .. } => stop.sentence(),
        TurnEvent::Waiting { place } => {
            format!("All agent processes are busy; this turn is number {place} in line.")
        }
        TurnEvent::Limit { max } => format!(
            "The turn was stopped: the agent sent more than {max} bytes. What it sends after that is dropped. Raise \
             limits.turn_bytes in config.toml if it should be allowed to send more."
        ),
    }
}

fn process(event: &ProcessEvent) -> String {
    let sentence = match event {
        ProcessEvent::Resumed { how: Resumed::Native } => {
            "The agent took up its own session again."
        }
        ProcessEvent::Resumed { how: Resumed::Replay } => {
            "The agent started anew and was given the transcript."
        }
        ProcessEvent::Resumed { how: Resumed::Summary } => {
            "The agent started anew and was given a summary of the conversation."
        }
        ProcessEvent::Resumed { how: Resumed::Afresh } => {
            "The agent started anew and remembers nothing of this conversation."
        }
        ProcessEvent::Exited { exit } => return format!("The agent's process ended: {exit}."),
        ProcessEvent::Unconfined => {
            "This system cannot confine the agent: it can write wherever you can."
        }
    };
    sentence.to_owned()
}

fn lifecycle(event: &LifecycleEvent) -> String {
    match event {
        LifecycleEvent::Completed { reason } => ended("completed", reason),
        LifecycleEvent::Cancelled { reason } => ended("cancelled", reason),
        LifecycleEvent::Failed { error } => format!("The agent cannot go on: {error}"),
        LifecycleEvent::Reopened => "The session was resumed.".to_owned(),
        LifecycleEvent::Renamed { title } => format!("The session is now called “{title}”."),
        LifecycleEvent::Archived => "The session was archived.".to_owned(),
        LifecycleEvent::Unarchived => "The session was brought back from the archive.".to_owned(),
        LifecycleEvent::Imported { transcript, after, turns } => {
            let (first, last) = (after + 1, after + turns.len() as u64);
            format!("Turns {first} to {last} of the transcript {transcript} were imported.")
        }
        LifecycleEvent::Continues { session } => {
            format!("This session goes on from session {session}, with a summary of it.")
        }
        LifecycleEvent::ContinuedIn { session } => {
            format!("This conversation goes on in session {session}, with a summary of this one.")
        }
    }
}

fn ended(how: &str, reason: &EndReason) -> String {
    match reason.explained() {
        Some(why) => format!("The session was {how}: {why}."),
        None => format!("The session was {how}."),
    }
}

fn rule(event: &RuleEvent) -> String {
    match event {
        RuleEvent::Made { tool } => {
            format!("From now on exactly this is allowed in this project without asking: {tool}")
        }
        RuleEvent::Applied { tool } => format!("Allowed without asking, as you said: {tool}"),
        RuleEvent::Dropped { tool } => format!(
            "An older rule allowed every use of {tool} in this project. It was removed: “always” now holds for one exact \
             command or file."
        ),
    }
}

fn agent(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Compacted => "The agent compacted its context.".to_owned(),
        AgentEvent::Advice { severity } => format!("The agent reports: {severity}."),
        AgentEvent::Unknown { kind, .. } => {
            format!("The agent sent something Convoke does not know: {kind}.")
        }
    }
}
