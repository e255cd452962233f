//! Listing a folder that is full, as one command.

use std::path::Path;
use std::process::Command;

use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit, questions};

use crate::start::run;

pub(crate) const ROWS: [&str; 1] = ["list: convoke questions list --json, 10,000 sessions"];

/// Times the folder is listed.
const LISTINGS: (usize, usize) = (30, 5);
/// Sessions of the folder.
const SESSIONS: (usize, usize) = (10_000, 200);

pub(crate) fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [name] = ROWS;
    if !bench.wants(&[name]) {
        return Ok(());
    }
    bench.progress(name)?;
    let home = crate::new_home()?;
    let folder = home.path().join("questions");
    questions::fill(&folder, bench.size(SESSIONS.0, SESSIONS.1))?;
    let (time, bare) = in_turn(
        bench.size(LISTINGS.0, LISTINGS.1),
        || {
            let mut command = Command::new(program);
            run(command.args(["questions", "list", "--json", "--home"]).arg(home.path()))
        },
        || seconds(|| questions::read_statuses(&folder)),
    )?;
    bench.add(
        Row::new(name, Unit::Seconds, time.median())
            .against("reading each status.json, 1 thread", bare.median())
            .goal(Goal::RatioAtMost(2.0)),
    )
}
