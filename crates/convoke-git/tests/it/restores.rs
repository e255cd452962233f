//! Bringing files back.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use convoke_git::{Checkpoint, Error, Guard, Name, Restored, Scope};

use crate::scene::{Scene, file, limits, odd_name, paths, undo};

fn restore(scene: &Scene, to: &Checkpoint, name: &Name) -> Restored {
    scene.checkpoints().restore(to, Scope::All, Guard::Force, name, &limits()).unwrap()
}

/// A scene with all kinds of files at turn 1, and all of them different at turn 2.
fn two_turns() -> (Scene, Checkpoint, Checkpoint) {
    let scene = Scene::with_git();
    scene.write("same", "x");
    scene.write("dir/changed", "old");
    scene.write("dir/gone/deep", "deep");
    scene.write("script", "x");
    scene.write(odd_name(), "odd");
    scene.write("was-file", "file");
    scene.write("was-folder/x", "x");
    symlink("same", scene.path("link")).unwrap();
    let first = scene.checkpoint(1);
    scene.write("dir/changed", "new");
    fs::remove_dir_all(scene.path("dir/gone")).unwrap();
    fs::set_permissions(scene.path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(scene.path(odd_name())).unwrap();
    fs::remove_file(scene.path("was-file")).unwrap();
    scene.write("was-file/x", "x");
    fs::remove_dir_all(scene.path("was-folder")).unwrap();
    symlink("/etc", scene.path("was-folder")).unwrap();
    fs::remove_file(scene.path("link")).unwrap();
    symlink("dir", scene.path("link")).unwrap();
    scene.write("added/deep/file", "added");
    let second = scene.checkpoint(2);
    (scene, first, second)
}

#[test]
fn c5_a_restore_brings_back_every_kind_of_file_and_can_be_undone() {
    let (scene, first, second) = two_turns();
    let (then, now) = (scene.files_in(&first.tree), scene.files());
    let git = scene.git_folder();
    let restored = restore(&scene, &first, &undo(1));
    assert_eq!(scene.files(), then);
    assert_eq!(restored.blocked, []);
    assert_eq!(restored.undo.tree, second.tree);
    assert!(!scene.path("added").exists());
    assert_eq!(scene.checkpoint(3).tree, first.tree);
    let undone = restore(&scene, &restored.undo, &undo(2));
    assert_eq!(scene.files(), now);
    assert_eq!(undone.undo.tree, first.tree);
    assert_eq!(scene.git_folder(), git);
    // Nothing differs, so nothing is done.
    let again = restore(&scene, &second, &undo(3));
    assert_eq!((again.written, again.removed), (Vec::new(), Vec::new()));
}

#[test]
fn c5_only_files_that_differ_are_written_and_modes_are_kept() {
    let scene = Scene::new();
    scene.write("same", "x");
    scene.write("private", "old");
    fs::set_permissions(scene.path("private"), fs::Permissions::from_mode(0o600)).unwrap();
    let first = scene.checkpoint(1);
    scene.write("private", "new");
    scene.write("same.sh", "x");
    let facts = |name: &str| {
        let found = fs::metadata(scene.path(name)).unwrap();
        (found.ino(), found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec())
    };
    let same = facts("same");
    let restored = restore(&scene, &first, &undo(1));
    assert_eq!(restored.written, paths(&["private"]));
    assert_eq!(restored.removed, paths(&["same.sh"]));
    assert_eq!(facts("same"), same);
    assert_eq!(fs::metadata(scene.path("private")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn c5_a_restore_to_a_lost_tree_is_an_error_and_writes_nothing() {
    let scene = Scene::new();
    scene.write("file", "one\n");
    let saved = scene.checkpoint(1);
    let tree = saved.tree.as_str();
    scene.write("file", "two\n");
    fs::remove_file(scene.ours.join("objects").join(&tree[..2]).join(&tree[2..])).unwrap();
    let checkpoints = scene.checkpoints();
    let restored = checkpoints.restore(&saved, Scope::All, Guard::Force, &undo(1), &limits());
    assert!(matches!(restored, Err(Error::Failed { .. })), "{restored:?}");
    assert_eq!(scene.read("file"), "two\n");
}

#[test]
fn c5_a_restore_is_refused_with_the_list_when_others_changed_files() {
    let (scene, first, second) = two_turns();
    scene.write("dir/changed", "by the user");
    scene.write("unrelated", "by the user");
    let (checkpoints, before) = (scene.checkpoints(), scene.files());
    let guard = Guard::UnchangedSince(&second.tree);
    let refused = checkpoints.restore(&first, Scope::All, guard, &undo(1), &limits());
    let Err(Error::ChangedSince { paths: changed }) = refused else { panic!("{refused:?}") };
    assert_eq!(changed, paths(&["dir/changed", "unrelated"]));
    assert_eq!(scene.files(), before);
    assert_eq!(checkpoints.find(&undo(1), &limits()).unwrap(), None);
    // Not when only other files changed.
    let wanted = paths(&["script"]);
    let scope = Scope::Paths(&wanted);
    let restored = checkpoints.restore(&first, scope, guard, &undo(1), &limits()).unwrap();
    assert_eq!(restored.written, wanted);
    assert_eq!(scene.read("dir/changed"), "by the user");
}

#[test]
fn c4_one_file_or_folder_is_reverted_alone() {
    let (scene, first, _) = two_turns();
    let wanted = paths(&["dir/changed", "was-folder"]);
    let checkpoints = scene.checkpoints();
    let restored =
        checkpoints.restore(&first, Scope::Paths(&wanted), Guard::Force, &undo(1), &limits());
    let restored = restored.unwrap();
    assert_eq!(restored.written, paths(&["dir/changed", "was-folder/x"]));
    assert_eq!(restored.removed, paths(&["was-folder"]));
    assert_eq!(scene.read("dir/changed"), "old");
    assert!(!scene.path("dir/gone").exists());
    assert!(scene.path("added").exists());
}

#[test]
fn c5_nothing_is_written_through_links_out_of_the_work_tree() {
    let scene = Scene::new();
    let outside = scene.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "theirs").unwrap();
    scene.write("dir/x", "ours");
    scene.write(".gitignore", "/dir\n");
    // Captured before it was ignored, so the link in its place is not part of the next snapshot.
    fs::remove_file(scene.path(".gitignore")).unwrap();
    let first = scene.checkpoint(1);
    fs::remove_dir_all(scene.path("dir")).unwrap();
    symlink(&outside, scene.path("dir")).unwrap();
    scene.write(".gitignore", "/dir\n");
    let restored = restore(&scene, &first, &undo(1));
    assert_eq!(fs::read_to_string(outside.join("x")).unwrap(), "theirs");
    let blocked: Vec<&Path> = restored.blocked.iter().map(|it| it.path.as_path()).collect();
    assert_eq!(blocked, [Path::new("dir/x")]);
    assert!(scene.path("dir").is_symlink());
    // A link that was captured is replaced, and its target is left alone.
    fs::remove_file(scene.path("dir")).unwrap();
    symlink(outside.join("x"), scene.path("link")).unwrap();
    let second = scene.checkpoint(2);
    fs::remove_file(scene.path("link")).unwrap();
    scene.write("link", "a file");
    let third = scene.checkpoint(3);
    restore(&scene, &second, &undo(2));
    restore(&scene, &third, &undo(3));
    assert_eq!(fs::read_to_string(outside.join("x")).unwrap(), "theirs");
    assert_eq!(scene.files()[Path::new("link")], file("a file"));
}

#[test]
fn c5_files_that_were_not_captured_are_left_alone() {
    let scene = Scene::new();
    scene.write("data", vec![b'x'; 3 << 20]);
    scene.write("a", "old");
    let first = scene.checkpoint(1);
    // Small enough to be captured now; the restore must not take it for a new file.
    scene.write("data", "small");
    scene.write("a", "new");
    let restored = restore(&scene, &first, &undo(1));
    assert_eq!(scene.read("data"), "small");
    assert_eq!(scene.read("a"), "old");
    assert_eq!(restored.blocked.len(), 1);
    // A folder with ignored files in the place of a file stays.
    scene.write(".gitignore", "*.log\n");
    fs::remove_file(scene.path("a")).unwrap();
    scene.write("a/precious.log", "x");
    let restored = restore(&scene, &first, &undo(2));
    assert_eq!(scene.read("a/precious.log"), "x");
    let blocked: Vec<&Path> = restored.blocked.iter().map(|it| it.path.as_path()).collect();
    assert_eq!(blocked, [Path::new("data"), Path::new("a")]);
}

#[test]
fn c9_a_full_disk_stops_a_restore_before_any_file_changed() {
    let scene = Scene::new();
    scene.write("a", "old");
    let noise: Vec<u8> =
        (0..200_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    scene.write("big", &noise);
    scene.checkpoint(1);
    scene.write("a", "new");
    fs::remove_file(scene.path("big")).unwrap();
    let before = scene.files();
    // Content was captured before, so that only the files themselves exceed the limit.
    scene.checkpoint(2);
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let helper = crate::crash::helper();
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(helper).arg("restore");
    let output = command.args([&scene.ours, &scene.project]).arg("1").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("DiskFull"), "{stderr}");
    assert_eq!(scene.files(), before);
    assert_eq!(scene.checkpoints().recover(&limits()).unwrap(), None);
    let first = scene.checkpoints().find(&crate::scene::before(1), &limits()).unwrap().unwrap();
    restore(&scene, &first, &undo(2));
    assert_eq!(scene.files(), scene.files_in(&first.tree));
}

#[test]
fn c5_nested_repositories_are_restored_without_touching_their_git() {
    let scene = Scene::with_git();
    scene.git(&["init", "-q", "nested"]);
    scene.write("nested/a", "old");
    let first = scene.checkpoint(1);
    scene.write("nested/a", "new");
    scene.write("nested/b", "new");
    let head = fs::read(scene.path("nested/.git/HEAD")).unwrap();
    let restored = restore(&scene, &first, &undo(1));
    assert_eq!(restored.written, paths(&["nested/a"]));
    assert_eq!(restored.removed, [PathBuf::from("nested/b")]);
    assert_eq!(fs::read(scene.path("nested/.git/HEAD")).unwrap(), head);
}
