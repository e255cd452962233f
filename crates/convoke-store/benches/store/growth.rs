//! What grows with the history, and what must not: the same measured in ever larger databases.

use convoke_testkit::bench::{Bench, Plot, Result, Scale, Unit};

use crate::database::Database;
use crate::{list, memory};

/// Messages of the databases before the large one.
const SMALLER: [usize; 3] = [1_000, 10_000, 100_000];
/// How many of them are filled, and how many are enough to try the benchmark out.
const FILLED: (usize, usize) = (3, 1);

pub(crate) async fn measure(bench: &mut Bench, large: &Database) -> Result<()> {
    if !bench.wants(&memory::ROWS) {
        return Ok(());
    }
    let mut smaller = Vec::new();
    for messages in SMALLER.into_iter().take(bench.size(FILLED.0, FILLED.1)) {
        bench.progress(&format!("filling a database with {messages} messages"))?;
        smaller.push(Database::fill(messages).await?);
    }
    let (mut grown, mut listed, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for database in smaller.iter().chain([large]) {
        bench.progress("growth: lists and memory")?;
        let sessions = database.sessions as f64;
        let (ours, by_number) = list::time_newest(bench, database).await?;
        listed.push((sessions, ours.median()));
        bare.push((sessions, by_number.median()));
        grown.push((database.messages as f64, memory::grown(database)?));
    }
    if let (Some(&(_, least)), Some(&(_, most))) = (grown.first(), grown.last()) {
        bench.add(memory::row(most, least))?;
    }
    bench.plot(
        Plot::new(
            "Time to list the 20 newest sessions",
            "sessions",
            Scale::Logarithmic,
            Unit::Seconds,
        )
        .curve("convoke", listed)
        .curve("20 sessions by primary key, bare SQL", bare),
    )?;
    bench.plot(
        Plot::new(
            "Memory growth after opening the store and reading",
            "messages",
            Scale::Logarithmic,
            Unit::Bytes,
        )
        .curve("convoke", grown),
    )
}
