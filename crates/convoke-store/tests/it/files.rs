//! The files: their modes, who may open them, and what happens when something else is there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use convoke_core::message::Seq;
use convoke_store::{Error, Store, schema};
use rusqlite::Connection;

use crate::world::{World, at, prompt};

/// Everything in a directory, with its bytes.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let bytes =
                if entry.path().is_file() { fs::read(entry.path()).unwrap() } else { vec![] };
            (entry.file_name().into_string().unwrap(), bytes)
        })
        .collect();
    files.sort();
    files
}

/// Tries everything that could open a path, and returns what each said.
async fn refusals(path: &Path) -> Vec<String> {
    vec![
        schema::status(path).unwrap_err().to_string(),
        schema::check(path).unwrap_err().to_string(),
        schema::migrate(path, at(0)).unwrap_err().to_string(),
        schema::rollback(path, 1).unwrap_err().to_string(),
        Store::open(path, at(0)).await.unwrap_err().to_string(),
    ]
}

/// Everything that could open the path fails with the same error, and changes nothing.
async fn assert_refused_untouched(path: &Path, words: &str) {
    let folder = path.parent().unwrap();
    let before = contents(folder);
    assert_eq!(refusals(path).await, [words; 5]);
    assert_eq!(contents(folder), before);
}

#[tokio::test]
async fn only_the_owner_can_read_any_of_the_files() {
    let world = World::new().await;
    world.talk().await.say(&world.store, [prompt("hello")]).await;
    let mut modes: Vec<_> = fs::read_dir(world.folder())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            (entry.file_name().into_string().unwrap(), format!("{mode:o}"))
        })
        .collect();
    modes.sort();
    let private = |name: &str| (name.to_owned(), "600".to_owned());
    assert_eq!(
        modes,
        ["convoke.db", "convoke.db-shm", "convoke.db-wal", "convoke.db.lock"].map(private)
    );
}

#[tokio::test]
async fn a_database_that_others_could_read_is_made_private() {
    let mut world = World::new().await;
    world.store.close().await;
    fs::set_permissions(world.path(), fs::Permissions::from_mode(0o644)).unwrap();
    world.reopen().await;
    let mode = fs::metadata(world.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_closed_store_leaves_one_file_and_its_lock_behind() {
    let world = World::new().await;
    world.store.close().await;
    let names: Vec<_> = contents(world.folder()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["convoke.db", "convoke.db.lock"]);
}

#[tokio::test]
async fn every_clone_of_a_closed_store_says_so() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    let clone = world.store.clone();
    world.store.close().await;
    clone.close().await;
    let batch = talk.next([prompt("hello?")]);
    let recorded = talk.record(&clone, &batch).await;
    assert!(matches!(recorded, Err(Error::Closed)));
    assert!(matches!(clone.session(talk.id).await, Err(Error::Closed)));
    assert!(matches!(clone.messages(talk.id, Seq::START, 10).await, Err(Error::Closed)));
}

#[tokio::test]
async fn a_second_writer_fails_with_the_pid_of_the_first() {
    let world = World::new().await;
    let path = world.path();
    let in_use = |error: Error| {
        let Error::InUse { path, pid } = error else { panic!("{error}") };
        (path.file_name().unwrap().to_owned(), pid)
    };
    let expected = ("convoke.db".into(), Some(std::process::id()));
    assert_eq!(in_use(Store::open(&path, at(0)).await.unwrap_err()), expected);
    assert_eq!(in_use(schema::migrate(&path, at(0)).unwrap_err()), expected);
    assert_eq!(in_use(schema::rollback(&path, 1).unwrap_err()), expected);
    // Looking needs no lock, and does not break it either.
    assert_eq!(schema::status(&path).unwrap().len(), 8);
    schema::check(&path).unwrap();
    assert_eq!(in_use(Store::open(&path, at(0)).await.unwrap_err()), expected);
    world.store.close().await;
    Store::open(&path, at(0)).await.unwrap().close().await;
}

#[tokio::test]
async fn the_same_file_by_another_name_is_still_in_use() {
    let world = World::new().await;
    let link = world.folder().join("link.db");
    std::os::unix::fs::symlink(world.path(), &link).unwrap();
    assert!(matches!(Store::open(&link, at(0)).await, Err(Error::InUse { .. })));
}

#[tokio::test]
async fn a_lock_file_that_a_dead_process_left_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("convoke.db.lock"), "4194304\nmuch longer than a number").unwrap();
    let store = Store::open(folder.path().join("convoke.db"), at(0)).await.unwrap();
    let lock = fs::read_to_string(folder.path().join("convoke.db.lock")).unwrap();
    assert_eq!(lock, format!("{}\n", std::process::id()));
    store.close().await;
}

#[tokio::test]
async fn the_database_of_a_newer_convoke_is_refused_and_not_touched() {
    let world = World::new().await;
    world.store.close().await;
    world
        .raw()
        .execute_batch("INSERT INTO schema_migrations VALUES (9, 'future', 'abc', 0)")
        .unwrap();
    let words =
        format!("{} was written by a newer Convoke (schema 9; this one knows 8)", path_of(&world));
    assert_refused_untouched(&world.path(), &words).await;
}

