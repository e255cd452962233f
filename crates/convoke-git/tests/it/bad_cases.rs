//! Projects and moments that are not as one would wish.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use convoke_git::{Checkpoints, Error, Git, LeftOutReason, Options};

use crate::scene::{SEARCH_PATH, Scene, before, file, git, limits};

/// Checks that a checkpoint holds the files, and that the project's repository is as before.
fn assert_exact(scene: &Scene, turn: u64) {
    let untouched = scene.path(".git").is_dir().then(|| scene.git_folder());
    let saved = scene.checkpoint(turn);
    assert_eq!(scene.files_in(&saved.tree), scene.files());
    assert_eq!(untouched, scene.path(".git").is_dir().then(|| scene.git_folder()));
}

#[test]
fn c9_a_merge_and_a_rebase_in_progress_are_captured() {
    let scene = Scene::with_git();
    scene.diverge();
    scene.conflict(&["merge", "-q", "side"]);
    assert_exact(&scene, 1);
    scene.git(&["merge", "--abort"]);
    scene.conflict(&["rebase", "-q", "side"]);
    assert_exact(&scene, 2);
    scene.git(&["rebase", "--abort"]);
    scene.git(&["checkout", "-q", "--detach"]);
    assert_exact(&scene, 3);
}

#[test]
fn c9_empty_bare_and_broken_repositories_are_captured() {
    let scene = Scene::new();
    assert_exact(&scene, 1);
    scene.git(&["init", "-q"]);
    assert_exact(&scene, 2);
    scene.write("a", "x");
    assert_exact(&scene, 3);
    // A pointer to nowhere, as a deleted main work tree leaves it.
    fs::remove_dir_all(scene.path(".git")).unwrap();
    scene.write(".git", "gitdir: /nowhere/at/all\n");
    assert_exact(&scene, 4);
    fs::remove_file(scene.path(".git")).unwrap();
    scene.write(".git/HEAD", "nonsense");
    scene.write(".git/index", "nonsense");
    assert_exact(&scene, 5);
    // The project is itself a bare repository: its files are files.
    let bare = Scene::new();
    bare.git(&["init", "-q", "--bare"]);
    assert_exact(&bare, 1);
}

#[test]
fn c9_submodules_and_nested_repositories_are_captured_as_files() {
    let library = Scene::with_git();
    let scene = Scene::with_git();
    let url = library.project.to_str().unwrap();
    scene.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "lib"]);
    scene.git(&["commit", "-qm", "submodule"]);
    scene.git(&["clone", "-q", url, "vendor/clone"]);
    scene.git(&["init", "-q", "vendor/clone/inner"]);
    scene.write("vendor/clone/inner/x", "x");
    scene.write("vendor/clone/.gitignore", "*.log\n");
    scene.write("vendor/clone/a.log", "x");
    let saved = scene.checkpoint(1);
    let mut expected = scene.files();
    expected.remove(Path::new("vendor/clone/a.log"));
    assert_eq!(scene.files_in(&saved.tree), expected);
    // Also what changes there later.
    scene.write("lib/README", "changed");
    scene.write("vendor/clone/new", "x");
    fs::remove_dir_all(scene.path("vendor/clone/inner")).unwrap();
    let saved = scene.checkpoint(2);
    let mut expected = scene.files();
    expected.remove(Path::new("vendor/clone/a.log"));
    assert_eq!(scene.files_in(&saved.tree), expected);
}

#[test]
fn c9_linked_work_trees_inside_of_a_project_are_named_and_left_out() {
    let scene = Scene::with_git();
    scene.git(&["worktree", "add", "-q", "trees/one", "-b", "one"]);
    let saved = scene.checkpoint(1);
    let names: Vec<PathBuf> = scene.files_in(&saved.tree).into_keys().collect();
    assert_eq!(names, [PathBuf::from("README")]);
    let [left_out] = saved.left_out.as_slice() else { panic!("{:?}", saved.left_out) };
    assert_eq!(left_out.path, PathBuf::from("trees/one"));
    assert_eq!(left_out.reason, LeftOutReason::Worktree);
    // As a project of its own it is captured, with the same repository of ours.
    let checkpoints = scene.checkpoints_of(&scene.path("trees/one"));
    let tree = checkpoints.snapshot(&limits()).unwrap().tree;
    assert_eq!(tree, saved.tree);
}

