//! The workbench: from a key to what is written to the terminal, in a long session and in a short one.

mod keys;
mod screen;
mod session;

use convoke_testkit::bench::{Bench, Result};

fn main() -> Result<()> {
    let mut bench = Bench::from_args()?;
    if bench.wants(&keys::ROWS) {
        keys::measure(&mut bench)?;
    }
    bench.finish()
}
