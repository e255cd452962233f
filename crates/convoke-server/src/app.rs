//! The state that all handlers share, and the router.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::http::HeaderMap;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use convoke_engine::{Engine, Error};
use data_encoding::HEXLOWER;
use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::{Auth, Token};
use crate::backups::BackupJobs;
use crate::config::ConfigStore;
use crate::health::Problems;
use crate::markdown::Renderer;
use crate::metrics::Metrics;
use crate::middleware;
use crate::response_cache::ResponseCache;
use crate::teams::TeamLoader;
use crate::ws::{self, Broadcasts};
use crate::{mcp, nodes, openapi, page, rest};

/// The longest `x-request-id` that is accepted from a client; a longer one is replaced by a generated id.
const REQUEST_ID_MAX: usize = 64;

/// The state that all handlers share.
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) auth: Auth,
    pub(crate) metrics: Metrics,
    pub(crate) broadcasts: Broadcasts,
    pub(crate) renderer: Renderer,
    pub(crate) response_cache: ResponseCache,
    pub(crate) teams: TeamLoader,
    pub(crate) backups: BackupJobs,
    pub(crate) config: ConfigStore,
    pub(crate) identity: Identity,
    pub(crate) problems: Problems,
    /// Changes when a user is changed here.
    pub(crate) users_changed: watch::Sender<()>,
    /// Writes of the audit trail in progress; the daemon waits for them before it stops.
    pub(crate) recording: TaskTracker,
    /// Cancelled when the daemon stops; ends all streams.
    pub(crate) stop: CancellationToken,
    pub(crate) random: fn() -> [u8; 16],
    generation: OnceCell<String>,
    request_prefix: String,
    requests: AtomicU64,
}

/// What the daemon reports about itself.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) url: String,
    /// The URL in links for people on other machines.
    pub(crate) shared_url: String,
    pub(crate) version: String,
    pub(crate) home: String,
    pub(crate) started: Instant,
}

/// The arguments of `App::new`.
pub(crate) struct Parts {
    pub(crate) engine: Engine,
    pub(crate) auth: Auth,
    pub(crate) identity: Identity,
    pub(crate) problems: Problems,
    pub(crate) random: fn() -> [u8; 16],
}

impl App {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { engine, auth, identity, problems, random } = parts;
        Self {
            auth,
            metrics: Metrics::default(),
            broadcasts: Broadcasts::start(&engine),
            renderer: Renderer::new(),
            response_cache: ResponseCache::default(),
            teams: TeamLoader::default(),
            backups: BackupJobs::default(),
            config: ConfigStore::default(),
            engine,
            identity,
            problems,
            users_changed: watch::Sender::new(()),
            recording: TaskTracker::new(),
            stop: CancellationToken::new(),
            random,
            generation: OnceCell::new(),
            request_prefix: HEXLOWER.encode(random().get(..4).unwrap_or_default()),
            requests: AtomicU64::new(0),
        }
    }

    /// The generation of all revisions, which cursors carry. For a file it is read once; a database
    /// server may be restarted while the daemon runs, which begins a new generation.
    pub(crate) async fn generation(&self) -> Result<String, Error> {
        let read = async || Ok(self.engine.sessions().generation().await?.to_string());
        if self.engine.nodes().own().is_some() {
            return read().await;
        }
        self.generation.get_or_try_init(read).await.cloned()
    }

    /// A new random token: two 16-byte values, 244 random bits if they are v4 UUIDs.
    pub(crate) fn new_token(&self) -> Token {
        let mut bytes = [0; 32];
        let random = (self.random)().into_iter().chain((self.random)());
        for (place, byte) in bytes.iter_mut().zip(random) {
            *place = byte;
        }
        Token::from_random(bytes)
    }

    /// The id of a request: the client's `x-request-id` if it is valid, else a generated one.
    pub(crate) fn request_id(&self, headers: &HeaderMap) -> String {
        let given = headers.get(middleware::REQUEST_ID).and_then(|value| value.to_str().ok());
        let is_fine = |id: &&str| {
            !id.is_empty()
                && id.len() <= REQUEST_ID_MAX
                && id.bytes().all(|byte| byte.is_ascii_graphic())
        };
        match given.filter(is_fine) {
            Some(id) => id.to_owned(),
            None => {
                let number = self.requests.fetch_add(1, Ordering::Relaxed);
                format!("{}-{number}", self.request_prefix)
            }
        }
    }
}

/// All routes, with the middleware around them.
pub(crate) fn router(app: Arc<App>) -> Router {
    let (api, document) = openapi::split(rest::routes(), &app.identity.version);
    Router::new()
        .merge(api)
        .route("/api/openapi.json", get(move || async move { openapi::show(document.clone()) }))
        .route_service("/mcp", mcp::endpoint(&app))
        .route("/ws", get(ws::open))
        .route("/", get(page::shell))
        .route("/s/{id}", get(page::session))
        .route("/teams", get(page::teams))
        .route("/assets/{*path}", get(page::asset))
        .fallback(page::fallback)
        .method_not_allowed_fallback(|| async { rest::wrong_method() })
        .layer(from_fn_with_state(Arc::clone(&app), nodes::forward))
        .layer(from_fn_with_state(Arc::clone(&app), middleware::handle))
        .with_state(app)
}
