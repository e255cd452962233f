//! Databases that a release has written are read back whole, whatever the schema has become since.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use convoke_core::content::{Content, ToolStatus, Usage};
use convoke_core::message::{Message, Rev, Seq};
use convoke_core::request::Request;
use convoke_core::session::{Command, QueueChoice, Report, Session, ToolUpdate};
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_core::turn::Turn;
use convoke_store::{
    PairFilter, SearchQuery, SessionFilter, SessionOrder, Store, StoredSession, Window, schema,
};
use rusqlite::Connection;
use serde_json::Value;

use crate::world::{World, at, prompts};

const EVERYTHING: Window = Window::first(1000);

/// A copy of a fixture; the fixture itself never changes.
fn copy_of(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("convoke.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::copy(fixture, &path).unwrap();
    (folder, path)
}

async fn read(store: &Store, session: &StoredSession) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    loop {
        let after = messages.last().map_or(Seq::START, |message| message.seq);
        let page = store.messages(session.id, after, 7).await.unwrap();
        messages.extend(page.messages);
        if !page.more {
            return messages;
        }
    }
}

/// The words of a conversation: prompts as `> …` with how their turns ended, one line for each other message.
fn words(messages: &[Message]) -> String {
    let mut words = String::new();
    for message in messages {
        let open = if message.is_open() { " …" } else { "" };
        match (&message.content, &message.turn) {
            (Content::Text { text, .. }, Some(turn)) => {
                write!(words, "\n  > {text} [{}]", serde_json::to_string(turn).unwrap())
            }
            (Content::Text { text, .. }, None) => write!(words, "\n  {text}{open}"),
            (Content::Thinking { text, .. }, _) => write!(words, "\n  ({text}){open}"),
            (Content::Plan { steps }, _) => write!(words, "\n  [plan of {}]", steps.len()),
            (Content::Tool(tool), _) => write!(words, "\n  [{} {:?}]", tool.tool, tool.status),
            (Content::Permission(record), _) => {
                write!(words, "\n  [permission: {:?}]", record.state)
            }
            (Content::Question(record), _) => write!(words, "\n  [question: {:?}]", record.state),
            (Content::Notice(notice), _) => write!(words, "\n  [{}]", notice.text),
        }
        .unwrap();
    }
    words
}

/// State in a few words.
fn state_words(state: &SessionState) -> String {
    match state {
        SessionState::Queue { prompts, .. } => {
            let texts: Vec<&str> = prompts.iter().map(|prompt| &*prompt.text).collect();
            format!("queue: {}", texts.join(", "))
        }
        SessionState::Commands { commands } => format!("{} commands", commands.len()),
        SessionState::Modes { current, available } => {
            format!("mode {current} of {}", available.len())
        }
        SessionState::Settings { settings } => format!("{} settings", settings.len()),
        SessionState::Usage(usage) => format!("used {}", serde_json::to_string(usage).unwrap()),
    }
}

const fn kind(request: &Request) -> &'static str {
    match request {
        Request::Permission(_) => "permission",
        Request::Questions(_) => "questions",
    }
}

/// The list agrees with the messages and the state.
async fn assert_fits(
    store: &Store,
    stored: &StoredSession,
    messages: &[Message],
    states: &[(Rev, SessionState)],
) {
    let summary = &stored.summary;
    let places: Vec<u64> = messages.iter().map(|message| message.seq.get()).collect();
    assert_eq!(places, (1..=summary.last_seq.get()).collect::<Vec<_>>());
    let revs = messages.iter().map(|message| message.rev).chain(states.iter().map(|(rev, _)| *rev));
    assert_eq!(summary.rev, revs.max().unwrap_or(Rev::START));
    let open: Vec<Message> = messages.iter().filter(|message| message.is_open()).cloned().collect();
    assert_eq!(store.open_messages(stored.id).await.unwrap(), open);
    let states = states.iter().map(|(_, state)| state.clone()).collect();
    let session = Session::restore(summary.clone(), &open, states);
    let is_quiet = session.running().is_none() && session.queue().len() == 0;
    assert_eq!(summary.is_settled(), is_quiet, "{stored:?}");
}

