//! Events in sentences for people.

use super::{
    AgentEvent, Event, FilesEvent, LifecycleEvent, ProcessEvent, Resumed, RuleEvent, TurnEvent,
};
use crate::count::counted;
use crate::files::Removal;
use crate::session::EndReason;

impl Event {
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Turn(event) => turn(event),
            Self::Process(event) => process(event),
            Self::Lifecycle(event) => lifecycle(event),
            Self::Rule(event) => rule(event),
            Self::Files(event) => files(event),
            Self::Agent(event) => agent(event),
        }
    }
}

fn turn(event: &TurnEvent) -> String {
    match event {
        TurnEvent::Ended { stop, .. } => stop.sentence(),
        TurnEvent::Waiting { place } => {
            format!("All agent processes are busy; this turn is number {place} in the queue.")
        }
        TurnEvent::Refused { prompt, why } => format!(
            "A prompt that waited for this machine was refused when it was back: {why}. It was: {prompt}"
        ),
        TurnEvent::Limit { max } => format!(
            "The turn was stopped: the agent sent more than {max} bytes. Its further output in this turn is dropped. Raise limits.turn_bytes in config.toml if it should be allowed to send more."
        ),
    }
}

fn process(event: &ProcessEvent) -> String {
    let sentence = match event {
        ProcessEvent::Resumed { how: Resumed::Native } => "The agent resumed its own session.",
        ProcessEvent::Resumed { how: Resumed::Replay } => {
            "The agent was restarted with the transcript of this conversation."
        }
        ProcessEvent::Resumed { how: Resumed::Summary } => {
            "The agent was restarted with a summary of this conversation."
        }
        ProcessEvent::Resumed { how: Resumed::Afresh } => {
            "The agent was restarted without any memory of this conversation."
        }
        ProcessEvent::Resumed { how: Resumed::Forked } => {
            "This conversation may be open in another program, so the agent continues a copy of its session. What is said here does not appear there."
        }
        ProcessEvent::Resumed { how: Resumed::ForkedReplay } => {
            "This conversation may be open in another program, so the agent continues in a new session with its transcript. What is said here does not appear there."
        }
        ProcessEvent::Exited { exit } => return format!("The agent's process ended: {exit}."),
        ProcessEvent::Unconfined => {
            "This system cannot sandbox the agent: it can write everywhere you can."
        }
    };
    sentence.to_owned()
}

fn lifecycle(event: &LifecycleEvent) -> String {
    match event {
        LifecycleEvent::Completed { reason } => ended("completed", reason),
        LifecycleEvent::Cancelled { reason } => ended("cancelled", reason),
        LifecycleEvent::Failed { error } => format!("The agent cannot continue: {error}"),
        LifecycleEvent::Reopened => "The session was resumed.".to_owned(),
        LifecycleEvent::Renamed { title } => format!("The session was renamed to “{title}”."),
        LifecycleEvent::Archived => "The session was archived.".to_owned(),
        LifecycleEvent::Unarchived => "The session was restored from the archive.".to_owned(),
        LifecycleEvent::Imported { forked_from: Some(session), .. } => {
            format!("This session is a fork of session {session}.")
        }
        LifecycleEvent::Imported { transcript, after, turns, forked_from: None } => {
            let (first, last) = (after + 1, after + turns.len() as u64);
            format!("Turns {first} to {last} of the transcript {transcript} were imported.")
        }
        LifecycleEvent::ImportedFrom { agent, file, before, .. } => {
            let rewritten = before.map(|before| {
                format!(" The file was rewritten; what it said before is session {before}.")
            });
            format!("Imported from {agent}: {file}.{}", rewritten.unwrap_or_default())
        }
        LifecycleEvent::Continues { session } => {
            format!("This session continues session {session}, with a summary of it.")
        }
        LifecycleEvent::ContinuedIn { session } => {
            format!("This conversation continues in session {session}, with a summary of this one.")
        }
        LifecycleEvent::Moved(moved) => moved.sentence(),
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
        RuleEvent::Made { rule, .. } => format!("New rule: {rule}."),
        RuleEvent::Applied { rule, what, .. } => {
            format!("Allowed without asking: {what}. The rule: {rule}.")
        }
        RuleEvent::Denied { rule, what, .. } => {
            format!("Denied without asking: {what}. The rule: {rule}.")
        }
        RuleEvent::Dropped { tool } => format!(
            "An older rule allowed every use of {tool} in this project. It was removed: rules now name commands, paths, \
             domains or MCP tools. Run `convoke rule list` to see them."
        ),
    }
}

