//! Commands that Convoke runs on behalf of the agent: confined like the agent itself, and killed
//! with it.

mod command;
mod screen;

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::wire::{BAD_PARAMS, Fault, INTERNAL, NOT_FOUND, Outcome};
use crate::driver::Launch;
use crate::process::Ended;
pub(crate) use command::Command;
pub(crate) use screen::Screen;

/// Commands that the agent may have running or unreleased at once; one more is refused.
const OPEN_MAX: usize = 64;
/// Outputs that are kept after their release, since the tool calls that show them end later.
const RELEASED_MAX: usize = 8;
/// The most that is kept of a command's output, whatever the agent requests; the beginning is
/// dropped.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// The commands of one agent.
pub(super) struct Terminals {
    launch: Launch,
    open: BTreeMap<String, Terminal>,
    released: VecDeque<(String, String)>,
    created: u64,
    /// The number of commands when the running turn began.
    before_turn: u64,
}

/// A command, and what it has printed.
struct Terminal {
    /// Its number, counted from 1.
    number: u64,
    command: Command,
    screen: Arc<Mutex<Screen>>,
}

/// A command to run.
pub(crate) struct Order {
    /// A program, or a whole shell line if there are no arguments.
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    /// Variables in addition to the agent's own.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// The working directory, if not the workspace.
    pub(crate) folder: Option<PathBuf>,
    /// How much of its output to keep.
    pub(crate) output_bytes_max: Option<u64>,
}

impl Terminals {
    /// Without commands, for the agent of this launch.
    pub(super) const fn new(launch: Launch) -> Self {
        Self {
            launch,
            open: BTreeMap::new(),
            released: VecDeque::new(),
            created: 0,
            before_turn: 0,
        }
    }

    /// Begins a new turn, to which later commands belong.
    pub(super) const fn begin_turn(&mut self) {
        self.before_turn = self.created;
    }

    /// Kills the commands of the running turn, which was cancelled: not every agent does that
    /// itself.
    pub(super) fn kill_turn(&mut self) {
        for terminal in self.open.values_mut().filter(|it| it.number > self.before_turn) {
            terminal.command.kill();
        }
    }

    /// Starts a command and returns the id of its terminal.
    pub(super) fn create(&mut self, order: Order) -> Result<String, Fault> {
        if self.open.len() >= OPEN_MAX {
            return Err(Fault::new(INTERNAL, "too many terminals are open already"));
        }
        let wanted = order.output_bytes_max.and_then(|bytes| usize::try_from(bytes).ok());
        let bytes_max = wanted.unwrap_or(OUTPUT_BYTES_MAX).min(OUTPUT_BYTES_MAX);
        let screen = Arc::new(Mutex::new(Screen::new(bytes_max)));
        let started = Command::start(&self.launch, order, Arc::clone(&screen));
        let command = started.map_err(|error| Fault::new(BAD_PARAMS, error.to_string()))?;
        self.created += 1;
        let id = format!("terminal-{}", self.created);
        self.open.insert(id.clone(), Terminal { number: self.created, command, screen });
        Ok(id)
    }

    /// The output of a command, and its exit status once it has ended.
    pub(super) fn output(&self, id: &str) -> Outcome {
        let terminal = self.find(id)?;
        let (output, truncated) = terminal.text();
        let status = terminal.command.ended().map(|ended| status(&ended));
        Ok(json!({"output": output, "truncated": truncated, "exitStatus": status}))
    }

    /// Waits for the end of a command, without a timeout.
    pub(super) fn exit(&self, id: &str) -> Result<impl Future<Output = Outcome> + use<>, Fault> {
        let end = self.find(id)?.command.end();
        Ok(async move { Ok(status(&end.await)) })
    }

    /// Kills a command; its output stays readable.
    pub(super) fn kill(&mut self, id: &str) -> Outcome {
        self.open.get_mut(id).ok_or_else(|| unknown(id))?.command.kill();
        Ok(json!({}))
    }

    /// Kills a command and forgets it.
    pub(super) fn release(&mut self, id: &str) -> Outcome {
        let terminal = self.open.remove(id).ok_or_else(|| unknown(id))?;
        if self.released.len() >= RELEASED_MAX {
            self.released.pop_front();
        }
        self.released.push_back((id.to_owned(), terminal.text().0));
        Ok(json!({}))
    }

    /// The output of a terminal, even after its release.
    pub(super) fn shown(&self, id: &str) -> Option<String> {
        let released = || self.released.iter().find(|(released, _)| released == id);
        let open = self.open.get(id).map(|terminal| terminal.text().0);
        open.or_else(|| released().map(|(_, text)| text.clone()))
    }

    fn find(&self, id: &str) -> Result<&Terminal, Fault> {
        self.open.get(id).ok_or_else(|| unknown(id))
    }
}

impl Terminal {
    /// The stored output, and whether some was dropped.
    fn text(&self) -> (String, bool) {
        // The bytes stay valid if a writer panicked.
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        (screen.text(), screen.is_cut())
    }
}

fn unknown(id: &str) -> Fault {
    Fault::new(NOT_FOUND, format!("there is no terminal {id}"))
}

fn status(ended: &Ended) -> Value {
    json!({"exitCode": ended.code, "signal": ended.signal.map(signal_name)})
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "HUP",
        2 => "INT",
        3 => "QUIT",
        6 => "ABRT",
        9 => "KILL",
        11 => "SEGV",
        13 => "PIPE",
        15 => "TERM",
        _ => return format!("signal {signal}"),
    };
    format!("SIG{name}")
}

#[cfg(test)]
mod tests;