async fn everything(store: &Store) -> String {
    let mut reported = String::new();
    let page = store.sessions(SessionFilter::all(), SessionOrder::Created, EVERYTHING).await;
    for session in page.unwrap().sessions {
        let messages = read(store, &session).await;
        let states = store.session_state(session.id).await.unwrap();
        assert_fits(store, &session, &messages, &states).await;
        let (kind, summary) = (session.kind, &session.summary);
        let title = summary.title.as_deref().unwrap_or("-");
        let archived = if summary.archived { ", archived" } else { "" };
        let head = format!("{kind:?} {} {}{archived}: {title}", session.agent, summary.status);
        writeln!(reported, "{head} ({} messages){}", messages.len(), words(&messages)).unwrap();
        for (_, state) in &states {
            writeln!(reported, "  {{{}}}", state_words(state)).unwrap();
        }
    }
    for project in store.projects(EVERYTHING).await.unwrap() {
        writeln!(reported, "{} = {}", project.name, project.path.display()).unwrap();
    }
    let mut pairs = Vec::new();
    for pair in store.pairs(PairFilter::all(), EVERYTHING).await.unwrap() {
        pairs.push(format!("{} {:?}", pair.pair, pair.status));
    }
    pairs.sort();
    for request in store.pending_requests(EVERYTHING).await.unwrap() {
        writeln!(reported, "waits: {}", kind(&request.request)).unwrap();
    }
    reported + &pairs.join("\n")
}

#[tokio::test]
async fn k8_m4_the_database_of_the_first_release_is_read_back_whole() {
    let (_folder, path) = copy_of("first-release.db");
    schema::check(&path).unwrap();
    let store = Store::open(&path, at(0)).await.unwrap();
    let reported = everything(&store).await;
    insta::assert_snapshot!(reported);
    let query = SearchQuery { text: "größe 日本語".to_owned(), ..SearchQuery::default() };
    let page = loop {
        let page = store.search(query.clone(), None, 10).await.unwrap();
        if !page.incomplete {
            break page;
        }
    };
    assert_eq!(page.hits.len(), 1);
    store.close().await;
    // Opened and closed again, nothing has become of it that was not there before.
    let store = Store::open(&path, at(0)).await.unwrap();
    assert_eq!(everything(&store).await, reported);
    store.close().await;
    schema::check(&path).unwrap();
}

/// What a database of either schema says, read with bare SQL: for each session prompts, answers, thoughts, tool calls and
/// tokens, and every row of the tables that a migration has no business with.
#[derive(Debug, PartialEq, Default)]
struct Said {
    sessions: BTreeMap<String, SaidIn>,
    rows: Vec<String>,
}

#[derive(Debug, PartialEq, Default)]
struct SaidIn {
    prompts: Vec<String>,
    answers: String,
    thoughts: String,
    tools: BTreeMap<String, Value>,
    requests: BTreeMap<String, Value>,
    notices: Vec<String>,
    tokens: (i64, i64),
}

impl SaidIn {
    fn add(&mut self, role: &str, content: &Value) {
        let text = || content["text"].as_str().unwrap().to_owned();
        let id = |name: &str| content[name].as_str().unwrap().to_owned();
        match (content["type"].as_str().unwrap(), role) {
            ("text", "user") => self.prompts.push(text()),
            ("text", _) => self.answers.push_str(&text()),
            ("thinking", _) => self.thoughts.push_str(&text()),
            ("tool", _) => {
                self.tools.insert(id("toolCallId"), content.clone());
            }
            ("permission" | "question", _) => {
                self.requests.insert(id("requestId"), content.clone());
            }
            ("usage", _) => {
                self.tokens.0 += content["inputTokens"].as_i64().unwrap_or_default();
                self.tokens.1 += content["outputTokens"].as_i64().unwrap_or_default();
            }
            ("notice", _) => {
                // What became state, or the state of a turn, is no message any more.
                let state = ["turn_ended", "cancel_asked", "commands", "modes", "settings"];
                if !state.contains(&content["event"].as_str().unwrap()) {
                    self.notices.push(text());
                }
            }
            (_, _) => {}
        }
    }
}

