//! Reading the histories of other agents, beside what reading and parsing their files takes without understanding them.

mod memory;
mod parsing;
mod scanning;

use convoke_testkit::bench::{Bench, Result};

fn main() -> Result<()> {
    let mut bench = Bench::from_args()?;
    if let Some(root) = bench.subtask() {
        return memory::show(root);
    }
    if bench.wants(&parsing::ROWS) {
        parsing::measure(&mut bench)?;
    }
    if bench.wants(&scanning::ROWS) {
        scanning::measure(&mut bench)?;
    }
    if bench.wants(&memory::ROWS) {
        memory::measure(&mut bench)?;
    }
    bench.finish()
}