#[tokio::test]
async fn a_migration_that_was_changed_after_it_was_applied_is_refused() {
    let world = World::new().await;
    world.store.close().await;
    world.raw().execute_batch("UPDATE schema_migrations SET checksum = 'abc'").unwrap();
    let words =
        format!("{} was made by another version of migration 1 (foundation)", path_of(&world));
    assert_refused_untouched(&world.path(), &words).await;
}

fn path_of(world: &World) -> String {
    fs::canonicalize(world.path()).unwrap().display().to_string()
}

#[tokio::test]
async fn the_database_of_another_program_is_refused_and_not_touched() {
    for mode in ["DELETE", "WAL"] {
        for setup in ["CREATE TABLE notes (a)", "PRAGMA application_id = 42"] {
            let folder = tempfile::tempdir().unwrap();
            let path = fs::canonicalize(folder.path()).unwrap().join("notes.db");
            let other = Connection::open(&path).unwrap();
            other.pragma_update(None, "journal_mode", mode).unwrap();
            other.execute_batch(setup).unwrap();
            drop(other);
            let words = format!("{} is the database of another program", path.display());
            assert_refused_untouched(&path, &words).await;
        }
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_not_touched() {
    for bytes in ["x", &"not a database at all\n".repeat(1000)] {
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap().join("convoke.db");
        fs::write(&path, bytes).unwrap();
        let words = format!("{} is not a database", path.display());
        assert_refused_untouched(&path, &words).await;
    }
}

#[tokio::test]
async fn a_directory_in_its_place_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap().join("convoke.db");
    fs::create_dir(&path).unwrap();
    assert_refused_untouched(&path, &format!("{} is not a file", path.display())).await;
}

#[tokio::test]
async fn a_place_where_no_file_can_be_is_named_with_what_the_system_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for path in ["missing/convoke.db", "file/convoke.db"] {
        let path = folder.path().join(path);
        let error = Store::open(&path, at(0)).await.unwrap_err();
        assert_eq!(error.to_string(), format!("cannot open {}", path.display()));
        assert!(std::error::Error::source(&error).is_some());
    }
}

/// Permission bits do not stop a superuser, who may run the tests; the system's own directories do.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_home_in_which_nothing_can_be_made_is_named() {
    let path = Path::new("/proc/convoke.db");
    let error = Store::open(path, at(0)).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot open /proc/convoke.db");
    assert!(schema::status(path).unwrap().iter().all(|known| known.applied_at.is_none()));
}

#[tokio::test]
async fn a_truncated_database_is_reported_as_damaged_and_never_overwritten() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    for _ in 0..50 {
        talk.turn(&world.store, "question ".repeat(50).trim(), &["answer"]).await;
    }
    world.store.close().await;
    let whole = fs::read(world.path()).unwrap();
    for kept in [whole.len() / 2, 8192, 4096 + 100] {
        fs::write(world.path(), whole.get(..kept).unwrap()).unwrap();
        let found = schema::check(world.path());
        assert!(matches!(found, Err(Error::Corrupt { .. })), "{kept} bytes: {found:?}");
        assert_eq!(fs::read(world.path()).unwrap().len(), kept);
    }
}

#[tokio::test]
async fn damage_inside_a_page_is_found_and_named() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "question", &["answer"]).await;
    world.store.close().await;
    schema::check(world.path()).unwrap();
    let raw = world.raw();
    raw.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM agent_sessions;").unwrap();
    drop(raw);
    let error = schema::check(world.path()).unwrap_err();
    assert!(matches!(&error, Error::Corrupt { .. }));
    assert!(error.to_string().contains("of messages names a agent_sessions that is not there"));
}

#[tokio::test]
async fn an_empty_file_is_filled_but_not_when_its_log_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("convoke.db");
    fs::write(&path, "").unwrap();
    Store::open(&path, at(0)).await.unwrap().close().await;
    // The database file was emptied or lost, and the changes that were not checkpointed are still in the WAL.
    for lost in [true, false] {
        fs::write(&path, "").unwrap();
        if lost {
            fs::remove_file(&path).unwrap();
        }
        fs::write(folder.path().join("convoke.db-wal"), "all that was said").unwrap();
        assert!(matches!(Store::open(&path, at(0)).await, Err(Error::Corrupt { .. })));
        let log = fs::read_to_string(folder.path().join("convoke.db-wal")).unwrap();
        assert_eq!(log, "all that was said");
    }
}

#[tokio::test]
async fn nothing_is_made_by_asking_for_the_status() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("convoke.db");
    let unapplied = |path: &Path| {
        schema::status(path).unwrap().iter().all(|migration| migration.applied_at.is_none())
    };
    assert!(unapplied(&path));
    schema::check(&path).unwrap();
    assert_eq!(schema::rollback(&path, 1).unwrap(), []);
    assert_eq!(contents(folder.path()), []);
    // As a crash at the very first start leaves it.
    Connection::open(&path).unwrap().pragma_update(None, "journal_mode", "WAL").unwrap();
    assert!(unapplied(&path));
    Store::open(&path, at(0)).await.unwrap().close().await;
}
