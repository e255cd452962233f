//! `kill -9` in the middle.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use convoke_git::{Discard, Finish, FinishRequest, Outcome};
use convoke_testkit::wait;
use rustix::process::{Pid, Signal, kill_process};

use crate::scene::{Scene, before, files, limits};
use crate::worktrees::{add, new_branch, removal};

/// Enough files that writing them takes a noticeable time.
const MANY: usize = 300;

/// The program that does one thing to a project.
pub(crate) fn helper() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/change_project");
    assert!(program.exists(), "{} is missing: build the examples too", program.display());
    program
}

fn start(action: &str, scene: &Scene, work_tree: &Path, rest: &str) -> Child {
    let mut command = Command::new(helper());
    command.arg(action).args([&scene.ours, work_tree]).arg(rest).stdin(Stdio::null());
    command.spawn().unwrap()
}

/// Waits until something is so, or the program has ended.
fn until(child: &mut Child, fact: impl Fn() -> bool) {
    wait::until("the moment of the kill", || fact() || child.try_wait().unwrap().is_some());
}

/// Kills the program alone; its git goes on.
fn kill(mut child: Child) {
    child.kill().ok();
    child.wait().unwrap();
}

/// Kills the program and all that it started, like a machine that runs out of memory.
fn kill_all(child: Child) {
    let mut pids = vec![child.id()];
    let mut next = 0;
    while let Some(pid) = pids.get(next).copied() {
        next += 1;
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            pids.extend(children.split_whitespace().map(|pid| pid.parse::<u32>().unwrap()));
        }
    }
    for pid in pids {
        kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).ok();
    }
    kill(child);
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// The folder in which a restore collects files.
fn staging(scene: &Scene) -> Option<PathBuf> {
    let entries = fs::read_dir(&scene.project).unwrap().flatten().map(|entry| entry.path());
    entries.into_iter().find(|path| path.to_string_lossy().contains("/.convoke-restore-"))
}

#[test]
fn c5_a_restore_that_is_killed_is_finished_or_never_happened() {
    let scene = Scene::new();
    for number in 0..MANY {
        scene.write(format!("{number}"), format!("old {number}"));
    }
    let first = scene.checkpoint(1);
    let old = scene.files();
    let moments: [&dyn Fn() -> bool; 5] = [
        &|| count(&scene.ours.join("refs/convoke/s")) > 1,
        &|| staging(&scene).is_some(),
        &|| staging(&scene).is_some_and(|path| count(&path) > MANY / 2),
        &|| fs::read(scene.path("0")).is_ok_and(|text| text == b"old 0"),
        &|| fs::read(scene.path("155")).is_ok_and(|text| text == b"old 155"),
    ];
    for (round, moment) in moments.iter().enumerate() {
        for number in 0..MANY {
            scene.write(format!("{number}"), format!("new {round} {number}"));
        }
        scene.write("added", "new");
        let new = scene.files();
        let mut child = start("restore", &scene, &scene.project, "1");
        until(&mut child, moment);
        kill_all(child);
        let recovered = scene.checkpoints().recover(&limits()).unwrap();
        let now = scene.files();
        assert!(now == old || (now == new && recovered.is_none()), "round {round}: a mixture");
        assert_eq!(staging(&scene), None);
        assert!(recovered.is_none_or(|recovered| recovered.left.is_empty()));
        assert_eq!(scene.checkpoints().recover(&limits()).unwrap(), None);
        fs::remove_dir_all(scene.ours.join("refs/convoke/s")).unwrap();
        scene.our_git(&["update-ref", "refs/convoke/s/1-before", first.commit.as_str()]);
    }
}

#[test]
fn c5_files_that_were_edited_after_the_kill_are_left_alone() {
    let scene = Scene::new();
    for number in 0..MANY {
        scene.write(format!("{number}"), "old");
    }
    scene.checkpoint(1);
    for number in 0..MANY {
        scene.write(format!("{number}"), "new");
    }
    let mut child = start("restore", &scene, &scene.project, "1");
    until(&mut child, || staging(&scene).is_some());
    kill_all(child);
    scene.write("7", "by the user");
    let recovered = scene.checkpoints().recover(&limits()).unwrap();
    // If the program was faster than the kill, there is nothing to recover.
    if let Some(recovered) = recovered {
        assert_eq!(recovered.left, [PathBuf::from("7")]);
    }
    assert_eq!(scene.read("7"), "by the user");
    assert_eq!(scene.read("8"), "old");
}

