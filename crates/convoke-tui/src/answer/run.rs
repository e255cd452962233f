//! The event loop: waits for the next event, lets `update` decide, carries out its effects, and
//! draws.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use convoke_api::frames::{ClientFrame, Envelope, ServerFrame};
use convoke_core::explain;
use convoke_core::id::RequestId;
use convoke_files::questions::{Questions, Verdict};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use tokio::time::{Instant, timeout_at};

use crate::answer::folder_reader::{FolderReader, ending};
use crate::answer::message::{Effect, Found, Message, Outcome};
use crate::answer::model::{Model, Source, Waiting};
use crate::answer::update::update;
use crate::answer::view;
use crate::link::{self, LinkEvent};
use crate::sheet::Ending;
use crate::terminal::{Input, Screen, ScreenEvent};
use crate::{AnswerOptions, Error, Reach};

/// Listings of the folder that may be queued; the folder reader blocks beyond that, and loses nothing.
const FINDINGS: usize = 1;
/// Frames of the daemon that may be queued; beyond that the daemon waits, and disconnects a client
/// that never reads.
const EVENTS_MAX: usize = 64;
/// Answers and questions queued for the daemon; beyond that they fail with a message.
const ORDERS: usize = 64;
/// How long the daemon may take to confirm an answer before the program exits without a
/// confirmation.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(3);

/// Runs the terminal UI until the human leaves.
pub(crate) async fn run(
    questions: Questions,
    reach: Option<Reach>,
    options: AnswerOptions,
) -> Result<(), Error> {
    if !io::stdout().is_terminal() {
        return Err(Error::NoTerminal);
    }
    let user_folder = options.user_folder.as_ref().map(|folder| folder.display().to_string());
    let folder = questions.dir().display().to_string();
    let mut model = Model::new(folder, user_folder, options.colour, (options.clock)());
    // Before the screen switches, so that an unreadable folder is reported as a plain error.
    let (reader, found) =
        read_folder(FolderReader::new(questions.clone())).await.map_err(panicked)?;
    // Questions that exist at the start ring no bell.
    update(&mut model, (options.clock)(), Message::Found(found?));
    let tasks = Tasks::start(reader, reach);
    Run::start(model, tasks, questions, options)?.until_left().await
}

struct Run {
    screen: Screen,
    model: Model,
    questions: Questions,
    options: AnswerOptions,
    tasks: Tasks,
    verdicts: JoinSet<Written>,
}

/// The task that lists the folder and the one with the connection to the daemon; they end with the
/// run.
struct Tasks {
    findings: mpsc::Receiver<Message>,
    orders: mpsc::Sender<Envelope<ClientFrame>>,
    events: mpsc::Receiver<LinkEvent>,
    _running: JoinSet<()>,
}

impl Tasks {
    fn start(reader: FolderReader, reach: Option<Reach>) -> Self {
        let (send, findings) = mpsc::channel(FINDINGS);
        let (orders, order) = mpsc::channel(ORDERS);
        let (tell, events) = mpsc::channel(EVENTS_MAX);
        let mut running = JoinSet::new();
        running.spawn(follow_folder(reader, send));
        if let Some(reach) = reach {
            running.spawn(link::hold(None, reach, order, tell));
        }
        Self { findings, orders, events, _running: running }
    }

    /// Sends the daemon a frame.
    fn send(&self, request_id: Option<String>, frame: ClientFrame) -> Result<(), String> {
        let said = self.orders.try_send(Envelope { request_id, frame });
        said.map_err(|_| "the daemon is too busy".to_owned())
    }

    /// Translates events of the connection and its frames into messages.
    fn handle(&self, event: LinkEvent) -> Option<Message> {
        match event {
            LinkEvent::Linked(_) => {
                self.ask_for_list();
                Some(Message::Linked)
            }
            LinkEvent::Unlinked(_) => Some(Message::Unlinked),
            LinkEvent::Failed(words) => Some(Message::Unreadable(words)),
            LinkEvent::Frame(envelope) => self.handle_frame(*envelope),
        }
    }

    fn handle_frame(&self, envelope: Envelope<ServerFrame>) -> Option<Message> {
        let answered: Option<RequestId> = envelope.request_id.and_then(|id| id.parse().ok());
        if let ServerFrame::InboxList { items } = envelope.frame {
            return Some(Message::Listed(items));
        }
        if let ServerFrame::InboxChanged { .. } = envelope.frame {
            self.ask_for_list();
            return None;
        }
        let outcome = if let ServerFrame::Error { message, .. } = envelope.frame {
            Outcome::Failed(message)
        } else {
            Outcome::Sent
        };
        answered.map(|id| Message::Settled { id, outcome })
    }

    /// Requests the inbox. If the daemon is too busy for that, it announces its next change.
    fn ask_for_list(&self) {
        self.send(None, ClientFrame::InboxList {}).ok();
    }
}

/// A verdict that was written, or not.
struct Written {
    id: RequestId,
    outcome: Outcome,
    result: convoke_files::Result<()>,
}

/// The event that woke the loop.
enum LoopEvent {
    Message(Message),
    /// Nothing that changes the screen.
    Nothing,
    /// A signal, or the terminal was closed.
    Leave,
    Panicked,
}

