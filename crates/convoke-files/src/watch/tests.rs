//! Being woken, by inotify and without it.

use std::fs;

use tokio::time::Instant;

use super::*;

/// The pauses, in milliseconds, between polls of a folder without change events.
async fn pauses(reported: Reported, pace: Pace) -> Vec<u128> {
    let folders = HashMap::from([(PathBuf::from("/nowhere"), reported)]);
    let mut watcher = Watches::default().watcher(pace);
    watcher.folders = folders;
    let mut pauses = Vec::new();
    for _ in 0..6 {
        let before = Instant::now();
        assert_eq!(watcher.changed().await, Change::Perhaps);
        pauses.push(before.elapsed().as_millis());
    }
    pauses
}

#[tokio::test(start_paused = true)]
async fn q11_a_folder_without_change_events_is_polled() {
    assert_eq!(pauses(Reported::Local, Pace::Slow).await, [200; 6]);
    assert_eq!(pauses(Reported::None, Pace::Brisk).await, [200, 400, 800, 1600, 2000, 2000]);
    assert_eq!(
        pauses(Reported::None, Pace::Slow).await,
        [200, 2000, 20_000, 30_000, 30_000, 30_000]
    );
}

#[tokio::test]
async fn q11_a_change_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut watcher = Watcher::new();
    watcher.watch(folder.path()).unwrap();
    fs::write(folder.path().join("answers.json"), "{}").unwrap();
    watcher.changed().await;
}

#[tokio::test]
async fn q11_a_change_wakes_every_watcher_of_its_folder_and_no_other() {
    let (watched, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let watches = Watches::default();
    let [mut first, mut second, mut third] = [(); 3].map(|()| watches.watcher(Pace::Brisk));
    first.watch(watched.path()).unwrap();
    second.watch(watched.path()).unwrap();
    third.watch(other.path()).unwrap();
    if first.is_polling() {
        // Another program has every inotify instance: what is shared then is that all of them poll.
        assert!(second.is_polling() && third.is_polling());
        return;
    }
    fs::write(watched.path().join("answers.json"), "{}").unwrap();
    assert_eq!(
        (first.changed().await, second.changed().await),
        (Change::Reported, Change::Reported)
    );
    // Events come in order, so one for the other folder would have come by now.
    drop(first);
    fs::write(watched.path().join("status.json"), "{}").unwrap();
    assert_eq!(second.changed().await, Change::Reported);
    let mut woken = std::pin::pin!(third.changed());
    let none = std::future::poll_fn(|context| {
        std::task::Poll::Ready(woken.as_mut().poll(context).is_pending())
    });
    assert!(none.await);
}
