//! Requests of the agent to Convoke: read and write files, run commands. Any other method is answered as unknown.

use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde_json::{Value, json};
use tokio::task::JoinError;

use super::files::{FileError, Files, Lines, ProtectedChange, Written};
use super::terminal::{Order, Terminals};
use super::wire::{BAD_PARAMS, Fault, INTERNAL, Outcome};

/// Serves the agent's requests to its client.
pub(super) struct Host {
    files: Files,
    pub(super) terminals: Terminals,
    unknown_file: UnknownFile,
}

/// The response to a read of a file that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownFile {
    /// An error.
    Missing,
    /// An empty text: Gemini reads a file before it writes it, and cannot create one if that fails.
    Empty,
}

/// How a request is served.
pub(super) enum Served {
    /// At once.
    Now(Outcome),
    /// By work on files, which ends soon.
    Soon(Work),
    /// When a command ends.
    Later(Work),
}

/// A future that serves a request.
pub(super) type Work = Pin<Box<dyn Future<Output = WorkResult> + Send>>;

/// The result of work for a request.
pub(super) enum WorkResult {
    /// The response.
    Answer(Outcome),
    /// The human must decide whether this is written.
    Asks(ProtectedChange),
    /// The answer, after the user allowed a change of a protected file.
    Wrote { change: ProtectedChange, outcome: Outcome },
}

impl Host {
    pub(super) const fn new(files: Files, terminals: Terminals) -> Self {
        Self { files, terminals, unknown_file: UnknownFile::Missing }
    }

    /// Sets the response to reads of files that do not exist.
    pub(super) const fn answer_unknown_files(&mut self, answer: UnknownFile) {
        self.unknown_file = answer;
    }

    /// Serves a request; `None` for an unknown method.
    pub(super) fn serve(&mut self, method: &str, params: &Value) -> Option<Served> {
        let served = match method {
            "fs/read_text_file" => self.read(params),
            "fs/write_text_file" => self.write(params),
            "terminal/create" => self.create(params),
            "terminal/output" => self.terminal(params, |terminals, id| terminals.output(id)),
            "terminal/kill" => self.terminal(params, |terminals, id| terminals.kill(id)),
            "terminal/release" => self.terminal(params, |terminals, id| terminals.release(id)),
            "terminal/wait_for_exit" => self.wait(params),
            _ => return None,
        };
        Some(served.unwrap_or_else(|fault| Served::Now(Err(fault))))
    }

    fn read(&self, params: &Value) -> Result<Served, Fault> {
        let path = path(params)?;
        let number = |name: &str| params.get(name).and_then(Value::as_u64);
        let lines = Lines {
            first: number("line").unwrap_or(Lines::ALL.first),
            count: number("limit").unwrap_or(Lines::ALL.count),
        };
        let (files, unknown_file) = (self.files.clone(), self.unknown_file);
        Ok(Served::Soon(aside(move || {
            WorkResult::Answer(match files.read(&path, lines) {
                Err(FileError::Missing(_)) if unknown_file == UnknownFile::Empty => {
                    Ok(json!({"content": ""}))
                }
                read => read.map(|text| json!({"content": text})).map_err(Fault::from),
            })
        })))
    }

    fn write(&self, params: &Value) -> Result<Served, Fault> {
        let path = path(params)?;
        let content = text(params, "content")?.to_owned();
        let files = self.files.clone();
        Ok(Served::Soon(aside(move || match files.write(&path, &content) {
            Ok(Written::Done) => WorkResult::Answer(Ok(json!({}))),
            Ok(Written::Protected(change)) => WorkResult::Asks(change),
            Err(error) => WorkResult::Answer(Err(error.into())),
        })))
    }

    /// Writes a protected file after the user has allowed it.
    pub(super) fn write_protected(&self, change: ProtectedChange) -> Work {
        let files = self.files.clone();
        aside(move || {
            let written = files.write_protected(&change);
            let outcome = written.map(|()| json!({})).map_err(Fault::from);
            WorkResult::Wrote { change, outcome }
        })
    }

    fn create(&mut self, params: &Value) -> Result<Served, Fault> {
        let strings = |name: &str| {
            let list = params.get(name).and_then(Value::as_array).map(Vec::as_slice);
            list.unwrap_or_default().iter()
        };
        let variable = |entry: &Value| {
            Some((entry.get("name")?.as_str()?.into(), entry.get("value")?.as_str()?.into()))
        };
        let order = Order {
            command: text(params, "command")?.to_owned(),
            args: strings("args").filter_map(|arg| arg.as_str().map(str::to_owned)).collect(),
            environment: strings("env").filter_map(variable).collect(),
            folder: params.get("cwd").and_then(Value::as_str).map(PathBuf::from),
            output_bytes_max: params.get("outputByteLimit").and_then(Value::as_u64),
        };
        let id = self.terminals.create(order)?;
        Ok(Served::Now(Ok(json!({"terminalId": id}))))
    }

    fn terminal(
        &mut self,
        params: &Value,
        act: impl FnOnce(&mut Terminals, &str) -> Outcome,
    ) -> Result<Served, Fault> {
        let id = text(params, "terminalId")?;
        Ok(Served::Now(act(&mut self.terminals, id)))
    }

    fn wait(&self, params: &Value) -> Result<Served, Fault> {
        let exit = self.terminals.exit(text(params, "terminalId")?)?;
        Ok(Served::Later(Box::pin(async { WorkResult::Answer(exit.await) })))
    }
}

/// Runs blocking work on a separate thread.
fn aside(work: impl FnOnce() -> WorkResult + Send + 'static) -> Work {
    let task = tokio::task::spawn_blocking(work);
    Box::pin(async {
        let broken = |error: JoinError| Fault::new(INTERNAL, error.to_string());
        task.await.unwrap_or_else(|error| WorkResult::Answer(Err(broken(error))))
    })
}

fn path(params: &Value) -> Result<PathBuf, Fault> {
    Ok(Path::new(text(params, "path")?).to_owned())
}

fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, Fault> {
    let missing = || Fault::new(BAD_PARAMS, format!("{name} is missing or not a text"));
    params.get(name).and_then(Value::as_str).ok_or_else(missing)
}
