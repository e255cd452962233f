//! What happens to the others when one change fails, and when the database itself does.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::task::Poll;

use convoke_core::time::Timestamp;
use rusqlite::params;
use tempfile::TempDir;

use super::*;
use crate::db::Db;
use crate::error::Fault;
use crate::schema;
use crate::write::Durability;

/// A change made up for a test.
struct Made<F>(F);

impl<T: Send + 'static, F: Fn(&Connection) -> Result<T, Fault> + Send + 'static> Change
    for Made<F>
{
    type Outcome = T;

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<T, Fault> {
        let Db::Sqlite(db) = db else { panic!("a test of SQLite") };
        (self.0)(db)
    }
}

fn start(wal_bytes_max: u64) -> (TempDir, DatabasePaths, Writer) {
    let folder = tempfile::tempdir().unwrap();
    let (paths, _) = DatabasePaths::find(&folder.path().join("convoke.db")).unwrap();
    let lock = paths.lock().unwrap();
    let db = schema::migrate_to_latest(&paths, &lock, Timestamp::from_millis(0)).unwrap();
    db.execute_batch("CREATE TABLE notes (text TEXT UNIQUE)").unwrap();
    let (guard, runtime) = (Guard::new(paths.clone()), Handle::current());
    let writer = Writer::start(db, paths.clone(), lock, guard, wal_bytes_max, runtime).unwrap();
    (folder, paths, writer)
}

fn note(text: String) -> Made<impl Fn(&Connection) -> Result<u64, Fault>> {
    Made(move |db: &Connection| {
        db.execute("INSERT INTO notes VALUES (?1)", [&text])?;
        Ok(text.len() as u64)
    })
}

fn execute(sql: &'static str) -> Made<impl Fn(&Connection) -> Result<(), Fault>> {
    Made(move |db: &Connection| Ok(db.execute_batch(sql)?))
}

fn notes(paths: &DatabasePaths) -> Vec<String> {
    let db = paths.connect_reader().unwrap();
    let mut statement = db.prepare("SELECT text FROM notes ORDER BY rowid").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(|text| text.unwrap()).collect()
}

/// Holds the writer until all of these wait for it, so that they come to it as one batch.
async fn queue_together<C: Change>(
    writer: &Writer,
    changes: impl IntoIterator<Item = C>,
) -> Vec<impl Future<Output = Result<C::Outcome>>> {
    let (started, has_started) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let ends = Mutex::new((started, released));
    let hold = Made(move |_: &Connection| {
        let (started, released) = &*ends.lock().unwrap();
        started.send(()).unwrap();
        // Fails as soon as the other end is dropped.
        released.recv().ok();
        Ok(())
    });
    let holding = queue(writer, hold).await;
    // Fails when the change cannot even begin, and then there is nothing to hold.
    has_started.recv().ok();
    let mut queued = Vec::new();
    for change in changes {
        queued.push(queue(writer, change).await);
    }
    drop(release);
    holding.await.ok();
    queued
}

async fn make_together<C: Change>(
    writer: &Writer,
    changes: impl IntoIterator<Item = C>,
) -> Vec<Result<C::Outcome>> {
    let mut outcomes = Vec::new();
    for change in queue_together(writer, changes).await {
        outcomes.push(change.await);
    }
    outcomes
}

/// Polls once, which puts the change into the queue, unless it is answered by then.
async fn queue<C: Change>(writer: &Writer, change: C) -> impl Future<Output = Result<C::Outcome>> {
    let mut making = Box::pin(writer.make(change));
    let polled = poll_fn(|context| Poll::Ready(making.as_mut().poll(context))).await;
    async {
        match polled {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => making.await,
        }
    }
}

#[tokio::test]
async fn a_change_refused_because_of_another_finds_that_one_committed() {
    let (_folder, paths, writer) = start(WAL_BYTES_MAX);
    let same = (0..2).map(|_| note("same".to_owned()));
    let refused = queue_together(&writer, same).await.pop().unwrap();
    refused.await.unwrap_err();
    assert_eq!(notes(&paths), ["same"]);
}

#[tokio::test]
async fn one_change_that_fails_halfway_fails_alone() {
    let (_folder, paths, writer) = start(WAL_BYTES_MAX);
    let changes = (0..100).map(|number| {
        Made(move |db: &Connection| {
            db.execute("INSERT INTO notes VALUES (?1)", params![format!("{number}")])?;
            if number % 10 == 3 {
                // The second one violates what the first one did.
                db.execute("INSERT INTO notes VALUES (?1)", params![format!("{number}")])?;
            }
            Ok(number)
        })
    });
    let outcomes = make_together(&writer, changes).await;
    let kept: Vec<String> =
        (0..100).filter(|number| number % 10 != 3).map(|number| number.to_string()).collect();
    let made: Vec<String> =
        outcomes.iter().flatten().map(|number: &i32| number.to_string()).collect();
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 10);
    assert_eq!(made, kept);
    assert_eq!(notes(&paths), kept);
}