fn said(path: &Path) -> Said {
    let db = Connection::open(path).unwrap();
    let mut said = Said::default();
    let is_old = table_exists(&db, "agent_messages");
    let messages = if is_old {
        "SELECT s.id, m.role, m.content, NULL FROM agent_messages AS m
         JOIN agent_sessions AS s ON s.n = m.session ORDER BY s.n, m.seq"
    } else {
        "SELECT s.id, m.role, m.content,
             (SELECT group_concat(text, '' ORDER BY rev) FROM deltas AS d
              WHERE d.session = m.session AND d.seq = m.seq)
         FROM messages AS m JOIN agent_sessions AS s ON s.n = m.session ORDER BY s.n, m.seq"
    };
    let mut statement = db.prepare(messages).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let session: String = row.get(0).unwrap();
        let (role, content): (String, String) = (row.get(1).unwrap(), row.get(2).unwrap());
        let mut content: Value = serde_json::from_str(&content).unwrap();
        if let Some(deltas) = row.get::<_, Option<String>>(3).unwrap() {
            content["text"] = (content["text"].as_str().unwrap().to_owned() + &deltas).into();
        }
        said.sessions.entry(session).or_default().add(&role, &content);
    }
    if !is_old {
        let sql = "SELECT s.id, s.input_tokens, s.output_tokens, coalesce(t.body, '{}')
                   FROM agent_sessions AS s
                   LEFT JOIN session_state AS t ON t.session = s.n AND t.kind = 'queue'";
        let mut statement = db.prepare(sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let (session, queue): (String, String) = (row.get(0).unwrap(), row.get(3).unwrap());
            let Some(session) = said.sessions.get_mut(&session) else { continue };
            session.tokens = (row.get(1).unwrap(), row.get(2).unwrap());
            let queue: Value = serde_json::from_str(&queue).unwrap();
            for prompt in queue["prompts"].as_array().into_iter().flatten() {
                session.prompts.push(prompt["text"].as_str().unwrap().to_owned());
            }
        }
    }
    for (table, columns) in [
        ("projects", "id, name, path, added_at, removed_at"),
        ("agent_session_ids", "session, agent_session_id, why, recorded_at"),
        ("permission_rules", "project_id, agent, tool, made_at"),
        (
            "team_pairs",
            "id, from_team, to_team, thread, session_id, created_at, last_used_at, message_count,
             status, error",
        ),
        ("human_requests", "id, session, kind, status, body, asked_at, changed_at"),
        (
            "agent_sessions",
            "n, id, project_id, agent, kind, created_at, agent_session_id, status, reason,
             archived, title, updated_at, last_active_at, settled_seq = last_seq",
        ),
        ("session_counts", "project_id, archived, kind, status, count"),
    ] {
        let sql = format!("SELECT json_array({columns}) FROM {table} ORDER BY 1");
        let mut statement = db.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        said.rows.extend(rows.map(|row| format!("{table} {}", row.unwrap())));
    }
    said
}

fn table_exists(db: &Connection, name: &str) -> bool {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)";
    db.query_row(sql, [name], |row| row.get(0)).unwrap()
}

/// Everything in the schema, with the text that made it.
fn schema_of(db: &Connection) -> Vec<(String, String, Option<String>)> {
    let sql = "SELECT name, tbl_name, sql FROM sqlite_schema
               WHERE tbl_name <> 'schema_migrations' ORDER BY name";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(|row| row.unwrap()).collect()
}

