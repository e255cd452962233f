//! Sessions in git work trees of their own: what they have there, and what they cannot do outside.

use std::fs;

use convoke_testkit::tools::search_path;
use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::socket_scene::Socket;
use crate::worktree_scene::{app, begin, daemon, daemon_on, git, machine, notices, run, session};

#[test]
fn c6_a_session_works_and_commits_in_its_own_work_tree() {
    let machine = machine();
    let folder = machine.path().canonicalize().unwrap().join("root/app");
    let set_up = "echo installing; cp notes.txt made-by-setup.txt";
    let hidden = folder.join("production.env");
    let config =
        format!("[sandbox]\nhidden = [{hidden:?}]\n[projects.{folder:?}]\nsetup = {set_up:?}\n");
    let daemon = daemon_on(machine, &config, &search_path());
    let app = app(&daemon);
    fs::write(app.join(".env"), "KEY=1\n").unwrap();
    fs::write(app.join("production.env"), "KEY=2\n").unwrap();
    fs::write(app.join(".worktreeinclude"), "*.env\n").unwrap();
    let (session, path) = session(&daemon);
    let shown = daemon.get(&format!("/api/sessions/{session}")).json();
    let branch = format!("convoke/{}/work", &session[..8]);
    assert_eq!(
        shown["worktree"],
        json!({"path": path, "branch": branch, "base": "main"}),
        "{shown}"
    );
    let data = daemon.machine.path().canonicalize().unwrap().join(".local/share/convoke/worktrees");
    assert!(path.starts_with(&data), "{}", path.display());
    let said = run(
        &daemon,
        &session,
        "pwd; cat .env; echo new > notes.txt; git add -A && git commit -qm work && git status -sb",
    );
    assert_eq!(said, format!("{}\nKEY=1\n## {branch}\n", path.display()));
    assert_eq!(git(&app, &["log", "-1", "--format=%s", &branch]), "work");
    assert_eq!(git(&app, &["log", "-1", "--format=%s", "main"]), "first");
    assert_eq!(fs::read_to_string(app.join("notes.txt")).unwrap(), "old\n");
    // The set-up ran before the first turn, in the same place.
    let set_up = notices(&daemon, &session, "worktree_set_up");
    assert_eq!((&set_up[0]["code"], &set_up[0]["output"]), (&json!(0), &json!("installing\n")));
    assert_eq!(fs::read_to_string(path.join("made-by-setup.txt")).unwrap(), "old\n");
    let made = notices(&daemon, &session, "worktree_made");
    assert_eq!(made[0]["copied"], 1, "{made:?}");
    // It is hidden from agents, and an agent may have written the patterns.
    assert_eq!(made[0]["leftOut"], json!(["production.env"]), "{made:?}");
    assert!(!path.join("production.env").exists());
    let listed = daemon.get("/api/worktrees").json();
    assert_eq!(listed["worktrees"][0]["state"], "ready", "{listed}");
}

#[test]
fn c6_an_agent_in_a_work_tree_reaches_neither_the_project_nor_its_configuration() {
    let daemon = daemon();
    let app = app(&daemon);
    let (session, path) = session(&daemon);
    let own = git(&path, &["rev-parse", "--absolute-git-dir"]);
    let attacks = [
        format!("echo '[core]' >> {}/.git/config", app.display()),
        format!("echo evil > {}/.git/hooks/post-commit", app.display()),
        format!("echo evil > {}/planted", app.display()),
        format!("echo evil > {own}/commondir"),
        format!("echo evil > {own}/config.worktree"),
        "git update-ref refs/heads/main $(git commit-tree -m evil HEAD^{tree})".to_owned(),
        "git branch -f main HEAD~0 && git update-ref -d refs/heads/main".to_owned(),
    ];
    let before = git(&app, &["rev-parse", "main"]);
    for attack in attacks {
        let said = run(&daemon, &session, &format!("( {attack} ) && echo done"));
        assert!(!said.contains("done"), "{attack}: {said}");
    }
    assert_eq!(git(&app, &["rev-parse", "main"]), before);
    assert!(!app.join("planted").exists() && !app.join(".git/hooks/post-commit").exists());
}

