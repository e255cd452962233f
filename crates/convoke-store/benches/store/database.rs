//! Databases to measure: the schema is made by the store itself, bulk is put in beside it.

use std::path::{Path, PathBuf};

use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::session::Status;
use convoke_core::time::Timestamp;
use convoke_store::{NewProject, NewSession, SessionKind, Store};
use convoke_testkit::bench::Result;
use convoke_testkit::bench::random::Random;
use rusqlite::{Connection, params};
use tempfile::TempDir;

/// Projects among which sessions are dealt out.
const PROJECTS: usize = 20;
/// Messages for each session, counted over all of them.
const MESSAGES_PER_SESSION: usize = 10;
/// Messages of a session that has any; most have none, so that there are many sessions and long logs too.
pub(crate) const LOG_MESSAGES: usize = 500;
/// Sessions that are talked in at the same time, so that their messages are interleaved.
const AT_ONCE: usize = 8;
/// Keys that the search index has for each millisecond, and the first one that has any.
const KEYS_OF_A_MILLISECOND: i64 = 512;
const FIRST_MILLISECOND: i64 = 1_420_070_400_000;
/// Rows in one transaction of the filling.
const CHUNK: usize = 100_000;

/// A database in a temporary folder, deleted on drop.
pub(crate) struct Database {
    pub(crate) path: PathBuf,
    pub(crate) sessions: usize,
    /// Messages it was filled with.
    pub(crate) messages: usize,
    /// Sessions that have a log.
    pub(crate) logs: usize,
    _folder: TempDir,
}

impl Database {
    /// A database with projects and this many sessions without messages, all made by the store.
    pub(crate) async fn with_sessions(count: usize) -> Result<Self> {
        let database = Self::new().await?;
        let store = database.open().await?;
        for at in 0..count {
            store.create_session(new_session(at)?).await?;
        }
        store.close().await;
        Ok(Self { sessions: count, ..database })
    }

    /// A database with this many messages, and a tenth as many sessions.
    pub(crate) async fn fill(messages: usize) -> Result<Self> {
        let database = Self::new().await?;
        let path = database.path.clone();
        let sessions = messages.div_ceil(MESSAGES_PER_SESSION);
        let logs = messages.div_ceil(LOG_MESSAGES);
        let filling = tokio::task::spawn_blocking(move || -> Result<()> {
            let mut db = Connection::open(&path)?;
            db.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;")?;
            fill_sessions(&mut db, sessions, logs)?;
            fill_messages(&mut db, messages)?;
            db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")?;
            Ok(())
        });
        filling.await??;
        Ok(Self { sessions, messages, logs, ..database })
    }

    async fn new() -> Result<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let path = folder.path().join("convoke.db");
        let database = Self { path, sessions: 0, messages: 0, logs: 0, _folder: folder };
        let store = database.open().await?;
        add_projects(&store).await?;
        store.close().await;
        Ok(database)
    }

    /// The store on it.
    pub(crate) async fn open(&self) -> Result<Store> {
        Ok(Store::open(&self.path, moment(0)).await?)
    }

    /// A connection beside the store, set up as its readers are.
    pub(crate) fn connect(&self) -> Result<Connection> {
        connect(&self.path)
    }
}

/// Adds the projects among which sessions are dealt out.
pub(crate) async fn add_projects(store: &Store) -> Result<()> {
    for at in 0..PROJECTS {
        let (name, path) = (format!("project {at}"), format!("/home/me/{at}").into());
        let added_at = moment(0);
        store.add_project(NewProject { id: project_id(at), name, path, added_at }).await?;
    }
    Ok(())
}

/// A connection that reads, set up as the store's are.
fn connect(path: &Path) -> Result<Connection> {
    let db = Connection::open(path)?;
    db.execute_batch("PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -2048;")?;
    Ok(db)
}

/// This many milliseconds after a fixed time in 2026.
pub(crate) fn moment(millis: usize) -> Timestamp {
    Timestamp::from_millis(1_794_736_800_000 + i64::try_from(millis).unwrap_or(i64::MAX / 2))
}

/// The id of the session made as this one, counted from 0.
pub(crate) fn session_id(at: usize) -> SessionId {
    SessionId::from_random(Random::new(at as u64).bytes())
}

/// The id of the project made as this one, counted from 0.
pub(crate) fn project_id(at: usize) -> ProjectId {
    ProjectId::from_random(Random::new(at as u64).bytes())
}

/// The number by which rows name the session made as this one.
pub(crate) fn session_number(at: usize) -> Result<i64> {
    Ok(i64::try_from(at + 1)?)
}

