//! A module of the ACP driver for its fuzz target.

use convoke_core::session::Report;

use super::{connect, handshake};
use crate::driver::{Launch, Order, Random};
use crate::error::Result;
use crate::fuzzing::{Session, pipes};

/// Feeds an agent's output to the driver: the handshake, then `first` and the orders that follow from its reports.
pub async fn run(
    output: Vec<u8>,
    launch: &Launch,
    random: Random,
    first: Vec<Order>,
    follow: impl FnMut(Report) -> Vec<Order>,
) -> Result<()> {
    let (mut session, to_session, mut requests) = Session::new(follow);
    let mut event_loop = connect(pipes(output), launch, random, to_session)?;
    tokio::select! {
        biased;
        started = handshake::perform(&mut event_loop, launch) => started?,
        () = session.listen() => return Ok(()),
    };
    session.give(first);
    while event_loop.step(Some(&mut requests)).await.is_continue() {
        session.catch_up();
    }
    Ok(())
}
