//! `cargo xtask torture`: a daemon, its clients, and everything going wrong at once; then an auditor.
//!
//! A run consists of rounds, each on a separate home with a separate seed, so that a finding is near its cause. The
//! seed reproduces the plan of faults and the requests of clients; how threads and processes interleave is up to the
//! machine.

mod askers;
mod audit;
mod clients;
mod faults;
mod http;
mod ledger;
mod machine;
mod nodes;
mod prompts;
mod repls;
mod schedule;
mod script;
mod watchers;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use convoke_testkit::bench::build;

use clients::World;
use faults::Made;
use ledger::{Ack, Ledger};
use machine::{Disk, Machine};
use schedule::Plan;

/// How long a round is at most: long enough for every fault to meet every other, short enough for its disk.
const ROUND: Duration = Duration::from_secs(60);
/// How often the daemon is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The command-line options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    seconds: u64,
    seed: u64,
    profile: Profile,
    /// Daemons on one PostgreSQL; 0 for one daemon with a file.
    nodes: usize,
    faults: Faults,
}

/// Whether anything goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Faults {
    Many,
    /// Only load, to see whether it leaves anything behind.
    None,
}

/// How the programs are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Profile {
    Debug,
    Release,
}

impl Options {
    /// Parses the arguments after `torture`; `None` when they are invalid.
    pub fn read(words: &[&str]) -> Option<Self> {
        let (profile, faults) = (Profile::Debug, Faults::Many);
        let mut options = Self { seconds: 30, seed: 1, profile, nodes: 0, faults };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--seconds" => options.seconds = words.next()?.parse().ok().filter(|it| *it > 0)?,
                "--seed" => options.seed = words.next()?.parse().ok()?,
                "--nodes" => options.nodes = words.next()?.parse().ok().filter(|it| *it > 0)?,
                "--calm" => options.faults = Faults::None,
                "--release" => options.profile = Profile::Release,
                _ => return None,
            }
        }
        // A single daemon has its own measurements.
        (options.nodes > 0 || options.faults == Faults::Many).then_some(options)
    }
}

/// Whether everything held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was lost, doubled or left.
    Held,
    /// The findings were printed.
    Broken,
}

/// Runs all rounds, and prints the findings.
pub fn run(root: &Path, options: &Options) -> Result<Verdict> {
    let (program, agent) = programs(root, options.profile)?;
    match (options.nodes, options.faults) {
        (0, _) => {}
        (_, Faults::Many) => return nodes::torture(&program, &agent, options),
        (_, Faults::None) => return nodes::load(&program, &agent, options),
    }
    let mut left = Duration::from_secs(options.seconds);
    let (mut total, mut findings, mut seed) = (Totals::default(), 0, options.seed);
    while !left.is_zero() {
        let length = left.min(ROUND);
        left -= length;
        findings += round(&program, &agent, seed, length, &mut total)?;
        seed = seed.wrapping_add(1);
    }
    let mut out = io::stdout().lock();
    write!(out, "{}", total.summary())?;
    match findings {
        0 => writeln!(
            out,
            "torture: everything that was acknowledged is there, once, and nothing is left"
        )?,
        count => writeln!(out, "torture: {count} findings")?,
    }
    Ok(if findings == 0 { Verdict::Held } else { Verdict::Broken })
}

/// The program, and the agent that misbehaves.
fn programs(root: &Path, profile: Profile) -> Result<(PathBuf, PathBuf)> {
    let manifest = root.join("Cargo.toml");
    let manifest = manifest.to_str().context("the path of the workspace is not text")?;
    let mut words = vec!["build", "--quiet", "--manifest-path", manifest, "--package", "convoke"];
    words.extend(["--bin", "convoke", "--example", "spawned_agent"]);
    if profile == Profile::Release {
        words.push("--release");
    }
    let built = build::programs(&words).map_err(|error| anyhow!("{error}"))?;
    let program = built.into_iter().find(|program| program.name == "convoke");
    let program = program.context("cargo did not build convoke")?.path;
    let agent = program.with_file_name("examples").join("spawned_agent");
    Ok((program, agent))
}