#[test]
fn c9_sparse_checkouts_and_line_ends_are_captured_as_they_lie_on_the_disk() {
    let scene = Scene::with_git();
    scene.write("in/a", "windows\r\nand\nunix\n");
    scene.write("out/b", "x");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-qm", "second"]);
    scene.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    assert!(!scene.path("out").exists());
    assert_exact(&scene, 1);
    scene.git(&["config", "core.autocrlf", "true"]);
    scene.write(".gitattributes", "* text=auto eol=crlf working-tree-encoding=UTF-16 ident\n");
    scene.write("in/c", "$Id$\n");
    assert_exact(&scene, 2);
}

#[test]
fn c9_lfs_pointers_and_odd_names_are_captured() {
    let scene = Scene::with_git();
    scene.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    scene.write("a.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n");
    scene.write("Case", "upper");
    scene.write("case", "lower");
    for name in ["git~1", "con", "a\\b", "trailing ", "-option", ":(glob)", "\u{200c}.git"] {
        scene.write(name, name);
    }
    assert_exact(&scene, 1);
    // A name that git reserves is named.
    scene.write("sub/.GIT/config", "x");
    let saved = scene.checkpoint(2);
    let [left_out] = saved.left_out.as_slice() else { panic!("{:?}", saved.left_out) };
    assert_eq!(left_out.path, PathBuf::from("sub/.GIT/config"));
    assert_eq!(left_out.reason, LeftOutReason::Name);
}

#[test]
fn c9_files_that_change_during_a_checkpoint_do_not_stop_it() {
    let scene = Scene::new();
    for number in 0..50 {
        scene.write(format!("still{number}"), "x");
    }
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut number: usize = 0;
            while !is_done.load(Ordering::Relaxed) {
                number += 1;
                scene.write("growing", vec![b'x'; (number % 64) << 12]);
                scene.write(format!("short-lived{}", number % 7), "x");
                fs::remove_file(scene.path(format!("short-lived{}", (number + 3) % 7))).ok();
            }
        });
        for turn in 0..6 {
            let saved = scene.checkpoints().checkpoint(&before(turn), &limits());
            is_done.store(turn == 5 || saved.is_err(), Ordering::Relaxed);
            let files = scene.files_in(&saved.unwrap().tree);
            assert_eq!(files.keys().filter(|path| path.starts_with("still0")).count(), 1);
        }
    });
    assert_exact(&scene, 99);
}

#[test]
fn c9_a_lock_that_a_killed_git_left_is_removed() {
    let scene = Scene::with_git();
    scene.checkpoint(1);
    let folder = scene.ours.join("convoke");
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let index = names.into_iter().find(|path| path.extension().is_some_and(|it| it == "index"));
    let index = index.unwrap();
    fs::write(index.with_extension("index.lock"), "half").unwrap();
    scene.write("README", "changed");
    assert_exact(&scene, 2);
    // A damaged index is made again, and so is a damaged state.
    fs::write(&index, "nonsense").unwrap();
    fs::write(index.with_extension("state"), "nonsense").unwrap();
    assert_exact(&scene, 3);
    // So is one whose objects are lost.
    scene.write("README", "lost");
    scene.checkpoint(4);
    for entry in fs::read_dir(scene.ours.join("objects")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name.len() == 2) {
            fs::remove_dir_all(path).unwrap();
        }
    }
    assert_exact(&scene, 5);
}

#[test]
fn c9_the_users_own_index_lock_is_nothing_to_us() {
    let scene = Scene::with_git();
    scene.write(".git/index.lock", "");
    assert_exact(&scene, 1);
    assert!(scene.path(".git/index.lock").exists());
}

