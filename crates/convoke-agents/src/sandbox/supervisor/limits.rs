//! Samples the resource use of a program and its descendants, since a cgroup may not be available.

use std::fs;
use std::path::{Path, PathBuf};

use super::tree::Descendant;
use crate::sandbox::enter::say;
use crate::sandbox::planted;
use crate::sandbox::policy::{Limits, Plan};

/// Samples between two measurements of the folder for temporary files.
const TEMP_EVERY: u32 = 4;
/// Files that are counted in one measurement; a folder with more is judged by these.
const FILES_MAX: usize = 50_000;

/// Checks the limits periodically.
pub(super) struct Watch {
    limits: Limits,
    temp: Option<PathBuf>,
    /// The repositories that the program may write. None may get a file that redirects git to another
    /// configuration, not even from another program in the same workspace.
    repositories: Vec<PathBuf>,
    samples: u32,
}

impl Watch {
    pub(super) fn new(plan: &Plan, repositories: Vec<PathBuf>) -> Self {
        let (limits, temp) = (plan.policy.limits, plan.policy.temp.clone());
        Self { limits, temp, repositories, samples: 0 }
    }

    /// The files that would let git run programs of the agent's choice, in a sentence for people.
    pub(super) fn planted(&self) -> Option<String> {
        let files: Vec<String> = self.redirections().map(|it| it.display().to_string()).collect();
        let files = Some(files.join(", ")).filter(|files| !files.is_empty())?;
        Some(format!("killed for writing {files}: git would take its configuration from elsewhere"))
    }

    /// Removes such files. The program must have ended, or it could write them again.
    pub(super) fn remove_planted(&self) {
        for file in self.redirections() {
            match planted::repair(&file) {
                Ok(()) => say(&format!("repaired {}", file.display())),
                Err(error) => say(&format!("cannot repair {}: {error}", file.display())),
            }
        }
    }

    fn redirections(&self) -> impl Iterator<Item = PathBuf> {
        planted::redirections(&self.repositories).into_iter()
    }

    /// The exceeded limit, in a sentence for people.
    pub(super) fn exceeded(&mut self, all: &[Descendant]) -> Option<String> {
        self.samples += 1;
        let Limits { memory_bytes, tasks, temp_bytes } = self.limits;
        if memory_bytes.is_some() || tasks.is_some() {
            let used = all.iter().filter_map(usage).fold((0, 0), |(memory, tasks), one| {
                (memory + one.memory_bytes, tasks + one.tasks)
            });
            if let Some(most) = memory_bytes.filter(|most| used.0 > *most) {
                return Some(sentence("memory", "memory_max", &size(used.0), &size(most)));
            }
            if let Some(most) = tasks.filter(|most| used.1 > *most) {
                let used = format!("{} processes and threads", used.1);
                return Some(sentence("processes", "tasks_max", &used, &most.to_string()));
            }
        }
        let is_due = self.samples.is_multiple_of(TEMP_EVERY);
        let temp = self.temp.as_deref().filter(|_| is_due);
        if let (Some(most), Some(temp)) = (temp_bytes, temp) {
            let used = bytes_in(temp);
            if used > most {
                return Some(sentence("temporary files", "temp_max", &size(used), &size(most)));
            }
        }
        None
    }
}

fn sentence(what: &str, setting: &str, used: &str, most: &str) -> String {
    format!("killed for using too much ({what}): {used}, and {setting} allows {most}")
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=1_048_575 => format!("{bytes} bytes"),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// The resource use of one process.
struct Usage {
    memory_bytes: u64,
    tasks: u64,
}

fn usage(process: &Descendant) -> Option<Usage> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.pid.as_raw_pid())).ok()?;
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    // Pages of files are shared and can be evicted, so they are not counted.
    let kilobytes = number("RssAnon:") + number("RssShmem:");
    Some(Usage { memory_bytes: kilobytes << 10, tasks: number("Threads:") })
}

/// Bytes on disk below a folder. Links are not followed.
fn bytes_in(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let (mut bytes, mut files) = (0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            files += 1;
            if files > FILES_MAX {
                return bytes;
            }
            bytes += found.blocks() * 512;
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    bytes
}
