//! What many programs that wait for an answer cost: nothing, if all is well.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit, process, questions};

pub(crate) const ROWS: [&str; 4] = [
    "wait: 100 convoke ask processes, CPU time per second",
    "wait: 100 convoke ask processes, bytes written per second",
    "wait: 200 convoke ask processes, CPU time per second",
    "wait: 200 convoke ask processes, bytes written per second",
];

/// Programs that wait, few enough for what Linux allows a user to watch by default, which is 128.
const ASKERS: (usize, usize) = (100, 10);
/// Above that, waiters cannot watch and must poll.
const MANY_ASKERS: (usize, usize) = (200, 20);
/// How long they are watched, in seconds.
const WATCHED: (usize, usize) = (5, 1);
/// As long as the pause between two looks of those that cannot watch, so that each of them looks once.
const MANY_WATCHED: (usize, usize) = (30, 1);
/// How long they may take to begin.
const START_MAX: Duration = Duration::from_secs(60);
/// How long they are left alone after that, so that beginning is not measured.
const UNTIL_ASLEEP: Duration = Duration::from_secs(1);

pub(crate) fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [cpu, written, cpu_many, written_many] = ROWS;
    measure_some(bench, program, [cpu, written], ASKERS, WATCHED)?;
    measure_some(bench, program, [cpu_many, written_many], MANY_ASKERS, MANY_WATCHED)
}

fn measure_some(
    bench: &mut Bench,
    program: &Path,
    rows: [&str; 2],
    askers: (usize, usize),
    watched: (usize, usize),
) -> Result<()> {
    let [cpu, written] = rows;
    if !bench.wants(&rows) {
        return Ok(());
    }
    bench.progress(cpu)?;
    let home = crate::new_home()?;
    fs::write(home.path().join("config.toml"), "[questions]\nmax_sessions = 1000\n")?;
    let mut asked = tempfile::NamedTempFile::new()?;
    asked.write_all(&serde_json::to_vec(&questions::questions())?)?;
    let count = bench.size(askers.0, askers.1);
    let askers = Askers::start(program, home.path(), asked.path(), count)?;
    let watched = Duration::from_secs(bench.size(watched.0, watched.1) as u64);
    let (cpu_before, written_before) = askers.spent()?;
    thread::sleep(watched);
    let (cpu_after, written_after) = askers.spent()?;
    drop(askers);
    let a_second = |spent: f64| spent / watched.as_secs_f64();
    bench.add(
        Row::new(cpu, Unit::Seconds, a_second((cpu_after - cpu_before).as_secs_f64()))
            .goal(Goal::AtMost(0.001)),
    )?;
    let written_bytes = (written_after - written_before) as f64;
    bench.add(Row::new(written, Unit::Bytes, a_second(written_bytes)).goal(Goal::AtMost(0.0)))
}

/// Programs that wait for an answer, ended when this is dropped.
struct Askers {
    children: Vec<Child>,
}

impl Askers {
    fn start(program: &Path, home: &Path, asked: &Path, count: usize) -> Result<Self> {
        let mut askers = Self { children: Vec::new() };
        for _ in 0..count {
            let child = Command::new(program)
                .args(["ask", "--home"])
                .arg(home)
                .stdin(File::open(asked)?)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            askers.children.push(child);
        }
        let deadline = Instant::now() + START_MAX;
        while sessions(home) < count {
            if Instant::now() > deadline {
                return Err("not every `convoke ask` has begun to wait".into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(UNTIL_ASLEEP);
        Ok(askers)
    }

    /// Time on a processor and bytes written, of all of them together. Fails when one has ended.
    fn spent(&self) -> Result<(Duration, u64)> {
        let (mut cpu, mut written) = (Duration::ZERO, 0);
        for child in &self.children {
            cpu += process::cpu_time(child.id())?;
            written += process::written_bytes(child.id())?;
        }
        Ok((cpu, written))
    }
}

impl Drop for Askers {
    fn drop(&mut self) {
        for child in &mut self.children {
            // One that has ended already need not be ended.
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Sessions that have been asked whole.
fn sessions(home: &Path) -> usize {
    let Ok(entries) = fs::read_dir(home.join("questions")) else { return 0 };
    entries.flatten().filter(|entry| entry.path().join("status.json").exists()).count()
}
