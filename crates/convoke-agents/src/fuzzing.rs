//! Doors for the fuzzers in `fuzz/`: all that an agent prints, heard as its driver hears it, without a process.
//!
//! The product does not use them.

use convoke_core::session::Report;
use tokio::io::sink;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

use crate::driver::{ORDERS_MAX, Order, REPORTS_MAX, Wish};
use crate::lines::{Reader, Writer};
use crate::process::Pipes;

pub use crate::acp::hear as hear_acp;
pub use crate::claude::hear as hear_claude;

/// Pipes that produce this output, and discard their input.
pub(crate) fn pipes(output: Vec<u8>) -> Pipes {
    Pipes { lines: Reader::new(std::io::Cursor::new(output)), input: Writer::new(sink()) }
}

/// The session's side of a driver: every report leads to orders.
pub(crate) struct Session<F> {
    reports: mpsc::Receiver<Report>,
    to_driver: mpsc::Sender<Wish>,
    follow: F,
}

impl<F: FnMut(Report) -> Vec<Order>> Session<F> {
    /// A session that does what `follow` says, with the driver's ends of both queues.
    pub(crate) fn new(follow: F) -> (Self, mpsc::Sender<Report>, mpsc::Receiver<Wish>) {
        let (to_session, reports) = mpsc::channel(REPORTS_MAX);
        let (to_driver, wishes) = mpsc::channel(ORDERS_MAX);
        (Self { reports, to_driver, follow }, to_session, wishes)
    }

    /// Gives orders. Those for which there is no room are forgotten.
    pub(crate) fn give(&self, orders: Vec<Order>) {
        for order in orders {
            self.to_driver.try_send(Wish::Order(order)).ok();
        }
    }

    /// Takes in what was reported, and gives the orders that follow.
    pub(crate) fn catch_up(&mut self) {
        loop {
            match self.reports.try_recv() {
                Ok(report) => {
                    let orders = (self.follow)(report);
                    self.give(orders);
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    /// Takes in whatever is reported while something else is waited for.
    pub(crate) async fn listen(&mut self) {
        while let Some(report) = self.reports.recv().await {
            let orders = (self.follow)(report);
            self.give(orders);
        }
        std::future::pending::<()>().await;
    }
}
