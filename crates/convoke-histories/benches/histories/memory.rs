//! The memory that a huge transcript takes.

use std::io::{self, Write as _};
use std::path::Path;

use convoke_histories::{Agent, Reading, Store};
use convoke_testkit::bench::process::peak_bytes;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit, histories, subtask};

pub(crate) const ROWS: [&str; 1] = ["memory: peak while reading a transcript of 1 GB"];

/// Bytes of the transcript.
const BYTES: (usize, usize) = (1 << 30, 8 << 20);

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [name] = ROWS;
    bench.progress(name)?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    histories::write_one(folder.path(), bench.size(BYTES.0, BYTES.1))?;
    let peak: f64 = subtask(&folder.path().to_string_lossy())?.trim().parse()?;
    bench.add(Row::new(name, Unit::Bytes, peak).goal(Goal::AtMost(60e6)))
}

/// Reads the transcript in this process and says how much memory it took.
pub(crate) fn show(root: &str) -> Result<()> {
    let mut store = Store::open_at(Agent::Claude, Path::new(root))?.ok_or("there is no store")?;
    let mut messages = 0;
    for history in store.scan()? {
        let Reading::Whole(mut reader) = store.read(&history, None)? else { continue };
        while let Some(batch) = reader.next_batch()? {
            messages += batch.items.len();
        }
    }
    if messages == 0 {
        return Err("nothing was read".into());
    }
    writeln!(io::stdout(), "{}", peak_bytes(std::process::id())?)?;
    Ok(())
}
