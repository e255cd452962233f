//! Checkpoints and diffs beside what git itself needs for the same: `git add -A && git write-tree` with a warm index, and
//! `git diff --numstat`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use convoke_git::{CheckpointKind, Checkpoints, Git, Limits, Name, Options};
use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

const ROWS: [(&str, &str, usize); 2] = [
    ("checkpoint: 1,000 files, one changed", "checkpoint: 1,000 files, none changed", 1_000),
    ("checkpoint: 100,000 files, one changed", "checkpoint: 100,000 files, none changed", 100_000),
];

const LISTING: &str = "diff: list 5,000 changed files";
const OPENING: &str = "diff: open one of 5,000 changed files";

/// Files that differ in the two.
const CHANGED: usize = 5_000;

/// How often each is measured.
const ROUNDS: (usize, usize) = (15, 2);

/// Files with `--quick`.
const FILES_QUICK: usize = 200;

const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn main() -> Result<()> {
    let mut bench = Bench::from_args()?;
    for (changed, same, files) in ROWS {
        if bench.wants(&[changed, same]) {
            measure(&mut bench, changed, same, files)?;
        }
    }
    if bench.wants(&[LISTING, OPENING]) {
        measure_diffs(&mut bench)?;
    }
    bench.finish()
}

/// As the daemon does it: the checkpoints of a session are found by their names.
fn measure_diffs(bench: &mut Bench) -> Result<()> {
    bench.progress(LISTING)?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("project");
    let files = bench.size(CHANGED, FILES_QUICK);
    fill(&root, files)?;
    git(&root, &["init", "-q"])?;
    git(&root, &["add", "-A"])?;
    let limits = || Limits::new(Duration::from_secs(600));
    let program = Git::open(Path::new("git"), OsStr::new(SEARCH_PATH), &limits())?;
    let repository = folder.path().join("ours.git");
    let open = || Checkpoints::open(&program, &repository, &root, Options::default(), &limits());
    open()?.checkpoint(&Name::new("bench", CheckpointKind::Before(1))?, &limits())?;
    for number in 0..files {
        fs::write(file(&root, number), format!("another content {number}\n"))?;
    }
    open()?.checkpoint(&Name::new("bench", CheckpointKind::After(1))?, &limits())?;
    let sides = |checkpoints: &Checkpoints| -> Result<_> {
        let names = checkpoints.list("bench")?;
        let [before, after] = names.as_slice() else { return Err("two checkpoints".into()) };
        let side =
            |name| checkpoints.find(name, &limits())?.ok_or("a checkpoint is missing".into());
        let sides: Result<(convoke_git::Checkpoint, convoke_git::Checkpoint)> =
            side(before).and_then(|before| Ok((before, side(after)?)));
        sides
    };
    let list = || -> Result<()> {
        let checkpoints = open()?;
        let (from, to) = sides(&checkpoints)?;
        let found = checkpoints.changes(&from.tree, &to.tree, 10_000, &limits())?;
        if found.changes.len() == files { Ok(()) } else { Err("another list".into()) }
    };
    let path = format!("folder{}/file{}.txt", files / 200, files / 2);
    let open_one = || -> Result<()> {
        let checkpoints = open()?;
        let (from, to) = sides(&checkpoints)?;
        let change = checkpoints.change(&from.tree, &to.tree, &path, &limits())?;
        let change = change.ok_or("the file is missing")?;
        let diff = checkpoints.file_diff(&from.tree, &to.tree, &change, 1 << 20, &limits())?;
        if diff.hunks.len() == 1 { Ok(()) } else { Err("another diff".into()) }
    };
    let rounds = bench.size(ROUNDS.0, ROUNDS.1);
    let numstat = || git(&root, &["diff", "--numstat"]);
    let (time, of_git) = in_turn(rounds, || seconds(list), || seconds(numstat))?;
    let row = Row::new(LISTING, Unit::Seconds, time.median());
    let row = row.against("git diff --numstat", of_git.median());
    bench.add(row.goal(Goal::RatioAtMost(1.5)))?;
    let diff_one = || git(&root, &["diff", "--", &path]);
    let (time, of_git) = in_turn(rounds, || seconds(open_one), || seconds(diff_one))?;
    let row = Row::new(OPENING, Unit::Seconds, time.median());
    bench.add(row.against("git diff -- FILE", of_git.median()).goal(Goal::AtMost(0.05)))
}

fn measure(bench: &mut Bench, changed: &str, same: &str, files: usize) -> Result<()> {
    bench.progress(changed)?;
    let folder = tempfile::tempdir()?;
    let (ours, bare) = (folder.path().join("ours"), folder.path().join("bare"));
    for root in [&ours, &bare] {
        fill(root, bench.size(files, FILES_QUICK))?;
    }
    git(&bare, &["init", "-q"])?;
    let limits = || Limits::new(Duration::from_secs(600));
    let program = Git::open(Path::new("git"), OsStr::new(SEARCH_PATH), &limits())?;
    let repository = folder.path().join("ours.git");
    let checkpoints =
        Checkpoints::open(&program, &repository, &ours, Options::default(), &limits())?;
    let mut turn = 0;
    let mut checkpoint = || -> Result<()> {
        turn += 1;
        checkpoints.checkpoint(&Name::new("bench", CheckpointKind::After(turn))?, &limits())?;
        Ok(())
    };
    let add = || git(&bare, &["add", "-A"]).and_then(|()| git(&bare, &["write-tree"]));
    // Twice: the second time makes an index whose files are older than itself.
    for _ in 0..2 {
        checkpoint()?;
        add()?;
    }
    let (mut written, mut reference) = (0, 0);
    let rounds = bench.size(ROUNDS.0, ROUNDS.1);
    let (time, of_git) = in_turn(
        rounds,
        || {
            written += 1;
            fs::write(file(&ours, 7), format!("{written}"))?;
            seconds(&mut checkpoint)
        },
        || {
            reference += 1;
            fs::write(file(&bare, 7), format!("{reference}"))?;
            seconds(add)
        },
    )?;
    let beside = "git add -A && git write-tree";
    let row = Row::new(changed, Unit::Seconds, time.median()).against(beside, of_git.median());
    bench.add(row.goal(Goal::RatioAtMost(1.3)))?;
    let (time, of_git) = in_turn(rounds, || seconds(&mut checkpoint), || seconds(add))?;
    let row = Row::new(same, Unit::Seconds, time.median()).against(beside, of_git.median());
    bench.add(row.goal(Goal::RatioAtMost(1.3)))
}

/// A hundred files to a folder.
fn fill(root: &Path, files: usize) -> Result<()> {
    for number in 0..files {
        let path = file(root, number);
        if number % 100 == 0 {
            fs::create_dir_all(path.parent().unwrap_or(root))?;
        }
        fs::write(path, format!("the content of file {number}\n"))?;
    }
    Ok(())
}

fn file(root: &Path, number: usize) -> PathBuf {
    root.join(format!("folder{}/file{number}.txt", number / 100))
}

fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", SEARCH_PATH).env("HOME", "/dev/null").current_dir(folder);
    let output = command.args(args).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into())
}
