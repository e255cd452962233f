//! What becomes of work trees: merged, squashed, rebased, offered as a pull request, kept, discarded, and restored.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use convoke_testkit::tools::search_path;
use serde_json::{Value, json};

use crate::serve_scene::Daemon;
use crate::worktree_scene::{
    app, begin, daemon, daemon_on, finish, git, machine, notices, run, session,
};

/// The current work trees and branches.
fn state(daemon: &Daemon) -> (String, String, String) {
    let app = app(daemon);
    (
        git(&app, &["for-each-ref", "refs/heads"]),
        git(&app, &["worktree", "list", "--porcelain"]),
        git(&app, &["status", "--porcelain"]),
    )
}

/// Finishes a session whose base has moved on meanwhile.
fn finished_by(how: &str) {
    let daemon = daemon();
    let app = app(&daemon);
    let (session, path) = session(&daemon);
    run(&daemon, &session, "echo a > a.txt; git add -A; git commit -qm 'add a'; echo b > b.txt");
    let branch = git(&path, &["branch", "--show-current"]);
    let merged = format!("Merge branch '{branch}'\nmeanwhile\nBoth letters\nadd a\nfirst");
    // The base has moved on meanwhile.
    fs::write(app.join("main.txt"), "m\n").unwrap();
    git(&app, &["add", "-A"]);
    git(&app, &["commit", "-qm", "meanwhile"]);
    let body = json!({"how": how, "message": "Both letters"});
    let finished = finish(&daemon, &session, &body);
    assert_eq!(finished.status, 200, "{how}: {finished:?}");
    let finished = finished.json();
    assert_eq!((&finished["outcome"], &finished["base"]), (&json!("finished"), &json!("main")));
    assert_eq!(finished["commit"], git(&app, &["rev-parse", "main"]), "{how}");
    for (file, content) in [("a.txt", "a\n"), ("b.txt", "b\n"), ("main.txt", "m\n")] {
        assert_eq!(fs::read_to_string(app.join(file)).unwrap(), content, "{how}");
    }
    let subjects = git(&app, &["log", "--format=%s", "main"]);
    let expected = match how {
        "merge" => &merged,
        "squash" => "Both letters\nmeanwhile\nfirst",
        _ => "Both letters\nadd a\nmeanwhile\nfirst",
    };
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&subjects), sorted(expected), "{how}");
    assert!(!path.exists(), "{how}");
    assert_eq!(git(&app, &["branch", "--format=%(refname:short)"]), "main");
    let shown = &finished["session"];
    assert_eq!(
        (&shown["status"], &shown["worktree"]["removed"]["how"]),
        (&json!("completed"), &json!(how))
    );
    // What it changed can still be seen, and a prompt is refused with the way out.
    assert_eq!(daemon.get(&format!("/api/sessions/{session}/changes")).status, 200);
    daemon.post(&format!("/api/sessions/{session}/resume"), &json!({}));
    let prompt = json!({"text": "go on"});
    let refused = daemon.post(&format!("/api/sessions/{session}/prompt"), &prompt);
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("convoke worktree restore"), "{refused:?}");
}

#[test]
fn c7_commits_and_uncommitted_files_get_into_the_base_by_a_merge() {
    finished_by("merge");
}

#[test]
fn c7_commits_and_uncommitted_files_get_into_the_base_by_a_squash() {
    finished_by("squash");
}

#[test]
fn c7_commits_and_uncommitted_files_get_into_the_base_by_a_rebase() {
    finished_by("rebase");
}

