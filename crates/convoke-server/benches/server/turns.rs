//! What the way through the whole daemon adds to a turn and to a new session.
//!
//! A prompt is synced before it is published, so the time of the disk is measured beside it; with a home in memory
//! there is no disk, and what is left is our own. A checkpoint before the turn is made by git, which is measured beside
//! it, too.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use convoke_testkit::bench::direct::Direct;
use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};
use serde_json::json;
use tempfile::TempDir;

use crate::daemon::{Daemon, home_in, new_home};
use crate::watching::{Watcher, prompt};

pub(crate) const ROWS: [&str; 4] = [
    "turn: prompt to end, through the daemon, home in memory, no checkpoints",
    "turn: prompt to end, through the daemon, home on disk, no checkpoints",
    "turn: prompt to end, through the daemon, home on disk, with checkpoints",
    "new: a session on a spare process, through the daemon",
];

/// A folder that is in memory on Linux.
const MEMORY: &str = "/dev/shm";
const TURNS: (usize, usize) = (300, 10);
const SESSIONS: (usize, usize) = (20, 3);
/// How long a spare process has to get ready.
const UNTIL_SPARE: Duration = Duration::from_millis(500);
/// What a prompt takes in the database's log, about.
const SYNCED_BYTES: [u8; 8192] = [b'x'; 8192];

pub(crate) async fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [in_memory, on_disk, with_checkpoints, new] = ROWS;
    if bench.wants(&[in_memory]) {
        bench.progress(in_memory)?;
        let home = without_checkpoints(home_in(Path::new(MEMORY))?)?;
        let (ours, bare) = turns(bench, program, home).await?;
        bench.add(compared(in_memory, &ours, &bare.turns).goal(Goal::ExcessAtMost(1e-3)))?;
    }
    if bench.wants(&[on_disk]) {
        bench.progress(on_disk)?;
        let (ours, bare) = turns(bench, program, without_checkpoints(new_home()?)?).await?;
        let reference = "the same agent, over its pipes, and a sync";
        let synced = bare.turns.median() + bare.syncs.median();
        let row = Row::new(on_disk, Unit::Seconds, ours.median()).against(reference, synced);
        bench.add(row.goal(Goal::ExcessAtMost(1e-3)))?;
    }
    if bench.wants(&[with_checkpoints]) {
        bench.progress(with_checkpoints)?;
        let (ours, bare) = turns(bench, program, new_home()?).await?;
        let reference = "the same agent, a sync, git add -A && git write-tree";
        let saved = bare.turns.median() + bare.syncs.median() + bare.trees.median();
        let row =
            Row::new(with_checkpoints, Unit::Seconds, ours.median()).against(reference, saved);
        bench.add(row.goal(Goal::ExcessAtMost(1e-3)))?;
    }
    if bench.wants(&[new]) {
        bench.progress(new)?;
        new_sessions(bench, program, new).await?;
    }
    Ok(())
}

/// What the same takes without a daemon.
struct Bare {
    turns: Samples,
    syncs: Samples,
    /// What git takes for a tree of the project, which has one file.
    trees: Samples,
}

fn without_checkpoints(home: TempDir) -> Result<TempDir> {
    let mut config = OpenOptions::new().append(true).open(home.path().join("config.toml"))?;
    config.write_all(b"[changes]\ncheckpoints = false\n")?;
    Ok(home)
}

fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let git = Command::new("git").arg("-C").arg(folder).args(args).output()?;
    if git.status.success() { Ok(()) } else { Err(format!("git {args:?} failed").into()) }
}

/// How long turns take, in turn, so that what else the machine does troubles both.
async fn turns(bench: &Bench, program: &Path, home: TempDir) -> Result<(Samples, Bare)> {
    let daemon = Daemon::start(program, home).await?;
    let mut file = File::create(daemon.beside.path().join("synced"))?;
    let project = daemon.project().await?;
    let session = daemon.begin(&project).await?;
    let mut direct = Direct::start(["--subtask", "agent"]).await?;
    let mut watcher = Watcher::open(&daemon, &session).await?;
    let repository = daemon.beside.path().join("repository");
    fs::create_dir(&repository)?;
    fs::write(repository.join("a"), "a")?;
    fs::write(daemon.beside.path().join("work/a"), "a")?;
    git(&repository, &["init", "--quiet"])?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut syncs, mut trees) = (Vec::new(), Vec::new());
    for round in 0..=bench.size(TURNS.0, TURNS.1) {
        let begun = Instant::now();
        prompt(&daemon, &session, "hello").await?;
        watcher.until_end().await?;
        let (one, (other, _)) = (begun.elapsed(), direct.turn("hello").await?);
        let begun = Instant::now();
        file.write_all(&SYNCED_BYTES)?;
        file.sync_data()?;
        let sync = begun.elapsed();
        let begun = Instant::now();
        git(&repository, &["add", "-A"])?;
        git(&repository, &["write-tree"])?;
        let tree = begun.elapsed();
        // The first time does not count.
        if round > 0 {
            ours.push(one);
            theirs.push(other);
            syncs.push(sync);
            trees.push(tree);
        }
    }
    let samples = |times: Vec<Duration>| times.into_iter().collect::<Samples>();
    let (turns, syncs, trees) = (samples(theirs), samples(syncs), samples(trees));
    Ok((samples(ours), Bare { turns, syncs, trees }))
}

async fn new_sessions(bench: &mut Bench, program: &Path, name: &str) -> Result<()> {
    let daemon = Daemon::start(program, new_home()?).await?;
    let project = daemon.project().await?;
    let mut direct = Direct::start(["--subtask", "agent"]).await?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=bench.size(SESSIONS.0, SESSIONS.1) {
        let begun = Instant::now();
        let session = daemon.begin(&project).await?;
        let (one, other) = (begun.elapsed(), direct.new_session().await?);
        // The first time there is no spare process yet.
        if round > 0 {
            ours.push(one);
            theirs.push(other);
        }
        daemon.call("POST", &format!("/api/sessions/{session}/complete"), &json!({})).await?;
        tokio::time::sleep(UNTIL_SPARE).await;
    }
    let row = compared(name, &ours.into_iter().collect(), &theirs.into_iter().collect());
    bench.add(row.goal(Goal::ExcessAtMost(50e-3)))
}

fn compared(name: &str, ours: &Samples, theirs: &Samples) -> Row {
    Row::new(name, Unit::Seconds, ours.median())
        .against("the same agent, over its pipes", theirs.median())
}
