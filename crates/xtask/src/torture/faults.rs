//! Making things go wrong.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use convoke_testkit::bench::random::Random;
use rustix::process::Signal;
use serde_json::json;

use super::clients::{self, World};
use super::http::{Answer, Outcome};
use super::ledger::{Ack, Prompt};
use super::machine::{Disk, Machine, run, signal_process};
use super::schedule::Fault;

/// How long a daemon may take to stop. It promises five seconds; a machine this busy gets more.
const STOP_MAX: Duration = Duration::from_secs(15);
/// A distant time, as from a wrong clock.
const FAR: &str = "2040-01-01T00:00:00.000Z";
/// The file that fills the disk.
const FILLER: &str = "filler";

/// Whether a fault could be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    Yes,
    /// This user has no right to do it, or there was no process to kill.
    No,
}

/// Injects one fault; the same number selects the same victim.
pub(super) fn make(world: &World<'_>, fault: Fault, number: u64) -> Made {
    let mut random = world.random(number.wrapping_add(50_000));
    let machine = world.machine;
    match fault {
        Fault::KillDaemon => {
            machine.end_daemon(Signal::KILL);
            Made::Yes
        }
        Fault::StopDaemon => stop(world),
        Fault::KillAgent => kill(machine, &["spawned_agent"], &mut random),
        Fault::KillWaiter => kill(machine, &[" ask - --timeout-ms"], &mut random),
        Fault::KillRepl => kill(machine, &[" spawn --interactive", " spawn --resume"], &mut random),
        Fault::FillDisk => on_bad_disk(machine, || fill(&machine.home(), &mut random)),
        Fault::ReadOnly => on_bad_disk(machine, || make_read_only(&machine.home(), &mut random)),
        Fault::JumpClock => jump(world, &mut random),
        Fault::Crowd => {
            clients::burst_of_clients(world, number);
            Made::Yes
        }
    }
}

fn stop(world: &World<'_>) -> Made {
    let Some(pid) = world.machine.pid() else { return Made::No };
    let begun = Instant::now();
    world.machine.end_daemon(Signal::TERM);
    // A zombie is over: the supervisor will notice.
    while world.machine.pid() == Some(pid) {
        if begun.elapsed() > STOP_MAX {
            world
                .ledger
                .complain(format!("the daemon did not stop within {} s", STOP_MAX.as_secs()));
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Made::Yes
}

fn kill(machine: &Machine, words: &[&str], random: &mut Random) -> Made {
    let mut victims = machine.processes();
    victims.retain(|(_, line)| words.iter().any(|word| line.contains(word)));
    match victims.get(random.below(victims.len().max(1) as u64) as usize) {
        Some((pid, _)) => {
            signal_process(*pid, Signal::KILL);
            Made::Yes
        }
        None => Made::No,
    }
}

fn on_bad_disk(machine: &Machine, make: impl FnOnce() -> Made) -> Made {
    if machine.disk == Disk::Shared {
        return Made::No;
    }
    machine.turn_disk();
    let made = make();
    machine.turn_disk();
    made
}

/// Fills the disk for about a second.
fn fill(home: &Path, random: &mut Random) -> Made {
    let path = home.join(FILLER);
    let Ok(mut file) = File::create(&path) else { return Made::No };
    let block = vec![0; 1 << 16];
    while file.write_all(&block).is_ok() {}
    while file.write_all(&[0]).is_ok() {}
    thread::sleep(Duration::from_millis(300 + random.below(1200)));
    // A process that is just being started may still have the file open, and with it its space.
    file.set_len(0).ok();
    fs::remove_file(&path).ok();
    Made::Yes
}

/// Makes the home read-only for about a second. Files that are open stay writable.
fn make_read_only(home: &Path, random: &mut Random) -> Made {
    let home = home.as_os_str();
    if !run("mount", &["--bind".as_ref(), home, home]) {
        return Made::No;
    }
    let made = run("mount", &["-o".as_ref(), OsStr::new("remount,bind,ro"), home]);
    thread::sleep(Duration::from_millis(300 + random.below(900)));
    // Lazily, since a process may have opened a file through it.
    run("umount", &["-l".as_ref(), home]);
    if made { Made::Yes } else { Made::No }
}

/// Leaves what a clock that was ahead leaves: files, and a session, from the future.
///
/// The clock of the machine is not changed.
fn jump(world: &World<'_>, random: &mut Random) -> Made {
    for folder in ["questions", "spawn/sessions"] {
        let entries = fs::read_dir(world.machine.home().join(folder)).into_iter().flatten();
        for entry in entries.flatten().filter(|_| random.below(4) == 0) {
            run("touch", &["-d".as_ref(), FAR.as_ref(), entry.path().as_os_str()]);
        }
    }
    let Some(endpoint) = world.machine.endpoint() else { return Made::No };
    let Some(repo) = world.repo() else { return Made::No };
    let text = world.text("from the future");
    let body = json!({
        "repoId": repo, "transcript": text, "agent": "wild", "createdAt": FAR,
        "turns": [{"role": "user", "content": text, "timestamp": FAR, "tokens": 3}],
    });
    let ack = match endpoint.call("POST", "/api/imports", Some(&body)) {
        Outcome::Answered(Answer { status: 200, body }) => {
            world.adopt(&endpoint, &body);
            Ack::Done
        }
        Outcome::Answered(Answer { status: 400..=499, .. }) | Outcome::NotSent => Ack::Refused,
        Outcome::Answered(_) | Outcome::Unknown => Ack::Unknown,
    };
    world.ledger.records().prompts.insert(text, Prompt::unchanged(ack, None));
    Made::Yes
}
