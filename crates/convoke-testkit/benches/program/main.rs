//! The whole program, as people and scripts start it.

mod import;
mod listing;
mod nodes;
mod page;
mod peers;
mod repl;
mod start;
mod waiting;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;

use convoke_testkit::bench::{Bench, Result, build};
use tempfile::TempDir;

fn main() -> Result<ExitCode> {
    let mut bench = Bench::from_args()?;
    if let Some(script) = bench.subtask() {
        return peers::serve_agent(script);
    }
    let rows = [
        &start::ROWS[..],
        &listing::ROWS,
        &repl::ROWS,
        &waiting::ROWS,
        &import::ROWS,
        &nodes::ROWS,
        &page::ROWS,
        &peers::ROWS,
    ]
    .concat();
    if bench.wants(&rows) {
        bench.progress("building convoke")?;
        let program = build::product("convoke")?;
        start::measure(&mut bench, &program)?;
        listing::measure(&mut bench, &program)?;
        repl::measure(&mut bench, &program)?;
        waiting::measure(&mut bench, &program)?;
        import::measure(&mut bench, &program)?;
        nodes::measure(&mut bench, &program)?;
        page::measure(&mut bench, &program)?;
        peers::measure(&mut bench, &program)?;
    }
    bench.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// A home that only its owner can look into; else every command would warn of it.
fn new_home() -> Result<TempDir> {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    fs::set_permissions(home.path(), Permissions::from_mode(0o700))?;
    Ok(home)
}
