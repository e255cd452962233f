//! Which checkpoints exist, and how long.

use std::fs;
use std::time::Duration;

use convoke_git::{CheckpointKind, Name};

use crate::scene::{Scene, before, limits};

#[test]
fn c1_a_deleted_sessions_checkpoints_are_forgotten_and_collected() {
    let scene = Scene::with_git();
    let checkpoints = scene.checkpoints();
    let other = Name::new("other", CheckpointKind::After(1)).unwrap();
    scene.write("secret", "only in the first");
    let first = scene.checkpoint(1);
    scene.write("secret", "now this");
    scene.checkpoint(2);
    let kept = checkpoints.checkpoint(&other, &limits()).unwrap();
    assert_eq!(checkpoints.list("s").unwrap(), [before(1), before(2)]);
    assert_eq!(checkpoints.forget_session("s", &limits()).unwrap(), 2);
    assert_eq!(checkpoints.list("s").unwrap(), []);
    assert_eq!(checkpoints.find(&before(1), &limits()).unwrap(), None);
    checkpoints.collect(Duration::ZERO, &limits()).unwrap();
    let is_there = |id: &str| {
        let output = scene.user_git(&scene.ours).args(["cat-file", "-e", id]).output();
        output.unwrap().status.success()
    };
    assert!(!is_there(first.commit.as_str()));
    // Its ref and its commit are packed now.
    assert_eq!(checkpoints.list("other").unwrap(), std::slice::from_ref(&other));
    assert_eq!(checkpoints.find(&other, &limits()).unwrap(), Some(kept.clone()));
    let next = Name::new("other", CheckpointKind::After(2)).unwrap();
    assert_eq!(checkpoints.checkpoint(&next, &limits()).unwrap().commit, kept.commit);
    assert_eq!(checkpoints.list("other").unwrap(), [other, next]);
    assert_eq!(scene.files_in(&kept.tree), scene.files());
}

#[test]
fn c3_the_trees_of_other_checkpoints_are_found_when_a_commit_is_lost() {
    let scene = Scene::with_git();
    let made = [1, 2, 3].map(|turn| {
        scene.write("file", turn.to_string());
        scene.checkpoint(turn)
    });
    let lost = made[1].commit.as_str();
    fs::remove_file(scene.ours.join("objects").join(&lost[..2]).join(&lost[2..])).unwrap();
    // Another process, which remembers none of them.
    let trees = scene.checkpoints().trees("s", &limits()).unwrap();
    let [first, _, last] = made;
    assert_eq!(trees.into_values().collect::<Vec<_>>(), [first.tree, last.tree]);
}

#[test]
fn c3_trees_are_those_of_checkpoints_that_were_made_again_packed_or_forgotten() {
    let scene = Scene::with_git();
    let checkpoints = scene.checkpoints();
    let trees = || checkpoints.trees("s", &limits()).unwrap().into_values().collect::<Vec<_>>();
    let make = |text: &str, turn| {
        scene.write("file", text);
        scene.checkpoint(turn).tree
    };
    let [first, second] = [make("one", 1), make("two", 2)];
    assert_eq!(trees(), [first, second.clone()]);
    let again = make("three", 1);
    assert_eq!(trees(), [again.clone(), second.clone()]);
    checkpoints.collect(Duration::ZERO, &limits()).unwrap();
    assert_eq!(trees(), [again.clone(), second]);
    assert_eq!(trees().len(), 2);
    let last = make("four", 2);
    assert_eq!(trees(), [again, last]);
    checkpoints.forget_session("s", &limits()).unwrap();
    assert_eq!(trees(), []);
}

#[test]
fn c1_what_the_index_needs_survives_a_collection_without_any_checkpoint() {
    let scene = Scene::with_git();
    let checkpoints = scene.checkpoints();
    scene.checkpoint(1);
    checkpoints.forget_session("s", &limits()).unwrap();
    checkpoints.collect(Duration::ZERO, &limits()).unwrap();
    let saved = scene.checkpoint(2);
    assert_eq!(scene.files_in(&saved.tree), scene.files());
    scene.our_git(&["fsck", "--full", "--strict"]);
}

#[test]
fn c1_a_collection_does_not_hide_an_edit_of_the_same_second() {
    let scene = Scene::with_git();
    let checkpoints = scene.checkpoints();
    scene.checkpoint(1);
    scene.write("README", "one");
    scene.checkpoint(2);
    let index = || {
        let entries = std::fs::read_dir(scene.ours.join("convoke")).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        let path = paths.find(|path| path.extension().is_some_and(|it| it == "index")).unwrap();
        (std::fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap())
    };
    // Git compares times in seconds and takes for unchanged what is older than its index.
    let before = index();
    checkpoints.collect(Duration::ZERO, &limits()).unwrap();
    assert!(index() == before, "the index is as it was");
    scene.write("README", "two");
    assert_eq!(scene.files_in(&scene.checkpoint(3).tree), scene.files());
}

#[test]
fn c6_the_work_trees_of_a_project_share_a_repository_and_are_forgotten_one_by_one() {
    let scene = Scene::with_git();
    scene.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let side = scene.root().join("side");
    let (main, other) = (scene.checkpoints(), scene.checkpoints_of(&side));
    std::fs::write(side.join("README"), "side").unwrap();
    let saved = other.checkpoint(&before(1), &limits()).unwrap();
    assert_ne!(scene.checkpoint(2).tree, saved.tree);
    other.forget_work_tree(&limits()).unwrap();
    main.collect(Duration::ZERO, &limits()).unwrap();
    assert_eq!(main.find(&before(1), &limits()).unwrap(), Some(saved));
}

#[test]
fn c1_checkpoints_that_begin_at_once_make_one_repository() {
    for _ in 0..5 {
        let scene = Scene::new();
        scene.write("a.txt", "a");
        std::thread::scope(|scope| {
            for turn in 1..=8 {
                let scene = &scene;
                scope.spawn(move || {
                    scene.checkpoints().checkpoint(&before(turn), &limits()).unwrap();
                });
            }
        });
        assert_eq!(scene.checkpoints().list("s").unwrap().len(), 8);
    }
}

#[test]
fn c1_locks_that_a_killed_git_left_are_removed_and_newer_ones_are_not() {
    let scene = Scene::new();
    scene.write("a.txt", "a");
    scene.checkpoint(1);
    let old =
        ["refs/convoke/s/2-before.lock", "packed-refs.lock", "objects/info/commit-graph.lock"];
    let old = old.map(|path| scene.ours.join(path));
    for path in &old {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    let new = scene.ours.join("refs/convoke/s/3-before.lock");
    std::fs::write(&new, "").unwrap();
    let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
    convoke_git::remove_stale_locks(&scene.ours, hour_ago).unwrap();
    assert!(old.iter().all(|path| !path.exists()) && new.exists());
    scene.checkpoint(2);
}
