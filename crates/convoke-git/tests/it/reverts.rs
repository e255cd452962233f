//! Taking back one hunk of a file.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use convoke_git::{Change, Checkpoint, Error, Hunk};

use crate::scene::{Scene, limits, undo};

/// The one change between two checkpoints, with its hunks.
fn hunks(scene: &Scene, from: &Checkpoint, to: &Checkpoint) -> (Change, Vec<Hunk>) {
    let checkpoints = scene.checkpoints();
    let list = checkpoints.changes(&from.tree, &to.tree, 10, &limits()).unwrap();
    let [change] = list.changes.as_slice() else { panic!("{list:?}") };
    let diff = checkpoints.file_diff(&from.tree, &to.tree, change, 1 << 20, &limits()).unwrap();
    (change.clone(), diff.hunks)
}

#[test]
fn c4_one_hunk_is_reverted_and_the_others_stay() {
    let scene = Scene::new();
    let lines: Vec<String> = (1..=30).map(|n| format!("{n}")).collect();
    scene.write("a", lines.join("\n"));
    fs::set_permissions(scene.path("a"), fs::Permissions::from_mode(0o755)).unwrap();
    let first = scene.checkpoint(1);
    let mut changed = lines.clone();
    changed[1] = "two".to_owned();
    changed[29] = "thirty\n".to_owned();
    scene.write("a", changed.join("\n"));
    let second = scene.checkpoint(2);
    let (change, hunks) = hunks(&scene, &first, &second);
    let checkpoints = scene.checkpoints();
    let reverted = checkpoints.revert_hunk(&change, &hunks[1], &undo(1), &limits()).unwrap();
    assert_eq!(reverted.undo.tree, second.tree);
    let mut expected = lines;
    expected[1] = "two".to_owned();
    assert_eq!(scene.read("a"), expected.join("\n"));
    assert_eq!(fs::metadata(scene.path("a")).unwrap().permissions().mode() & 0o777, 0o755);
    checkpoints.revert_hunk(&change, &hunks[0], &undo(2), &limits()).unwrap();
    assert_eq!(scene.checkpoint(3).tree, first.tree);
}

#[test]
fn c4_a_hunk_whose_lines_moved_is_refused() {
    let scene = Scene::new();
    scene.write("a", "one\ntwo\n");
    let first = scene.checkpoint(1);
    scene.write("a", "one\n2\n");
    let second = scene.checkpoint(2);
    let (change, hunks) = hunks(&scene, &first, &second);
    scene.write("a", "zero\none\n2\n");
    let checkpoints = scene.checkpoints();
    let refused = checkpoints.revert_hunk(&change, &hunks[0], &undo(1), &limits());
    assert!(matches!(refused, Err(Error::StaleHunk { .. })), "{refused:?}");
    fs::remove_file(scene.path("a")).unwrap();
    let refused = checkpoints.revert_hunk(&change, &hunks[0], &undo(1), &limits());
    assert!(matches!(refused, Err(Error::StaleHunk { .. })), "{refused:?}");
    assert!(!scene.path("a").exists());
}

#[test]
fn c4_the_hunk_of_a_new_or_deleted_file_removes_it_or_brings_it_back() {
    let scene = Scene::new();
    let empty = scene.checkpoint(1);
    scene.write("dir/new", "text\n");
    let with_file = scene.checkpoint(2);
    let checkpoints = scene.checkpoints();
    let (change, added) = hunks(&scene, &empty, &with_file);
    checkpoints.revert_hunk(&change, &added[0], &undo(1), &limits()).unwrap();
    assert!(!scene.path("dir").exists());
    let (change, deleted) = hunks(&scene, &with_file, &empty);
    checkpoints.revert_hunk(&change, &deleted[0], &undo(2), &limits()).unwrap();
    assert_eq!(scene.read("dir/new"), "text\n");
}

#[test]
fn c4_no_hunk_of_a_file_that_became_a_link_is_reverted() {
    let scene = Scene::new();
    scene.write("target", "x\n");
    scene.write("file", "text\n");
    let before = scene.checkpoint(1);
    fs::remove_file(scene.path("file")).unwrap();
    symlink("target", scene.path("file")).unwrap();
    let after = scene.checkpoint(2);
    for (from, to) in [(&before, &after), (&after, &before)] {
        let (change, both) = hunks(&scene, from, to);
        assert_eq!(both.len(), 2);
        for hunk in &both {
            let refused = scene.checkpoints().revert_hunk(&change, hunk, &undo(1), &limits());
            assert!(matches!(refused, Err(Error::StaleHunk { .. })), "{refused:?}");
        }
    }
    assert!(scene.path("file").is_symlink());
}
