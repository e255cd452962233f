//! Stands in for Convoke's own program where it supervises agents, for tests of this crate.

use std::process::ExitCode;

use convoke_agents::sandbox;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["sandbox-exec", "--supervise"] => Ok(sandbox::supervise()?),
        ["sandbox-exec", "--enter"] => Ok(sandbox::enter()?),
        other => Err(format!("what is {other:?}?").into()),
    }
}
