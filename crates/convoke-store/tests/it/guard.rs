//! A database that is deleted, replaced or damaged while it is open: nothing is acknowledged that is gone later.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use convoke_core::message::{Message, Seq};
use convoke_store::{DatabaseFailure, Error, Store, schema};

use crate::world::{Talk, World, at, prompt};

/// How long the store may take to notice something.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Prompts until one is refused; returns what was acknowledged and the error.
async fn prompt_until_refused(store: &Store, talk: &mut Talk) -> (Vec<Message>, Error) {
    let mut acknowledged = talk.messages.clone();
    loop {
        let text = format!("prompt {}", acknowledged.len());
        let batch = talk.next([prompt(text)]);
        match talk.record(store, &batch).await {
            Ok(()) => acknowledged.clone_from(&talk.messages),
            Err(error) => return (acknowledged, error),
        }
        assert!(acknowledged.len() < 1000, "nothing is ever refused");
    }
}

async fn log(store: &Store, talk: &Talk) -> Vec<Message> {
    store.messages(talk.id, Seq::START, 10_000).await.unwrap().messages
}

/// A store with a conversation in it, part of it in the log only.
async fn world() -> (World, Talk) {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "Größe?", &["42", " 日本"]).await;
    (world, talk)
}

fn remove(folder: &Path, names: &[&str]) {
    for name in names {
        fs::remove_file(folder.join(name)).unwrap();
    }
}

fn rescued(error: &Error) -> PathBuf {
    let Error::Lost { rescued: Some(rescued), .. } = error else { panic!("{error:?}") };
    rescued.clone()
}

#[tokio::test]
async fn k8_a_deleted_database_is_rescued_and_back_after_the_next_start() {
    for names in [
        &["convoke.db", "convoke.db-wal", "convoke.db-shm", "convoke.db.lock"][..],
        &["convoke.db"],
        &["convoke.db", "convoke.db-wal"],
    ] {
        let (mut world, mut talk) = world().await;
        remove(world.folder(), names);
        let (acknowledged, error) = prompt_until_refused(&world.store, &mut talk).await;
        assert!(error.to_string().contains("was deleted or replaced while it was open"), "{error}");
        assert_eq!(rescued(&error).file_name().unwrap(), "convoke.db.rescued");
        let failure = DatabaseFailure::Lost { rescued: Some(rescued(&error)) };
        assert_eq!(world.store.failure(), Some(failure));
        assert_eq!(log(&world.store, &talk).await, acknowledged, "what is there can still be read");
        world.reopen().await;
        assert_eq!(log(&world.store, &talk).await, acknowledged, "without {names:?}");
        assert_eq!(world.store.failure(), None);
        talk.messages = acknowledged;
    }
}

#[tokio::test]
async fn k8_a_deleted_log_loses_nothing_either() {
    let (mut world, mut talk) = world().await;
    remove(world.folder(), &["convoke.db-wal"]);
    let (acknowledged, _) = prompt_until_refused(&world.store, &mut talk).await;
    world.reopen().await;
    assert_eq!(log(&world.store, &talk).await, acknowledged);
}

#[tokio::test]
async fn k8_a_deletion_is_noticed_and_rescued_without_anything_being_written() {
    let (world, talk) = world().await;
    remove(world.folder(), &["convoke.db", "convoke.db-wal", "convoke.db-shm"]);
    assert_eq!(world.store.failure(), Some(DatabaseFailure::Lost { rescued: None }), "at once");
    let (copy, start) = (world.folder().join("convoke.db.rescued"), Instant::now());
    while !copy.exists() {
        assert!(start.elapsed() < TIMEOUT, "the database was not rescued");
        tokio::task::yield_now().await;
    }
    // As a kill would find it: the copy alone is enough.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::copy(&copy, elsewhere.path().join("convoke.db.rescued")).unwrap();
    let store = Store::open(elsewhere.path().join("convoke.db"), at(0)).await.unwrap();
    assert_eq!(log(&store, &talk).await, talk.messages);
    store.close().await;
}

