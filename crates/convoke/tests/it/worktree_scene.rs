//! A daemon with a project that is a git repository, and an agent that runs its prompts as shell commands in its sandbox.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use convoke_testkit::agent::Script;
use convoke_testkit::host::example;
use convoke_testkit::tools::search_path;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::{Answer, Daemon};

/// A machine outside of `/tmp`, of which a confined agent has its own.
pub(crate) fn machine() -> Convoke {
    Convoke::in_folder(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// A daemon with an agent `shell`, and a project with one commit.
pub(crate) fn daemon() -> Daemon {
    daemon_on(machine(), "", &search_path())
}

/// The same with more in the configuration, and another search path.
pub(crate) fn daemon_on(machine: Convoke, config: &str, path: &str) -> Daemon {
    let agent = example("shell_agent");
    let app = machine.path().join("root/app");
    fs::create_dir_all(&app).unwrap();
    repository(&app);
    let config = format!("[agents.shell]\ncommand = {agent:?}\n{config}");
    Daemon::on_path(machine, &Script::new(), &config, path)
}

/// Creates a repository with one commit and a committer.
pub(crate) fn repository(app: &Path) {
    git(app, &["init", "-q", "-b", "main"]);
    git(app, &["config", "user.name", "Ann"]);
    git(app, &["config", "user.email", "ann@localhost"]);
    fs::write(app.join("notes.txt"), "old\n").unwrap();
    fs::write(app.join(".gitignore"), ".env\n").unwrap();
    git(app, &["add", "-A"]);
    git(app, &["commit", "-qm", "first"]);
}

/// Runs git, and gives what it prints.
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder);
    let done = command.current_dir(folder).args(args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
}

/// The project's folder.
pub(crate) fn app(daemon: &Daemon) -> PathBuf {
    daemon.machine.path().canonicalize().unwrap().join("root/app")
}

/// Begins a session in a work tree.
pub(crate) fn begin(daemon: &Daemon, worktree: &Value) -> Answer {
    let body = json!({"repoId": daemon.project(), "agent": "shell", "worktree": worktree});
    daemon.post("/api/sessions", &body)
}

/// Begins a session in a work tree, and gives its id and its folder.
pub(crate) fn session(daemon: &Daemon) -> (String, PathBuf) {
    let begun = begin(daemon, &json!({}));
    assert_eq!(begun.status, 201, "{begun:?}");
    let session = begun.json();
    let path = session["worktree"]["path"].as_str().unwrap();
    (session["id"].as_str().unwrap().to_owned(), path.into())
}

/// Has the agent run a line, and gives what it says.
pub(crate) fn run(daemon: &Daemon, session: &str, line: &str) -> String {
    let messages = daemon.turn(session, line);
    let said = messages.iter().rfind(|message| message["role"] == "agent");
    said.map(|said| said["content"]["text"].as_str().unwrap().to_owned()).unwrap_or_default()
}

pub(crate) fn finish(daemon: &Daemon, session: &str, body: &Value) -> Answer {
    daemon.post(&format!("/api/sessions/{session}/finish"), body)
}

/// The notices of a session with this event.
pub(crate) fn notices(daemon: &Daemon, session: &str, event: &str) -> Vec<Value> {
    let messages = daemon.messages(session).into_iter().map(|message| message["content"].clone());
    messages.filter(|content| content["event"] == event).collect()
}
