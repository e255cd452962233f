//! The daemon's life cycle: open the engine, serve, stop.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use convoke_engine::{
    Engine, HostContext, Keys, ListSubscription, McpEndpoint, Result, Settings, TeamProgress,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::app::{App, Identity, Parts, router};
use crate::auth::{Auth, AuthSettings, PublicUrl, Token};
use crate::backups::{self, BackupSettings};
use crate::config::ConfigAccess;
use crate::health::Problems;
use crate::listen::{self, Listeners};
use crate::nodes;
use crate::notification::{self, Notification};
use crate::rest;
use crate::teams::{ReadTeams, TeamLoadError};

/// How long responses in progress may take when the daemon stops; then they are cut off.
const RESPONSE_GRACE: Duration = Duration::from_millis(500);

/// The arguments of `Server::open`.
#[derive(Debug)]
pub struct ServerOptions {
    /// The address of the listener, which is already bound, so that the port is known.
    pub address: SocketAddr,
    /// The address under which a proxy serves the daemon to other machines.
    pub public_url: Option<PublicUrl>,
    /// The token for programs.
    pub token: Token,
    /// The program's version.
    pub version: String,
    /// The settings of the engine.
    pub settings: Settings,
    /// The engine's platform. An MCP endpoint is added if it has none.
    pub host: HostContext,
    /// Where other components report problems.
    pub problems: Problems,
}

/// A daemon that is ready to serve.
pub struct Server {
    pub(crate) app: Arc<App>,
}

impl Server {
    /// Opens the engine. Nothing is served yet.
    pub async fn open(options: ServerOptions) -> Result<Self> {
        let ServerOptions { address, public_url, token, version, settings, mut host, problems } =
            options;
        let (url, random) = (url(address), host.random);
        host.mcp.get_or_insert_with(|| McpEndpoint {
            url: format!("{url}/mcp"),
            keys: Keys::new(random),
        });
        let home = host.home.display().to_string();
        let folder = host.home.join("run");
        let auth = Auth::open(AuthSettings {
            address,
            public: public_url.as_ref(),
            token: &token,
            folder: &folder,
            clock: host.clock,
        });
        let engine = Engine::open(settings, host).await?;
        let shared_url = public_url.map_or_else(|| url.clone(), |public| public.to_string());
        let identity = Identity { url, shared_url, version, home, started: Instant::now() };
        let parts = Parts { engine, auth, identity, problems, random };
        Ok(Self { app: Arc::new(App::new(parts)) })
    }

    /// The URL, such as `http://127.0.0.1:7717`.
    pub fn url(&self) -> &str {
        &self.app.identity.url
    }

    /// Starts to serve the agents that the daemon starts; other clients get 503 until `open_teams` is done.
    pub fn serve(self, listeners: Listeners) -> Serving {
        let Self { app } = self;
        app.teams.set_not_ready();
        let router = router(Arc::clone(&app));
        tokio::spawn(nodes::carry_out(Arc::clone(&app), router.clone()));
        let serving = listen::serve(listeners, router, app.stop.clone());
        Serving { app, task: tokio::spawn(serving) }
    }
}

/// A daemon that is serving.
pub struct Serving {
    app: Arc<App>,
    task: JoinHandle<()>,
}

impl Serving {
    /// Loads the teams, then serves all clients. Agents that are started for the teams can use their tools before
    /// that.
    pub async fn open_teams(
        &self,
        read: ReadTeams,
        on_progress: impl Fn(TeamProgress) + Send + Sync,
    ) -> std::result::Result<(), TeamLoadError> {
        self.app.teams.open(&self.app.engine, read, on_progress).await
    }

    /// Enables backups by clients, and starts the schedule.
    pub fn enable_backups(&self, settings: BackupSettings) {
        backups::enable(&self.app, settings);
    }

    /// Enables clients to read and change the settings.
    pub async fn enable_config(&self, access: ConfigAccess) {
        self.app.config.enable(access).await;
    }

    /// Subscribes to notifications for the user. A receiver that falls behind misses some.
    pub fn notifications(&self) -> mpsc::Receiver<Notification> {
        notification::start(&self.app)
    }

    /// Returns a function that makes `ListSubscription`s: while one is held, announcements of other nodes
    /// are read for notifications.
    pub fn list_subscriptions(&self) -> impl Fn() -> ListSubscription + Send + Sync + 'static {
        let nodes = Arc::clone(self.app.engine.nodes());
        move || nodes.subscribe_to_lists()
    }

    /// A handle that reloads the teams.
    pub fn reloader(&self) -> Reloader {
        Reloader { app: Arc::clone(&self.app) }
    }

    /// A one-time link that signs in a browser, to print in a terminal.
    pub fn link(&self) -> String {
        self.app.auth.links.make(&self.app.identity.url, &self.app.new_token(), None)
    }

    /// A file that redirects a browser to such a link, to pass on a browser's command line.
    pub async fn link_file(&self) -> std::result::Result<PathBuf, LinkError> {
        rest::browsers::make_file(&self.app, None).await.map_err(LinkError)
    }

    /// Serves until `shutdown`, then stops the agents and closes the store.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) {
        tokio::select! {
            _ = &mut self.task => {}
            () = shutdown => {}
        }
        self.stop().await;
    }

    /// Stops the agents and closes the store.
    pub async fn stop(self) {
        let Self { app, mut task } = self;
        app.stop.cancel();
        let last = async {
            if !task.is_finished() {
                // Responses that take longer are cut off.
                tokio::time::timeout(RESPONSE_GRACE, &mut task).await.ok();
            }
        };
        // Callers that wait for an agent's answer get an error before the engine is closed.
        app.recording.close();
        tokio::time::timeout(RESPONSE_GRACE, app.recording.wait()).await.ok();
        tokio::join!(last, app.engine.stop());
        task.abort();
    }
}

/// The redirect file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the file that leads the browser to the page")]
pub struct LinkError(#[source] convoke_files::Error);

/// Reloads the teams.
pub struct Reloader {
    app: Arc<App>,
}

impl Reloader {
    /// Reads and applies the team settings again; on failure the previous ones stay in effect.
    pub async fn reload(&self) -> std::result::Result<(), TeamLoadError> {
        self.app.teams.reload(&self.app.engine).await
    }
}

/// The URL of an address; the unspecified address is replaced by loopback.
fn url(address: SocketAddr) -> String {
    let mut reached = address;
    if address.ip().is_unspecified() {
        reached.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{reached}")
}