/// Ends a work tree, and restores it from its snapshot.
#[test]
fn k10_no_way_to_finish_touches_a_branch_that_the_agent_led_its_work_tree_to() {
    let daemon = daemon();
    let app = app(&daemon);
    git(&app, &["branch", "release"]);
    let (session, path) = session(&daemon);
    let attack = "echo ref: refs/heads/release > $(git rev-parse --git-dir)/HEAD; echo x > planted; \
        git symbolic-ref HEAD";
    assert_eq!(run(&daemon, &session, attack).trim(), "refs/heads/release");
    let branches = || git(&app, &["for-each-ref", "--format=%(refname) %(objectname)"]);
    let before = branches();
    for how in ["merge", "squash", "rebase", "keep", "discard"] {
        let refused = finish(&daemon, &session, &json!({"how": how}));
        assert_eq!(refused.status, 409, "{how}: {refused:?}");
        assert!(refused.body.contains("has release checked out"), "{how}: {refused:?}");
        assert!(refused.body.contains("git switch"), "{how}: {refused:?}");
        assert_eq!(branches(), before, "{how}");
    }
    assert!(path.join("planted").exists());
    // The folder alone can be removed, and comes back with the session's branch.
    assert_eq!(
        daemon.machine.run_args(&["worktree", "remove", &session]).lines().next(),
        Some("exit 0")
    );
    assert_eq!(branches(), before);
    assert!(!path.exists());
    assert_eq!(
        daemon.machine.run_args(&["worktree", "restore", &session]).lines().next(),
        Some("exit 0")
    );
    assert!(git(&path, &["symbolic-ref", "HEAD"]).starts_with("refs/heads/convoke/"));
    assert!(path.join("planted").exists());
}

fn restored_after(how: &str) {
    let daemon = daemon();
    let app = app(&daemon);
    let (session, path) = session(&daemon);
    run(&daemon, &session, "echo a > a.txt; git add -A; git commit -qm 'add a'; echo b > b.txt");
    let ended = match how {
        "remove" => daemon.call("DELETE", &format!("/api/worktrees/{session}"), &json!({})),
        how => finish(&daemon, &session, &json!({"how": how})),
    };
    assert_eq!((ended.status, path.exists()), (200, false), "{how}: {ended:?}");
    // The base has none of it, and is not named.
    assert_eq!(ended.json().get("base"), None, "{how}: {ended:?}");
    let branches = git(&app, &["branch", "--format=%(refname:short)"]);
    assert_eq!(branches.contains("convoke/"), how != "discard", "{how}: {branches}");
    let listed = daemon.get("/api/worktrees").json();
    assert_eq!(listed["worktrees"][0]["state"], "removed", "{listed}");
    let restored = daemon.machine.run_args(&["worktree", "restore", &session]);
    assert!(restored.contains("restored: "), "{restored}");
    assert_eq!(fs::read_to_string(path.join("b.txt")).unwrap(), "b\n", "{how}");
    assert!(git(&path, &["log", "--format=%s"]).ends_with("add a\nfirst"), "{how}");
    // The session goes on there.
    daemon.post(&format!("/api/sessions/{session}/resume"), &json!({}));
    let read = run(&daemon, &session, "cat b.txt");
    assert!(read.ends_with("\nb\n"), "{how}: {read:?} of {:#?}", daemon.messages(&session));
    let again = daemon.post(&format!("/api/worktrees/{session}/restore"), &json!({}));
    assert_eq!(again.status, 409, "{again:?}");
}

#[test]
fn c7_a_work_tree_is_restored_from_its_snapshot_after_discard() {
    restored_after("discard");
}

#[test]
fn c7_a_work_tree_is_restored_from_its_snapshot_after_keep() {
    restored_after("keep");
}

#[test]
fn c7_a_work_tree_is_restored_from_its_snapshot_after_remove() {
    restored_after("remove");
}

