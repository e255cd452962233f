//! What must not remain when everything has exited: processes, locks, temporary files, deltas.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::super::ledger::LedgerRecords;
use super::super::machine::{Machine, run};

/// How long processes may take to exit after the daemon.
const GONE_MAX: Duration = Duration::from_secs(10);
/// Locked as long as a process lives; the files themselves remain, and their contents do not
/// matter.
const STAYS: [&str; 2] = ["convoke.db.lock", "convoke.lock"];
/// The folder of a repository of checkpoints in which all locks are of that kind.
const STAYS_BELOW: &str = "convoke";

/// Resumes every conversation once more and exits it, stops the daemon, and reports leftovers.
pub(in super::super) fn leftovers(
    machine: &Machine,
    records: &LedgerRecords,
    findings: &mut Vec<String>,
) {
    let mut ids: Vec<&String> = records.said.values().map(|(id, _)| id).collect();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let output = machine.command(&["spawn", "--resume", id]).stderr(Stdio::piped()).output();
        match output {
            Ok(output) if output.status.success() => {}
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                findings.push(format!("{id} cannot be resumed: {said}"));
            }
            Err(error) => findings.push(format!("{id} cannot be resumed: {error}")),
        }
    }
    for id in locked_questions(machine) {
        // The next process clears the lock of a killed one; whether the answer is accepted does not matter.
        let answers = r#"{"0": {"selectedOption": "A"}}"#;
        machine.command(&["questions", "answer", &id, "--answers", answers]).status().ok();
    }
    if !machine.stop() {
        findings.push("the daemon cannot be stopped".to_owned());
    }
    let deadline = Instant::now() + GONE_MAX;
    while !machine.processes().is_empty() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(50));
    }
    for (pid, line) in machine.processes() {
        findings.push(format!("left running: process {pid}, {line}"));
    }
    let agents = fs::read_dir(machine.home().join("run/agents")).into_iter().flatten().flatten();
    for entry in agents {
        findings.push(format!("left behind: {}", entry.path().display()));
    }
    // The folder of the agents' temporary files, as the last daemon recorded it.
    let temporary = fs::read_to_string(machine.home().join("run/temp")).unwrap_or_default();
    if Path::new(temporary.trim()).is_dir() {
        findings.push(format!("left behind: {}", temporary.trim()));
    }
    if machine.home().join("run/daemon.json").exists() {
        findings.push("left behind: run/daemon.json".to_owned());
    }
    walk(&machine.home(), findings);
    if let Some(count) = deltas(machine).filter(|count| count != "0") {
        findings.push(format!("left behind: deltas, though no message is open: {count}"));
    }
}

/// Whether `sqlite3` is installed, which reads the database beside the daemon.
pub(in super::super) fn can_read_database() -> bool {
    run("sqlite3", &["--version".as_ref()])
}

/// How many deltas the database of a stopped daemon has, or why they cannot be counted. `None` without `sqlite3`.
fn deltas(machine: &Machine) -> Option<String> {
    let mut command = Command::new("sqlite3");
    command.arg(machine.home().join("convoke.db")).arg("SELECT count(*) FROM deltas");
    let output = command.stdin(Stdio::null()).output().ok()?;
    let said = if output.status.success() { output.stdout } else { output.stderr };
    Some(String::from_utf8_lossy(&said).trim().to_owned())
}

/// The questions that a killed program had locked.
fn locked_questions(machine: &Machine) -> Vec<String> {
    let entries = fs::read_dir(machine.home().join("questions")).into_iter().flatten().flatten();
    let locked = entries.filter(|entry| entry.path().join("status.json.lock").exists());
    locked.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn walk(folder: &Path, findings: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !is_unfinished_question(&path) {
                walk(&path, findings);
            }
        } else if name.ends_with(".tmp") || (name.ends_with(".lock") && !stays(&path, &name)) {
            findings.push(format!("left behind: {}", path.display()));
        }
    }
}

/// Whether this is the folder of a question whose asker was killed before it had asked; cleaning deletes it when it is
/// old.
fn is_unfinished_question(folder: &Path) -> bool {
    let is_question = folder.parent().and_then(Path::file_name).is_some_and(|it| it == "questions");
    is_question && !folder.join("status.json").exists()
}

fn stays(path: &Path, name: &str) -> bool {
    let is_ours = path.parent().and_then(Path::file_name).is_some_and(|it| it == STAYS_BELOW);
    STAYS.contains(&name) || (is_ours && !name.ends_with(".index.lock"))
}
