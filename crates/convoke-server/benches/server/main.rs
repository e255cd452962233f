//! The whole daemon as a process of its own: what it serves in a second, how soon those who watch hear, what it keeps
//! in memory.
//!
//! The agent, and the bare server that the daemon is compared with, are this program itself.

mod agent;
mod daemon;
mod fill;
mod hello;
mod http;
mod instructions;
mod listing;
mod memory;
mod serving;
mod turns;
mod watching;

use convoke_testkit::bench::{Bench, Result, build};

fn main() -> Result<()> {
    let mut bench = Bench::from_args()?;
    match bench.subtask() {
        Some("agent") => return agent::serve(),
        Some(subtask) if subtask.starts_with(instructions::REDUCE) => {
            return instructions::reduce(subtask);
        }
        Some(bytes) => return hello::serve(bytes.parse()?),
        None => {}
    }
    let rows = [
        &listing::ROWS[..],
        &serving::ROWS,
        &memory::ROWS,
        &watching::ROWS,
        &turns::ROWS,
        &instructions::ROWS,
    ]
    .concat();
    if bench.wants(&rows) {
        bench.progress("building convoke")?;
        let program = build::product("convoke")?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            listing::measure(&mut bench, &program).await?;
            serving::measure(&mut bench, &program).await?;
            memory::measure(&mut bench, &program).await?;
            watching::measure(&mut bench, &program).await?;
            turns::measure(&mut bench, &program).await?;
            instructions::measure(&mut bench, &program).await
        })?;
    }
    bench.finish()
}
