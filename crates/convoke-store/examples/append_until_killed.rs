//! Holds conversations for ever and says what was acknowledged, so that a test can kill it and look what is there.
//!
//! Every line on stdout is one acknowledged message: its JSON. Takes the path of the database.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use convoke_core::content::Content;
use convoke_core::id::{MessageId, ProjectId, SessionId};
use convoke_core::message::{Draft, Message};
use convoke_core::notice::{Event, Notice};
use convoke_core::session::Session;
use convoke_core::time::Timestamp;
use convoke_core::turn::Stop;
use convoke_store::{Error, NewProject, NewSession, SessionKind, Store};
use tokio::task::JoinSet;

/// Conversations at the same time.
const SESSIONS: u8 = 6;

type Failure = Box<dyn std::error::Error + Send + Sync>;

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

/// One conversation, taken up where it was left.
async fn talk(store: Store, project: ProjectId, id: SessionId) -> Result<(), Failure> {
    let mut session = take_up(&store, project, id).await?;
    for turn in 0_u64.. {
        say(&store, id, &mut session, vec![Draft::user(format!("prompt {turn}"))]).await?;
        let prompt = session.running().ok_or("a prompt starts a turn")?;
        for piece in 0..turn % 9 {
            let text = format!("piece {piece} of the answer ");
            let piece = Content::Text { text, partial: Some(true) };
            say(&store, id, &mut session, vec![Draft::agent(piece)]).await?;
        }
        let closing = Content::Text { text: String::new(), partial: Some(false) };
        let ended = Notice::new(Event::TurnEnded { turn: prompt, stop: Stop::EndTurn });
        let drafts = vec![Draft::agent(closing), Draft::system(ended)];
        say(&store, id, &mut session, drafts).await?;
    }
    Ok(())
}

/// The session as the store has it; what a kill left unfinished is ended first.
async fn take_up(store: &Store, project: ProjectId, id: SessionId) -> Result<Session, Failure> {
    let Some(stored) = store.session(id).await? else {
        let (agent, created_at) = ("demo".parse()?, now()?);
        let kind = SessionKind::Session;
        store
            .create_session(NewSession { id, project_id: project, agent, kind, created_at })
            .await?;
        return Ok(Session::new(created_at));
    };
    let mut session = Session::restore(stored.summary.clone(), Vec::new());
    loop {
        let page = store.messages(id, session.summary().last_seq, 100).await?;
        page.messages.iter().for_each(|message| session.apply(message));
        if !page.more {
            break;
        }
    }
    while let Some(turn) = session.running() {
        let ended = Notice::new(Event::TurnEnded { turn, stop: Stop::Cancelled });
        say(store, id, &mut session, vec![Draft::system(ended)]).await?;
    }
    Ok(session)
}

/// Stores, then tells.
async fn say(
    store: &Store,
    id: SessionId,
    session: &mut Session,
    drafts: Vec<Draft>,
) -> Result<(), Failure> {
    let mut messages: Vec<Message> = Vec::new();
    for draft in drafts {
        let seq = session.summary().last_seq.next();
        let at = now()?.max(session.summary().updated_at);
        let message = draft.stamp(message_id(id, seq.get()), id, seq, at);
        session.apply(&message);
        messages.push(message);
    }
    store.append(id, messages.clone(), session.summary().clone()).await?;
    let mut lines = String::new();
    for message in &messages {
        lines.push_str(&serde_json::to_string(message)?);
        lines.push('\n');
    }
    std::io::stdout().write_all(lines.as_bytes())?;
    Ok(std::io::stdout().flush()?)
}

/// An id that only this message has.
fn message_id(session: SessionId, seq: u64) -> MessageId {
    let mut bytes = *session.as_bytes();
    for (byte, number) in bytes.iter_mut().rev().zip(seq.to_le_bytes()) {
        *byte ^= number;
    }
    MessageId::from_random(bytes)
}

fn now() -> Result<Timestamp, Failure> {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    Ok(Timestamp::from_millis(millis.try_into()?))
}
