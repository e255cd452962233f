//! What the daemon keeps in memory: with many sessions, and while it sends a very long one.

use std::path::Path;

use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

use crate::daemon::{Daemon, new_home};
use crate::fill::fill;
use crate::listing::{MESSAGES, SESSIONS};

pub(crate) const ROWS: [&str; 2] =
    ["memory: idle, 10,000 sessions", "memory: peak while a session of 1,000,000 messages is sent"];

const LOG_MESSAGES: (usize, usize) = (1_000_000, 5_000);

pub(crate) async fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    if !bench.wants(&ROWS) {
        return Ok(());
    }
    let [idle, sending] = ROWS;
    bench.progress(idle)?;
    let empty = Daemon::start(program, new_home()?).await?.idle_bytes().await?;
    let home = new_home()?;
    fill(home.path(), bench.size(SESSIONS.0, SESSIONS.1), MESSAGES).await?;
    let full = Daemon::start(program, home).await?.idle_bytes().await?;
    bench.add(
        Row::new(idle, Unit::Bytes, full)
            .against("idle, no session", empty)
            .goal(Goal::AtMost(30e6)),
    )?;
    if !bench.wants(&[sending]) {
        return Ok(());
    }
    bench.progress(sending)?;
    let home = new_home()?;
    let messages = bench.size(LOG_MESSAGES.0, LOG_MESSAGES.1);
    let sessions = fill(home.path(), 1, messages).await?;
    let session = sessions.first().ok_or("no session")?;
    let daemon = Daemon::start(program, home).await?;
    let before = daemon.idle_bytes().await?;
    let mut connection = daemon.connect().await?;
    connection.send(&daemon.request("GET", &format!("/api/sessions/{session}"), "")).await?;
    let bytes = connection.count().await?;
    if bytes < messages * 100 {
        return Err(format!("{messages} messages came as {bytes} bytes").into());
    }
    bench.add(
        Row::new(sending, Unit::Bytes, daemon.peak_bytes()?)
            .against("idle", before)
            .goal(Goal::AtMost(60e6)),
    )
}
