//! Requests of a client in progress: in order for each session, else concurrently.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use convoke_api::frames::{ClientFrame, Envelope};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};

use super::execute::{Client, Reply, execute};
use crate::app::App;
use crate::failure::Failure;

/// Requests that may be in progress or queued; with more, the socket is not read.
const REQUESTS_MAX: usize = 64;

/// The result of a client's frame.
pub(super) type FrameReply = Envelope<Result<Reply, Failure>>;

/// The frames of a client that are not answered yet.
pub(super) struct PendingFrames {
    app: Arc<App>,
    client: Client,
    running: FuturesUnordered<BoxFuture<'static, (Option<String>, FrameReply)>>,
    /// Sessions with a request in progress, as the client names them.
    busy: HashSet<String>,
    waiting: VecDeque<Envelope<ClientFrame>>,
}

impl PendingFrames {
    pub(super) fn new(app: Arc<App>, client: Client) -> Self {
        Self {
            app,
            client,
            running: FuturesUnordered::new(),
            busy: HashSet::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Whether another frame may be accepted.
    pub(super) fn has_room(&self) -> bool {
        self.running.len() + self.waiting.len() < REQUESTS_MAX
    }

    /// Accepts a frame of the client.
    pub(super) fn take(&mut self, said: Envelope<ClientFrame>) {
        self.waiting.push_back(said);
        self.start();
    }

    /// The next result; pending for ever if no request is in progress.
    pub(super) async fn next(&mut self) -> FrameReply {
        let Some((about, reply)) = self.running.next().await else {
            return std::future::pending().await;
        };
        if let Some(session) = about {
            self.busy.remove(&session);
        }
        self.start();
        reply
    }

    /// Starts every queued request that no other request of its session precedes.
    fn start(&mut self) {
        let mut later = VecDeque::new();
        let mut passed = HashSet::new();
        for said in std::mem::take(&mut self.waiting) {
            let about = said.frame.session_id().map(ToOwned::to_owned);
            let must_wait = about
                .as_ref()
                .is_some_and(|session| self.busy.contains(session) || passed.contains(session));
            if must_wait {
                passed.extend(about);
                later.push_back(said);
                continue;
            }
            self.busy.extend(about.clone());
            let (app, client) = (Arc::clone(&self.app), self.client.clone());
            let answering = async move {
                let Envelope { request_id, frame } = said;
                let reply = execute(app, frame, request_id.clone(), client).await;
                (about, Envelope { request_id, frame: reply })
            };
            self.running.push(answering.boxed());
        }
        self.waiting = later;
    }
}
