//! The instructions that it takes to show a conversation, and to answer a request.

use std::path::Path;

use convoke_api::entry::{Entries, Entry};
use convoke_testkit::bench::instructions::{can_count, counted, counting, each, of_subtask};
use convoke_testkit::bench::{Bench, Result, Row, Unit};

use crate::daemon::{Daemon, new_home};
use crate::fill::{conversation, fill};
use crate::listing::MESSAGES;

pub(crate) const ROWS: [&str; 2] =
    ["instructions: reduce 1,000 messages to entries", "instructions: GET one session"];
/// Followed by how many times.
pub(crate) const REDUCE: &str = "reduce ";

const REDUCED: usize = 1_000;
const REDUCTIONS: (usize, usize) = (20, 2);
const REQUESTS: (usize, usize) = (500, 20);

pub(crate) async fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [reducing, getting] = ROWS;
    if !bench.wants(&ROWS) || !can_count()? {
        return Ok(());
    }
    if bench.wants(&[reducing]) {
        bench.progress(reducing)?;
        let times = bench.size(REDUCTIONS.0, REDUCTIONS.1);
        let count = each(times, |times| of_subtask(&format!("{REDUCE}{times}")))?;
        bench.add(Row::new(reducing, Unit::Instructions, count))?;
    }
    if bench.wants(&[getting]) {
        bench.progress(getting)?;
        let times = bench.size(REQUESTS.0, REQUESTS.1);
        let (once, twice) = (get(program, times).await?, get(program, 2 * times).await?);
        let count = (twice - once) / times as f64;
        bench.add(Row::new(getting, Unit::Instructions, count))?;
    }
    Ok(())
}

/// Puts the messages of a conversation into a reader's entries, so many times.
pub(crate) fn reduce(subtask: &str) -> Result<()> {
    let times: usize = subtask.trim_start_matches(REDUCE).parse()?;
    let messages = conversation(REDUCED);
    for _ in 0..times {
        let mut entries = Entries::new();
        messages.iter().for_each(|message| entries.upsert(Entry::from(message)));
        std::hint::black_box(entries);
    }
    Ok(())
}

/// The instructions of a daemon that answers so many requests.
async fn get(program: &Path, times: usize) -> Result<f64> {
    let home = new_home()?;
    let sessions = fill(home.path(), 1, MESSAGES).await?;
    let session = sessions.first().ok_or("no session")?;
    let mut daemon = Daemon::start_as(counting(program), home).await?;
    let request = daemon.request("GET", &format!("/api/sessions/{session}"), "");
    let mut connection = daemon.connect().await?;
    for _ in 0..times {
        connection.send(&request).await?;
        connection.count().await?;
    }
    counted(&daemon.stop()?)
}
