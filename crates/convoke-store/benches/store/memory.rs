//! Memory, in separate processes: it must not grow with the size of the database.

use std::io::{self, Write as _};
use std::path::Path;

use convoke_core::message::Seq;
use convoke_store::{SearchQuery, SessionFilter, SessionOrder, Store, Window};
use convoke_testkit::bench::random::{Random, word};
use convoke_testkit::bench::{Goal, Result, Row, Unit, process, subtask};

use crate::database::{Database, moment, session_id};

pub(crate) const ROWS: [&str; 1] =
    ["memory: growth after opening the store and reading, 1,000,000 messages"];

/// Times everything is read, so that caches fill.
const READS: u64 = 300;

/// The row, of what was measured with the most and the fewest messages.
pub(crate) fn row(large: f64, small: f64) -> Row {
    let [name] = ROWS;
    Row::new(name, Unit::Bytes, large)
        .against("1,000 messages", small)
        .goal(Goal::ExcessAtMost(10e6))
}

/// By how many bytes a process grows that opens a database and reads in it all that can be read.
pub(crate) fn grown(database: &Database) -> Result<f64> {
    let path = database.path.to_str().ok_or("the path is not text")?;
    let words = format!("{} {} {path}", database.sessions, database.logs);
    Ok(subtask(&words)?.trim().parse()?)
}

/// The subtask of such a process: it prints by how many bytes it has grown.
pub(crate) async fn read_everything(words: &str) -> Result<()> {
    let mut words = words.splitn(3, ' ');
    let mut next = || words.next().ok_or("three words are needed: SESSIONS LOGS PATH");
    let (sessions, logs, path) = (next()?.parse()?, next()?.parse()?, next()?);
    let before = process::resident_bytes(std::process::id())?;
    let store = Store::open(Path::new(path), moment(0)).await?;
    let mut random = Random::new(9);
    for at in 0..READS {
        let (any, logged) = (random.below(sessions) as usize, random.below(logs) as usize);
        store.session(session_id(any)).await?;
        store.messages(session_id(logged), Seq::START, 50).await?;
        store.messages_before(session_id(logged), Seq::new(400), 50).await?;
        let rev = store.rev_at(session_id(logged), moment(any)).await?;
        store.updates_after(session_id(logged), rev, 50).await?;
        list(&store, u32::try_from(at % 20)?).await?;
        search(&store, &word(1 + at * at % 40_000)).await?;
        search(&store, &format!("{} {}", word(1 + at), word(2 + at))).await?;
    }
    let grown = process::resident_bytes(std::process::id())?.saturating_sub(before);
    store.close().await;
    writeln!(io::stdout(), "{grown}")?;
    Ok(())
}

async fn list(store: &Store, page: u32) -> Result<()> {
    let window = Window { limit: 20, offset: 20 * page };
    for order in [SessionOrder::Created, SessionOrder::Active] {
        store.sessions(SessionFilter::all(), order, window).await?;
    }
    store.unsettled_sessions(None, 20).await?;
    store.pending_requests(window).await?;
    store.projects(window).await?;
    Ok(())
}

async fn search(store: &Store, text: &str) -> Result<()> {
    let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
    store.search(query, None, 20).await?;
    Ok(())
}
