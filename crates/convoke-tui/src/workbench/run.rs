//! The event loop: waits for the next event, lets `update` decide, carries out its effects, and
//! draws.

use std::io::{self, IsTerminal as _};

use convoke_api::frames::{ClientFrame, Envelope};
use convoke_api::{Client, TeamSessionQuery};
use convoke_core::explain;
use convoke_core::id::SessionId;
use convoke_files::blobs::BLOB_BYTES_MAX;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::changes;
use super::message::{Effect, Message};
use super::model::Model;
use super::update::update;
use super::{view, worktrees};
use crate::link::{self, LinkEvent};
use crate::terminal::{Input, Screen, ScreenEvent};
use crate::{Error, WorkbenchOptions};

/// Frames of the daemon that may be queued; beyond that the daemon waits, and disconnects a client
/// that never reads.
const EVENTS_MAX: usize = 256;
/// Requests queued for the daemon; beyond that they are refused with a message.
const ORDERS: usize = 256;
/// Frames that are handled before the screen is drawn again.
const NEWS_PER_PICTURE: usize = 64;

/// Runs the terminal UI until the human leaves.
pub(crate) async fn run(client: Client, options: WorkbenchOptions) -> Result<(), Error> {
    if !io::stdout().is_terminal() {
        return Err(Error::NoTerminal);
    }
    Run::start(client, options)?.until_left().await
}

struct Run {
    screen: Screen,
    model: Model,
    clock: fn() -> convoke_core::time::Timestamp,
    arrival: crate::Arrival,
    client: Client,
    orders: mpsc::Sender<Envelope<ClientFrame>>,
    events: mpsc::Receiver<LinkEvent>,
    /// The task with the connection to the daemon; it ends with the run.
    _link: JoinSet<()>,
    fetches: JoinSet<Message>,
}

/// The event that woke the loop.
enum LoopEvent {
    Message(Message),
    LinkEvent(LinkEvent),
    /// Nothing that changes the screen.
    Nothing,
    /// A signal, or the terminal was closed.
    Leave,
    Panicked,
}

/// Whether the loop goes on; a human who quits ends it.
#[derive(PartialEq, Eq)]
enum KeepRunning {
    Yes,
    No,
}

impl Run {
    fn start(client: Client, options: WorkbenchOptions) -> Result<Self, Error> {
        let WorkbenchOptions { clock, colour, arrival, user_folder, folder, reach } = options;
        let fail = Error::Terminal;
        let text = |path: std::path::PathBuf| path.display().to_string();
        let mut model = Model::new(text(folder), user_folder.map(text), colour, clock());
        let screen = Screen::open().map_err(fail)?;
        model.size = screen.size().map_err(fail)?;
        let (orders, order) = mpsc::channel(ORDERS);
        let (tell, events) = mpsc::channel(EVENTS_MAX);
        let mut link = JoinSet::new();
        link.spawn(link::hold(Some(client.clone()), reach, order, tell));
        Ok(Self {
            screen,
            model,
            clock,
            arrival,
            client,
            orders,
            events,
            _link: link,
            fetches: JoinSet::new(),
        })
    }

    async fn until_left(mut self) -> Result<(), Error> {
        self.draw()?;
        loop {
            let keep_running = match self.wake().await? {
                LoopEvent::Message(message) => self.take(message)?,
                LoopEvent::LinkEvent(event) => self.take_events(event)?,
                LoopEvent::Nothing => continue,
                LoopEvent::Leave => return Ok(()),
                LoopEvent::Panicked => return Err(Error::Panicked),
            };
            if keep_running == KeepRunning::No {
                return Ok(());
            }
            self.draw()?;
        }
    }

    fn draw(&mut self) -> Result<(), Error> {
        self.screen.draw(|frame| view::view(&self.model, frame)).map_err(Error::Terminal)
    }

    /// Handles all frames that have arrived, so that the screen is drawn once for them.
    fn take_events(&mut self, first: LinkEvent) -> Result<KeepRunning, Error> {
        let mut next = Some(first);
        for _ in 0..NEWS_PER_PICTURE {
            let keep_running = match next {
                Some(LinkEvent::Linked(client)) => {
                    self.client = *client;
                    self.take(Message::Linked)?
                }
                Some(LinkEvent::Unlinked(words)) => self.take(Message::Unlinked(words))?,
                Some(LinkEvent::Frame(envelope)) => self.take(Message::Frame(envelope))?,
                Some(LinkEvent::Failed(words)) => self.take(Message::Failed(words))?,
                None => break,
            };
            if keep_running == KeepRunning::No {
                return Ok(keep_running);
            }
            next = self.events.try_recv().ok();
        }
        Ok(KeepRunning::Yes)
    }

