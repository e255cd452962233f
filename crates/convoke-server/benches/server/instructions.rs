//! The instructions that it takes to fold a log, and to answer a request.

use std::path::Path;

use convoke_api::entry::{Entries, Fold};
use convoke_testkit::bench::instructions::{can_count, counted, counting, each, of_errand};
use convoke_testkit::bench::{Bench, Result, Row, Unit};

use crate::daemon::{Daemon, new_home};
use crate::fill::{fill, log};
use crate::listing::MESSAGES;

pub(crate) const ROWS: [&str; 2] =
    ["instructions: fold of 1,000 messages into entries", "instructions: GET of one session"];
/// Followed by how many times.
pub(crate) const FOLD: &str = "fold ";

const FOLDED: usize = 1_000;
const FOLDS: (usize, usize) = (20, 2);
const REQUESTS: (usize, usize) = (500, 20);

pub(crate) async fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [folding, getting] = ROWS;
    if !bench.wants(&ROWS) || !can_count()? {
        return Ok(());
    }
    if bench.wants(&[folding]) {
        bench.progress(folding)?;
        let times = bench.size(FOLDS.0, FOLDS.1);
        let count = each(times, |times| of_errand(&format!("{FOLD}{times}")))?;
        bench.add(Row::new(folding, Unit::Instructions, count))?;
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

/// Folds a log so many times.
pub(crate) fn fold(errand: &str) -> Result<()> {
    let times: usize = errand.trim_start_matches(FOLD).parse()?;
    let log = log(FOLDED);
    for _ in 0..times {
        let (mut fold, mut entries) = (Fold::new(), Entries::new());
        for message in &log {
            fold.apply(message).into_iter().for_each(|change| entries.apply(change));
        }
        std::hint::black_box(entries.into_parts());
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
