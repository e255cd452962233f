//! An agent that follows a script, for tests of the server: `server_agent --protocol acp SCRIPT.json`.
//!
//! It also stands in for Convoke where that would confine the agent: `server_agent sandbox-exec … -- PROGRAM ARGS`.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<ExitCode> {
    let mut words = std::env::args().skip(1).peekable();
    if words.peek().is_some_and(|word| word == "sandbox-exec") {
        let mut line = words.skip_while(|word| word != "--").skip(1);
        let program = line.next().unwrap_or_default();
        return Err(Command::new(program).args(line).exec());
    }
    convoke_testkit::agent::main(words).await
}