#[tokio::test]
async fn k8_a_replaced_database_is_neither_written_nor_read() {
    let (world, mut talk) = world().await;
    let other = World::new().await;
    other.store.close().await;
    fs::rename(other.path(), world.path()).unwrap();
    let (acknowledged, error) = prompt_until_refused(&world.store, &mut talk).await;
    assert_eq!(log(&world.store, &talk).await, acknowledged);
    world.store.close().await;
    // Which of the two is wanted, only a human knows.
    let refused = Store::open(world.path(), at(0)).await.unwrap_err();
    assert!(matches!(&refused, Error::Rescued { rescued: copy, .. } if *copy == rescued(&error)));
    fs::rename(rescued(&error), world.path()).unwrap();
    let store = Store::open(world.path(), at(0)).await.unwrap();
    assert_eq!(log(&store, &talk).await, acknowledged);
    store.close().await;
}

#[tokio::test]
async fn k8_what_cannot_be_rescued_is_not_acknowledged() {
    let (world, mut talk) = world().await;
    let before = talk.messages.clone();
    // Nothing can be made in a folder that is gone.
    fs::remove_dir_all(world.folder()).unwrap();
    let (acknowledged, error) = prompt_until_refused(&world.store, &mut talk).await;
    assert_eq!(acknowledged, before);
    assert!(matches!(error, Error::Lost { rescued: None, .. }), "{error:?}");
    // As soon as there is room, it is.
    fs::create_dir(world.folder()).unwrap();
    let start = Instant::now();
    while !matches!(world.store.failure(), Some(DatabaseFailure::Lost { rescued: Some(_) })) {
        assert!(start.elapsed() < TIMEOUT, "the database was not rescued");
        tokio::task::yield_now().await;
    }
    world.store.close().await;
}

/// Spoils everything after the first page, as a bad disk would. Another process does it: closing the file in this one
/// would release the locks of the database library.
fn spoil(path: &Path) {
    let pages = fs::metadata(path).unwrap().len() / 4096;
    let to = format!("of={}", path.display());
    let count = format!("count={}", pages - 1);
    let args = ["if=/dev/urandom", &to, "bs=4096", "seek=1", &count, "conv=notrunc"];
    let output = Command::new("dd").args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn k8_a_damaged_database_is_refused_at_the_next_start_and_left_as_it_is() {
    let (world, mut talk) = world().await;
    for _ in 0..50 {
        talk.turn(&world.store, &"question ".repeat(50), &["answer"]).await;
    }
    world.store.close().await;
    spoil(&world.path());
    let before = fs::read(world.path()).unwrap();
    let error = Store::open(world.path(), at(0)).await.unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert_eq!(fs::read(world.path()).unwrap(), before);
    assert!(!world.folder().join("convoke.db-wal").exists());
}

#[tokio::test]
async fn k8_damage_that_is_met_while_running_ends_the_writing() {
    let (mut world, mut talk) = world().await;
    for _ in 0..50 {
        talk.turn(&world.store, &"question ".repeat(50), &["answer"]).await;
    }
    // Now everything is in the database, and nothing in memory.
    world.reopen().await;
    assert_eq!(world.store.failure(), None);
    spoil(&world.path());
    let read = world.store.messages(talk.id, Seq::START, 10_000).await;
    assert!(matches!(read, Err(Error::Corrupt { .. })), "{read:?}");
    assert!(matches!(world.store.failure(), Some(DatabaseFailure::Damaged { .. })));
    let batch = talk.next([prompt("still there?")]);
    let recorded = talk.record(&world.store, &batch).await;
    assert!(matches!(recorded, Err(Error::Corrupt { .. })), "{recorded:?}");
    world.store.close().await;
}

#[tokio::test]
async fn k8_looking_at_what_a_killed_daemon_left_changes_nothing() {
    let (world, _) = world().await;
    let left = tempfile::tempdir().unwrap();
    for name in ["convoke.db", "convoke.db-wal"] {
        fs::copy(world.folder().join(name), left.path().join(name)).unwrap();
    }
    let read = || ["convoke.db", "convoke.db-wal"].map(|name| fs::read(left.path().join(name)));
    let before = read().map(Result::unwrap);
    let path = left.path().join("convoke.db");
    assert_eq!(schema::status(&path).unwrap().len(), 8);
    schema::check(&path).unwrap();
    assert_eq!(read().map(Result::unwrap), before);
}
