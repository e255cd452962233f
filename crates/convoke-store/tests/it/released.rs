//! Databases that a release has written are read back whole, whatever the schema has become since.

use std::fmt::Write as _;
use std::path::Path;

use convoke_core::content::Content;
use convoke_core::message::{Message, Seq};
use convoke_core::request::Request;
use convoke_core::session::Session;
use convoke_store::{
    PairFilter, SearchQuery, SessionFilter, SessionOrder, Store, StoredSession, Window, schema,
};

use crate::world::at;

const EVERYTHING: Window = Window::first(1000);

/// A copy of a fixture; the fixture itself never changes.
fn copy_of(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("convoke.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::copy(fixture, &path).unwrap();
    (folder, path)
}

async fn log(store: &Store, session: &StoredSession) -> Vec<Message> {
    let mut log: Vec<Message> = Vec::new();
    loop {
        let after = log.last().map_or(Seq::START, |message| message.seq);
        let page = store.messages(session.id, after, 7).await.unwrap();
        log.extend(page.messages);
        if !page.more {
            return log;
        }
    }
}

/// The words of a log: prompts as `> …`, the pieces of an answer put together, the rest by its type.
fn words(log: &[Message]) -> String {
    let mut words = String::new();
    for message in log {
        match &message.content {
            Content::Text { text, partial: None } => write!(words, "\n  > {text}\n  "),
            Content::Text { text, partial: Some(_) } => write!(words, "{text}"),
            Content::Thinking { text, .. } => write!(words, "({text})"),
            Content::Plan { steps } => write!(words, "[plan of {}]", steps.len()),
            Content::Tool(tool) => write!(words, "[{} {:?}]", tool.tool, tool.status),
            Content::Permission(record) => write!(words, "[permission: {:?}]", record.state),
            Content::Question(record) => write!(words, "[question: {:?}]", record.state),
            Content::Usage(_) => write!(words, "[usage]"),
            Content::Notice(notice) => write!(words, "[{}]", notice.text),
        }
        .unwrap();
    }
    words
}

const fn kind(request: &Request) -> &'static str {
    match request {
        Request::Permission(_) => "permission",
        Request::Questions(_) => "questions",
    }
}

async fn everything(store: &Store) -> String {
    let mut told = String::new();
    let page = store.sessions(SessionFilter::all(), SessionOrder::Created, EVERYTHING).await;
    for session in page.unwrap().sessions {
        let log = log(store, &session).await;
        let mut folded = Session::new(session.created_at);
        log.iter().for_each(|message| folded.apply(message));
        assert_eq!(session.summary, *folded.summary(), "the list disagrees with the log");
        let (kind, summary) = (session.kind, &session.summary);
        let title = summary.title.as_deref().unwrap_or("-");
        let archived = if summary.archived { ", archived" } else { "" };
        let head = format!("{kind:?} {} {}{archived}: {title}", session.agent, summary.status);
        writeln!(told, "{head} ({} messages){}", log.len(), words(&log)).unwrap();
    }
    for project in store.projects(EVERYTHING).await.unwrap() {
        writeln!(told, "{} = {}", project.name, project.path.display()).unwrap();
        for rule in store.rules(project.id).await.unwrap() {
            writeln!(told, "  {} may {}", rule.agent, rule.tool).unwrap();
        }
    }
    let mut pairs = Vec::new();
    for pair in store.pairs(PairFilter::all(), EVERYTHING).await.unwrap() {
        pairs.push(format!("{} {:?}", pair.pair, pair.status));
    }
    pairs.sort();
    for request in store.pending_requests(EVERYTHING).await.unwrap() {
        writeln!(told, "waits: {}", kind(&request.request)).unwrap();
    }
    told + &pairs.join("\n")
}

#[tokio::test]
async fn k8_m4_the_database_of_the_first_release_is_read_back_whole() {
    let (_folder, path) = copy_of("first-release.db");
    schema::check(&path).unwrap();
    let store = Store::open(&path, at(0)).await.unwrap();
    let told = everything(&store).await;
    insta::assert_snapshot!(told);
    let query = SearchQuery { text: "größe 日本語".to_owned(), project: None, session: None };
    assert_eq!(store.search(query, None, 10).await.unwrap().hits.len(), 1);
    store.close().await;
    // Opened and closed again, nothing has become of it that was not there before.
    let store = Store::open(&path, at(0)).await.unwrap();
    assert_eq!(everything(&store).await, told);
    store.close().await;
    schema::check(&path).unwrap();
}
