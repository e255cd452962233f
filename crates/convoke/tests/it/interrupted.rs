//! `kill -9` of the daemon in the middle of a checkpoint and of a restore. A git that stops before
//! a command sets the time of the kill.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use convoke_testkit::agent::{Script, Step};
use convoke_testkit::tools::search_path;
use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::Daemon;

/// Turns of a test.
const TURNS_MAX: usize = 8;

/// A daemon whose git can be stopped.
struct Scene {
    daemon: Daemon,
    gates: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let machine = Convoke::new();
        let (gates, programs) = (machine.path().join("gates"), machine.path().join("programs"));
        fs::create_dir(&gates).unwrap();
        fs::create_dir(&programs).unwrap();
        // A file with the name of an argument stops it as long as the file is there.
        let script = format!(
            "#!/bin/sh\nfor word in \"$@\"; do\n  if [ -e '{0}'/\"$word\" ]; then\n    : > '{0}/reached'\n    \
             while [ -e '{0}'/\"$word\" ]; do sleep 0.02; done\n  fi\ndone\nexec /usr/bin/git \"$@\"\n",
            gates.display()
        );
        let git = programs.join("git");
        fs::write(&git, script).unwrap();
        fs::set_permissions(&git, Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", programs.display(), search_path());
        // Each of them is used once.
        let agent = (0..TURNS_MAX).fold(Script::new(), |script, _| {
            script.when("slow", [Step::say("walnut"), Step::Hang])
        });
        Self { daemon: Daemon::on_path(machine, &agent, "", &path), gates }
    }

    fn app(&self, name: &str) -> PathBuf {
        self.daemon.machine.path().join("root/app").join(name)
    }

    /// The next git with this argument stops.
    fn stop_at(&self, word: &str) {
        fs::remove_file(self.gates.join("reached")).ok();
        fs::write(self.gates.join(word), "").unwrap();
    }

    fn until_reached(&self) {
        let reached = self.gates.join("reached");
        until("git is stopped", || reached.exists());
    }

    /// Lets git go on, and stops no other.
    fn release(&self, word: &str) {
        fs::remove_file(self.gates.join(word)).unwrap();
    }

    /// A turn during which a file is written, up to its end. Gives its prompt's place.
    fn turn(&self, session: &str, text: &str, stop_at: Option<&str>) -> u64 {
        let before = self.daemon.messages(session).len();
        let prompt = self.daemon.prompt(session, "slow");
        let mut events = self.daemon.follow(session, 0);
        let is_said = |message: &Value| {
            message["content"]["text"] == "walnut"
                && usize::try_from(message["seq"].as_u64().unwrap()).unwrap() > before
        };
        events.until(is_said);
        fs::write(self.app("notes.txt"), text).unwrap();
        if let Some(word) = stop_at {
            self.stop_at(word);
        }
        let cancelled = self.daemon.post(&format!("/api/sessions/{session}/cancel"), &json!({}));
        assert_eq!(cancelled.status, 200, "{cancelled:?}");
        let ended = events.until(|message| {
            message["id"] == json!(prompt.id) && message["turn"]["status"] == "ended"
        });
        ended["seq"].as_u64().unwrap()
    }

    fn changed(&self, session: &str, turn: u64) -> Value {
        let path = format!("/api/sessions/{session}/changes/file?path=notes.txt&turn={turn}");
        let found = self.daemon.get(&path);
        assert_eq!(found.status, 200, "{found:?}");
        let lines = found.json()["hunks"][0]["lines"].clone();
        let text = |line: &Value| line["text"].as_str().unwrap().to_owned();
        json!(lines.as_array().unwrap().iter().map(text).collect::<Vec<_>>())
    }

    /// Waits for the checkpoint after a turn.
    fn until_captured(&self, session: &str, turn: u64) {
        let refs = format!("refs/convoke/{session}/{turn}-after");
        until("the turn is captured", || {
            let mut git = Command::new("git");
            git.arg("-C").arg(self.repository()).args(["rev-parse", "-q", "--verify", &refs]);
            git.output().unwrap().status.success()
        });
    }

    /// Begins a restore of files, up to the git with this argument.
    fn restore_up_to(&self, session: &str, turn: u64, word: &str) -> TcpStream {
        self.stop_at(word);
        let body = json!({"turn": turn, "what": "files"}).to_string();
        let head = self.daemon.head("POST", &format!("/api/sessions/{session}/restore"));
        let mut stream = self.daemon.connect();
        let length = body.len();
        let request = format!(
            "{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        self.until_reached();
        stream
    }

    fn repository(&self) -> PathBuf {
        let snapshots = self.daemon.machine.path().join(".convoke/snapshots");
        fs::read_dir(snapshots).unwrap().next().unwrap().unwrap().path()
    }

    /// Whether git finds nothing wrong with the repository of the checkpoints.
    fn check_repository(&self) {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.repository()).args(["fsck", "--strict", "--no-dangling"]);
        let checked = git.output().unwrap();
        assert!(checked.status.success(), "{checked:?}");
    }

