//! Processes as tests see them in `/proc`. Only Linux shows them; elsewhere there are none.

use std::fs;
use std::path::Path;

/// The living processes that work in a folder.
pub fn processes_in(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let works_there = |pid: &u32| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder) && is_alive(*pid)
    };
    numbers.filter(works_there).collect()
}

/// Whether there is such a process that is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The state comes after the name, which is in parentheses and may hold anything.
    status.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z'))
}