#[test]
fn c6_checkpoints_and_diffs_are_those_of_the_work_tree() {
    let daemon = daemon();
    let (session, path) = session(&daemon);
    let mut socket = Socket::open(&daemon);
    run(&daemon, &session, "echo new > notes.txt");
    socket.until_frame(|frame| {
        frame["type"] == "changes:updated" && frame["uid"] == session.as_str()
    });
    let changes = daemon.get(&format!("/api/sessions/{session}/changes")).json();
    assert_eq!(changes["totals"], json!({"files": 1, "added": 1, "removed": 1}), "{changes}");
    let turn = &changes["turns"][0];
    let restored = daemon
        .post(&format!("/api/sessions/{session}/restore"), &json!({"turn": turn, "what": "files"}));
    assert_eq!(restored.json()["written"], json!(["notes.txt"]), "{restored:?}");
    assert_eq!(fs::read_to_string(path.join("notes.txt")).unwrap(), "old\n");
    // No other session works there, so what a command writes after its turn is shown before it is merged.
    let (pipe, ended) = (path.join("pipe"), path.join("ended"));
    let later = "read < pipe; echo x > later.txt; : > ended";
    run(&daemon, &session, &format!("mkfifo pipe; ({later}) > /dev/null 2>&1 &"));
    // Opened for both, so that this does not wait for a reader.
    let mut writer = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    std::io::Write::write_all(&mut writer, b"go\n").unwrap();
    until("the command has ended", || ended.exists());
    fs::remove_file(pipe).unwrap();
    fs::remove_file(ended).unwrap();
    run(&daemon, &session, "echo more > more.txt");
    let changes = daemon.get(&format!("/api/sessions/{session}/changes")).json();
    let names = changes["files"].as_array().unwrap().iter().map(|file| &file["path"]);
    assert_eq!(names.collect::<Vec<_>>(), ["later.txt", "more.txt"], "{changes}");
    assert_eq!(changes["between"], Value::Null);
}

