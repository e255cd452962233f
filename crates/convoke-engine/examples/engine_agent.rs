//! An agent that follows a script: `engine_agent --protocol acp|claude SCRIPT.json`, for tests of the engine.

use std::io;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<ExitCode> {
    convoke_testkit::agent::main(std::env::args().skip(1)).await
}
