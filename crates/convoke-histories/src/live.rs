//! Whether a conversation may be open in another program. In doubt it is: two programs that write the same transcript
//! split it without noticing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_core::time::Timestamp;

use crate::agent::Agent;
use crate::importer;
use crate::item::Identity;
use crate::store::History;

/// Words of a command line that may name the program: a runtime, its options, the script.
const WORDS_MAX: usize = 4;

/// Why a conversation may be open elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Liveness {
    /// There is no sign that another program has it open.
    Closed,
    /// A process of its agent runs in its folder, or in an unknown folder.
    Process {
        /// Its id.
        pid: u32,
    },
    /// A process has the transcript open.
    Open {
        /// Its id.
        pid: u32,
    },
    /// A process holds a lock on one of its files.
    Locked,
    /// It changed within the last minutes.
    Recent,
    /// Processes cannot be listed here.
    Unknown,
}

impl Liveness {
    /// Whether it may be open.
    pub fn may_be_open(&self) -> bool {
        *self != Self::Closed
    }
}

/// A snapshot of the processes of this machine.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    all: Vec<Process>,
    /// Inodes of locked files.
    locked: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Process {
    pid: u32,
    words: Vec<String>,
    cwd: Option<PathBuf>,
    open: Vec<PathBuf>,
}

impl Processes {
    /// Reads `/proc`, or a folder of its shape, without the processes of Convoke itself that are named here.
    pub fn read(proc: &Path, except: &[u32]) -> io::Result<Self> {
        let mut all = Vec::new();
        for entry in fs::read_dir(proc)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            if except.contains(&pid) {
                continue;
            }
            // A process that ended meanwhile, and a kernel thread, have no command line.
            let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
            if line.is_empty() {
                continue;
            }
            let words = line.split(|byte| *byte == 0).take(WORDS_MAX);
            let words = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
            let cwd = fs::read_link(entry.path().join("cwd")).ok();
            all.push(Process { pid, words, cwd, open: open_files(&entry.path().join("fd")) });
        }
        let locks = fs::read_to_string(proc.join("locks")).unwrap_or_default();
        let locked = locks.lines().filter_map(locked_inode).collect();
        Ok(Self { all, locked })
    }
}

/// The transcripts and databases among the files that a process has open.
fn open_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
    files.filter(|file| file.extension().is_some_and(|it| it == "jsonl" || it == "json")).collect()
}

/// `1: FLOCK  ADVISORY  WRITE 123 fd:00:4711 0 EOF`
fn locked_inode(line: &str) -> Option<u64> {
    let file = line.split_whitespace().find(|word| word.matches(':').count() == 2)?;
    file.rsplit(':').next()?.parse().ok()
}

/// Whether a conversation may be open in another program; it counts as open for `open_for` after
/// its last change.
pub fn liveness(
    history: &History,
    identity: &Identity,
    processes: Option<&Processes>,
    open_for: Duration,
    now: Timestamp,
) -> Liveness {
    let Some(processes) = processes else { return Liveness::Unknown };
    let file = history.file();
    let file = file.canonicalize().unwrap_or(file);
    if history.session.is_none()
        && let Some(process) = processes.all.iter().find(|process| process.open.contains(&file))
    {
        return Liveness::Open { pid: process.pid };
    }
    if has_lock(history, identity, processes) {
        return Liveness::Locked;
    }
    let cwd = identity.cwd.as_deref().map(Path::new);
    let working = processes.all.iter().find(|process| works_in(process, history.agent, cwd));
    if let Some(process) = working {
        return Liveness::Process { pid: process.pid };
    }
    let open_for = i64::try_from(open_for.as_millis()).unwrap_or(i64::MAX);
    let changed = history.stamp.changed_at().max(identity.updated_at);
    match changed {
        Some(changed) if open_for > 0 && now.millis_since(changed) < open_for => Liveness::Recent,
        Some(_) | None => Liveness::Closed,
    }
}

/// Whether a process belongs to the agent and works in this folder; an unknown folder counts as
/// this one.
fn works_in(process: &Process, agent: Agent, cwd: Option<&Path>) -> bool {
    let programs = importer::of(agent).programs;
    let is_agent = process.words.iter().any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let name = name.trim_end_matches(".js").trim_end_matches(".mjs");
        programs.contains(&name) || is_package_of(word, programs)
    });
    is_agent
        && match (&process.cwd, cwd) {
            (Some(theirs), Some(cwd)) => theirs == cwd || theirs.starts_with(cwd),
            (None, _) | (_, None) => true,
        }
}

/// Whether a word is a script within the agent's own package, such as `…/node_modules/@openai/codex/bin/run.js`.
fn is_package_of(word: &str, programs: &[&str]) -> bool {
    let Some((_, package)) = word.split_once("node_modules/") else { return false };
    let folders = package.split('/').take(2);
    folders.into_iter().any(|folder| {
        programs.contains(&folder) || programs.contains(&folder.trim_end_matches("-cli"))
    })
}

fn has_lock(history: &History, identity: &Identity, processes: &Processes) -> bool {
    let locks = importer::of(history.agent).locks.iter();
    let locks = locks.map(|lock| history.root.join(lock.replace("{id}", &identity.id)));
    locks.chain([history.file()]).any(|file| {
        let inode = fs::symlink_metadata(&file).map(|it| std::os::unix::fs::MetadataExt::ino(&it));
        inode.is_ok_and(|inode| processes.locked.contains(&inode) && history.session.is_none())
    })
}
