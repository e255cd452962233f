//! The store, beside bare SQL on the same schema in the same run.

mod append;
mod concurrent;
mod database;
mod growth;
mod instructions;
mod layout;
mod list;
mod memory;
mod pieces;
mod postgres;
mod raw;
mod read;
mod search;
mod speech;

use convoke_testkit::bench::{Bench, Result};

use database::Database;

/// Messages of the large database, and of what is enough to try the benchmark out.
const MESSAGES: (usize, usize) = (1_000_000, 20_000);

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    runtime.block_on(measure(Bench::from_args()?))
}

async fn measure(mut bench: Bench) -> Result<()> {
    if let Some(words) = bench.subtask() {
        return match words.strip_prefix(instructions::SUBTASK) {
            Some(times) => instructions::append(times.parse()?).await,
            None => memory::read_everything(words).await,
        };
    }
    if bench.wants(&instructions::ROWS) {
        instructions::measure(&mut bench)?;
    }
    if bench.wants(&append::ROWS) {
        append::measure(&mut bench).await?;
    }
    if bench.wants(&concurrent::ROWS) {
        concurrent::measure(&mut bench).await?;
    }
    if bench.wants(&postgres::ROWS) {
        postgres::measure(&mut bench).await?;
    }
    if bench.wants(&layout::ROWS) {
        layout::measure(&mut bench).await?;
    }
    let large_rows = [&read::ROWS[..], &list::ROWS, &search::ROWS, &memory::ROWS].concat();
    if bench.wants(&large_rows) {
        let messages = bench.size(MESSAGES.0, MESSAGES.1);
        bench.progress(&format!("filling a database with {messages} messages"))?;
        let large = Database::fill(messages).await?;
        read::measure(&mut bench, &large).await?;
        list::measure(&mut bench, &large).await?;
        search::measure(&mut bench, &large).await?;
        growth::measure(&mut bench, &large).await?;
    }
    bench.finish()
}