/// The schema of the first release, as its migration makes it.
fn first_schema() -> Vec<(String, String, Option<String>)> {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(include_str!("../../migrations/0001_foundation.up.sql")).unwrap();
    schema_of(&db)
}

/// Undoes all migrations but the first.
fn roll_back_to_first(path: &Path) {
    let applied = schema::status(path).unwrap();
    let count = applied.iter().filter(|migration| migration.applied_at.is_some()).count();
    let down = schema::rollback(path, count - 1).unwrap();
    assert_eq!(down.last().map(|migration| migration.version), Some(2));
}

async fn reported(path: &Path) -> String {
    let store = Store::open(path, at(0)).await.unwrap();
    let reported = everything(&store).await;
    store.close().await;
    reported
}

#[tokio::test]
async fn m4_the_database_of_the_first_release_goes_up_down_and_up_again_without_losing_a_word() {
    let (_folder, path) = copy_of("first-release.db");
    let first = said(&path);
    assert!(first.sessions.values().any(|session| session.tokens != (0, 0)));
    let reported_first = reported(&path).await;
    assert_eq!(said(&path), first, "up");
    roll_back_to_first(&path);
    schema::check(&path).unwrap();
    assert_eq!(schema_of(&Connection::open(&path).unwrap()), first_schema());
    assert_eq!(said(&path), first, "down");
    assert_eq!(reported(&path).await, reported_first);
    assert_eq!(said(&path), first, "up again");
    schema::check(&path).unwrap();
}

/// A message without what a migration may change.
fn kept(message: &Message) -> (Seq, &Content, &Option<Turn>, Timestamp) {
    (message.seq, &message.content, &message.turn, message.timestamp)
}

#[tokio::test]
async fn m4_an_open_conversation_of_today_goes_down_and_up_again() {
    let mut world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "one", &["the fir", "st answer"]).await;
    let usage = |tokens| Usage { input_tokens: Some(tokens), ..Usage::default() };
    let tool = |status| ToolUpdate {
        tool_call_id: "t".to_owned(),
        tool: Some("read".to_owned()),
        status: Some(status),
        ..ToolUpdate::default()
    };
    let reports = [
        Report::State(SessionState::Usage(usage(5))),
        Report::Planned(Vec::new()),
        Report::ToolCalled(tool(ToolStatus::Running)),
        Report::ToolCalled(tool(ToolStatus::Complete)),
        Report::State(SessionState::Usage(usage(7))),
        Report::Thought("a tho".to_owned()),
        Report::Thought("ught".to_owned()),
        Report::Said("half ".to_owned()),
        Report::Said("a ".to_owned()),
    ];
    talk.play(&world.store, prompts("two")).await;
    for report in reports {
        talk.play(&world.store, Command::Agent(report)).await;
    }
    talk.play(&world.store, prompts("waits")).await;
    talk.play(&world.store, prompts("waits, too")).await;
    talk.play(&world.store, Command::CancelTurn { queue: QueueChoice::Send }).await;
    talk.play(&world.store, Command::Agent(Report::Said("sentence".to_owned()))).await;
    world.store.close().await;

    let before = said(&world.path());
    roll_back_to_first(&world.path());
    assert_eq!(schema_of(&Connection::open(world.path()).unwrap()), first_schema());
    assert_eq!(said(&world.path()), before);
    world.reopen().await;
    let session = world.store.session(talk.id).await.unwrap().unwrap();
    let messages = read(&world.store, &session).await;
    let (messages, expected): (Vec<_>, Vec<_>) =
        (messages.iter().map(kept).collect(), talk.messages.iter().map(kept).collect());
    assert_eq!(messages, expected);
    let states = world.store.session_state(talk.id).await.unwrap();
    let texts: BTreeSet<String> = states.iter().map(|(_, state)| state_words(state)).collect();
    let expected: BTreeSet<String> =
        talk.state.values().map(|(_, state)| state_words(state)).collect();
    assert_eq!(texts, expected);
    world.store.close().await;
    assert_eq!(said(&world.path()), before);
}
