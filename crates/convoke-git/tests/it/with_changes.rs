//! A tree with the changes that were made between others.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use convoke_git::{Error, ObjectId};

use crate::scene::{Scene, limits, odd_name};

#[test]
fn c3_changes_between_other_trees_are_applied_to_files_that_are_as_they_were() {
    let scene = Scene::new();
    let commit = |turn| scene.checkpoint(turn).tree;
    for path in ["kept", "taken", "both", "gone", "folder"] {
        scene.write(path, "old\n");
    }
    scene.write(odd_name(), "old\n");
    let base = commit(1);
    scene.write("kept", "by the turn\n");
    scene.write("both", "by the turn\n");
    let from = commit(2);
    scene.write("taken", "by others\n");
    scene.write("both", "by the turn and others\n");
    scene.write(odd_name(), "by others\n");
    fs::remove_file(scene.path("gone")).unwrap();
    fs::remove_file(scene.path("folder")).unwrap();
    scene.write("folder/inner", "by others\n");
    symlink("taken", scene.path("link")).unwrap();
    let to = commit(3);
    scene.write("taken", "again\n");
    let last = commit(4);

    // The same by hand.
    scene.write("kept", "old\n");
    scene.write("both", "old\n");
    let expected = commit(5);
    let applied = |pairs: &[_]| {
        scene.checkpoints().with_changes(&base, pairs, &HashSet::new(), &limits()).unwrap()
    };
    let (tree, paths) = applied(&[(from.clone(), to.clone()), (to.clone(), last)]);
    assert_eq!(tree, expected);
    let named = [PathBuf::from("folder"), "folder/inner".into(), "gone".into(), "link".into()];
    let named = named.into_iter().chain([odd_name(), "taken".into()]);
    assert_eq!(paths, named.collect::<Vec<PathBuf>>());
    let made = |pairs: &[_]| applied(pairs).0;
    assert_eq!(made(&[]), base);
    assert_eq!(made(&[(to.clone(), to.clone())]), base);
    // There and back.
    assert_eq!(made(&[(from.clone(), to.clone()), (to, from)]), base);
}

#[test]
fn c3_a_file_that_was_left_out_was_not_deleted_by_others() {
    let scene = Scene::new();
    scene.write("folder/large", "small\n");
    scene.write("other", "old\n");
    let base = scene.checkpoint(1).tree;
    File::create(scene.path("folder/large")).unwrap().set_len(65 << 20).unwrap();
    scene.write("other", "new\n");
    let without = scene.checkpoint(2);
    let left_out: HashSet<PathBuf> = without.left_out.into_iter().map(|it| it.path).collect();
    assert_eq!(left_out, HashSet::from(["folder/large".into()]));
    let pairs = [(base.clone(), without.tree)];
    let made = scene.checkpoints().with_changes(&base, &pairs, &left_out, &limits()).unwrap();
    assert_eq!(made.1, [PathBuf::from("other")]);
    scene.write("folder/large", "small\n");
    assert_eq!(scene.checkpoint(3).tree, made.0);
}

#[test]
fn c3_many_changed_files_are_applied_at_once() {
    let scene = Scene::new();
    let write = |text: &str| {
        for number in 0..300 {
            scene.write(format!("{number}/file"), text);
        }
    };
    write("old\n");
    let base = scene.checkpoint(1).tree;
    scene.write("more", "by the turn\n");
    let from = scene.checkpoint(2).tree;
    write("by others\n");
    let to = scene.checkpoint(3).tree;
    fs::remove_file(scene.path("more")).unwrap();
    let expected = scene.checkpoint(4).tree;
    let made =
        scene.checkpoints().with_changes(&base, &[(from, to)], &HashSet::new(), &limits()).unwrap();
    assert_eq!(made.0, expected);
    assert_eq!(made.1.len(), 300);
}

#[test]
fn c3_a_file_in_the_place_of_a_folder_that_is_kept_is_an_error() {
    let scene = Scene::new();
    scene.write("turn/file", "old\n");
    let base = scene.checkpoint(1).tree;
    fs::remove_dir_all(scene.path("turn")).unwrap();
    let from = scene.checkpoint(2).tree;
    scene.write("turn", "by others\n");
    let to = scene.checkpoint(3).tree;
    for (base, pair) in [(&base, (from.clone(), to.clone())), (&to, (from, base.clone()))] {
        let checkpoints = scene.checkpoints();
        let made = checkpoints.with_changes(base, &[pair], &HashSet::new(), &limits());
        assert!(matches!(made, Err(Error::Unexpected { .. })), "{made:?}");
    }
}

#[test]
fn c3_a_file_and_a_folder_that_others_made_in_one_place_are_an_error() {
    let scene = Scene::new();
    scene.write("other", "x\n");
    let base = scene.checkpoint(1).tree;
    scene.write("a", "by others\n");
    let first = scene.checkpoint(2).tree;
    // A turn deletes it.
    fs::remove_file(scene.path("a")).unwrap();
    scene.write("a/b", "by others\n");
    let second = scene.checkpoint(3).tree;
    let pairs = [(base.clone(), first), (base.clone(), second)];
    let made = scene.checkpoints().with_changes(&base, &pairs, &HashSet::new(), &limits());
    assert!(matches!(made, Err(Error::Unexpected { .. })), "{made:?}");
}

#[test]
fn c3_a_tree_that_is_lost_is_an_error_and_not_an_equal_one() {
    let scene = Scene::new();
    scene.write("file", "one\n");
    let base = scene.checkpoint(1).tree;
    scene.write("file", "two\n");
    let other = scene.checkpoint(2).tree;
    let lost = ObjectId::parse("1111111111111111111111111111111111111111").unwrap();
    let checkpoints = scene.checkpoints();
    for pairs in
        [vec![(other.clone(), lost.clone())], vec![(base.clone(), other), (lost, base.clone())]]
    {
        let error =
            checkpoints.with_changes(&base, &pairs, &HashSet::new(), &limits()).unwrap_err();
        assert!(error.to_string().contains("pairs of trees"), "{error}");
    }
}
