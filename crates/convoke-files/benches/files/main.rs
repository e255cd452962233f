//! Question sessions, transcripts and the files of projects: asking, waiting, listing and finding, beside what the file system itself needs.

mod asking;
mod folder;
mod instructions;
mod listing;
mod mentions;
mod transcripts;
mod waiting;

use convoke_testkit::bench::{Bench, Result};

/// Sessions of a folder that is full, and of what is enough to try the benchmark out.
const OTHERS: (usize, usize) = (10_000, 200);

fn main() -> Result<()> {
    let mut bench = Bench::from_args()?;
    if let Some(times) = bench.subtask() {
        return instructions::show(times.parse()?);
    }
    if bench.wants(&instructions::ROWS) {
        instructions::measure(&mut bench)?;
    }
    if bench.wants(&waiting::ROWS) {
        waiting::measure(&mut bench)?;
    }
    if bench.wants(&asking::ROWS) {
        asking::measure(&mut bench)?;
    }
    if bench.wants(&listing::ROWS) {
        listing::measure(&mut bench)?;
    }
    if bench.wants(&mentions::ROWS) {
        mentions::measure(&mut bench)?;
    }
    if bench.wants(&transcripts::ROWS) {
        transcripts::measure(&mut bench)?;
    }
    bench.finish()
}