/// One round; returns the number of findings.
fn round(
    program: &Path,
    agent: &Path,
    seed: u64,
    length: Duration,
    total: &mut Totals,
) -> Result<usize> {
    let machine = Machine::prepare(program, agent, seed)?;
    let ledger = Ledger::default();
    if let Some(status) = machine.start_daemon()? {
        anyhow::bail!("the daemon does not start: {status}\n{}", machine.daemon_words());
    }
    let world = World::new(&machine, &ledger, seed);
    let plan = Plan::of(seed, length);
    total.begin(seed, &machine);
    let is_watched_over = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| supervise(&machine, &ledger, &is_watched_over));
        thread::scope(|scope| {
            start_clients(scope, &world);
            carry_out(&world, &plan, length, total);
            world.over.store(true, Ordering::SeqCst);
        });
        is_watched_over.store(false, Ordering::SeqCst);
    });
    let findings = examine(&machine, &ledger, total)?;
    if !findings.is_empty() {
        let evidence = machine.keep_evidence(seed)?;
        let mut out = io::stdout().lock();
        for finding in &findings {
            writeln!(out, "seed {seed}: {finding}")?;
        }
        writeln!(out, "seed {seed}: the home and the logs are in {}", evidence.display())?;
    }
    Ok(findings.len())
}

fn start_clients<'scope>(scope: &'scope thread::Scope<'scope, '_>, world: &'scope World<'_>) {
    for client in 0..6 {
        scope.spawn(move || clients::prompter(world, client));
    }
    for client in 100..103 {
        scope.spawn(move || watchers::watcher(world, client));
    }
    for client in 200..202 {
        scope.spawn(move || askers::asker(world, client));
    }
    for client in 300..302 {
        scope.spawn(move || repls::repl_client(world, client));
    }
    scope.spawn(move || clients::human(world));
    scope.spawn(move || askers::answerer(world));
}

/// Injects the faults of a plan at their times.
fn carry_out(world: &World<'_>, plan: &Plan, length: Duration, total: &mut Totals) {
    let begun = Instant::now();
    for (number, (at, fault)) in plan.faults.iter().enumerate() {
        thread::sleep(at.saturating_sub(begun.elapsed()));
        if faults::make(world, *fault, number as u64) == Made::Yes {
            *total.faults.entry(fault.to_string()).or_default() += 1;
        }
    }
    thread::sleep(length.saturating_sub(begun.elapsed()));
}