#[test]
fn c6_there_is_no_work_tree_without_a_repository_a_commit_or_a_free_branch() {
    let daemon = daemon();
    let app = app(&daemon);
    let problem = |branch: &str| {
        let refused = begin(&daemon, &json!({"branch": branch}));
        assert_eq!(refused.status, 409, "{refused:?}");
        let problem = refused.json();
        (problem["detail"].as_str().unwrap().to_owned(), problem["hint"].clone())
    };
    assert_eq!(problem("main").0, "the branch main exists already");
    fs::rename(app.join(".git"), app.join("away")).unwrap();
    let (detail, hint) = problem("fix");
    assert!(detail.ends_with("is not a git repository"), "{detail}");
    assert!(hint.as_str().unwrap().contains("git init"), "{hint}");
    git(&app, &["init", "-q"]);
    assert!(problem("fix").0.ends_with("has no commit yet"));
    fs::remove_dir_all(app.join(".git")).unwrap();
    fs::rename(app.join("away"), app.join(".git")).unwrap();
    // Nothing is left of what was refused, and the branch is free.
    let begun = begin(&daemon, &json!({"branch": "fix/login"}));
    assert_eq!(begun.status, 201, "{begun:?}");
    assert_eq!(begun.json()["worktree"]["branch"], "fix/login");
    let branches = git(&app, &["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "fix/login\nmain");
    // An agent that may write the folder of one branch could write another one.
    git(&app, &["branch", "old-idea"]);
    let (detail, hint) = problem("old-idea");
    assert!(detail.contains("could also change"), "{detail}");
    assert!(hint.as_str().unwrap().contains("alone in its folder"), "{hint}");
    assert!(problem("fix/logout").0.contains("could also change fix/login"));
    let begun = begin(&daemon, &json!({"branch": "fix-login"})).json();
    let own = format!("convoke/{}/fix-login", &begun["id"].as_str().unwrap()[..8]);
    assert_eq!(begun["worktree"]["branch"], own.as_str(), "{begun}");
    assert!(begun["worktree"]["path"].as_str().unwrap().contains("/fix-login-"), "{begun}");
    // A branch that exists is used as it is.
    git(&app, &["branch", "old/idea"]);
    assert_eq!(begin(&daemon, &json!({"branch": "old/idea"})).status, 201);
}

#[test]
fn c6_a_session_in_a_folder_where_another_one_works_says_so() {
    let daemon = daemon();
    let told = || {
        let session = daemon.session_with("shell");
        daemon.turn(&session, "true");
        notices(&daemon, &session, "folder_shared")
    };
    let first = daemon.session_with("shell");
    daemon.turn(&first, "true");
    assert!(told().is_empty(), "the first one rests");
    daemon.prompt(&first, "sleep 600");
    let path = format!("/api/sessions/{first}");
    until("it works", || daemon.get(&path).json()["activity"] == "running");
    let told = told();
    assert_eq!(told[0]["session"], first.as_str(), "{told:?}");
    assert!(told[0]["text"].as_str().unwrap().contains("--worktree"), "{told:?}");
    let (own, _) = session(&daemon);
    assert!(notices(&daemon, &own, "folder_shared").is_empty());
}

#[test]
fn c6_c8_a_fork_in_a_work_tree_has_the_files_of_its_turn() {
    let daemon = daemon();
    let (session, path) = session(&daemon);
    let mut turns = Vec::new();
    for word in ["one", "two"] {
        let mut socket = Socket::open(&daemon);
        run(&daemon, &session, &format!("echo {word} > {word}.txt"));
        let updated = socket.until_frame(|frame| {
            frame["type"] == "changes:updated" && frame["uid"] == session.as_str()
        });
        turns.push(updated["turn"].clone());
    }
    let body = json!({"turn": turns[0], "worktree": {"branch": "other/way"}});
    let fork = daemon.post(&format!("/api/sessions/{session}/fork"), &body);
    assert_eq!(fork.status, 201, "{fork:?}");
    let forked = fork.json();
    let other = std::path::PathBuf::from(forked["worktree"]["path"].as_str().unwrap());
    assert_ne!(other, path);
    assert!(other.join("one.txt").exists() && !other.join("two.txt").exists());
    let id = forked["id"].as_str().unwrap();
    let said = run(&daemon, id, "pwd; ls");
    // This agent runs what it is sent, the transcript of the conversation before included.
    assert!(said.ends_with(&format!("{}\nnotes.txt\none.txt\n", other.display())), "{said}");
    // By the command line, at the end of the conversation.
    let said = daemon.machine.run_args(&["session", "fork", &session, "--worktree", "--json"]);
    let line = said.lines().find(|line| line.contains("\"worktree\"")).unwrap_or_default();
    assert!(!line.is_empty(), "{said}");
}

#[test]
fn c6_the_command_line_and_the_socket_create_sessions_in_work_trees() {
    let daemon = daemon();
    let project = daemon.project();
    let project = project.as_str().unwrap();
    let args =
        ["session", "new", "--project", project, "--agent", "shell", "--worktree", "fix/work"];
    let said = daemon.machine.run_args(&args);
    assert!(said.contains(" shell in ") && said.contains("branch fix/work"), "{said}");
    let mut socket = Socket::open(&daemon);
    let frame = json!({"type": "session:create", "projectId": project, "cliType": "shell",
        "worktree": {"branch": "socket/work"}});
    socket.say(&frame);
    let created = socket.until_frame(|frame| frame["type"] == "session:created");
    assert_eq!(created["session"]["worktree"]["branch"], "socket/work", "{created}");
    let listed = daemon.machine.run_args(&["worktree", "list"]);
    assert!(
        listed.contains("SESSION   STATE  BRANCH") && listed.contains("ready  socket/work"),
        "{listed}"
    );
    // A file that the configuration of the workspace names is never run.
    assert!(app(&daemon).join(".git").is_dir());
}
