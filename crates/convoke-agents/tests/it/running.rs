//! A running agent of any kind, and the reports of its driver.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use convoke_agents::driver::{self, Driver, Launch, Order, Started};
use convoke_core::id::RequestId;
use convoke_core::message::Seq;
use convoke_core::request::Request;
use convoke_core::session::{Reply, Report};
use convoke_core::turn::Stop;
use convoke_testkit::process::processes_in;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longer than any machine takes; a test that gets there has failed.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
/// A queue that is soon full, so that every driver meets a slow session.
const REPORTS_MAX: usize = 4;

/// An agent that takes part in a session.
pub(crate) struct Running {
    pub(crate) driver: Driver,
    pub(crate) started: Started,
    reports: mpsc::Receiver<Report>,
    turns: u64,
}

impl Running {
    /// Starts an agent.
    pub(crate) async fn start(launch: Launch) -> Self {
        let (sender, reports) = mpsc::channel(REPORTS_MAX);
        let (driver, started) = driver::start(launch, random, sender).await.unwrap();
        Self { driver, started, reports, turns: 0 }
    }

    /// Prompts the agent, and returns the turn.
    pub(crate) async fn prompt(&mut self, text: &str) -> Seq {
        self.turns += 1;
        let turn = Seq::new(self.turns);
        self.driver
            .send(Order::Prompt { turn, text: text.to_owned(), attachments: Vec::new() })
            .await
            .unwrap();
        turn
    }

    pub(crate) async fn reply(&self, request: RequestId, reply: Reply) {
        self.driver.send(Order::Reply { request, reply }).await.unwrap();
    }

    /// The next report, without what the agent says about itself.
    pub(crate) async fn next(&mut self) -> Report {
        loop {
            let report = timeout(TIMEOUT, self.reports.recv()).await.expect("nothing is reported");
            let report = report.expect("the driver broke down");
            if !matches!(report, Report::Noticed(_) | Report::State(_)) {
                return report;
            }
        }
    }

    /// The request that is reported before anything else but words and tools.
    pub(crate) async fn asked(&mut self) -> Request {
        loop {
            let report = self.next().await;
            if let Report::Asked(request) = report {
                return request;
            }
            let is_work =
                matches!(report, Report::Said(_) | Report::Thought(_) | Report::ToolCalled(_));
            assert!(is_work, "{report:?}");
        }
    }

    /// All that is said until the end of the turn, and how it ended.
    pub(crate) async fn rest_of_turn(&mut self) -> (String, Stop) {
        let mut said = String::new();
        loop {
            let report = self.next().await;
            if let Report::TurnEnded { stop, .. } = report {
                return (said, stop);
            }
            if let Report::Said(text) = report {
                said.push_str(&text);
                continue;
            }
            let is_work =
                matches!(report, Report::Thought(_) | Report::Planned(_) | Report::ToolCalled(_));
            assert!(is_work, "{report:?}");
        }
    }

    /// Prompts the agent; returns its output and how the turn ended.
    pub(crate) async fn turn(&mut self, text: &str) -> (String, Stop) {
        self.prompt(text).await;
        self.rest_of_turn().await
    }
}

/// Waits until no process works in a folder.
pub(crate) async fn empties(folder: &Path) {
    let emptied = async {
        // The kernel and the runtime take some time to clean up a killed process, and there is no signal for it.
        while !processes_in(folder).is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, emptied).await.expect("a process is left");
}

/// Different every time, as the ids of requests have to be.
pub(crate) fn random() -> [u8; 16] {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    u128::from(COUNT.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
}