/// What the index says of where the session made as this one belongs, and of who said a message there.
pub(crate) fn scope(at: usize, role: &str) -> String {
    let project = format!("p{}", project_id(at % PROJECTS).to_string().replace('-', ""));
    let agent: String = agent(at).bytes().map(|byte| format!("{byte:02x}")).collect();
    let (agent, role) = (format!("a{agent}"), format!("r{}", role.get(..1).unwrap_or_default()));
    let combined = [
        format!("s{}", at + 1),
        project.clone(),
        agent.clone(),
        role.clone(),
        format!("{project}{agent}"),
        format!("{project}{role}"),
        format!("{agent}{role}"),
        format!("{project}{agent}{role}"),
    ];
    combined.map(|word| format!("zzzz{word}")).join(" ")
}

/// What the index says of the words that a short text repeats.
fn repeated(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    words.sort_unstable();
    let repeated = words.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
    repeated.flat_map(|same| same.first()).map(|word| format!(" zzzzf{word}")).collect()
}

/// The agent of the session made as this one: most have the same.
fn agent(at: usize) -> &'static str {
    match at % 10 {
        0..7 => "claude-code",
        7..9 => "codex",
        _ => "gemini",
    }
}

pub(crate) fn new_session(at: usize) -> Result<NewSession> {
    Ok(NewSession {
        id: session_id(at),
        project_id: project_id(at % PROJECTS),
        agent: agent(at).parse::<AgentName>()?,
        kind: SessionKind::Session,
        created_at: moment(at),
    })
}

fn fill_sessions(db: &mut Connection, count: usize, logs: usize) -> Result<()> {
    let transaction = db.transaction()?;
    let mut insert = transaction.prepare(
        "INSERT INTO agent_sessions
             (n, id, project_id, agent, kind, created_at, status, reason, archived, title,
              last_seq, settled_seq, rev, updated_at, last_active_at)
         VALUES (?1, ?2, ?3, ?9, 'session', ?4, ?5, NULL, ?6, ?7, ?8, ?8, ?8, ?4, ?4)",
    )?;
    let mut random = Random::new(2);
    for at in 0..count {
        // One in ten is archived, and every status is about as frequent.
        let status = Status::ALL.iter().cycle().nth(at % 7).map_or("active", |it| it.as_str());
        let last_seq = if at < logs { LOG_MESSAGES } else { 0 };
        insert.execute(params![
            session_number(at)?,
            session_id(at).to_string(),
            project_id(at % PROJECTS).to_string(),
            moment(at).as_millis(),
            status,
            random.below(10) == 0,
            random.text(5),
            u64::try_from(last_seq)?,
            agent(at),
        ])?;
    }
    drop(insert);
    Ok(transaction.commit()?)
}

fn fill_messages(db: &mut Connection, count: usize) -> Result<()> {
    let mut random = Random::new(3);
    for chunk in (0..count).collect::<Vec<_>>().chunks(CHUNK) {
        let transaction = db.transaction()?;
        let mut insert = transaction.prepare(
            "INSERT INTO messages
                 (n, session, seq, rev, id, role, content, turn, open, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?3, ?4, ?8, ?5, ?6, 0, ?7, ?7)",
        )?;
        let mut index = transaction
            .prepare("INSERT INTO message_search (rowid, text, scope) VALUES (?1, ?2, ?3)")?;
        let mut keys =
            transaction.prepare("INSERT INTO searched_messages (key, message) VALUES (?1, ?2)")?;
        for at in chunk.iter().copied() {
            let (session, seq) = place(at);
            let n = i64::try_from(at + 1)?;
            let words = 6 + random.below(14);
            let text = random.text(words);
            let id = *MessageId::from_random(random.bytes()).as_bytes();
            let content = format!(r#"{{"type":"text","text":"{text}"}}"#);
            let is_prompt = seq % 2 == 1;
            let role = if is_prompt { "user" } else { "agent" };
            let created_at = moment(at).as_millis();
            insert.execute(params![
                n,
                session_number(session)?,
                u64::try_from(seq)?,
                id,
                content,
                is_prompt.then_some(r#"{"status":"ended","stopReason":"end_turn"}"#),
                created_at,
                role,
            ])?;
            // The lowest bits say how long it is: up to 16 words, or up to 64.
            let size = i64::from(words > 16);
            let key = (created_at - FIRST_MILLISECOND) * KEYS_OF_A_MILLISECOND + size;
            keys.execute([key, n])?;
            index.execute(params![key, text, scope(session, role) + &repeated(&text)])?;
        }
        drop((insert, index, keys));
        transaction.commit()?;
    }
    Ok(())
}

/// The session and the place there of a message, counted over all from 0.
fn place(at: usize) -> (usize, usize) {
    let group = LOG_MESSAGES * AT_ONCE;
    (at / group * AT_ONCE + at % AT_ONCE, at % group / AT_ONCE + 1)
}