    fn take(&mut self, message: Message) -> Result<KeepRunning, Error> {
        for effect in update(&mut self.model, (self.clock)(), message) {
            match effect {
                Effect::Quit => return Ok(KeepRunning::No),
                Effect::Announce(text) => {
                    self.screen.announce(self.arrival, &text).map_err(Error::Terminal)?;
                }
                Effect::Attach { to, path, text } => {
                    self.fetches.spawn(attach(self.client.clone(), to, path, text));
                }
                Effect::Call(call) => {
                    self.fetches.spawn(changes::perform(self.client.clone(), call));
                }
                Effect::CallWorktree(call) => {
                    self.fetches.spawn(worktrees::perform(self.client.clone(), call));
                }
                Effect::FetchTeams => {
                    self.fetches.spawn(fetch_teams(self.client.clone()));
                }
                Effect::FetchNodes => {
                    self.fetches.spawn(fetch_nodes(self.client.clone()));
                }
                Effect::SendFrame(envelope) => {
                    if self.orders.try_send(envelope).is_err() {
                        self.model.refuse("The daemon is too busy: nothing was done.");
                    }
                }
            }
        }
        Ok(KeepRunning::Yes)
    }

    async fn wake(&mut self) -> Result<LoopEvent, Error> {
        Ok(tokio::select! {
            event = self.screen.next() => match event.map_err(Error::Terminal)? {
                ScreenEvent::Input(input) => match message(input, &self.model) {
                    Some(message) => LoopEvent::Message(message),
                    None => LoopEvent::Nothing,
                },
                ScreenEvent::Minute => LoopEvent::Message(Message::Ticked),
                ScreenEvent::Leave => LoopEvent::Leave,
                ScreenEvent::Panicked => LoopEvent::Panicked,
            },
            Some(event) = self.events.recv() => LoopEvent::LinkEvent(event),
            Some(fetched) = self.fetches.join_next() => match fetched {
                Ok(message) => LoopEvent::Message(message),
                Err(_) => LoopEvent::Panicked,
            },
        })
    }
}

/// Stores a file, if the path leads to one.
async fn attach(client: Client, to: Option<SessionId>, path: String, text: String) -> Message {
    let place = std::path::PathBuf::from(path);
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let read = tokio::task::spawn_blocking(move || {
        let found = std::fs::metadata(&place).ok().filter(std::fs::Metadata::is_file)?;
        // One byte more than the daemon accepts, so that the daemon's error states the limit.
        let limit = usize::try_from(found.len()).ok().filter(|bytes| *bytes <= BLOB_BYTES_MAX + 1);
        limit.and_then(|_| std::fs::read(&place).ok())
    });
    match read.await.ok().flatten() {
        None => Message::PastedText(text),
        Some(bytes) => match client.store_attachment(&name, bytes).await {
            Ok(stored) => Message::Attached { to, stored },
            Err(error) => Message::Failed(explain(&error)),
        },
    }
}

async fn fetch_nodes(client: Client) -> Message {
    match client.nodes().await {
        Ok(nodes) => Message::Nodes(nodes.nodes),
        Err(error) => Message::Failed(explain(&error)),
    }
}

async fn fetch_teams(client: Client) -> Message {
    let query = TeamSessionQuery::default();
    let fetched = async {
        let sessions = client.team_sessions(&query).await?.sessions;
        Ok::<_, convoke_api::Error>((sessions, client.team_stats().await?))
    };
    match fetched.await {
        Ok((sessions, stats)) => Message::Teams { sessions, stats },
        Err(error) => Message::Failed(explain(&error)),
    }
}

/// Translates an input into a message; `None` for a click beside all targets.
fn message(input: Input, model: &Model) -> Option<Message> {
    Some(match input {
        Input::Key(key) => Message::Key(key),
        Input::Pasted(text) => Message::Pasted(text),
        Input::Resized(size) => Message::Resized(size),
        Input::Wheeled(direction, at) => Message::Wheeled { direction, at },
        Input::Clicked(at) => {
            let (target, column) = view::target_at(model, at)?;
            Message::Clicked { target, column }
        }
    })
}
