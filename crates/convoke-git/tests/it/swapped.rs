//! Files that are exchanged while git captures them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use convoke_git::{Checkpoints, Git, LeftOut, LeftOutReason, Options};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::scene::{Entry, SEARCH_PATH, Scene, before, limits};

/// A git that finds other files while it captures: those of `during` in the place of the project's, which are put back.
const SWAPPING_GIT: &str = r#"#!/bin/sh
case "$*" in
*update-index*--add*--stdin*)
  if [ -e ROOT/during ]; then
    mv ROOT/project ROOT/kept && mv ROOT/during ROOT/project && cd ROOT/project
    git "$@"
    code=$?
    mv ROOT/project ROOT/done && mv ROOT/kept ROOT/project
    exit $code
  fi;;
esac
exec git "$@"
"#;

#[test]
fn c9_k10_what_git_captured_through_a_link_is_replaced_by_what_is_there() {
    let scene = Scene::new();
    scene.write("file", "mine\n");
    scene.write("same", "same\n");
    scene.write("folder/file", "mine\n");
    scene.write("elsewhere/file", "elsewhere\n");
    let program = scene.root().join("swapping-git");
    let root = scene.root().display().to_string();
    fs::write(&program, SWAPPING_GIT.replace("ROOT", &root)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    // What git reads is what a link led to.
    let during = scene.root().join("during");
    fs::create_dir_all(during.join("folder")).unwrap();
    fs::create_dir_all(during.join("elsewhere")).unwrap();
    for path in ["file", "folder/file"] {
        fs::write(during.join(path), "secret\n").unwrap();
    }
    fs::write(during.join("same"), "same\n").unwrap();
    fs::write(during.join("elsewhere/file"), "elsewhere\n").unwrap();
    let git = Git::open(&program, OsStr::new(SEARCH_PATH), &limits()).unwrap();
    let options = Options::default();
    let checkpoints =
        Checkpoints::open(&git, &scene.ours, &scene.project, options, &limits()).unwrap();
    let saved = checkpoints.checkpoint(&before(1), &limits()).unwrap();
    assert!(scene.root().join("done").exists());
    assert_eq!(scene.files_in(&saved.tree), scene.files());
    assert_eq!(saved.left_out, []);

    // A folder that is a link now has no files of its own.
    fs::rename(scene.root().join("done"), &during).unwrap();
    fs::write(during.join("folder/file"), "secret again\n").unwrap();
    fs::write(during.join("grown"), "small\n").unwrap();
    fs::remove_dir_all(scene.path("folder")).unwrap();
    scene.write("folder/file", "changed\n");
    scene.write("grown", "small\n");
    // And a file of 4 TiB is not read to its end.
    let link = "rm -r ROOT/kept/folder; ln -s elsewhere ROOT/kept/folder; truncate -s 4T ROOT/kept/grown; git";
    let text = SWAPPING_GIT.replace("    git", &format!("    {link}")).replace("ROOT", &root);
    fs::write(&program, text).unwrap();
    let saved = checkpoints.checkpoint(&before(2), &limits()).unwrap();
    let files = scene.files_in(&saved.tree);
    assert!(!files.contains_key(Path::new("folder/file")), "{files:?}");
    assert!(!files.contains_key(Path::new("grown")), "{files:?}");
    let grown = LeftOutReason::TooLarge { bytes: 4 << 40 };
    let left_out = [("folder/file", LeftOutReason::Unreadable), ("grown", grown)];
    let left_out = left_out.map(|(path, reason)| LeftOut { path: path.into(), reason });
    assert_eq!(saved.left_out, left_out);
    // The next one captures the link.
    fs::remove_file(scene.path("grown")).unwrap();
    let saved = checkpoints.checkpoint(&before(3), &limits()).unwrap();
    assert_eq!(scene.files_in(&saved.tree), scene.files());
}

#[test]
fn c9_k10_a_file_that_is_exchanged_for_a_link_all_the_time_gives_no_secret_away() {
    let scene = Scene::new();
    let secret = scene.root().join("secret");
    fs::write(&secret, "secret\n").unwrap();
    for number in 0..40 {
        // As long as the secret, which git expects.
        scene.write(format!("{number}"), "public\n");
        symlink(&secret, scene.root().join(format!("link{number}"))).unwrap();
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = End(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for number in 0..40 {
                    let link = scene.root().join(format!("link{number}"));
                    let flags = RenameFlags::EXCHANGE;
                    let path = scene.path(number.to_string());
                    renameat_with(CWD, &link, CWD, &path, flags).unwrap();
                }
            }
        });
        for turn in 0..15 {
            let saved = scene.checkpoint(turn);
            let files = scene.files_in(&saved.tree);
            let is_secret =
                |entry: &Entry| matches!(entry, Entry::File { bytes, .. } if bytes == b"secret\n");
            let found: Vec<_> = files.iter().filter(|(_, entry)| is_secret(entry)).collect();
            assert!(found.is_empty(), "{found:?}");
        }
    });
}