#[tokio::test]
async fn what_waits_together_is_committed_together() {
    let (_folder, paths, writer) = start(WAL_BYTES_MAX);
    let changes = (0..50).map(|number| {
        let paths = paths.clone();
        Made(move |db: &Connection| {
            db.execute("INSERT INTO notes VALUES (?1)", params![number.to_string()])?;
            Ok(notes(&paths).len())
        })
    });
    let outcomes = make_together(&writer, changes).await;
    let seen: Vec<usize> = outcomes.into_iter().map(|outcome| outcome.unwrap()).collect();
    assert_eq!(seen, [0; 50], "the last one is made before the first one is seen outside");
    assert_eq!(notes(&paths).len(), 50);
}

#[tokio::test]
async fn a_full_disk_fails_those_that_need_room_and_the_writer_lives_on() {
    let (_folder, paths, writer) = start(WAL_BYTES_MAX);
    writer.make(note("before".to_owned())).await.unwrap();
    let limit = Made(|db: &Connection| {
        let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        db.query_row(&format!("PRAGMA max_page_count = {}", pages + 2), [], |_| Ok(()))?;
        Ok(())
    });
    writer.make(limit).await.unwrap();
    let big = |number: u32| format!("{number}").repeat(100_000);
    let changes =
        (0..9).map(|number| note(if number % 2 == 0 { big(number) } else { number.to_string() }));
    let outcomes = make_together(&writer, changes).await;
    let reported: Vec<String> = outcomes
        .into_iter()
        .map(|outcome| match outcome {
            Ok(_) => "stored".to_owned(),
            Err(Error::DiskFull { path }) => {
                assert_eq!(path, paths.path);
                "full".to_owned()
            }
            Err(other) => other.to_string(),
        })
        .collect();
    assert_eq!(
        reported,
        ["full", "stored", "full", "stored", "full", "stored", "full", "stored", "full"]
    );
    assert_eq!(notes(&paths), ["before", "1", "3", "5", "7"]);
    schema::check(&paths.path).unwrap();

    writer.make(execute("PRAGMA max_page_count = 1000000")).await.unwrap();
    writer.make(note(big(1))).await.unwrap();
    writer.stop().await;
    schema::check(&paths.path).unwrap();
}

#[tokio::test]
async fn another_writing_program_delays_changes_for_a_bounded_time_only() {
    let (_folder, paths, writer) = start(WAL_BYTES_MAX);
    writer.make(Made(|db: &Connection| Ok(db.busy_timeout(Duration::ZERO)?))).await.unwrap();
    let other = Connection::open(&paths.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcomes = make_together(&writer, (0..3).map(|number| note(number.to_string()))).await;
    for outcome in outcomes {
        assert!(matches!(outcome, Err(Error::InUse { pid: None, .. })));
    }
    other.execute_batch("COMMIT").unwrap();
    writer.make(note("after".to_owned())).await.unwrap();
    assert_eq!(notes(&paths), ["after"]);
}

#[tokio::test]
async fn a_database_that_becomes_unwritable_fails_every_caller() {
    let (_folder, paths, writer) = start(WAL_BYTES_MAX);
    writer.make(execute("PRAGMA query_only = ON")).await.unwrap();
    let outcomes = make_together(&writer, (0..3).map(|number| note(number.to_string()))).await;
    for outcome in outcomes {
        assert!(matches!(outcome, Err(Error::ReadOnly { path }) if path == paths.path));
    }
    assert_eq!(notes(&paths), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_stays_bounded_while_there_is_always_a_reader_in_it() {
    let limit = 1024 * 1024;
    let (_folder, paths, writer) = start(limit);
    let done = AtomicBool::new(false);
    let mut shortened = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| read_without_pause(&paths, &done));
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            // On a busy machine the readers may be slow to let go, and the log is shortened later.
            let deadline = Instant::now() + Duration::from_secs(60);
            let (mut round, mut before) = (1_000_u32, 0);
            while shortened < 3 && Instant::now() < deadline {
                let text = round.to_string().repeat(20_000);
                runtime.block_on(writer.make(note(text))).unwrap();
                let bytes = paths.wal_bytes();
                shortened += u32::from(bytes < before);
                (round, before) = (round + 1, bytes);
            }
        });
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(shortened, 3, "the log grew to {} bytes", paths.wal_bytes());
}

/// One starts to read before the other ends, so that there is always a reader.
fn read_without_pause(paths: &DatabasePaths, done: &AtomicBool) {
    let begin = |reader: &Connection| {
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM notes", [], |_| Ok(())).unwrap();
    };
    let end = |reader: &Connection| reader.execute_batch("COMMIT").unwrap();
    let (one, two) = (paths.connect_reader().unwrap(), paths.connect_reader().unwrap());
    begin(&one);
    while !done.load(Ordering::Relaxed) {
        begin(&two);
        end(&one);
        begin(&one);
        end(&two);
    }
}

#[tokio::test]
async fn stopping_lets_everything_queued_be_committed() {
    let (_folder, paths, writer) = start(WAL_BYTES_MAX);
    let (outcomes, ()) = tokio::join!(
        make_together(&writer, (0..20).map(|number| note(number.to_string()))),
        writer.stop(),
    );
    // Changes that were too late failed, and nothing of them is stored.
    let made = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(_) | Err(Error::Closed))));
    assert_eq!(notes(&paths).len(), made);
    assert!(matches!(writer.make(note("late".to_owned())).await, Err(Error::Closed)));
}
