//! An agent that follows a script, for tests of the server: `server_agent --protocol acp SCRIPT.json`.
//!
//! It also stands in for Convoke where that supervises the agent: `server_agent sandbox-exec --supervise`.

use std::process::ExitCode;

use convoke_engine::sandbox;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["sandbox-exec", "--supervise"] => Ok(sandbox::supervise()?),
        ["sandbox-exec", "--enter"] => Ok(sandbox::enter()?),
        _ => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(convoke_testkit::agent::main(words.into_iter()))?)
        }
    }
}