/// Ends the thread that exchanges files, also when an assertion fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn c9_k10_an_index_of_a_capture_that_was_cut_off_is_not_trusted() {
    let scene = Scene::new();
    scene.write("file", "mine\n");
    scene.write("large", "small\n");
    scene.checkpoint(1);
    // It is captured because an earlier checkpoint has it.
    File::create(scene.path("large")).unwrap().set_len(3 << 20).unwrap();
    scene.checkpoint(2);
    plant_secret(&scene, &scene.project);
    let saved = scene.checkpoint(3);
    assert_eq!(scene.files_in(&saved.tree), scene.files());
}

#[test]
fn c9_k10_an_index_that_was_not_verified_is_not_trusted_when_the_repository_around_it_changes() {
    let scene = Scene::with_git();
    let sub = scene.path("sub");
    scene.write("sub/file", "mine\n");
    scene.git_in(&sub, &["init", "-q"]);
    let checkpoint = |turn| {
        let saved = scene.checkpoints_of(&sub).checkpoint(&before(turn), &limits()).unwrap();
        scene.files_in(&saved.tree)
    };
    let files = checkpoint(1);
    plant_secret(&scene, &sub);
    fs::rename(sub.join(".git"), sub.join("away")).unwrap();
    checkpoint(2);
    fs::rename(sub.join("away"), sub.join(".git")).unwrap();
    assert_eq!(checkpoint(3), files);
}

/// As if git had captured a secret as `file`, and the process had been killed before it was verified.
fn plant_secret(scene: &Scene, work_tree: &Path) {
    fs::write(scene.root().join("secret"), "secret\n").unwrap();
    let secret = scene.root().join("secret").display().to_string();
    let blob = scene.our_git(&["hash-object", "-w", &secret]);
    let entries = fs::read_dir(scene.ours.join("convoke")).unwrap().flatten();
    let mut files = entries.map(|entry| entry.path());
    let index = files.find(|path| path.extension().is_some_and(|it| it == "index")).unwrap();
    let entry = format!("100644,{},file", blob.trim());
    for args in [&["--cacheinfo", entry.as_str()], &["--assume-unchanged", "file"]] {
        let mut git = scene.user_git(work_tree);
        git.env("GIT_DIR", &scene.ours).env("GIT_WORK_TREE", work_tree);
        let git = git.env("GIT_INDEX_FILE", &index).arg("update-index").args(args);
        assert!(git.status().unwrap().success());
    }
}

/// A git that writes down which files it captures.
const LOGGING_GIT: &str = r#"#!/bin/sh
case "$*" in
*update-index*--add*--stdin*) tee -a ROOT/captured | git "$@";;
*) exec git "$@";;
esac
"#;

#[test]
fn c1_only_files_that_have_changed_are_captured_again() {
    let scene = Scene::with_git();
    scene.write("a", "a\n");
    scene.write("b", "b\n");
    let program = scene.root().join("logging-git");
    let root = scene.root().display().to_string();
    fs::write(&program, LOGGING_GIT.replace("ROOT", &root)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let git = Git::open(&program, OsStr::new(SEARCH_PATH), &limits()).unwrap();
    let options = Options::default();
    let checkpoints =
        Checkpoints::open(&git, &scene.ours, &scene.project, options, &limits()).unwrap();
    let captured = |turn: u64| {
        checkpoints.checkpoint(&before(turn), &limits()).unwrap();
        let log = scene.root().join("captured");
        let text = fs::read_to_string(&log).unwrap_or_default();
        fs::remove_file(log).ok();
        text.split_terminator('\0').map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(captured(1), ["README", "a", "b"]);
    assert_eq!(captured(2), [""; 0]);
    scene.write("b", "changed\n");
    assert_eq!(captured(3), ["b"]);
    scene.write("a", "changed\n");
    scene.write("new/c", "c\n");
    assert_eq!(captured(4), ["a", "new/c"]);
    fs::remove_file(scene.path("b")).unwrap();
    assert_eq!(captured(5), [""; 0]);
    scene.write("a", "again\n");
    assert_eq!(captured(6), ["a"]);
}
