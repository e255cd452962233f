//! Conversations of Claude Code, imported by a daemon on one command: until all can be read, and until all are searched.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use convoke_testkit::bench::measure::{Samples, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit, histories, process};
use tempfile::TempDir;

use crate::start::run;

pub(crate) const ROWS: [&str; 5] = [
    "import: convoke import --all, 10,000 Claude histories of 16 kB, until readable",
    "import: convoke import --all, relative to parsing the files",
    "import: convoke import --all, until the search index is complete",
    "import: convoke import --all again, no file changed",
    "import: peak memory of the daemon, one transcript of 1 GB",
];

/// Conversations.
const HISTORIES: (usize, usize) = (10_000, 100);
/// Bytes of the one transcript.
const BYTES: (usize, usize) = (1 << 30, 8 << 20);
/// Times everything is imported.
const ROUNDS: (usize, usize) = (3, 1);

/// A user with conversations, whose daemon runs.
pub(crate) struct User {
    pub(crate) home: TempDir,
    daemon: Child,
}

impl User {
    pub(crate) fn new(program: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let home = crate::new_home()?;
        write(&home.path().join(".claude"))?;
        fs::create_dir_all(home.path().join("convoke"))?;
        let daemon = start(program, &home)?;
        Ok(Self { home, daemon })
    }

    /// A command of this user.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg("--home").arg(self.home.path().join("convoke")).env("HOME", self.home.path());
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub(crate) fn import(&self, program: &Path) -> Result<f64> {
        run(self.command(program).args(["import", "--all"]))
    }

    /// Waits until the search index has all messages.
    pub(crate) fn wait_for_index(&self, program: &Path) -> Result<()> {
        loop {
            let mut command = self.command(program);
            let output = command.args(["search", "please", "--limit", "1", "--json"]).output()?;
            let found: serde_json::Value = serde_json::from_slice(&output.stdout)?;
            if found.get("incomplete").is_none() {
                return Ok(());
            }
        }
    }
}

/// Starts a daemon, and waits until it is ready.
fn start(program: &Path, home: &TempDir) -> Result<Child> {
    let mut command = Command::new(program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--home"]);
    command.arg(home.path().join("convoke")).env("HOME", home.path());
    let mut daemon = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    // It says where it listens when it does.
    let output = daemon.stdout.take().ok_or("the daemon has no output")?;
    BufReader::new(output).read_line(&mut String::new())?;
    Ok(daemon)
}

impl Drop for User {
    fn drop(&mut self) {
        // A daemon that has ended cannot be killed, and needs not be.
        self.daemon.kill().and_then(|()| self.daemon.wait()).ok();
    }
}

pub(crate) fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [first, times, searched, again, memory] = ROWS;
    if bench.wants(&[first, times, searched, again]) {
        bench.progress(first)?;
        let count = bench.size(HISTORIES.0, HISTORIES.1);
        let mut taken = [const { Vec::new() }; 4];
        for _ in 0..bench.size(ROUNDS.0, ROUNDS.1) {
            let user = User::new(program, |root| histories::write_many(root, count))?;
            let bare = seconds(|| histories::parse(&user.home.path().join(".claude")))?;
            let whole = user.import(program)?;
            let filling = seconds(|| user.wait_for_index(program))?;
            let figures = [bare, whole, whole + filling, user.import(program)?];
            taken.iter_mut().zip(figures).for_each(|(all, figure)| all.push(figure));
        }
        let [bare, whole, filled, rescans] = taken.map(|all| Samples::from_iter(all).median());
        let beside = "parsing each line to a serde_json::Value, 1 thread";
        let row = |name, value| Row::new(name, Unit::Seconds, value);
        bench.add(row(first, whole).goal(Goal::AtMost(5.0)))?;
        bench.add(row(times, whole).against(beside, bare).goal(Goal::RatioAtMost(3.0)))?;
        bench.add(row(searched, filled).against(beside, bare).goal(Goal::AtMost(10.0)))?;
        bench.add(row(again, rescans).goal(Goal::AtMost(0.150)))?;
    }
    if bench.wants(&[memory]) {
        bench.progress(memory)?;
        let bytes = bench.size(BYTES.0, BYTES.1);
        let user = User::new(program, |root| histories::write_one(root, bytes))?;
        user.import(program)?;
        let peak = process::peak_bytes(user.daemon.id())?;
        bench.add(Row::new(memory, Unit::Bytes, peak as f64).goal(Goal::AtMost(60e6)))?;
    }
    Ok(())
}
