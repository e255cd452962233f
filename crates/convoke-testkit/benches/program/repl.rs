//! The REPL: a folder full of transcripts listed, and a long one resumed, until the prompt is shown on a terminal.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::transcripts::{read_all, write};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit, process};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use crate::start::run;

pub(crate) const ROWS: [&str; 3] = [
    "list: convoke spawn --list-sessions, 10,000 transcripts of 100 turns",
    "resume: convoke spawn --resume, transcript of 100 MB, until the prompt",
    "memory: convoke spawn --resume, transcript of 100 MB, peak until the prompt",
];

/// Transcripts in the folder, and in what is enough to try the benchmark out.
const TRANSCRIPTS: (usize, usize) = (10_000, 200);
/// Turns of each.
const TURNS: usize = 100;
/// Turns of the long one, each of about two kilobytes.
const LONG_TURNS: (usize, usize) = (50_000, 500);
/// Times each is done.
const ROUNDS: (usize, usize) = (15, 3);
/// What stands before the cursor when one may type.
const PROMPT: &str = "demo›";

pub(crate) fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [listing, resuming, memory] = ROWS;
    let rounds = bench.size(ROUNDS.0, ROUNDS.1);
    if bench.wants(&[listing]) {
        bench.progress(listing)?;
        let home = crate::new_home()?;
        let folder = home.path().join("spawn/sessions");
        fs::create_dir_all(&folder)?;
        for number in 0..bench.size(TRANSCRIPTS.0, TRANSCRIPTS.1) {
            write(&folder.join(format!("{number}.jsonl")), TURNS, 12)?;
        }
        let list = || {
            let mut command = Command::new(program);
            run(command.args(["spawn", "--list-sessions", "--home"]).arg(home.path()))
        };
        let (time, bare) = in_turn(rounds, list, || seconds(|| read_all(&folder)))?;
        bench.add(
            Row::new(listing, Unit::Seconds, time.median())
                .against("reading each file, 1 thread", bare.median())
                .goal(Goal::AtMost(0.150)),
        )?;
    }
    if bench.wants(&[resuming, memory]) {
        bench.progress(resuming)?;
        let home = crate::new_home()?;
        let folder = home.path().join("spawn/sessions");
        fs::create_dir_all(&folder)?;
        write(&folder.join("long.jsonl"), bench.size(LONG_TURNS.0, LONG_TURNS.1), 330)?;
        let mut resident = 0;
        let resume = || {
            let (time, bytes) = until_prompt(program, home.path())?;
            resident = resident.max(bytes);
            Ok(time)
        };
        let (time, bare) = in_turn(rounds, resume, || seconds(|| read_all(&folder)))?;
        bench.add(
            Row::new(resuming, Unit::Seconds, time.median())
                .against("reading the file", bare.median())
                .goal(Goal::AtMost(1.0)),
        )?;
        bench.add(Row::new(memory, Unit::Bytes, resident as f64).goal(Goal::AtMost(100e6)))?;
    }
    Ok(())
}

/// How long it takes until one may type, in seconds, and the most memory that the program had until then.
fn until_prompt(program: &Path, home: &Path) -> Result<(f64, u64)> {
    let pair = native_pty_system().openpty(PtySize::default())?;
    let mut command = CommandBuilder::new(program);
    command.args(["spawn", "--resume", "long", "--home"]);
    command.arg(home);
    // The agent works outside of the home.
    command.cwd(std::env::temp_dir());
    let start = Instant::now();
    let mut child = pair.slave.spawn_command(command)?;
    // As long as another handle is open, the end of the program is not the end of its output.
    drop(pair.slave);
    let mut output = pair.master.try_clone_reader()?;
    let (mut screen, mut bytes) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&screen).contains(PROMPT) {
        let count = output.read(&mut bytes)?;
        if count == 0 {
            return Err("the program ended without a prompt".into());
        }
        screen.extend_from_slice(bytes.get(..count).unwrap_or_default());
    }
    let time = start.elapsed().as_secs_f64();
    let pid = child.process_id().ok_or("the program has no id")?;
    let resident = process::peak_bytes(pid)?;
    // Ctrl-D leaves.
    pair.master.take_writer()?.write_all(b"\x04")?;
    while output.read(&mut bytes).is_ok_and(|count| count > 0) {}
    child.wait()?;
    Ok((time, resident))
}
