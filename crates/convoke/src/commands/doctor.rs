//! `convoke doctor`: checks this machine. It reports every problem, and does not fail on one.

mod agents;
mod checks;

use serde::Serialize;

use super::World;
use crate::args::GlobalArgs;
use crate::colour::Colour;
use crate::logs;
use crate::output::{Output, table};
use agents::FoundAgent;

/// Check whether this machine is ready for Convoke
///
/// Checks the home, the configuration, the database, the backups, the port, the logs, the sandbox,
/// the agents and the teams. Each check prints what it found and, if something is wrong, how to fix
/// it. Exits with 0 unless a check failed; warnings do not count.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke doctor
  convoke doctor --json | jq '.checks[] | select(.status != \"ok\")'")]
pub(crate) struct DoctorArgs {}

/// How a check turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warn,
    Fail,
}

/// The result of a check.
#[derive(Debug, Serialize)]
struct Check {
    check: &'static str,
    status: Status,
    finding: String,
    /// The fix.
    fix: Option<String>,
}

impl Check {
    fn ok(check: &'static str, finding: impl Into<String>) -> Self {
        Self { check, status: Status::Ok, finding: finding.into(), fix: None }
    }

    fn warn(check: &'static str, finding: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, status: Status::Warn, finding: finding.into(), fix: Some(fix.into()) }
    }

    fn skipped(check: &'static str, reason: &str) -> Self {
        let finding = format!("not checked: {reason}");
        Self { check, status: Status::Warn, finding, fix: None }
    }

    fn fail(check: &'static str, error: impl Into<anyhow::Error>) -> Self {
        let (finding, fix) = crate::exit::explain(&error.into());
        Self { check, status: Status::Fail, finding, fix }
    }
}

/// A contract with scripts.
#[derive(Debug, Serialize)]
struct Report {
    healthy: bool,
    checks: Vec<Check>,
    agents: Vec<FoundAgent>,
}

/// Some checks failed; the report says which.
#[derive(Debug, thiserror::Error)]
#[error("this machine is not ready: see {}", .failed.join(", "))]
struct Unhealthy {
    failed: Vec<&'static str>,
}

pub(crate) fn run(global: &GlobalArgs, world: &World, output: &Output) -> anyhow::Result<()> {
    let report = examine(global, world, output);
    output.show(&report, human)?;
    let failed = report.checks.iter().filter(|check| check.status == Status::Fail);
    let mut failed: Vec<&str> = failed.map(|check| check.check).collect();
    failed.dedup();
    if report.healthy { Ok(()) } else { Err(Unhealthy { failed }.into()) }
}

fn examine(global: &GlobalArgs, world: &World, output: &Output) -> Report {
    let mut checks = Vec::new();
    let located = world.home(global);
    let named = located.as_ref().ok().cloned();
    let usable = checks::home(located, &mut checks);
    logs::start(logs::Verbosity::of(global), world, output, None);
    let loaded = checks::config(named.as_ref(), world, &mut checks);
    let config = loaded.as_ref().map(|it| &it.config);
    checks.push(match (&usable, config.map(|it| it.store.server(&world.environment))) {
        (Some(home), Some(Ok(server))) => checks::database(home, server.as_ref()),
        (Some(_), Some(Err(error))) => Check::fail("database", error),
        (Some(home), None) => checks::database(home, None),
        (None, _) => no_home("database"),
    });
    checks.push(match (&usable, &config) {
        (Some(_), Some(config)) => checks::backups(config),
        (Some(_), None) => Check::skipped("backups", "the configuration has errors"),
        (None, _) => no_home("backups"),
    });
    checks.push(match (&named, &loaded) {
        (Some(home), Some(loaded)) => checks::port(home, loaded),
        (Some(_), None) => Check::skipped("port", "the configuration has errors"),
        (None, _) => no_home("port"),
    });
    checks.push(usable.as_ref().map_or_else(|| no_home("logs"), checks::logs));
    checks.extend(checks::sandbox(world, config));
    let agents = agents::look_for(config, world);
    checks.push(agents::check(&agents));
    checks.push(match &config {
        Some(config) => checks::teams(config, &agents),
        None => Check::skipped("teams", "the configuration has errors"),
    });
    let healthy = checks.iter().all(|check| check.status != Status::Fail);
    Report { healthy, checks, agents }
}

fn no_home(check: &'static str) -> Check {
    Check::skipped(check, "there is no home to check")
}

fn human(report: &Report, colour: Colour) -> String {
    let mut text = String::new();
    for Check { check, status, finding, fix } in &report.checks {
        let mark = match status {
            Status::Ok => colour.good("ok  "),
            Status::Warn => colour.doubtful("warn"),
            Status::Fail => colour.bad("fail"),
        };
        text += &format!("{mark}  {check:<8}  {finding}\n");
        if let Some(fix) = fix {
            text += &format!("                {} {fix}\n", colour.faint("→"));
        }
    }
    let rows = report.agents.iter().map(FoundAgent::row).collect();
    format!("{text}\n{}", table(["AGENT", "TITLE", "INSTALLED"], rows))
}