#[test]
fn c7_a_dirty_base_a_working_agent_and_a_missing_base_are_refused_and_nothing_changes() {
    let daemon = daemon();
    let app = app(&daemon);
    let (session, path) = session(&daemon);
    run(&daemon, &session, "echo a > a.txt; git add -A; git commit -qm a");
    fs::write(app.join("notes.txt"), "mine\n").unwrap();
    let before = state(&daemon);
    let refused = finish(&daemon, &session, &json!({"how": "merge"}));
    let problem = refused.json();
    assert_eq!((refused.status, &problem["files"]), (409, &json!(["notes.txt"])), "{problem}");
    assert_eq!(problem["code"], "uncommitted_changes");
    assert!(problem["hint"].as_str().unwrap().contains("commit or stash"), "{problem}");
    assert_eq!(state(&daemon), before);
    let turn = daemon.prompt(&session, "while [ ! -e go ]; do read -t 0.1 < /dev/zero; done");
    let refused = finish(&daemon, &session, &json!({"how": "merge"}));
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("the agent is working"), "{refused:?}");
    fs::write(path.join("go"), "").unwrap();
    daemon.follow(&session, 0).until(|message| crate::serve_scene::is_end_of(message, &turn));
    fs::remove_file(path.join("go")).unwrap();
    // Where no branch is checked out, there is none to merge into.
    git(&app, &["checkout", "-q", "--", "notes.txt"]);
    git(&app, &["checkout", "-q", "--detach"]);
    let begun = begin(&daemon, &json!({"branch": "lost/work"})).json();
    let lost = begun["id"].as_str().unwrap();
    let refused = finish(&daemon, lost, &json!({"how": "merge"}));
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("keep the branch"), "{refused:?}");
    // A session without a work tree has nothing to finish.
    let plain = daemon.session_with("shell");
    assert_eq!(finish(&daemon, &plain, &json!({"how": "keep"})).status, 409);
}

#[test]
fn c7_conflicts_are_listed_given_to_the_agent_and_never_left_half_done() {
    let daemon = daemon();
    let app = app(&daemon);
    let (session, path) = session(&daemon);
    run(&daemon, &session, "echo theirs > notes.txt; git commit -qam theirs");
    fs::write(app.join("notes.txt"), "ours\n").unwrap();
    git(&app, &["commit", "-qam", "ours"]);
    let before = state(&daemon);
    for how in ["merge", "squash", "rebase"] {
        let answer = finish(&daemon, &session, &json!({"how": how})).json();
        assert_eq!(answer["outcome"], "conflicts", "{answer}");
        let expected = json!([{"path": "notes.txt", "base": "changed", "branch": "changed"}]);
        assert_eq!(answer["conflicts"], expected);
        assert_eq!(state(&daemon), before, "{how}");
        assert_eq!(fs::read_to_string(path.join("notes.txt")).unwrap(), "theirs\n");
        assert_eq!(git(&path, &["status", "--porcelain"]), "");
    }
    let said = daemon.machine.run_args(&["session", "finish", &session, "--merge"]);
    insta::assert_snapshot!(said, @"
    exit 1
    --- stdout
    conflict: notes.txt
    --- stderr
    error: 1 file in conflict; nothing was merged
    ");
    assert_eq!(daemon.post("/api/users", &json!({"name": "ann", "role": "member"})).status, 201);
    let token = daemon.post("/api/users/ann/tokens", &json!({"label": "test"})).json();
    let head = daemon.head("POST", &format!("/api/sessions/{session}/finish"));
    let head = head.replace(&*daemon.token, token["token"].as_str().unwrap());
    let head = head + "content-type: application/json\r\n";
    let answer = daemon.send(&head, &json!({"how": "merge", "resolve": true}).to_string()).json();
    let id = answer["prompt"]["messageId"].as_str().unwrap().to_owned();
    let prompt = daemon.messages(&session).into_iter().find(|message| message["id"] == id.as_str());
    let prompt = prompt.unwrap();
    // N7: her rules hold for what the agent does about it, and not the owner's.
    assert_eq!(prompt["content"]["by"], "ann");
    let text = prompt["content"]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("- notes.txt") && text.contains("git merge main"), "{text}");
    let rev = answer["prompt"]["rev"].as_u64().unwrap();
    daemon
        .follow(&session, rev)
        .until(|message| message["id"] == id.as_str() && message["turn"]["status"] == "ended");
    // What the agent does about it.
    let resolve = "git merge main; echo both > notes.txt; git commit -qam resolved; git status -s";
    assert!(!run(&daemon, &session, resolve).contains("UU"));
    let answer = finish(&daemon, &session, &json!({"how": "merge"})).json();
    assert_eq!(answer["outcome"], "finished", "{answer}");
    assert_eq!(fs::read_to_string(app.join("notes.txt")).unwrap(), "both\n");
}