/// Starts the daemon whenever it has ended, and reports a finding when no fault ended it.
fn supervise(machine: &Machine, ledger: &Ledger, is_watched_over: &AtomicBool) {
    while is_watched_over.load(Ordering::SeqCst) {
        if let Some(status) = machine.ended()
            && !machine.was_expected()
        {
            ledger.complain(format!("the daemon ended by itself: {status}"));
        }
        if machine.is_deserted() {
            let turns = machine.disk_turns();
            match machine.start_daemon() {
                Ok(None) => {}
                Ok(Some(status)) => {
                    let was_disk_bad = !turns.is_multiple_of(2) || machine.disk_turns() != turns;
                    if !machine.was_expected() && !was_disk_bad {
                        ledger.complain(format!("the daemon did not start: {status}"));
                    }
                    thread::sleep(POLL_INTERVAL * 10);
                }
                Err(error) => ledger.complain(format!("{error:#}")),
            }
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Waits until everything is idle, and compares.
fn examine(machine: &Machine, ledger: &Ledger, total: &mut Totals) -> Result<Vec<String>> {
    // The last fault may have been the daemon's end.
    machine.ended();
    if machine.is_deserted()
        && let Some(status) = machine.start_daemon()?
    {
        anyhow::bail!("the daemon does not start any more: {status}\n{}", machine.daemon_words());
    }
    let endpoint = machine.endpoint().context("the daemon does not say where it is")?;
    let mut records = ledger.records();
    let mut findings = std::mem::take(&mut records.findings);
    audit::settle(&endpoint, &mut findings);
    let stored = audit::read(&endpoint, &mut findings);
    audit::compare(&endpoint, &records, &stored, &mut findings);
    audit::compare_files(machine, &records, &mut findings);
    audit::leftovers(machine, &records, &mut findings);
    total.add(&records, &stored);
    Ok(findings)
}

/// The totals of all rounds.
#[derive(Debug, Default)]
struct Totals {
    seeds: Vec<u64>,
    disk: Option<Disk>,
    faults: BTreeMap<String, u64>,
    counts: BTreeMap<&'static str, u64>,
}

impl Totals {
    fn begin(&mut self, seed: u64, machine: &Machine) {
        self.seeds.push(seed);
        self.disk = Some(machine.disk);
    }

    fn add(&mut self, records: &ledger::LedgerRecords, stored: &audit::Stored) {
        let ack = |ack: Ack| records.prompts.values().filter(|it| it.ack == ack).count();
        let changed = records.prompts.values().filter_map(|it| it.change.as_ref());
        let changed = changed.filter(|(_, ack)| *ack == Ack::Done).count();
        let said = records.said.values().filter(|(_, ack)| *ack == Ack::Done).count();
        let messages: usize = stored.logs.values().map(Vec::len).sum();
        let counts = [
            ("prompts acknowledged", ack(Ack::Done)),
            ("prompts without an answer", ack(Ack::Unknown)),
            ("prompts refused", ack(Ack::Refused)),
            ("prompts changed in the queue", changed),
            ("messages stored", messages),
            ("messages shown to watchers", records.shown.len()),
            ("permissions answered", records.verdicts.len()),
            ("questions asked", records.asked.len()),
            ("questions answered", records.answered.len()),
            ("turns in REPLs", said),
            ("sessions", stored.logs.len()),
        ];
        for (what, count) in counts {
            *self.counts.entry(what).or_default() += count as u64;
        }
    }

    fn summary(&self) -> String {
        let (first, last) = (self.seeds.first().unwrap_or(&0), self.seeds.last().unwrap_or(&0));
        let mut text = format!("seeds {first} to {last}, {} rounds\n", self.seeds.len());
        if self.disk == Some(Disk::Shared) {
            text += "not done: a full disk and a read-only home, which need the right to mount\n";
        }
        if !audit::can_read_database() {
            text += "not done: the database was not searched for deltas, which needs sqlite3\n";
        }
        text +=
            "the machine's clock is not touched: files and sessions from the future stand for it\n";
        let faults = self.faults.iter().map(|(fault, count)| (fault.as_str(), *count));
        let counts = self.counts.iter().map(|(what, count)| (*what, *count));
        for (what, count) in faults.chain(counts) {
            text += &format!("{count:>8}  {what}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::schedule::Fault;
    use super::*;

    #[test]
    fn the_words_of_a_command_line_are_read() {
        let read = |words: &[&str]| Options::read(words);
        let (profile, faults) = (Profile::Release, Faults::Many);
        let options = Options { seconds: 5, seed: 9, profile, nodes: 0, faults };
        assert_eq!(read(&["--seconds", "5", "--seed", "9", "--release"]), Some(options));
        let options = Options { nodes: 20, faults: Faults::None, ..options };
        let words = ["--nodes", "20", "--calm", "--seconds", "5", "--seed", "9", "--release"];
        assert_eq!(read(&words), Some(options));
        assert_eq!(read(&[]).map(|it| (it.seconds, it.seed)), Some((30, 1)));
        for wrong in
            [&["--seconds"][..], &["--seconds", "0"], &["--seed", "x"], &["now"], &["--calm"]]
        {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn every_fault_has_its_own_name() {
        let names: std::collections::BTreeSet<String> =
            Fault::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), Fault::ALL.len());
    }
}
