//! The instructions that it takes to read one question session.

use convoke_testkit::bench::instructions::{can_count, each, of_subtask};
use convoke_testkit::bench::{Bench, Result, Row, Unit, questions};

use crate::folder::{Folder, new_set};

pub(crate) const ROWS: [&str; 1] = ["instructions: read one question session"];

const TIMES: (usize, usize) = (2_000, 50);

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [name] = ROWS;
    bench.progress(name)?;
    if !can_count()? {
        return Ok(());
    }
    let count = each(bench.size(TIMES.0, TIMES.1), |times| of_subtask(&times.to_string()))?;
    bench.add(Row::new(name, Unit::Instructions, count))
}

/// Reads a session so many times.
pub(crate) fn show(times: usize) -> Result<()> {
    let mut folder = Folder::with_others(0)?;
    let id = folder.next_id();
    folder.questions.create(id, new_set()?, questions::asked_at())?;
    for _ in 0..times {
        folder.questions.show(id)?;
    }
    Ok(())
}