/// A program that speaks the command line of `gh`, and writes its arguments to a file.
const GH: &str = r#"#!/bin/sh
printf '%s\n' "$@" > "$HOME/gh-said"
git status > /dev/null
[ -e "$HOME/gh-fails" ] && { echo 'not logged in' >&2; exit 4; }
echo 'Creating pull request' >&2
echo 'https://github.com/ann/app/pull/7'
"#;

/// A program that speaks the command line of `ssh`, to a host with one repository.
const SSH: &str = r#"#!/bin/sh
for last; do :; done
case "$last" in
  "git-receive-pack '/ann/app.git'") exec git receive-pack "$HOME/origin.git" ;;
  *) echo "no such command: $last" >&2; exit 1 ;;
esac
"#;

/// Installs both into a folder.
pub(crate) fn install_gh_and_ssh(tools: &Path) {
    for (name, program) in [("gh", GH), ("ssh", SSH)] {
        fs::write(tools.join(name), program).unwrap();
        fs::set_permissions(tools.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn c7_k10_a_pull_request_is_made_with_gh_and_no_program_of_the_repository_runs() {
    let machine = machine();
    let home = machine.path().canonicalize().unwrap();
    let tools = home.join("tools");
    fs::create_dir(&tools).unwrap();
    let path = format!("{}:{}", tools.display(), search_path());
    let daemon = daemon_on(machine, "", &path);
    let app = app(&daemon);
    let (session, folder) = session(&daemon);
    run(&daemon, &session, "echo a > a.txt");
    let pr = |text: &str| finish(&daemon, &session, &json!({"how": "pr", "message": text}));
    let refused = pr("x");
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("cli.github.com"), "{refused:?}");
    install_gh_and_ssh(&tools);
    let refused = pr("x");
    assert!(refused.body.contains("git remote add origin"), "{refused:?}");
    git(&home, &["init", "-q", "--bare", "origin.git"]);
    // A repository on this machine would run its own hooks.
    git(&app, &["remote", "add", "origin", home.join("origin.git").to_str().unwrap()]);
    let refused = pr("x");
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("'file' not allowed"), "{refused:?}");
    git(&app, &["remote", "set-url", "origin", "ssh://git@github.test/ann/app.git"]);
    // An agent that made the repository has made its configuration, too.
    let planted = format!("touch {}/planted; git-receive-pack", home.display());
    for key in ["remote.origin.receivepack", "core.fsmonitor", "core.sshCommand"] {
        git(&app, &["config", key, &planted]);
    }
    fs::write(home.join("gh-fails"), "").unwrap();
    let refused = pr("x");
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("not logged in"), "{refused:?}");
    fs::remove_file(home.join("gh-fails")).unwrap();
    let made = pr("Add a\n\nIt was missing.");
    assert_eq!(made.status, 200, "{made:?}");
    let made = made.json();
    assert_eq!(made["outcome"], "pull_request", "{made}");
    assert_eq!(made["pullRequest"], "https://github.com/ann/app/pull/7");
    let branch = made["session"]["worktree"]["branch"].as_str().unwrap();
    let told = fs::read_to_string(home.join("gh-said")).unwrap();
    let expected = format!(
        "pr\ncreate\n--head\n{branch}\n--base\nmain\n--title\nAdd a\n--body\nIt was missing.\n"
    );
    assert_eq!(told, expected);
    assert_eq!(git(&home.join("origin.git"), &["log", "-1", "--format=%s", branch]), "x");
    assert!(!home.join("planted").exists());
    let left = fs::read_dir(daemon.machine.home().join("run")).unwrap().flatten();
    assert!(left.into_iter().all(|it| !it.file_name().to_string_lossy().starts_with("outgoing")));
    // The work tree stays, for what reviewers say.
    assert!(folder.exists());
    // Its new process is given the transcript with the prompt, and runs all of it.
    assert!(run(&daemon, &session, "git log -1 --format=%s").ends_with("\nx\n"));
}

