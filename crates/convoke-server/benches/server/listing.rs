//! All sessions of a full home, as one command.

use std::path::Path;
use std::process::{Command, Stdio};

use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

use crate::daemon::{Daemon, new_home};
use crate::fill::fill;

pub(crate) const ROWS: [&str; 1] =
    ["list: convoke session list --limit 10000 --json, 10,000 sessions"];

const LISTINGS: (usize, usize) = (30, 3);
/// Sessions of a full home.
pub(crate) const SESSIONS: (usize, usize) = (10_000, 200);
/// Messages of each.
pub(crate) const MESSAGES: usize = 2;

pub(crate) async fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [name] = ROWS;
    if !bench.wants(&ROWS) {
        return Ok(());
    }
    bench.progress(name)?;
    let home = new_home()?;
    fill(home.path(), bench.size(SESSIONS.0, SESSIONS.1), MESSAGES).await?;
    let daemon = Daemon::start(program, home).await?;
    let list = || {
        let mut command = Command::new(program);
        let words = ["session", "list", "--limit", "10000", "--json", "--home"];
        run(command.args(words).arg(daemon.home.path()))
    };
    let start = || run(Command::new(program).arg("--version"));
    let (listing, starting) = in_turn(bench.size(LISTINGS.0, LISTINGS.1), list, start)?;
    bench.add(
        Row::new(name, Unit::Seconds, listing.median())
            .against("convoke --version", starting.median())
            .goal(Goal::AtMost(40e-3)),
    )
}

/// How long a command runs, in seconds, with its output thrown away.
fn run(command: &mut Command) -> Result<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut succeeded = false;
    let taken = seconds(|| command.status().inspect(|status| succeeded = status.success()))?;
    if succeeded { Ok(taken) } else { Err(format!("{command:?} failed").into()) }
}
