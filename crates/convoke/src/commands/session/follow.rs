//! Following a session, also across restarts of the daemon.

use std::time::Duration;

use convoke_api::bodies::code;
use convoke_api::{Client, Error, Events, EventsSince, SessionEvent};

use crate::daemon::{self, DaemonError};
use crate::home::Home;
use crate::output::aside_on_terminal;

/// The delay before a reconnect to a daemon that sends nothing; doubled each time.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// How long a restart of the daemon may take.
const RESTART: Duration = Duration::from_secs(10);

/// The updates of a session.
pub(super) struct Following<'a> {
    client: Client,
    home: &'a Home,
    id: String,
    since: EventsSince,
    events: Option<Events>,
    pause: Duration,
    reconnect: Reconnect,
}

/// How long a daemon that went away is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reconnect {
    /// Until it is started again.
    Unlimited,
    /// At most for the duration of a restart.
    Limited,
}

impl<'a> Following<'a> {
    /// Follows a session as long as the daemon is reachable.
    pub(super) fn new(client: Client, home: &'a Home, id: &str, since: EventsSince) -> Self {
        let id = id.to_owned();
        let (pause, reconnect) = (PAUSE_MIN, Reconnect::Limited);
        Self { client, home, id, since, events: None, pause, reconnect }
    }

    /// The same, however long the daemon is away.
    pub(super) fn endless(client: Client, home: &'a Home, id: &str, since: EventsSince) -> Self {
        Self { reconnect: Reconnect::Unlimited, ..Self::new(client, home, id, since) }
    }

    /// The next update; a daemon that goes away is waited for.
    pub(super) async fn next(&mut self) -> anyhow::Result<SessionEvent> {
        loop {
            match self.read().await {
                Ok(Some(event)) => {
                    let cursor = self.events.as_ref().and_then(Events::cursor);
                    if let Some(cursor) = cursor {
                        self.since = EventsSince::Cursor(cursor.clone());
                    }
                    self.pause = PAUSE_MIN;
                    return Ok(event);
                }
                Ok(None) => {}
                Err(error) if is_passing(&error) => {
                    tracing::debug!("the stream ended: {error}");
                }
                Err(error) => return Err(error.into()),
            }
            self.events = None;
            self.reconnect().await?;
        }
    }

    async fn read(&mut self) -> Result<Option<SessionEvent>, Error> {
        let events = match &mut self.events {
            Some(events) => events,
            None => self.events.insert(self.client.events(&self.id, &self.since).await?),
        };
        events.next().await
    }

    async fn reconnect(&mut self) -> anyhow::Result<()> {
        if !matches!(daemon::find(self.home).await, Ok(Some(_))) {
            aside_on_terminal("Lost the connection to the daemon; reconnecting.");
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        let coming = daemon::wait_until_running(self.home);
        self.client = match self.reconnect {
            Reconnect::Unlimited => coming.await?,
            Reconnect::Limited => match tokio::time::timeout(RESTART, coming).await {
                Ok(client) => client?,
                Err(_) => return Err(DaemonError::Gone { after: RESTART }.into()),
            },
        };
        Ok(())
    }
}

/// Whether the daemon stops or has stopped, rather than refuses.
fn is_passing(error: &Error) -> bool {
    let stops = error.problem().is_some_and(|problem| problem.code == code::STOPPING);
    error.is_unreachable() || stops
}