#[test]
fn c9_a_full_disk_is_named_and_leaves_the_last_checkpoint() {
    let scene = Scene::with_git();
    let first = scene.checkpoint(1);
    // A limit on the size of files stands for the disk: git fails to write in the same place.
    let program = scene.root().join("full-git");
    let script = "#!/bin/sh\ntrap '' XFSZ\nulimit -f 8\nexec git \"$@\"\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let full = Git::open(&program, SEARCH_PATH.as_ref(), &limits()).unwrap();
    let noise: Vec<u8> =
        (0..200_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    scene.write("noise", &noise);
    let options = Options::default();
    let checkpoints =
        Checkpoints::open(&full, &scene.ours, &scene.project, options, &limits()).unwrap();
    let error = checkpoints.checkpoint(&before(1), &limits()).unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert_eq!(scene.checkpoints().find(&before(1), &limits()).unwrap(), Some(first));
    // With room again, everything is captured.
    let saved = scene.checkpoint(2);
    assert_eq!(scene.files_in(&saved.tree)[Path::new("noise")], file(&noise));
}

#[test]
fn c9_unreadable_files_are_named_and_left_out() {
    // A user who may read everything has no unreadable files; another program stands for the other case.
    let scene = Scene::new();
    scene.write("a", "x");
    scene.write("b", "x");
    let program = scene.root().join("picky-git");
    let script = "#!/bin/sh\ncase \"$*\" in *--force-write-index*)\n\
        cat > \"$0.in\"; grep -qz '^b$' \"$0.in\" && { echo 'error: open(\"b\"): Permission denied' >&2; exit 128; }\n\
        exec git \"$@\" < \"$0.in\";; esac\nexec git \"$@\"\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let picky = Git::open(&program, SEARCH_PATH.as_ref(), &limits()).unwrap();
    let options = Options::default();
    let checkpoints =
        Checkpoints::open(&picky, &scene.ours, &scene.project, options, &limits()).unwrap();
    let snapshot = checkpoints.snapshot(&limits()).unwrap();
    let names: Vec<PathBuf> = scene.files_in(&snapshot.tree).into_keys().collect();
    assert_eq!(names, [PathBuf::from("a")]);
    let [left_out] = snapshot.left_out.as_slice() else { panic!("{:?}", snapshot.left_out) };
    assert_eq!(
        (left_out.path.as_path(), left_out.reason),
        (Path::new("b"), LeftOutReason::Unreadable)
    );
}

#[test]
fn c9_checkpoints_of_one_project_at_the_same_time_wait_for_each_other() {
    let scene = Scene::with_git();
    let checkpoints = scene.checkpoints();
    thread::scope(|scope| {
        for session in 0..4 {
            let (scene, checkpoints) = (&scene, &checkpoints);
            scope.spawn(move || {
                for turn in 0..5 {
                    scene.write(format!("of{session}"), format!("{turn}"));
                    checkpoints.checkpoint(&before(session * 10 + turn), &limits()).unwrap();
                }
            });
        }
    });
    assert_eq!(checkpoints.list("s").unwrap().len(), 20);
    assert_exact(&scene, 99);
}

#[test]
fn c9_an_old_or_missing_git_is_named() {
    let scene = Scene::new();
    let program = scene.root().join("old-git");
    fs::write(&program, "#!/bin/sh\necho git version 2.29.9\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let error = Git::open(&program, SEARCH_PATH.as_ref(), &limits()).unwrap_err();
    assert_eq!(error.to_string(), "git 2.29 is too old, 2.30 or newer is needed");
    let error = Git::open(Path::new("no-such-git"), SEARCH_PATH.as_ref(), &limits()).unwrap_err();
    assert_eq!(error.to_string(), "cannot start no-such-git");
    assert!(git().version() >= convoke_git::Version { major: 2, minor: 30 });
}