    fn notices(&self, session: &str, event: &str) -> Vec<Value> {
        let all =
            self.daemon.messages(session).into_iter().map(|message| message["content"].clone());
        all.filter(|content| content["event"] == event).collect()
    }
}

#[test]
fn c1_a_daemon_that_is_killed_during_a_checkpoint_goes_on_with_the_next() {
    let mut scene = Scene::new();
    fs::write(scene.app("notes.txt"), "0\n").unwrap();
    let session = scene.daemon.session();
    let first = scene.turn(&session, "1\n", None);
    scene.until_captured(&session, first);
    let commands = ["diff-files", "update-index"];
    for (round, command) in (2..).zip(commands) {
        let turn = scene.turn(&session, &format!("{round}\n"), Some(command));
        scene.until_reached();
        scene.daemon.end(rustix::process::Signal::KILL);
        scene.release(command);
        scene.daemon.start_again();
        // What the turn changed is known, although its end was not captured.
        let lines = json!([(round - 1).to_string(), round.to_string()]);
        assert_eq!(scene.changed(&session, turn), lines, "killed at {command}");
        scene.check_repository();
        // And it stays known when others follow.
        let next = scene.turn(&session, &format!("{round}\nmore\n"), None);
        scene.until_captured(&session, next);
        assert_eq!(scene.changed(&session, next), json!([round.to_string(), "more"]));
        assert_eq!(scene.changed(&session, turn), lines, "killed at {command}");
        let back = scene.turn(&session, &format!("{round}\n"), None);
        scene.until_captured(&session, back);
    }
    assert!(scene.notices(&session, "checkpoint_failed").is_empty());
}

#[test]
fn c5_a_prompt_during_a_restore_is_refused() {
    let scene = Scene::new();
    fs::write(scene.app("notes.txt"), "old\n").unwrap();
    let session = scene.daemon.session();
    let turn = scene.turn(&session, "new\n", None);
    let _stream = scene.restore_up_to(&session, turn, "--batch");
    let path = format!("/api/sessions/{session}/prompt");
    let refused = scene.daemon.post(&path, &json!({"text": "slow"}));
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("being restored"), "{refused:?}");
    scene.release("--batch");
    let is_restored = || fs::read_to_string(scene.app("notes.txt")).is_ok_and(|it| it == "old\n");
    until("the files are restored", is_restored);
    until("a prompt is accepted", || {
        scene.daemon.post(&path, &json!({"text": "hello"})).status == 202
    });
}

#[test]
fn c5_a_daemon_that_is_killed_during_a_restore_completes_it_or_has_not_begun() {
    let mut scene = Scene::new();
    fs::write(scene.app("notes.txt"), "old\n").unwrap();
    let session = scene.daemon.session();
    let turn = scene.turn(&session, "new\n", None);
    scene.until_captured(&session, turn);
    // Before anything is decided, and when the files are being written.
    for (word, text) in [("diff-files", "new\n"), ("--batch", "old\n")] {
        let _stream = scene.restore_up_to(&session, turn, word);
        assert_eq!(fs::read_to_string(scene.app("notes.txt")).unwrap(), "new\n");
        scene.daemon.end(rustix::process::Signal::KILL);
        scene.release(word);
        scene.daemon.start_again();
        let found = fs::read_to_string(scene.app("notes.txt")).unwrap();
        assert_eq!(found, text, "killed at {word}");
        scene.check_repository();
        let left: Vec<_> =
            fs::read_dir(scene.app("")).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.txt"], "killed at {word}");
    }
    until("the notice of the completed restore", || {
        !scene.notices(&session, "restore_completed").is_empty()
    });
    let told = scene.notices(&session, "restore_completed");
    assert_eq!(
        (told.len(), &told[0]["files"], &told[0]["left"]),
        (1, &json!(1), &json!(0)),
        "{told:?}"
    );
    // It can be undone like any other.
    let undone = scene.daemon.post(&format!("/api/sessions/{session}/undo"), &json!({}));
    assert_eq!(undone.status, 200, "{undone:?}");
    assert_eq!(fs::read_to_string(scene.app("notes.txt")).unwrap(), "new\n");
}
