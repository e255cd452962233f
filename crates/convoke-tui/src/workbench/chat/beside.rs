//! The relations between the entries of a conversation: which call waits for the human, which
//! request is shown with its call, and which read-only calls are shown in one line.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

use convoke_api::entry::{Entry, EntryBody, ToolCall, Verdict};
use convoke_core::content::ToolStatus;
use convoke_core::message::Seq;
use convoke_core::request::Status;

/// The relation of an entry to the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Beside {
    #[default]
    Nothing,
    /// A call that the human has to allow, or that asks the human.
    Waits,
    /// The first of several calls that only looked.
    Run(Run),
    /// It is shown with another entry.
    Hidden,
}

/// Several calls that only looked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Run {
    reads: usize,
    searches: usize,
}

impl Display for Run {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let reads = match self.reads {
            0 => None,
            1 => Some("read a file".to_owned()),
            count => Some(format!("read {count} files")),
        };
        let searches = match self.searches {
            0 => None,
            1 => Some("searched once".to_owned()),
            2 => Some("searched twice".to_owned()),
            count => Some(format!("searched {count} times")),
        };
        let words: Vec<String> = reads.into_iter().chain(searches).collect();
        let words = words.join(", ");
        let mut letters = words.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        write!(f, "{}{}", first.unwrap_or_default(), letters.as_str())
    }
}

/// The action of a read-only call.
enum ReadOnlyCall {
    Read,
    Search,
}

/// Computes the relations; runs that begin at `open_runs` are shown call by call.
pub(super) fn of(entries: &[Entry], open_runs: &HashSet<Seq>) -> Vec<Beside> {
    let calls: HashSet<&str> =
        entries.iter().filter_map(call).map(|it| &*it.tool_call_id).collect();
    let asked = waiting(entries);
    let mut beside: Vec<Beside> =
        entries.iter().map(|entry| alone(entry, &calls, &asked)).collect();
    fold_runs(entries, open_runs, &mut beside);
    beside
}

fn call(entry: &Entry) -> Option<&ToolCall> {
    if let EntryBody::ToolCall(call) = &entry.body { Some(call) } else { None }
}

/// The calls that wait for the human: those of pending permissions, and those that ask a pending question.
fn waiting(entries: &[Entry]) -> HashSet<&str> {
    let mut waiting = HashSet::new();
    let mut last = None;
    for entry in entries {
        last = call(entry).map(|call| &*call.tool_call_id).or(last);
        // Questions do not name their call.
        if let EntryBody::Question(set) = &entry.body
            && set.status == Status::Pending
        {
            waiting.extend(last);
        }
        waiting.extend(asked_about(entry));
    }
    waiting
}

/// The call of a pending request.
fn asked_about(entry: &Entry) -> Option<&str> {
    let EntryBody::Permission(permission) = &entry.body else { return None };
    permission.tool_call_id.as_deref().filter(|_| permission.status == Status::Pending)
}

fn alone(entry: &Entry, calls: &HashSet<&str>, asked: &HashSet<&str>) -> Beside {
    if let EntryBody::Permission(permission) = &entry.body {
        let is_with_call = permission.tool_call_id.as_deref().is_some_and(|id| calls.contains(id));
        // Agents report denied calls as failed, as complete or not at all.
        let is_told_by_call = matches!(permission.verdict(), None | Some(Verdict::Allowed(_)));
        if is_with_call && is_told_by_call { Beside::Hidden } else { Beside::Nothing }
    } else if call(entry).is_some_and(|call| asked.contains(&*call.tool_call_id)) {
        Beside::Waits
    } else {
        Beside::Nothing
    }
}

fn fold_runs(entries: &[Entry], open_runs: &HashSet<Seq>, beside: &mut [Beside]) {
    let mut members: Vec<usize> = Vec::new();
    let mut run = Run::default();
    for at in 0..=entries.len() {
        let entry = entries.get(at);
        if entry.is_some() && beside.get(at) == Some(&Beside::Hidden) {
            continue;
        }
        match entry.and_then(read_only_call) {
            Some(call) => {
                members.push(at);
                match call {
                    ReadOnlyCall::Read => run.reads += 1,
                    ReadOnlyCall::Search => run.searches += 1,
                }
            }
            None => {
                let is_open = members
                    .iter()
                    .any(|at| entries.get(*at).is_some_and(|it| open_runs.contains(&it.seq)));
                if members.len() > 1 && !is_open {
                    for (index, at) in members.iter().enumerate() {
                        if let Some(place) = beside.get_mut(*at) {
                            *place = if index == 0 { Beside::Run(run) } else { Beside::Hidden };
                        }
                    }
                }
                members.clear();
                run = Run::default();
            }
        }
    }
}

fn read_only_call(entry: &Entry) -> Option<ReadOnlyCall> {
    let call = call(entry)?;
    if call.status != ToolStatus::Complete || call.error.is_some() || !call.diffs.is_empty() {
        return None;
    }
    match call.kind.as_deref().unwrap_or(&call.name).to_ascii_lowercase().as_str() {
        "read" | "ls" | "notebookread" => Some(ReadOnlyCall::Read),
        "search" | "grep" | "glob" => Some(ReadOnlyCall::Search),
        _ => None,
    }
}
