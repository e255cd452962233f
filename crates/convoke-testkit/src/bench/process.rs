//! The kernel's statistics of a process: memory, processor time, bytes written. Linux only.

use std::fs;
use std::time::Duration;

use super::Result;

/// Bytes of a process that are in memory now.
pub fn resident_bytes(pid: u32) -> Result<u64> {
    memory(pid, "VmRSS:")
}

/// The most bytes of a process that ever were in memory at a time.
pub fn peak_bytes(pid: u32) -> Result<u64> {
    memory(pid, "VmHWM:")
}

fn memory(pid: u32, name: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kib = field(&status, name).and_then(|text| text.strip_suffix("kB"));
    let kib: u64 = kib.ok_or("the kernel does not report the memory in use")?.trim().parse()?;
    Ok(kib * 1024)
}

/// The time that all threads of a process have run.
///
/// From the scheduler's own account: the one in `stat` counts in hundredths of a second, which a process that is woken
/// now and then may never fill.
pub fn cpu_time(pid: u32) -> Result<Duration> {
    let mut nanos = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let account = fs::read_to_string(thread?.path().join("schedstat"))?;
        let running =
            account.split_whitespace().next().ok_or("the scheduler's account is empty")?;
        nanos += running.parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanos))
}

/// The bytes that a process has written to disks; those of other processes do not count.
pub fn written_bytes(pid: u32) -> Result<u64> {
    let io = fs::read_to_string(format!("/proc/{pid}/io"))?;
    Ok(field(&io, "write_bytes:").ok_or("the kernel does not report the bytes written")?.parse()?)
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_run_and_is_in_memory() {
        let pid = std::process::id();
        assert!(cpu_time(pid).unwrap() > Duration::ZERO);
        let resident = resident_bytes(pid).unwrap();
        assert!(resident > 100_000);
        assert!(peak_bytes(pid).unwrap() >= resident / 2);
        assert!(written_bytes(pid).is_ok());
    }
}
