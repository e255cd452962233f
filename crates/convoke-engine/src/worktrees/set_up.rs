//! Runs the project's set-up command in a new work tree, and tests in a finished one: confined as the agent is.

use std::time::Duration;

use convoke_agents::commands::{self, CommandResult};
use convoke_agents::driver::Start;

use crate::error::{Error, Result};
use crate::session::start::{self, ProcessSpec};
use crate::sessions::Sessions;

/// How long a command may take: installing what a large project needs takes minutes.
const TIME_MAX: Duration = Duration::from_secs(15 * 60);
/// What is kept of its output.
const OUTPUT_BYTES_MAX: usize = 32 << 10;

/// Runs a line of shell where the agent of a session works.
pub(crate) async fn run(
    sessions: &Sessions,
    spec: &ProcessSpec,
    line: &str,
) -> Result<CommandResult> {
    let not_started = |source| Error::NotStarted { agent: spec.agent.clone(), source };
    // The same launch as the agent's, so that the same confinement applies; no agent is started.
    let start = Start::New { id: spec.session.to_string() };
    let launch = start::launch(&sessions.processes, spec, start).await.map_err(not_started)?;
    let result = commands::run(&launch, line, TIME_MAX, OUTPUT_BYTES_MAX).await;
    result.map_err(not_started)
}