#[test]
fn c1_checkpoints_that_are_killed_leave_a_repository_that_works() {
    let scene = Scene::with_git();
    for round in 0..4 {
        let mut child = start("checkpoint", &scene, &scene.project, "");
        let refs = scene.ours.join("refs/convoke/loop");
        fs::remove_dir_all(&refs).ok();
        let number = std::cell::Cell::new(0);
        until(&mut child, || {
            number.set(number.get() + 1);
            scene.write(format!("file{}", number.get() % 50), format!("{}", number.get()));
            count(&refs) > round
        });
        if round % 2 == 0 {
            kill(child);
        } else {
            kill_all(child);
        }
        let saved = scene.checkpoint(round as u64);
        assert_eq!(scene.files_in(&saved.tree), scene.files());
    }
    scene.our_git(&["fsck", "--full"]);
}

#[test]
fn c6_a_work_tree_whose_making_was_killed_is_cleared_away_and_made_again() {
    let scene = Scene::with_git();
    for number in 0..MANY {
        scene.write(format!("{number}"), "x");
    }
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-qm", "many"]);
    let (project, path) = (scene.open(), scene.root().join("trees/side"));
    let killers: [fn(Child); 2] = [kill_all, kill];
    for killer in killers {
        let mut child = start("worktree", &scene, &scene.project, path.to_str().unwrap());
        until(&mut child, || count(&path) > MANY / 4);
        killer(child);
        project.recover_worktrees(&scene.root().join("trees"), &limits()).unwrap();
        let list = project.worktrees(&limits()).unwrap();
        if list.len() == 1 {
            assert!(!path.exists());
            project.add_worktree(&new_branch(&path, "side"), &limits()).unwrap();
        }
        assert_eq!(files(&path), scene.files());
        scene.git(&["worktree", "remove", "--force", path.to_str().unwrap()]);
        scene.git(&["branch", "-qD", "side"]);
    }
}

#[test]
fn c7_finishing_that_is_killed_is_put_right() {
    let killers: [fn(Child); 2] = [kill_all, kill];
    for killer in killers {
        let scene = Scene::with_git();
        let made = add(&scene, "side");
        for number in 0..12 {
            fs::write(made.path.join("side"), format!("{number}")).unwrap();
            scene.git_in(&made.path, &["add", "-A"]);
            scene.git_in(&made.path, &["commit", "-qm", "side"]);
        }
        scene.write("main", "x");
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-qm", "main"]);
        let expected = files(&made.path);
        let mut child = start("finish", &scene, &made.path, scene.project.to_str().unwrap());
        let rebase = scene.path(".git/worktrees/side/rebase-merge");
        until(&mut child, || rebase.exists());
        killer(child);
        let (side, checkpoints) = (scene.open_at(&made.path), scene.checkpoints_of(&made.path));
        side.recover_finish(&checkpoints, &removal(2), &limits()).unwrap();
        assert_eq!(side.branch(&limits()).unwrap().as_deref(), Some("side"));
        assert_eq!(side.operation(), None);
        assert_eq!(scene.git_in(&made.path, &["status", "--porcelain"]), "");
        assert_eq!(scene.git(&["status", "--porcelain"]), "");
        assert_eq!(files(&made.path)[Path::new("side")], expected[Path::new("side")]);
        let (saved, message) = (removal(3), "finished");
        let checkpoints = &checkpoints;
        let how = Finish::Rebase;
        let request = FinishRequest {
            how,
            branch: "side",
            base: "main",
            message,
            checkpoints,
            saved: &saved,
        };
        let outcome = side.finish(&scene.open(), request, &limits()).unwrap();
        assert!(matches!(outcome, Outcome::Finished(_) | Outcome::NothingToDo), "{outcome:?}");
        assert_eq!(scene.read("side"), "11");
        assert_eq!(scene.git(&["rev-list", "--count", "main", "--"]).trim(), "14");
    }
}

#[test]
fn c7_a_removal_that_is_killed_keeps_the_snapshot_of_all_files() {
    let scene = Scene::with_git();
    let made = add(&scene, "side");
    for number in 0..MANY {
        fs::write(made.path.join(format!("{number}")), "x").unwrap();
    }
    let expected = files(&made.path);
    let mut child = start("remove", &scene, &made.path, scene.project.to_str().unwrap());
    until(&mut child, || count(&made.path) < MANY);
    kill_all(child);
    if made.path.exists() {
        let checkpoints = scene.checkpoints_of(&made.path);
        let (project, discard) = (scene.open(), Discard::CapturedOnly);
        let removed = project.remove_worktree(&checkpoints, &removal(1), discard, &limits());
        assert_eq!(scene.files_in(&removed.unwrap().saved.tree), expected);
    }
    assert!(!made.path.exists());
    let saved = scene.checkpoints().find(&removal(1), &limits()).unwrap().unwrap();
    assert_eq!(scene.files_in(&saved.tree), expected);
    assert_eq!(scene.checkpoints().find(&before(1), &limits()).unwrap(), None);
}
