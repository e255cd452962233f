//! The agent of a conversation: its process, and what its next prompt must include.

use std::time::Duration;

use convoke_agents::driver::{self, Driver, Launch, Order, REPORTS_MAX};
use convoke_core::session::Report;
use tokio::sync::mpsc;

use super::profile::Profile;
use crate::random;

/// The timeout for an agent to stop; then it is killed.
const STOP_GRACE: Duration = Duration::from_secs(3);

/// An agent, with a process or without.
pub(super) struct Agent {
    pub(super) profile: Profile,
    /// `None` when it must be started with the next prompt.
    pub(super) process: Option<Process>,
    /// Its role and the conversation so far, which precede the next prompt; `None` when it knows everything.
    pub(super) preamble: Option<String>,
}

/// A running agent process. Dropping this kills it.
pub(super) struct Process {
    driver: Driver,
    reports: mpsc::Receiver<Report>,
    /// The agent's own session id.
    pub(super) agent_session: String,
    /// The agent's name and version.
    pub(super) introduced_as: Option<String>,
}

impl Process {
    pub(super) async fn start(launch: Launch) -> convoke_agents::Result<Self> {
        let (sender, reports) = mpsc::channel(REPORTS_MAX);
        let (driver, started) = driver::start(launch, random::bytes, sender).await?;
        let driver::Started { agent_session, introduced_as, .. } = started;
        Ok(Self { driver, reports, agent_session, introduced_as })
    }
}

impl Agent {
    /// An agent that is not started yet.
    pub(super) const fn new(profile: Profile) -> Self {
        Self { profile, process: None, preamble: None }
    }

    /// The next report of its process; `None` when the driver broke down. Waits for ever without a process.
    pub(super) async fn report(&mut self) -> Option<Report> {
        match &mut self.process {
            Some(process) => process.reports.recv().await,
            None => std::future::pending().await,
        }
    }

    pub(super) async fn send(&self, order: Order) {
        if let Some(process) = &self.process {
            // A process that has exited reports that itself.
            process.driver.send(order).await.ok();
        }
    }

    /// Stops its process.
    pub(super) async fn stop(&mut self) {
        let Some(Process { driver, mut reports, .. }) = self.process.take() else { return };
        let stopped = async {
            // A driver with a full queue of reports does not stop, so they are read and dropped.
            tokio::select! {
                _ = driver.stop() => {}
                () = async { while reports.recv().await.is_some() {} std::future::pending().await } => {}
            }
        };
        // A process that takes longer is killed when its driver is dropped.
        tokio::time::timeout(STOP_GRACE, stopped).await.ok();
    }
}
