//! What every route is handed, and which routes there are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::http::HeaderMap;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use convoke_engine::{Engine, Error};
use data_encoding::HEXLOWER;
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::backups::BackupDesk;
use crate::doors::{Doors, Token};
use crate::gate;
use crate::health::Problems;
use crate::markdown::Renderer;
use crate::metrics::Metrics;
use crate::response_cache::ResponseCache;
use crate::teams::Desk;
use crate::ws::{self, News};
use crate::{mcp, openapi, page, rest};

/// Characters of a request's id that we take over from the caller.
const REQUEST_ID_MAX: usize = 64;

/// What every route is handed.
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) doors: Doors,
    pub(crate) metrics: Metrics,
    pub(crate) news: News,
    pub(crate) renderer: Renderer,
    pub(crate) response_cache: ResponseCache,
    pub(crate) teams: Desk,
    pub(crate) backups: BackupDesk,
    pub(crate) identity: Identity,
    pub(crate) problems: Problems,
    /// Cancelled when the daemon stops: streams end.
    pub(crate) stop: CancellationToken,
    pub(crate) random: fn() -> [u8; 16],
    generation: OnceCell<String>,
    request_prefix: String,
    requests: AtomicU64,
}

/// What the daemon says about itself.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) url: String,
    pub(crate) version: String,
    pub(crate) home: String,
    pub(crate) started: Instant,
}

/// What an app is made of.
pub(crate) struct Parts {
    pub(crate) engine: Engine,
    pub(crate) doors: Doors,
    pub(crate) identity: Identity,
    pub(crate) problems: Problems,
    pub(crate) random: fn() -> [u8; 16],
}

impl App {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { engine, doors, identity, problems, random } = parts;
        Self {
            doors,
            metrics: Metrics::default(),
            news: News::start(&engine),
            renderer: Renderer::new(),
            response_cache: ResponseCache::default(),
            teams: Desk::default(),
            backups: BackupDesk::default(),
            engine,
            identity,
            problems,
            stop: CancellationToken::new(),
            random,
            generation: OnceCell::new(),
            request_prefix: HEXLOWER.encode(random().get(..4).unwrap_or_default()),
            requests: AtomicU64::new(0),
        }
    }

    /// The generation of all revisions, as cursors carry it. It lasts as long as the daemon runs.
    pub(crate) async fn generation(&self) -> String {
        let read = self.generation.get_or_try_init(async || {
            Ok::<_, Error>(self.engine.sessions().generation().await?.to_string())
        });
        match read.await {
            Ok(generation) => generation.clone(),
            // Readers that come back with it get everything anew.
            Err(error) => {
                tracing::error!("the generation of the database cannot be read: {error}");
                String::new()
            }
        }
    }

    /// A new token: two draws of randomness, 244 random bits when a draw is a UUID of version 4.
    pub(crate) fn new_token(&self) -> Token {
        let mut bytes = [0; 32];
        let random = (self.random)().into_iter().chain((self.random)());
        for (place, byte) in bytes.iter_mut().zip(random) {
            *place = byte;
        }
        Token::from_random(bytes)
    }

    /// The id of a request: the caller's own if they have one, else a new one.
    pub(crate) fn request_id(&self, headers: &HeaderMap) -> String {
        let given = headers.get(gate::REQUEST_ID).and_then(|value| value.to_str().ok());
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

/// All routes, behind the gate.
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
        .fallback(|| async { rest::not_found() })
        .method_not_allowed_fallback(|| async { rest::wrong_method() })
        .layer(from_fn_with_state(Arc::clone(&app), gate::pass))
        .with_state(app)
}
