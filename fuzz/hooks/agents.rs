//! A module of `convoke-agents` for the fuzz targets: a driver reads an agent's output from memory, without a process.
//!
//! Compiled with `--cfg fuzzing` only, as `acp.rs` and `claude.rs` are, which reach into the two drivers.

use convoke_core::session::Report;
use tokio::io::sink;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

use crate::driver::{DriverRequest, ORDERS_MAX, Order, REPORTS_MAX};
use crate::lines::{Reader, Writer};
use crate::process::Pipes;

pub use crate::acp::fuzzing::run as run_acp;
pub use crate::claude::fuzzing::run as run_claude;

/// Pipes that yield this output and discard the input.
pub(crate) fn pipes(output: Vec<u8>) -> Pipes {
    Pipes { lines: Reader::new(std::io::Cursor::new(output)), input: Writer::new(sink()) }
}

/// The session's side of a driver: `follow` maps each report to orders.
pub(crate) struct Session<F> {
    reports: mpsc::Receiver<Report>,
    to_driver: mpsc::Sender<DriverRequest>,
    follow: F,
}

impl<F: FnMut(Report) -> Vec<Order>> Session<F> {
    /// A session, with the driver's ends of both queues.
    pub(crate) fn new(follow: F) -> (Self, mpsc::Sender<Report>, mpsc::Receiver<DriverRequest>) {
        let (to_session, reports) = mpsc::channel(REPORTS_MAX);
        let (to_driver, requests) = mpsc::channel(ORDERS_MAX);
        (Self { reports, to_driver, follow }, to_session, requests)
    }

    /// Sends orders to the driver; drops those for which the queue has no room.
    pub(crate) fn give(&self, orders: Vec<Order>) {
        for order in orders {
            self.to_driver.try_send(DriverRequest::Order(order)).ok();
        }
    }

    /// Handles the reports that are in the queue.
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

    /// Handles reports as they come; never returns.
    pub(crate) async fn listen(&mut self) {
        while let Some(report) = self.reports.recv().await {
            let orders = (self.follow)(report);
            self.give(orders);
        }
        std::future::pending::<()>().await;
    }
}
