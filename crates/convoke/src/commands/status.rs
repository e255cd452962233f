//! `convoke status`: whether the daemon runs, and its state.

use convoke_api::bodies::{HealthProblem, Status};
use convoke_core::count::counted;
use convoke_core::time::relative;

use super::World;
use crate::args::GlobalArgs;
use crate::clock;
use crate::daemon::{self, DaemonError};
use crate::output::{Output, plain};
use crate::signals;

/// Show whether the daemon is running, its address and its work
///
/// Does not start the daemon; exits with 3 if it is not running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke status
  convoke status --json | jq .inbox")]
pub(crate) struct StatusArgs {}

pub(crate) fn run(global: &GlobalArgs, world: &World, output: &Output) -> anyhow::Result<()> {
    let home = world.read_home(global, output)?;
    let status = signals::block_on(async {
        let absent = || match daemon::process(&home) {
            Some(pid) => DaemonError::NotReady { pid },
            None => DaemonError::NotRunning,
        };
        let running = daemon::find(&home).await?.ok_or_else(absent)?;
        Ok(running.client.status().await?)
    })?;
    output.show(&status, |status, _| describe(status))
}

fn describe(status: &Status) -> String {
    let Status {
        version, pid, url, home, active_sessions, processes, busy, waiting, inbox, ..
    } = status;
    let problems: String = status.problems.iter().map(problem).collect();
    let backup = match &status.last_backup_at {
        Some(at) => match at.parse().map(|at| relative(at, clock::now())) {
            Ok(since) if since == "now" => "just now".to_owned(),
            Ok(since) => format!("{since} ago"),
            Err(_) => at.clone(),
        },
        None => "none yet; make one with `convoke backup`".to_owned(),
    };
    let up = duration(status.uptime_ms);
    let queue = match waiting {
        0 => String::new(),
        count => format!(", {} waiting", counted(count, "turn")),
    };
    format!(
        "daemon    convoke {}, process {pid}, running for {up}\n\
         page      {}, open it with `convoke open`\n\
         home      {}\n\
         sessions  {active_sessions} active{}\n\
         agents    {processes} running, {busy} busy{queue}\n\
         inbox     {}\n\
         backup    {}\n\
         {problems}",
        plain(version),
        plain(url),
        plain(home),
        groups(status),
        match inbox {
            0 => "nothing needs you".to_owned(),
            1 => "1 request needs you; see `convoke inbox list`".to_owned(),
            count => format!("{count} requests need you; see `convoke inbox list`"),
        },
        plain(&backup),
    )
}

/// The numbers of sessions that need attention.
fn groups(status: &Status) -> String {
    let groups = [
        (status.working, "working"),
        (status.unseen, "finished and not seen"),
        (status.failed, "failed and not seen"),
    ];
    let shown = groups.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, what)| format!(", {count} {what}")).collect()
}

fn problem(problem: &HealthProblem) -> String {
    let hint = problem.hint.as_deref().map(|hint| format!("          {}\n", plain(hint)));
    format!("PROBLEM   {}\n{}", plain(&problem.text), hint.unwrap_or_default())
}

fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_shown_in_two_units() {
        let told = [0, 59_999, 60_000, 3_599_000, 7_380_000, 180_000_000].map(duration);
        assert_eq!(told, ["0 s", "59 s", "1 min", "59 min", "2 h 3 min", "2 d 2 h"]);
    }
}
