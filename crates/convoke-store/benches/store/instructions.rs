//! The instructions that it takes to store one piece of an agent's answer.

use convoke_testkit::bench::instructions::{can_count, each, of_subtask};
use convoke_testkit::bench::{Bench, Result, Row, Unit};

use crate::database::Database;
use crate::speech::{Speaker, Talk, record};

pub(crate) const ROWS: [&str; 1] = ["instructions: append one delta"];
/// Followed by how many.
pub(crate) const SUBTASK: &str = "append ";

const TIMES: (usize, usize) = (2_000, 50);

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [name] = ROWS;
    bench.progress(name)?;
    if !can_count()? {
        return Ok(());
    }
    let count =
        each(bench.size(TIMES.0, TIMES.1), |times| of_subtask(&format!("{SUBTASK}{times}")))?;
    bench.add(Row::new(name, Unit::Instructions, count))
}

/// Stores so many pieces of answers, one after the other.
pub(crate) async fn append(times: usize) -> Result<()> {
    let database = Database::with_sessions(1).await?;
    let store = database.open().await?;
    let mut talk = Talk::new(0);
    for _ in 0..times {
        record(&store, talk.say(Speaker::Agent)?, Speaker::Agent).await?;
    }
    store.close().await;
    Ok(())
}
