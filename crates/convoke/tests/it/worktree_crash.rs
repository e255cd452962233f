//! Daemons that are killed while git works on a work tree: the next one completes or undoes it, and says so.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use convoke_testkit::tools::search_path;
use convoke_testkit::wait::until;
use serde_json::json;

use crate::serve_scene::Daemon;
use crate::worktree_scene::{app, daemon_on, git, machine, notices, run, session};

/// A `git` that stops before a command until a file is gone. The folder of the repository is what every sandbox shows.
fn slow_git(tools: &Path, hold: &Path) {
    let script = format!(
        "#!/bin/bash\nfor word; do\n  if [ -e {hold:?} ] && [ \"$word\" = \"$(cat {hold:?})\" ]; then\n    \
         : > {hold:?}.reached\n    while [ -e {hold:?} ]; do read -t 0.05 < /dev/zero; done\n  fi\ndone\n\
         exec /usr/bin/git \"$@\"\n",
    );
    fs::create_dir_all(tools).unwrap();
    fs::write(tools.join("git"), script).unwrap();
    fs::set_permissions(tools.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// A daemon whose git can be stopped with the given file.
pub(crate) fn stoppable() -> (Daemon, PathBuf) {
    let machine = machine();
    let root = machine.path().canonicalize().unwrap();
    let hold = root.join("root/app/.git/hold");
    slow_git(&root.join("tools"), &hold);
    let path = format!("{}:{}", root.join("tools").display(), search_path());
    (daemon_on(machine, "", &path), hold)
}

/// Sends a request that never gets its answer, and kills the daemon when git has stopped at a word.
fn kill_at(daemon: &mut Daemon, hold: &Path, word: &str, path: &str, body: &serde_json::Value) {
    fs::write(hold, word).unwrap();
    let head = daemon.head("POST", path) + "content-type: application/json\r\n";
    let text = body.to_string();
    let request = format!("{head}content-length: {}\r\n\r\n{text}", text.len());
    let mut stream = daemon.connect();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let reached = hold.with_extension("reached");
    until("git is stopped", || reached.exists());
    daemon.end(rustix::process::Signal::KILL);
    fs::remove_file(hold).unwrap();
    daemon.start_again();
}

#[test]
fn c6_making_a_work_tree_that_was_cut_off_is_undone_at_the_next_start() {
    for word in ["add", "ls-files"] {
        let (mut daemon, hold) = stoppable();
        let app = app(&daemon);
        // Something to copy, so that git is asked for it.
        fs::write(app.join(".worktreeinclude"), "*.local\n").unwrap();
        let body = json!({"repoId": daemon.project(), "agent": "shell", "worktree": {"branch": "fix/work"}});
        kill_at(&mut daemon, &hold, word, "/api/sessions", &body);
        assert_eq!(git(&app, &["branch", "--format=%(refname:short)"]), "main", "{word}");
        assert_eq!(git(&app, &["worktree", "list"]).lines().count(), 1, "{word}");
        assert_eq!(daemon.get("/api/worktrees").json(), json!({"worktrees": []}));
        assert_eq!(daemon.logged("was interrupted, and undone").len(), 1, "{word}");
        // The same is possible again.
        let begun = daemon.post("/api/sessions", &body);
        assert_eq!(begun.status, 201, "{begun:?}");
    }
}

/// Kills the daemon when the merge of a session has come to a command of git, and looks at what the next one made of it.
fn completed_after(word: &str) {
    let (mut daemon, hold) = stoppable();
    let app = app(&daemon);
    let (session, path) = session(&daemon);
    run(&daemon, &session, "echo a > a.txt; git add -A; git commit -qm a; echo b > b.txt");
    let finish = format!("/api/sessions/{session}/finish");
    kill_at(&mut daemon, &hold, word, &finish, &json!({"how": "merge"}));
    assert_eq!(fs::read_to_string(app.join("b.txt")).unwrap(), "b\n");
    assert_eq!(git(&app, &["status", "--porcelain"]), "");
    assert!(!path.exists());
    let told = notices(&daemon, &session, "worktree_recovered");
    assert!(told[0]["text"].as_str().unwrap().contains("completed now"), "{told:?}");
    let shown = daemon.get(&format!("/api/sessions/{session}")).json();
    assert_eq!(shown["worktree"]["removed"]["how"], "merge", "{shown}");
}

#[test]
fn c7_a_merge_that_was_cut_off_is_completed_at_the_next_start_and_the_session_says_so() {
    completed_after("merge");
}

/// The same for commands that checkpoints use, too: the daemon may be killed before the merge has begun, and then
/// nothing has happened.
fn completed_or_not_begun(word: &str) {
    let (mut daemon, hold) = stoppable();
    let app = app(&daemon);
    let (session, path) = session(&daemon);
    run(&daemon, &session, "echo a > a.txt; git add -A; git commit -qm a; echo b > b.txt");
    let finish = format!("/api/sessions/{session}/finish");
    kill_at(&mut daemon, &hold, word, &finish, &json!({"how": "merge"}));
    if path.exists() {
        assert!(notices(&daemon, &session, "worktree_recovered").is_empty());
        assert!(!app.join("a.txt").exists() && !app.join("b.txt").exists());
        assert_eq!(fs::read_to_string(path.join("b.txt")).unwrap(), "b\n");
        let finished = daemon.post(&finish, &json!({"how": "merge"}));
        assert_eq!(finished.status, 200, "{finished:?}");
    }
    assert_eq!(fs::read_to_string(app.join("b.txt")).unwrap(), "b\n");
    assert_eq!(git(&app, &["status", "--porcelain"]), "");
    assert!(!path.exists());
}

#[test]
fn c7_a_merge_that_was_cut_off_before_its_commit_is_completed_or_has_not_begun() {
    completed_or_not_begun("commit-tree");
}

#[test]
fn c7_a_merge_that_was_cut_off_before_the_base_moved_is_completed_or_has_not_begun() {
    completed_or_not_begun("update-ref");
}

#[test]
fn c7_a_merge_that_was_cut_off_before_the_removal_is_completed() {
    completed_after("remove");
}

#[test]
fn c7_a_merge_that_was_cut_off_and_is_refused_now_is_undone_and_the_session_says_so() {
    let (mut daemon, hold) = stoppable();
    let app = app(&daemon);
    let (session, path) = session(&daemon);
    run(&daemon, &session, "echo theirs > notes.txt; git commit -qam theirs");
    let finish = format!("/api/sessions/{session}/finish");
    // The user changes the same file before the next start.
    let notes = app.join("notes.txt");
    fs::write(app.join(".git/later"), "").unwrap();
    fs::write(&hold, "merge").unwrap();
    let head = daemon.head("POST", &finish) + "content-type: application/json\r\n";
    let mut stream = daemon.connect();
    let body = r#"{"how": "merge"}"#;
    let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    until("git is stopped", || hold.with_extension("reached").exists());
    daemon.end(rustix::process::Signal::KILL);
    fs::write(&notes, "mine\n").unwrap();
    fs::remove_file(&hold).unwrap();
    daemon.start_again();
    let told = notices(&daemon, &session, "worktree_recovered");
    assert!(told[0]["text"].as_str().unwrap().contains("and undone"), "{told:?}");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine\n");
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(path.join("notes.txt")).unwrap(), "theirs\n");
    let listed = daemon.get("/api/worktrees").json();
    assert_eq!(listed["worktrees"][0]["state"], "ready", "{listed}");
}