impl Run {
    fn start(
        mut model: Model,
        tasks: Tasks,
        questions: Questions,
        options: AnswerOptions,
    ) -> Result<Self, Error> {
        let fail = Error::Terminal;
        let screen = Screen::open().map_err(fail)?;
        model.size = screen.size().map_err(fail)?;
        Ok(Self { screen, model, questions, options, tasks, verdicts: JoinSet::new() })
    }

    async fn until_left(mut self) -> Result<(), Error> {
        self.draw().map_err(Error::Terminal)?;
        loop {
            let message = match self.wake().await? {
                LoopEvent::Message(message) => message,
                LoopEvent::Nothing => continue,
                LoopEvent::Leave => break,
                LoopEvent::Panicked => return Err(Error::Panicked),
            };
            match update(&mut self.model, (self.options.clock)(), message) {
                Some(Effect::Quit) => break,
                Some(effect) => self.follow(effect)?,
                None => {}
            }
            self.draw().map_err(Error::Terminal)?;
        }
        self.handle_remaining().await;
        let Self { screen, mut verdicts, .. } = self;
        drop(screen);
        // Pending answers are written before the program may exit.
        while let Some(written) = verdicts.join_next().await {
            written.map_err(panicked)?.result?;
        }
        Ok(())
    }

    /// Waits until the daemon has confirmed the human's answers.
    async fn handle_remaining(&mut self) {
        let deadline = Instant::now() + CONFIRM_TIMEOUT;
        let is_on_its_way = |set: &Waiting| set.source == Source::Daemon && set.card.is_settling();
        while self.model.sets.iter().any(is_on_its_way) {
            let Ok(Some(event)) = timeout_at(deadline, self.tasks.events.recv()).await else {
                return;
            };
            if let Some(message) = self.tasks.handle(event) {
                update(&mut self.model, (self.options.clock)(), message);
            }
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        self.screen.draw(|frame| view::view(&self.model, frame))
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
            Some(message) = self.tasks.findings.recv() => LoopEvent::Message(message),
            Some(event) = self.tasks.events.recv() => match self.tasks.handle(event) {
                Some(message) => LoopEvent::Message(message),
                None => LoopEvent::Nothing,
            },
            Some(written) = self.verdicts.join_next() => settled(written.map_err(panicked)?),
        })
    }

    fn follow(&mut self, effect: Effect) -> Result<(), Error> {
        let (id, verdict, outcome) = match effect {
            Effect::Send { id, answers } => (id, Verdict::Answer(answers), Outcome::Sent),
            Effect::Reject { id, reason } => (id, Verdict::Reject { reason }, Outcome::Rejected),
            Effect::SendFrame { id, frame } => {
                if let Err(words) = self.tasks.send(Some(id.to_string()), frame) {
                    let message = Message::Settled { id, outcome: Outcome::Failed(words) };
                    update(&mut self.model, (self.options.clock)(), message);
                }
                return Ok(());
            }
            Effect::Announce(text) => {
                let announced = self.screen.announce(self.options.arrival, &text);
                return announced.map_err(Error::Terminal);
            }
            Effect::Quit => return Ok(()),
        };
        let (questions, now) = (self.questions.clone(), (self.options.clock)());
        self.verdicts.spawn_blocking(move || {
            let result = questions.settle(id, verdict, now);
            Written { id, outcome, result }
        });
        Ok(())
    }
}

fn settled(written: Written) -> LoopEvent {
    let outcome = match written.result {
        Ok(()) => written.outcome,
        Err(convoke_files::Error::Settled { status, .. }) => Outcome::Late(ending(status)),
        Err(convoke_files::Error::NotFound { .. }) => Outcome::Late(Ending::Deleted),
        Err(error) => Outcome::Failed(explain(&error)),
    };
    LoopEvent::Message(Message::Settled { id: written.id, outcome })
}

/// Translates an input into a message; `None` for a click beside all targets.
fn message(input: Input, model: &Model) -> Option<Message> {
    Some(match input {
        Input::Key(key) => Message::Key(key),
        Input::Pasted(text) => Message::Pasted(text),
        Input::Resized(size) => Message::Resized(size),
        Input::Wheeled(direction, _) => Message::Wheeled(direction),
        Input::Clicked(at) => {
            let (target, column) = view::target_at(model, at)?;
            Message::Clicked { target, column }
        }
    })
}

/// Scans the folder whenever it changes, until the receiver is dropped.
async fn follow_folder(mut reader: FolderReader, findings: mpsc::Sender<Message>) {
    loop {
        reader.changed().await;
        // A panic in there has ended the screen already.
        let Ok((back, found)) = read_folder(reader).await else { return };
        reader = back;
        let message = match found {
            Ok(found) => Message::Found(found),
            Err(error) => Message::Unreadable(explain(&error)),
        };
        if findings.send(message).await.is_err() {
            return;
        }
    }
}

/// Lists the folder on a blocking thread.
async fn read_folder(
    mut reader: FolderReader,
) -> Result<(FolderReader, convoke_files::Result<Found>), JoinError> {
    let looking = spawn_blocking(move || {
        let found = reader.read();
        (reader, found)
    });
    looking.await
}

/// The panic itself was printed when it happened.
fn panicked(_: JoinError) -> Error {
    Error::Panicked
}
