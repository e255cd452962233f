//! Copies that are made during writes are consistent snapshots, and are read back.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use convoke_core::message::{Message, Seq};
use convoke_store::{Contents, Error, Progress, Store, backup};

use crate::world::{World, at, prompt};

#[tokio::test(flavor = "multi_thread")]
async fn k8_a_copy_made_during_writes_is_whole_and_consistent() {
    let world = World::new().await;
    let mut talk = world.talk().await;
    for number in 0..200 {
        talk.turn(&world.store, &format!("{number} {}", "x".repeat(2000)), &["answer"]).await;
    }
    let (path, target) = (world.path(), world.folder().join("copy.db"));
    let done = AtomicBool::new(false);
    let mut steps: Vec<Progress> = Vec::new();
    let (contents, during) = std::thread::scope(|scope| {
        let copying = scope.spawn(|| {
            let contents = backup::make(&path, &target, |progress| steps.push(progress)).unwrap();
            done.store(true, Ordering::Relaxed);
            contents
        });
        let during = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                let mut during = 0;
                while !done.load(Ordering::Relaxed) {
                    talk.say(&world.store, [prompt("meanwhile")]).await;
                    during += 1;
                }
                during
            })
        });
        (copying.join().unwrap(), during)
    });
    assert!(during > 0, "the test proves nothing when nothing was written meanwhile");
    assert_eq!(contents.sessions, 1);
    let held = usize::try_from(contents.messages).unwrap();
    assert!((400..=talk.messages.len()).contains(&held), "{held} of {}", talk.messages.len());
    let last = steps.last().unwrap();
    assert_eq!(last.done, last.total);
    assert_eq!(last.total, fs::metadata(&target).unwrap().len());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    let store = Store::open(&target, at(0)).await.unwrap();
    let mut log = Vec::new();
    // A page is bounded in bytes.
    loop {
        let after = log.last().map_or(Seq::START, |message: &Message| message.seq);
        let page = store.messages(talk.id, after, 10_000).await.unwrap().messages;
        if page.is_empty() {
            break;
        }
        log.extend(page);
    }
    assert!(log == talk.messages[..held], "exactly what was stored up to one moment");
    store.close().await;
    world.store.close().await;
}

#[tokio::test]
async fn k8_a_copy_is_made_of_what_a_killed_daemon_left_and_replaces_nothing() {
    let world = World::new().await;
    world.talk().await.turn(&world.store, "hello", &["you"]).await;
    let left = tempfile::tempdir().unwrap();
    for name in ["convoke.db", "convoke.db-wal"] {
        fs::copy(world.folder().join(name), left.path().join(name)).unwrap();
    }
    let (path, target) = (left.path().join("convoke.db"), left.path().join("copy.db"));
    let contents = backup::make(&path, &target, |_| {}).unwrap();
    assert_eq!(contents, Contents { schema: 8, sessions: 1, messages: 2 });
    assert_eq!(backup::verify(&target).unwrap(), contents);
    let again = backup::make(&path, &target, |_| {}).unwrap_err();
    assert!(matches!(again, Error::Denied { .. }), "{again:?}");
    assert_eq!(backup::verify(&target).unwrap(), contents);
}

#[tokio::test]
async fn k8_a_damaged_copy_is_detected() {
    let world = World::new().await;
    world.talk().await.turn(&world.store, "hello", &["you"]).await;
    let target = world.folder().join("copy.db");
    backup::make(&world.path(), &target, |_| {}).unwrap();
    let whole = fs::read(&target).unwrap();
    fs::write(&target, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(backup::verify(&target), Err(Error::Corrupt { .. })));
    fs::write(&target, "something else").unwrap();
    assert!(matches!(backup::verify(&target), Err(Error::NotADatabase { .. })));
    fs::remove_file(&target).unwrap();
    assert!(matches!(backup::verify(&target), Err(Error::Denied { .. })));
}

#[tokio::test]
async fn m2_another_boot_of_the_system_begins_a_new_generation() {
    let world = World::new().await;
    let mut seen = Vec::new();
    for boot in ["one", "one", "two", "two", "one"] {
        world.store.booted(boot.to_owned()).await.unwrap();
        seen.push(world.store.generation().await.unwrap());
    }
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[1], seen[2]);
    assert_eq!(seen[2], seen[3]);
    assert_ne!(seen[3], seen[4]);
}

#[tokio::test]
async fn a_restored_copy_begins_a_new_generation_and_a_reopened_database_does_not() {
    let mut world = World::new().await;
    let mut talk = world.talk().await;
    talk.turn(&world.store, "hello", &["you"]).await;
    let generation = world.store.generation().await.unwrap();
    world.reopen().await;
    assert_eq!(world.store.generation().await.unwrap(), generation);
    let target = world.folder().join("copy.db");
    let contents = backup::make(&world.path(), &target, |_| {}).unwrap();
    // The same copy may be restored more than once, and each time new sessions continue from it.
    let mut seen = vec![generation];
    for _ in 0..2 {
        backup::begin_generation(&target).unwrap();
        assert_eq!(backup::verify(&target).unwrap(), contents);
        let store = Store::open(&target, at(0)).await.unwrap();
        seen.push(store.generation().await.unwrap());
        let page = store.messages(talk.id, Seq::START, 10).await.unwrap();
        assert_eq!(page.messages, talk.messages);
        store.close().await;
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 3);
}
