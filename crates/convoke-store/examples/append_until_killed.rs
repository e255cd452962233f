//! Holds conversations for ever and says what was acknowledged, so that a test can kill it and look what is there.
//!
//! Every line on stdout is one acknowledged message, or an open one as far as it is acknowledged: its JSON. Takes the path
//! of the database.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use convoke_core::id::{MessageId, ProjectId, SessionId};
use convoke_core::session::{Command, Interruption, Report, Session, Stamp};
use convoke_core::time::Timestamp;
use convoke_core::turn::Stop;
use convoke_core::update::{OpenMessages, Update, UpdateStamp, Updates};
use convoke_store::{Error, NewProject, NewSession, SessionKind, Store, Sync};
use tokio::task::JoinSet;

/// Conversations at the same time.
const SESSIONS: u8 = 6;

type Failure = Box<dyn std::error::Error + Send + std::marker::Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let path: PathBuf = std::env::args_os().nth(1).ok_or("the path is missing")?.into();
    let store = Store::open(path, now()?).await?;
    let project = ProjectId::from_random([1; 16]);
    let (name, directory) = ("app".to_owned(), "/srv/app".into());
    let new = NewProject { id: project, name, path: directory, added_at: now()? };
    match store.add_project(new).await {
        Ok(_) | Err(Error::ProjectExists { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let mut talks = JoinSet::new();
    for number in 0..SESSIONS {
        talks.spawn(talk(store.clone(), project, SessionId::from_random([number; 16])));
    }
    while let Some(talk) = talks.join_next().await {
        talk??;
    }
    Ok(())
}

/// One conversation: the session, and its messages that may still change.
struct Talk {
    id: SessionId,
    session: Session,
    open: OpenMessages,
}

/// Resumes a conversation and continues it.
async fn talk(store: Store, project: ProjectId, id: SessionId) -> Result<(), Failure> {
    let mut talk = resume(&store, project, id).await?;
    for turn in 0_u64.. {
        let stamp = Stamp { id: message_id(id, talk.session.summary().rev.get()), at: now()? };
        talk.play(&store, Command::Prompt { prompt: format!("prompt {turn}").into(), stamp })
            .await?;
        for piece in 0..turn % 9 {
            let text = format!("piece {piece} of the answer ");
            talk.play(&store, Command::Agent(Report::Said(text))).await?;
        }
        let turn = talk.session.running().ok_or("a prompt starts a turn")?;
        let end = Report::TurnEnded { turn, stop: Stop::EndTurn };
        talk.play(&store, Command::Agent(end)).await?;
    }
    Ok(())
}

/// The session as the store has it; what a kill left unfinished is ended first.
async fn resume(store: &Store, project_id: ProjectId, id: SessionId) -> Result<Talk, Failure> {
    let Some(stored) = store.session(id).await? else {
        let (agent, created_at) = ("demo".parse()?, now()?);
        let kind = SessionKind::Session;
        store.create_session(NewSession { id, project_id, agent, kind, created_at }).await?;
        return Ok(Talk { id, session: Session::new(created_at), open: OpenMessages::default() });
    };
    let open = store.open_messages(id).await?;
    let state = store.session_state(id).await?.into_iter().map(|(_, state)| state).collect();
    let mut session = Session::restore(stored.summary, &open, state);
    session.skip_lost_revisions();
    let mut talk = Talk { id, session, open: OpenMessages::restore(open) };
    talk.play(store, Command::Recover(Interruption::Ended)).await?;
    Ok(talk)
}

impl Talk {
    /// Stores, then prints each changed message.
    async fn play(&mut self, store: &Store, command: Command) -> Result<(), Failure> {
        let at = now()?.max(self.session.summary().updated_at);
        let (mut updates, mut lines) = (Updates::default(), String::new());
        for change in self.session.handle(command)?.changes {
            self.session.apply(&change, at);
            let summary = self.session.summary();
            let (seq, rev) = (summary.last_seq, summary.rev);
            let id = message_id(self.id, rev.get());
            let stamp = UpdateStamp { session_id: self.id, id, seq, rev, at };
            let update = self.open.apply(change, stamp).ok_or("the message is not open")?;
            let changed = match &update {
                Update::Message(message) => Some(message),
                Update::Delta(delta) => self.open.get(delta.seq),
                Update::State { .. } => None,
            };
            if let Some(message) = changed {
                lines.push_str(&serde_json::to_string(&**message)?);
                lines.push('\n');
            }
            updates.push(update);
        }
        if !updates.is_empty() {
            let summary = self.session.summary().clone();
            store.record(self.id, updates.as_slice(), summary, Sync::Soon).await?;
        }
        std::io::stdout().write_all(lines.as_bytes())?;
        Ok(std::io::stdout().flush()?)
    }
}

/// An id that only this message has.
fn message_id(session: SessionId, number: u64) -> MessageId {
    let mut bytes = *session.as_bytes();
    for (byte, digit) in bytes.iter_mut().rev().zip(number.to_le_bytes()) {
        *byte ^= digit;
    }
    MessageId::from_random(bytes)
}

fn now() -> Result<Timestamp, Failure> {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    Ok(Timestamp::from_millis(millis.try_into()?))
}