fn files(event: &FilesEvent) -> String {
    match event {
        FilesEvent::CheckpointFailed { error } => format!(
            "No checkpoint of the project could be made, so these changes cannot be shown or undone: {error}"
        ),
        FilesEvent::FilesRestored { turn: Some(_), number, written, removed } => {
            let turn =
                number.map_or_else(|| "an earlier turn".to_owned(), |it| format!("turn {it}"));
            format!(
                "The files were restored to what they were before {turn}: {written} written, {removed} removed. \
                 Run `convoke session undo` to take it back."
            )
        }
        FilesEvent::FilesRestored { turn: None, written, removed, .. } => {
            let written = counted(written, "file");
            format!("The restore was undone: {written} written, {removed} removed.")
        }
        FilesEvent::RestoreCompleted { files, left } => {
            let left = if *left == 0 {
                String::new()
            } else {
                format!(" Changed since then, and left alone: {}.", counted(left, "file"))
            };
            let files = counted(files, "file");
            format!("A restore was interrupted, and is complete now: {files} restored.{left}")
        }
        FilesEvent::WorktreeMade { path, branch, copied, left_out } => {
            let copied = match (copied, left_out.len()) {
                (0, 0) => String::new(),
                (copied, 0) => format!(" Copied to it: {}.", counted(copied, "file")),
                (copied, left) => {
                    format!(" Copied to it: {}; not copied: {left}.", counted(copied, "file"))
                }
            };
            format!("This session has a work tree of its own: {path}, branch {branch}.{copied}")
        }
        FilesEvent::WorktreeSetUp { command, code: Some(0), .. } => {
            format!("The work tree was set up with `{command}`.")
        }
        FilesEvent::WorktreeSetUp { command, code: Some(code), .. } => {
            format!("Setting up the work tree failed: `{command}` ended with exit code {code}.")
        }
        FilesEvent::WorktreeSetUp { command, code: None, .. } => {
            format!("Setting up the work tree failed: `{command}` did not end by itself.")
        }
        FilesEvent::FolderShared { session, git } => {
            let offer = if *git {
                " Run `convoke session new --worktree` to give a session a work tree of its own."
            } else {
                ""
            };
            format!("Session {session} works in the same folder.{offer}")
        }
        FilesEvent::WorktreeRemoved { how, branch, base } => removed(*how, branch, base.as_deref()),
        FilesEvent::WorktreeRestored { path } => {
            format!("The work tree is there again: {path}.")
        }
        FilesEvent::WorktreeRecovered { what } => what.clone(),
    }
}

fn removed(how: Removal, branch: &str, base: Option<&str>) -> String {
    let base = base.unwrap_or("its base");
    let what = match how {
        Removal::Merge => format!("The branch {branch} was merged into {base}"),
        Removal::Squash => format!("The changes of {branch} became one commit of {base}"),
        Removal::Rebase => format!("The commits of {branch} were put on top of {base}"),
        Removal::Keep => format!("The branch {branch} was kept"),
        Removal::Discard => format!("The branch {branch} was discarded"),
        Removal::Remove => format!("The branch {branch} stays"),
    };
    format!("{what}, and the work tree was removed. `convoke worktree restore` brings it back.")
}

fn agent(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Compacted => "The agent compacted its context.".to_owned(),
        AgentEvent::Advice { severity } => format!("The agent reports: {severity}."),
        AgentEvent::Unknown { kind, .. } => {
            format!("The agent sent an update of an unknown kind: {kind}.")
        }
    }
}
