//! Whatever the user does, checkpoints hold the files as they are, and the user's repository does not notice.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use proptest::prelude::*;

use crate::scene::{Scene, files};

/// Something that a user does in a project.
#[derive(Debug, Clone)]
enum Step {
    Write(usize, u8),
    Delete(usize),
    Rename(usize, usize),
    Execute(usize),
    Link(usize, usize),
    Git(usize),
}

/// Names that are files and folders at times.
const NAMES: [&str; 6] = ["a", "b", "dir/a", "dir/b c", "dir/deep/x\ny", "b/inside"];

/// What users type; some of it fails at times, which is fine.
const COMMANDS: [&[&str]; 16] = [
    &["add", "-A"],
    &["add", "a"],
    &["commit", "-qam", "all"],
    &["commit", "-q", "--amend", "-m", "amended"],
    &["checkout", "-q", "-b", "side"],
    &["checkout", "-q", "main"],
    &["checkout", "-q", "--detach"],
    &["checkout", "-q", "-f", "side"],
    &["stash", "-u"],
    &["stash", "pop"],
    &["reset", "-q", "--hard"],
    &["reset", "-q", "HEAD~1"],
    &["merge", "-q", "side"],
    &["merge", "--abort"],
    &["rm", "-q", "-f", "a"],
    &["tag", "-f", "mark"],
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..NAMES.len();
    let step = prop_oneof![
        // Two contents of one size, so that times and sizes say nothing.
        5 => (name.clone(), 0..2_u8).prop_map(|(name, text)| Step::Write(name, text)),
        1 => name.clone().prop_map(Step::Delete),
        1 => (name.clone(), name.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => name.clone().prop_map(Step::Execute),
        1 => (name.clone(), name).prop_map(|(name, to)| Step::Link(name, to)),
        4 => (0..COMMANDS.len()).prop_map(Step::Git),
    ];
    prop::collection::vec(step, 1..12)
}

/// Does it to a folder; what is impossible is impossible in both.
fn act(scene: &Scene, root: &Path, step: &Step) {
    let path = |name: &usize| root.join(NAMES[*name]);
    let parent = |name: &usize| fs::create_dir_all(path(name).parent().unwrap()).ok();
    match step {
        Step::Write(name, text) => {
            parent(name);
            fs::write(path(name), format!("line\r\n{text}\n")).ok();
        }
        Step::Delete(name) => {
            fs::remove_file(path(name)).ok();
        }
        Step::Rename(from, to) => {
            parent(to);
            fs::rename(path(from), path(to)).ok();
        }
        Step::Execute(name) => {
            if path(name).symlink_metadata().is_ok_and(|found| found.is_file()) {
                fs::set_permissions(path(name), fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        Step::Link(name, to) => {
            parent(name);
            symlink(NAMES[*to], path(name)).ok();
        }
        Step::Git(command) => {
            scene.user_git(root).args(COMMANDS[*command]).output().unwrap();
        }
    }
}

/// What the user's git says, without letting it write.
fn report(scene: &Scene, root: &Path) -> Vec<String> {
    let commands: [&[&str]; 5] = [
        &["status", "--porcelain=v2", "--branch", "-z"],
        &["ls-files", "--stage", "-z"],
        &["for-each-ref"],
        &["stash", "list"],
        &["reflog", "--all"],
    ];
    let run = |args: &&[&str]| {
        let output = scene.user_git(root).env("GIT_OPTIONAL_LOCKS", "0").args(*args).output();
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    };
    commands.iter().map(run).collect()
}

/// The files of `.git` but for the index, which has the times and inodes of the files around it.
fn git_files(root: &Path) -> crate::scene::Files {
    let mut found = files(&root.join(".git"));
    found.remove(Path::new("index"));
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn c1_checkpoints_are_exact_and_leave_no_trace_in_the_projects_repository(steps in steps()) {
        let scene = Scene::with_git();
        let plain = scene.root().join("plain");
        let copied = std::process::Command::new("cp").arg("-a").args([&scene.project, &plain]).status();
        prop_assert!(copied.unwrap().success());
        // A copy has other inodes than its index says, and a user's git would write files again because of that.
        for root in [&scene.project, &plain] {
            scene.git_in(root, &["update-index", "-q", "--refresh"]);
        }
        for (turn, step) in steps.iter().enumerate() {
            act(&scene, &scene.project, step);
            act(&scene, &plain, step);
            let untouched = scene.git_folder();
            let saved = scene.checkpoint(turn as u64);
            prop_assert_eq!(&untouched, &scene.git_folder());
            prop_assert_eq!(scene.files_in(&saved.tree), scene.files());
            prop_assert_eq!(report(&scene, &scene.project), report(&scene, &plain));
            prop_assert_eq!(git_files(&scene.project), git_files(&plain));
            prop_assert_eq!(scene.files(), files(&plain));
        }
    }
}
