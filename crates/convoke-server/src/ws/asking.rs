//! Requests of a client in progress: in order for each session, else concurrently.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use convoke_api::frames::{ClientFrame, Envelope};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};

use super::carry::{Client, Reply, carry};
use crate::app::App;
use crate::failure::Failure;

/// Requests that may be in progress or waiting; then the socket is not read.
const REQUESTS_MAX: usize = 64;

/// What came of something that a client said.
pub(super) type Answered = Envelope<Result<Reply, Failure>>;

/// All that a client has said and not been answered.
pub(super) struct Asking {
    app: Arc<App>,
    client: Client,
    running: FuturesUnordered<BoxFuture<'static, (Option<String>, Answered)>>,
    /// Sessions that something is being done about, as the client names them.
    busy: HashSet<String>,
    waiting: VecDeque<Envelope<ClientFrame>>,
}

impl Asking {
    pub(super) fn new(app: Arc<App>, client: Client) -> Self {
        Self {
            app,
            client,
            running: FuturesUnordered::new(),
            busy: HashSet::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Whether there is room for more.
    pub(super) fn has_room(&self) -> bool {
        self.running.len() + self.waiting.len() < REQUESTS_MAX
    }

    /// Takes something that the client said.
    pub(super) fn take(&mut self, said: Envelope<ClientFrame>) {
        self.waiting.push_back(said);
        self.start();
    }

    /// The next answer; waits for ever when there is nothing to be answered.
    pub(super) async fn next(&mut self) -> Answered {
        let Some((about, answered)) = self.running.next().await else {
            return std::future::pending().await;
        };
        if let Some(session) = about {
            self.busy.remove(&session);
        }
        self.start();
        answered
    }

    /// Begins with everything that need not wait.
    fn start(&mut self) {
        let mut later = VecDeque::new();
        let mut passed = HashSet::new();
        for said in std::mem::take(&mut self.waiting) {
            let about = session_of(&said.frame).map(ToOwned::to_owned);
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
                let reply = carry(app, frame, request_id.clone(), client).await;
                (about, Envelope { request_id, frame: reply })
            };
            self.running.push(answering.boxed());
        }
        self.waiting = later;
    }
}

/// The session that something is about.
fn session_of(frame: &ClientFrame) -> Option<&str> {
    use ClientFrame as F;
    match frame {
        F::SessionOpen { session_id, .. }
        | F::SessionPage { session_id, .. }
        | F::SessionClose { session_id }
        | F::SessionSend { session_id, .. }
        | F::QueueEdit { session_id, .. }
        | F::QueueRemove { session_id, .. }
        | F::QueueSend { session_id, .. }
        | F::QueueMove { session_id, .. }
        | F::SessionCancel { session_id, .. }
        | F::SessionSeen { session_id }
        | F::SessionErase { session_id }
        | F::SessionArchive { session_id }
        | F::SessionUnarchive { session_id }
        | F::SessionRename { session_id, .. }
        | F::SessionResume { session_id }
        | F::SessionEnd { session_id, .. }
        | F::SessionMode { session_id, .. }
        | F::SessionSetting { session_id, .. } => Some(session_id),
        F::ProjectList {}
        | F::ProjectAdd { .. }
        | F::ProjectRemove { .. }
        | F::FolderComplete { .. }
        | F::FileComplete { .. }
        | F::FileOpen { .. }
        | F::AgentList {}
        | F::SessionList { .. }
        | F::SessionCreate { .. }
        | F::PermissionAnswer { .. }
        | F::RuleList {}
        | F::RuleAdd { .. }
        | F::RuleRemove { .. }
        | F::QuestionAnswer { .. }
        | F::QuestionReject { .. }
        | F::InboxList {}
        | F::HomeList {}
        | F::Search { .. }
        | F::ConfigGet {}
        | F::ConfigSet { .. }
        | F::Ping {} => None,
    }
}
