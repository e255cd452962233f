//! Git processes: how they are started, and how they end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use convoke_git::{Cancel, Checkpoints, Error, Filters, Git, Launcher, Limits, Options, Project};
use convoke_testkit::wait::until;

use crate::scene::{SEARCH_PATH, Scene, git, limits};

/// How long a test waits for something that happens at once.
const TIMEOUT: Duration = Duration::from_secs(30);

fn script(scene: &Scene, name: &str, text: &str) -> PathBuf {
    let path = scene.root().join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A git that starts a process which does not end, notes it, and hangs.
fn hanging(scene: &Scene) -> (Git, PathBuf) {
    let pids = scene.root().join("pids");
    let text = format!(
        "case \"$*\" in *' ls-files '*) sleep 1000 & echo $! $$ > {0}.new; mv {0}.new {0}; wait;; \
        *) exec git \"$@\";; esac",
        pids.display()
    );
    let program = script(scene, "hanging-git", &text);
    (Git::open(&program, SEARCH_PATH.as_ref(), &limits()).unwrap(), pids)
}

fn is_alive(pid: &str) -> bool {
    // A zombie is dead; it waits to be reaped by its new parent.
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

fn assert_gone(pids: &Path) {
    let text = fs::read_to_string(pids).unwrap();
    for pid in text.split_whitespace() {
        until("the process is gone", || !is_alive(pid));
    }
}

#[test]
fn c9_a_git_that_hangs_is_killed_with_all_its_processes() {
    let scene = Scene::new();
    let (git, pids) = hanging(&scene);
    let (ours, project) = (&scene.ours, &scene.project);
    let checkpoints =
        Checkpoints::open(&git, ours, project, Options::default(), &limits()).unwrap();
    let error = checkpoints.snapshot(&Limits::new(Duration::from_secs(1))).unwrap_err();
    assert_eq!(error.to_string(), "git ls-files did not end within 1 s");
    assert_gone(&pids);
    // Nothing is held up by it.
    scene.write("a", "x");
    assert_eq!(scene.files_in(&scene.checkpoint(1).tree), scene.files());
}

#[test]
fn c9_a_call_is_cancelled_from_another_thread() {
    let scene = Scene::new();
    let (git, pids) = hanging(&scene);
    let (ours, project) = (&scene.ours, &scene.project);
    let checkpoints =
        Checkpoints::open(&git, ours, project, Options::default(), &limits()).unwrap();
    let cancel = Cancel::default();
    let limits = Limits::cancelled_by(TIMEOUT, cancel.clone());
    let error = thread::scope(|scope| {
        let call = scope.spawn(|| checkpoints.snapshot(&limits).unwrap_err());
        until("git hangs", || pids.exists());
        cancel.cancel();
        call.join().unwrap()
    });
    assert!(matches!(error, Error::Cancelled), "{error:?}");
    assert_gone(&pids);
}

#[test]
fn c1_the_projects_repository_is_read_through_the_launcher_alone() {
    let scene = Scene::with_git();
    let log = scene.root().join("log");
    let sandbox =
        script(&scene, "sandbox", &format!("echo \"$*\" >> {}\nexec env -i \"$@\"", log.display()));
    let env = vec![("HOME".into(), scene.root().join("home").into())];
    let launcher = Launcher { prefix: vec![sandbox.into(), "env".into()], env };
    let project = Project::open(&git(), &scene.project, launcher, Filters::Off, &limits()).unwrap();
    project.facts(&limits()).unwrap();
    let lines = fs::read_to_string(&log).unwrap();
    assert!(lines.lines().count() >= 4);
    // The variables survive a sandbox that clears them.
    for variable in ["GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none"] {
        assert!(lines.lines().all(|line| line.contains(variable)), "{variable}");
    }
    assert!(lines.lines().all(|line| line.contains("-c core.hooksPath=/dev/null")));
    // Checkpoints do not need it.
    scene.checkpoint(1);
    assert_eq!(fs::read_to_string(&log).unwrap(), lines);
}

#[test]
fn c9_a_lock_that_another_process_holds_too_long_is_named() {
    let scene = Scene::new();
    let (git, pids) = hanging(&scene);
    let (ours, project) = (&scene.ours, &scene.project);
    let slow = Checkpoints::open(&git, ours, project, Options::default(), &limits()).unwrap();
    let cancel = Cancel::default();
    let long = Limits::cancelled_by(TIMEOUT, cancel.clone());
    thread::scope(|scope| {
        scope.spawn(|| slow.snapshot(&long).unwrap_err());
        until("git hangs", || pids.exists());
        let error = scene.checkpoints().snapshot(&Limits::new(Duration::from_millis(50)));
        assert!(matches!(error, Err(Error::Busy { .. })), "{error:?}");
        cancel.cancel();
    });
}
