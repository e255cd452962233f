//! A log file a day, readable by its owner only, and a week of them.
//!
//! The crates that roll files over leave the permissions of the next one to the umask; this one does not.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use convoke_core::time::Timestamp;

/// Files kept, today's included; older ones are deleted when a new day begins.
const FILES_MAX: usize = 7;
/// The prefix of the files; the date follows.
const PREFIX: &str = "convoke.log.";
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Appends to the file of the day. Several processes may, since each line is one write.
#[derive(Debug)]
pub(super) struct Daily {
    folder: PathBuf,
    clock: fn() -> Timestamp,
    day: i64,
    file: File,
    /// Lines that could not be written since the last one that could.
    lost: u64,
}

impl Daily {
    /// Opens today's file in `folder`, which must exist.
    pub(super) fn open(folder: PathBuf, clock: fn() -> Timestamp) -> io::Result<Self> {
        let now = clock();
        let file = open_day(&folder, now)?;
        Ok(Self { folder, clock, day: day_of(now), file, lost: 0 })
    }
}

impl Write for Daily {
    /// Never fails: on a full disk a line is lost, and the next written line is preceded by the
    /// number of lost ones.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self.append(line) {
            Ok(()) => self.lost = 0,
            Err(_) => self.lost = self.lost.saturating_add(1),
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Daily {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let now = (self.clock)();
        if day_of(now) != self.day {
            self.file = open_day(&self.folder, now)?;
            self.day = day_of(now);
        }
        if self.lost > 0 {
            let said = format!(
                "{{\"timestamp\":\"{now}\",\"level\":\"WARN\",\"fields\":{{\"message\":\"{} lines before this one \
                 could not be written\"}},\"target\":\"convoke::logs\"}}\n",
                self.lost
            );
            self.file.write_all(said.as_bytes())?;
        }
        self.file.write_all(line)
    }
}

fn day_of(time: Timestamp) -> i64 {
    time.as_millis().div_euclid(DAY_MS)
}

fn open_day(folder: &Path, now: Timestamp) -> io::Result<File> {
    let date: String = now.to_string().chars().take_while(|c| *c != 'T').collect();
    let path = folder.join(format!("{PREFIX}{date}"));
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    delete_old(folder)?;
    Ok(file)
}

fn delete_old(folder: &Path) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        // Our log files have UTF-8 names.
        names.extend(entry?.file_name().into_string().ok().filter(|name| is_ours(name)));
    }
    names.sort_unstable();
    let surplus = names.len().saturating_sub(FILES_MAX);
    for name in names.iter().take(surplus) {
        // Another process may have deleted it first; errors do not matter.
        fs::remove_file(folder.join(name)).ok();
    }
    Ok(())
}

/// Whether a name is the prefix and a date, so that nothing else is ever deleted.
fn is_ours(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|date| {
        date.len() == "2026-11-15".len() && date.chars().all(|c| c.is_ascii_digit() || c == '-')
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    static NOW: AtomicI64 = AtomicI64::new(0);

    fn now() -> Timestamp {
        Timestamp::from_millis(NOW.load(Ordering::Relaxed))
    }

    #[test]
    fn each_day_has_its_private_file_and_a_week_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("convoke.log.bak"), "mine").unwrap();
        let mut log = Daily::open(folder.path().to_owned(), now).unwrap();
        for day in 0..10 {
            NOW.store(day * DAY_MS + DAY_MS - 1, Ordering::Relaxed);
            writeln!(log, "day {day}").unwrap();
        }

        let mut found: Vec<(String, u32, String)> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
                (name, mode, fs::read_to_string(path).unwrap())
            })
            .collect();
        found.sort();
        let last = ("convoke.log.bak".to_owned(), 0o644, "mine".to_owned());
        assert_eq!(found.pop().map(|found| (found.0, found.2)), Some((last.0, last.2)));
        let days: Vec<(String, u32, String)> = (3..10)
            .map(|day| {
                (format!("convoke.log.1970-01-{:02}", day + 1), 0o600, format!("day {day}\n"))
            })
            .collect();
        assert_eq!(found, days);
    }
}