#[test]
fn c7_a_pull_request_is_pushed_when_the_remote_has_lost_a_branch_that_is_known_here() {
    let machine = machine();
    let home = machine.path().canonicalize().unwrap();
    let tools = home.join("tools");
    fs::create_dir(&tools).unwrap();
    install_gh_and_ssh(&tools);
    let daemon = daemon_on(machine, "", &format!("{}:{}", tools.display(), search_path()));
    let app = app(&daemon);
    git(&home, &["init", "-q", "--bare", "origin.git"]);
    git(&app, &["push", "-q", home.join("origin.git").to_str().unwrap(), "main"]);
    git(&app, &["remote", "add", "origin", "ssh://git@github.test/ann/app.git"]);
    git(&app, &["update-ref", "refs/remotes/origin/main", "main"]);
    // The remote had this commit in a branch that was deleted.
    fs::write(app.join("lost.txt"), "lost\n").unwrap();
    git(&app, &["add", "-A"]);
    git(&app, &["commit", "-qm", "lost"]);
    git(&app, &["update-ref", "refs/remotes/origin/deleted", "main"]);
    let (session, _) = session(&daemon);
    run(&daemon, &session, "echo a > a.txt");
    let made = finish(&daemon, &session, &json!({"how": "pr", "message": "Add a"}));
    assert_eq!(made.status, 200, "{made:?}");
    let branch = made.json()["session"]["worktree"]["branch"].as_str().unwrap().to_owned();
    let subjects = git(&home.join("origin.git"), &["log", "--format=%s", &branch]);
    assert_eq!(subjects, "Add a\nlost\nfirst");
}

#[test]
fn c7_files_that_no_snapshot_holds_are_named_and_a_folder_that_was_deleted_by_hand_is_restored() {
    let daemon = daemon();
    let (session, path) = session(&daemon);
    run(
        &daemon,
        &session,
        "echo a > a.txt; git add -A; git commit -qm a; head -c 3000000 /dev/zero > big.bin",
    );
    let refused = finish(&daemon, &session, &json!({"how": "discard"}));
    let problem = refused.json();
    assert_eq!((refused.status, &problem["files"]), (409, &json!(["big.bin"])), "{problem}");
    assert_eq!(problem["code"], "files_not_captured");
    assert!(path.join("big.bin").exists());
    fs::remove_dir_all(&path).unwrap();
    let listed: Value = daemon.get("/api/worktrees").json();
    assert_eq!(listed["worktrees"][0]["state"], "missing", "{listed}");
    let refused = finish(&daemon, &session, &json!({"how": "merge"}));
    assert!(refused.body.contains("convoke worktree restore"), "{refused:?}");
    assert_eq!(refused.json()["code"], "worktree_missing");
    let restored = daemon.post(&format!("/api/worktrees/{session}/restore"), &json!({}));
    assert_eq!(restored.status, 200, "{restored:?}");
    assert!(path.join("a.txt").exists());
    assert_eq!(notices(&daemon, &session, "worktree_restored").len(), 1);
    let said = daemon.machine.run_args(&["session", "finish", &session, "--squash"]);
    assert!(said.contains("main has the changes of convoke/"), "{said}");
}
