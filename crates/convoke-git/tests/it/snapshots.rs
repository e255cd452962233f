//! What a checkpoint holds.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use convoke_git::{Checkpoints, LeftOut, LeftOutReason, ObjectId, Options};

use crate::scene::{Scene, before, file, git, limits, odd_name};

fn left_out(path: &str, reason: LeftOutReason) -> LeftOut {
    LeftOut { path: path.into(), reason }
}

#[test]
fn c2_a_folder_without_git_has_checkpoints() {
    let scene = Scene::new();
    scene.write("a/b.txt", "text");
    scene.write(odd_name(), "odd");
    scene.write("run", "#!/bin/sh\n");
    fs::set_permissions(scene.path("run"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", scene.path("link")).unwrap();
    symlink("nowhere", scene.path("dangling")).unwrap();
    fs::create_dir(scene.path("empty")).unwrap();
    let saved = scene.checkpoint(1);
    assert_eq!(scene.files_in(&saved.tree), scene.files());
    assert_eq!(saved.left_out, []);
    assert!(!scene.path(".git").exists());
}

#[test]
fn c1_nothing_changed_makes_no_new_commit() {
    let scene = Scene::with_git();
    let first = scene.checkpoint(1);
    // Touched, and moved away and back: other times, same content.
    let now = SystemTime::now();
    fs::File::options().write(true).open(scene.path("README")).unwrap().set_modified(now).unwrap();
    let second = scene.checkpoint(2);
    assert_eq!((&first.commit, &first.tree), (&second.commit, &second.tree));
    scene.write("README", "other");
    let third = scene.checkpoint(3);
    assert_ne!(first.commit, third.commit);
    let objects = scene.our_git(&["count-objects"]);
    scene.checkpoint(4);
    assert_eq!(scene.our_git(&["count-objects"]), objects);
    let parents = scene.our_git(&["log", "--all", "--format=%P|%an|%ce"]);
    assert!(parents.lines().all(|line| line == "|Convoke|convoke@localhost"), "{parents}");
}

#[test]
fn c1_ignored_files_stay_out() {
    let scene = Scene::with_git();
    scene.write(".gitignore", "*.log\n/build/\n");
    scene.write("sub/.gitignore", "!keep.log\n");
    scene.write(".git/info/exclude", "mine\n");
    scene.write("ignored-by-user", "x");
    for name in ["a.log", "build/x", "mine", "sub/a.log", "sub/keep.log", "seen"] {
        scene.write(name, "x");
    }
    let excludes = scene.root().join("ignore");
    fs::write(&excludes, "ignored-by-user\n").unwrap();
    let options = Options { user_excludes: Some(excludes), ..Options::default() };
    let checkpoints =
        Checkpoints::open(&git(), &scene.ours, &scene.project, options, &limits()).unwrap();
    let tree = checkpoints.snapshot(&limits()).unwrap().tree;
    let found: Vec<PathBuf> = scene.files_in(&tree).into_keys().collect();
    let expected = [".gitignore", "README", "seen", "sub/.gitignore", "sub/keep.log"];
    assert_eq!(found, expected.map(PathBuf::from));
}

#[test]
fn c1_files_that_the_project_tracks_are_captured_though_ignored_or_large() {
    let scene = Scene::with_git();
    scene.write(".gitignore", "*.bin\n");
    scene.write("forced.bin", "tracked");
    scene.write("large.dat", vec![b'x'; 3 << 20]);
    let first = scene.checkpoint(1);
    let large = left_out("large.dat", LeftOutReason::TooLarge { bytes: 3 << 20 });
    assert_eq!(first.left_out, [large]);
    assert!(!scene.files_in(&first.tree).contains_key(Path::new("forced.bin")));
    scene.git(&["add", "-f", "forced.bin", "large.dat"]);
    let second = scene.checkpoint(2);
    assert_eq!(second.left_out, []);
    assert_eq!(scene.files_in(&second.tree), scene.files());
}

#[test]
fn k10_files_that_are_hidden_from_agents_are_not_captured() {
    let scene = Scene::new();
    scene.write("open", "open");
    scene.write(".env", "KEY=1");
    scene.write("keys/deep/a", "KEY=2");
    let project = scene.project.canonicalize().unwrap();
    let hidden = vec![project.join(".env"), project.join("keys")];
    let options = Options { hidden, ..Options::default() };
    let checkpoints =
        Checkpoints::open(&git(), &scene.ours, &scene.project, options, &limits()).unwrap();
    let saved = checkpoints.snapshot(&limits()).unwrap();
    let expected = [".env", "keys/deep/a"].map(|path| left_out(path, LeftOutReason::Hidden));
    assert_eq!(saved.left_out, expected);
    let found: Vec<PathBuf> = scene.files_in(&saved.tree).into_keys().collect();
    assert_eq!(found, [PathBuf::from("open")]);
}

#[test]
fn k10_files_that_were_captured_before_they_were_hidden_leave_the_checkpoints() {
    let scene = Scene::new();
    for path in ["open", "key", "keys/deep/a", "gone"] {
        scene.write(path, "text");
    }
    let project = scene.project.canonicalize().unwrap();
    assert_eq!(scene.files_in(&scene.checkpoint(1).tree).len(), 4);
    let hidden = ["key", "keys", "gone", "none"].map(|path| project.join(path)).to_vec();
    let options = Options { hidden, ..Options::default() };
    let checkpoints =
        Checkpoints::open(&git(), &scene.ours, &scene.project, options, &limits()).unwrap();
    fs::remove_file(scene.path("gone")).unwrap();
    for turn in 2..4 {
        let saved = checkpoints.checkpoint(&before(turn), &limits()).unwrap();
        let found: Vec<PathBuf> = scene.files_in(&saved.tree).into_keys().collect();
        assert_eq!(found, [PathBuf::from("open")], "{turn}");
        let expected = ["key", "keys/deep/a"].map(|path| left_out(path, LeftOutReason::Hidden));
        assert_eq!(saved.left_out, expected, "{turn}");
    }
}

#[test]
fn c1_a_project_in_a_hidden_folder_has_checkpoints() {
    let scene = Scene::new();
    scene.write("open", "text");
    scene.write("key", "text");
    let project = scene.project.canonicalize().unwrap();
    let hidden = vec![project.parent().unwrap().to_owned(), project.clone(), project.join("key")];
    let options = Options { hidden, ..Options::default() };
    let checkpoints =
        Checkpoints::open(&git(), &scene.ours, &scene.project, options, &limits()).unwrap();
    let saved = checkpoints.snapshot(&limits()).unwrap();
    let found: Vec<PathBuf> = scene.files_in(&saved.tree).into_keys().collect();
    assert_eq!(found, [PathBuf::from("open")]);
}

#[test]
fn c1_large_untracked_files_are_named_and_left_out() {
    let scene = Scene::new();
    scene.write("small", vec![b'x'; 2 << 20]);
    scene.write("dir/large", vec![b'x'; (2 << 20) + 1]);
    let saved = scene.checkpoint(1);
    let reason = LeftOutReason::TooLarge { bytes: (2 << 20) + 1 };
    assert_eq!(saved.left_out, [left_out("dir/large", reason)]);
    let found: Vec<PathBuf> = scene.files_in(&saved.tree).into_keys().collect();
    assert_eq!(found, [PathBuf::from("small")]);
    // The checkpoint itself remembers it.
    let found = scene.checkpoints().find(&before(1), &limits()).unwrap().unwrap();
    assert_eq!(found, saved);
    // One that was small when it was first captured stays captured while it grows.
    scene.write("small", vec![b'y'; 5 << 20]);
    let grown = scene.checkpoint(2);
    assert_eq!(scene.files_in(&grown.tree)[Path::new("small")], file(vec![b'y'; 5 << 20]));
    // Up to a limit.
    let options = Options { file_bytes_max: 4 << 20, ..Options::default() };
    let checkpoints =
        Checkpoints::open(&git(), &scene.ours, &scene.project, options, &limits()).unwrap();
    scene.write("small", vec![b'z'; 6 << 20]);
    let snapshot = checkpoints.snapshot(&limits()).unwrap();
    assert!(scene.files_in(&snapshot.tree).is_empty());
    assert_eq!(snapshot.left_out.len(), 2);
}

#[test]
fn c1_edits_of_the_same_size_in_the_same_second_are_seen() {
    let scene = Scene::with_git();
    let mut trees: Vec<ObjectId> = Vec::new();
    for number in 0..40 {
        scene.write("README", format!("{number:04}"));
        scene.write(format!("file{}", number % 3), format!("{number:04}"));
        let saved = scene.checkpoint(number);
        assert_eq!(scene.files_in(&saved.tree), scene.files());
        trees.push(saved.tree);
    }
    let count = trees.len();
    trees.sort();
    trees.dedup();
    assert_eq!(trees.len(), count);
}

#[test]
fn c1_a_project_inside_of_a_repository_uses_its_ignore_rules() {
    let scene = Scene::with_git();
    scene.write(".gitignore", "*.log\nprivate/\n");
    scene.write("app/main", "x");
    scene.write("app/a.log", "x");
    scene.write("private/a.log", "x");
    let checkpoints = scene.checkpoints_of(&scene.path("app"));
    let tree = checkpoints.snapshot(&limits()).unwrap().tree;
    let found: Vec<PathBuf> = scene.files_in(&tree).into_keys().collect();
    assert_eq!(found, [PathBuf::from("main")]);
    // A folder that the repository ignores is a project of its own.
    let checkpoints = scene.checkpoints_of(&scene.path("private"));
    let tree = checkpoints.snapshot(&limits()).unwrap().tree;
    let found: Vec<PathBuf> = scene.files_in(&tree).into_keys().collect();
    assert_eq!(found, [PathBuf::from("a.log")]);
    // An empty one has no files.
    fs::create_dir(scene.path("new")).unwrap();
    let checkpoints = scene.checkpoints_of(&scene.path("new"));
    let tree = checkpoints.snapshot(&limits()).unwrap().tree;
    assert!(scene.files_in(&tree).is_empty());
}

#[test]
fn c1_files_that_become_folders_links_and_pipes_are_captured_as_they_are() {
    let scene = Scene::new();
    for name in ["a/x", "b", "c/y", "d", "e/z"] {
        scene.write(name, name);
    }
    scene.checkpoint(1);
    fs::remove_dir_all(scene.path("a")).unwrap();
    symlink("c", scene.path("a")).unwrap();
    fs::remove_file(scene.path("b")).unwrap();
    scene.write("b/inside", "now a folder");
    fs::remove_dir_all(scene.path("c")).unwrap();
    scene.write("c", "now a file");
    fs::remove_file(scene.path("d")).unwrap();
    let status = std::process::Command::new("mkfifo").arg(scene.path("d")).status().unwrap();
    assert!(status.success());
    fs::remove_dir_all(scene.path("e")).unwrap();
    symlink("/etc", scene.path("e")).unwrap();
    let saved = scene.checkpoint(2);
    assert_eq!(scene.files_in(&saved.tree), scene.files());
    assert_eq!(saved.left_out, []);
}

#[test]
fn c1_trees_are_those_that_git_would_write() {
    let scene = Scene::with_git();
    // Names around the slash, which decides how a folder is sorted.
    for name in ["a.txt", "a/b", "a/c/d", "a-b/x", "a0", "deep/er/and/deeper/still", "z/1", "z/2"] {
        scene.write(name, name);
    }
    let checkpoints = scene.checkpoints();
    let agree = |what: &str| {
        let tree = checkpoints.snapshot(&limits()).unwrap().tree;
        assert_eq!(scene.files_in(&tree), scene.files(), "{what}");
        assert_eq!(tree.as_str(), tree_by_git(&scene), "{what}");
        scene.our_git(&["fsck", "--strict", "--no-dangling"]);
    };
    agree("all new");
    scene.write("a/c/d", "changed");
    agree("a file changed");
    scene.write("new/folder/file", "new");
    agree("a folder appeared");
    fs::remove_dir_all(scene.path("z")).unwrap();
    agree("a folder is gone");
    fs::remove_file(scene.path("a0")).unwrap();
    scene.write("a0/now", "a folder");
    agree("a folder in place of a file");
    scene.write("a/c/d", "before the packing");
    agree("before the packing");
    checkpoints.collect(std::time::Duration::ZERO, &limits()).unwrap();
    scene.write("a/b", "after the packing");
    agree("most objects are packed");
    for number in 0..40 {
        scene.write(format!("many/folder{number}/file"), "one of many");
    }
    agree("more folders than are written without git");
}

/// What git makes of the project's files in a repository of their own.
fn tree_by_git(scene: &Scene) -> String {
    let repository = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = scene.user_git(&scene.project);
        command.env("GIT_DIR", repository.path()).env("GIT_WORK_TREE", &scene.project);
        let output = command.args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["init", "-q"]);
    run(&["add", "-A"]);
    run(&["write-tree"]).trim_end().to_owned()
}
