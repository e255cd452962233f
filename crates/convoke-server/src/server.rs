//! A daemon, from opening its engine to its last answer.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use convoke_engine::{Around, Door, Engine, Keys, Result, Settings, TeamProgress};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::app::{App, Identity, Parts, router};
use crate::backups::{self, BackupSettings};
use crate::doors::{Doors, Frame, Token};
use crate::health::Problems;
use crate::listen::{self, Listeners};
use crate::rest;
use crate::teams::{ReadTeams, TeamsFault};

/// How long answers that are under way may take when the daemon stops; then they break off.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// What a daemon is made of.
#[derive(Debug)]
pub struct Opening {
    /// Where it listens; already bound, so that its port is known.
    pub address: SocketAddr,
    /// What opens its doors.
    pub token: Token,
    /// What it says its version is.
    pub version: String,
    /// How its engine is to work.
    pub settings: Settings,
    /// The world around it. A door is made where there is none.
    pub around: Around,
    /// Where others report what is wrong.
    pub problems: Problems,
}

/// A daemon that is ready to serve.
pub struct Server {
    pub(crate) app: Arc<App>,
}

impl Server {
    /// Opens the engine. Nothing is served yet.
    pub async fn open(opening: Opening) -> Result<Self> {
        let Opening { address, token, version, settings, mut around, problems } = opening;
        let (url, random) = (url(address), around.random);
        around
            .door
            .get_or_insert_with(|| Door { url: format!("{url}/mcp"), keys: Keys::new(random) });
        let home = around.home.display().to_string();
        let folder = around.home.join("run");
        let frame = Frame { address, token: &token, folder: &folder, clock: around.clock };
        let doors = Doors::open(frame);
        let engine = Engine::open(settings, around).await?;
        let identity = Identity { url, version, home, started: Instant::now() };
        let parts = Parts { engine, doors, identity, problems, random };
        Ok(Self { app: Arc::new(App::new(parts)) })
    }

    /// Where it is reached, such as `http://127.0.0.1:7717`.
    pub fn url(&self) -> &str {
        &self.app.identity.url
    }

    /// Begins to serve: the agents that it starts, and everybody else once the teams are taken up.
    pub fn serve(self, listeners: Listeners) -> Serving {
        let Self { app } = self;
        app.teams.shut();
        let serving = listen::serve(listeners, router(Arc::clone(&app)), app.stop.clone());
        Serving { app, task: tokio::spawn(serving) }
    }
}

/// A daemon that serves.
pub struct Serving {
    app: Arc<App>,
    task: JoinHandle<()>,
}

impl Serving {
    /// Takes up the teams. The agents that are started for it can use their tools already.
    pub async fn open_teams(
        &self,
        read: ReadTeams,
        told: impl Fn(TeamProgress) + Send + Sync,
    ) -> std::result::Result<(), TeamsFault> {
        self.app.teams.open(&self.app.engine, read, told).await
    }

    /// Makes backups from now on, when they are asked for and when they are due.
    pub fn keep_backups(&self, settings: BackupSettings) {
        backups::keep(&self.app, settings);
    }

    /// Who reads the teams again and takes them up.
    pub fn reloader(&self) -> Reloader {
        Reloader { app: Arc::clone(&self.app) }
    }

    /// A link that signs in one browser, once and soon; for a terminal.
    pub fn link(&self) -> String {
        self.app.doors.links.make(&self.app.identity.url, &self.app.new_token())
    }

    /// A file that leads a browser to such a link; for the command line of a browser.
    pub async fn link_file(&self) -> std::result::Result<PathBuf, LinkError> {
        rest::browsers::make_file(&self.app).await.map_err(LinkError)
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
                // What is not answered by then breaks off.
                tokio::time::timeout(LAST_ANSWERS, &mut task).await.ok();
            }
        };
        // Whoever waits for an answer of an agent's hears of the end before the engine is gone.
        tokio::join!(last, app.engine.stop());
        task.abort();
    }
}

/// Why there is no file that leads a browser to the page.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the file that leads the browser to the page")]
pub struct LinkError(#[source] convoke_files::Error);

/// Takes up teams that have changed.
pub struct Reloader {
    app: Arc<App>,
}

impl Reloader {
    /// Reads the teams again and takes them up; those from before stay when something is wrong.
    pub async fn reload(&self) -> std::result::Result<(), TeamsFault> {
        self.app.teams.reload(&self.app.engine).await
    }
}

/// How others reach an address; one that means all of them is reached by loopback.
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
