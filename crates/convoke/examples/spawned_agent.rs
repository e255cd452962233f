//! An agent that follows a script, for tests of the whole program: `spawned_agent --protocol acp|claude SCRIPT.json`.

use std::io;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<ExitCode> {
    convoke_testkit::agent::main(std::env::args().skip(1)).await
}
