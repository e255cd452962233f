//! A module of Claude Code's driver for its fuzz target.

use convoke_core::session::Report;

use super::conversation::Conversation;
use super::event_loop::EventLoop;
use crate::Result;
use crate::driver::{Order, Random};
use crate::fuzzing::{Session, pipes};

/// Feeds the output of `claude` to the driver: the greeting, then `first` and the orders that follow from its reports.
pub async fn run(
    output: Vec<u8>,
    random: Random,
    first: Vec<Order>,
    follow: impl FnMut(Report) -> Vec<Order>,
) -> Result<()> {
    let (mut session, to_session, mut requests) = Session::new(follow);
    let conversation = Conversation::new("session".to_owned(), random);
    let mut event_loop = EventLoop::new(conversation, pipes(output), to_session);
    event_loop.initialize().await?;
    session.give(first);
    while event_loop.step(&mut requests).await.is_continue() {
        session.catch_up();
    }
    Ok(())
}
