//! Whether a conversation may be open in another program.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::time::Duration;

use convoke_core::time::Timestamp;
use convoke_histories::{Agent, Liveness, Processes, liveness};
use tempfile::TempDir;

use crate::scene::Scene;
use crate::stories::story;

/// How long a changed conversation counts as open.
const OPEN_FOR: Duration = Duration::from_secs(300);

/// A folder of the shape of `/proc`.
struct Proc(TempDir);

impl Proc {
    fn new() -> Self {
        let proc = Self(TempDir::new().unwrap());
        fs::write(proc.0.path().join("locks"), "").unwrap();
        fs::create_dir(proc.0.path().join("sys")).unwrap();
        proc
    }

    fn process(&self, pid: u32, words: &[&str], cwd: &str) -> &Self {
        let folder = self.0.path().join(pid.to_string());
        fs::create_dir_all(folder.join("fd")).unwrap();
        fs::write(folder.join("cmdline"), words.join("\0") + "\0").unwrap();
        symlink(cwd, folder.join("cwd")).unwrap();
        self
    }

    fn holds(&self, pid: u32, file: &Path) -> &Self {
        symlink(file, self.0.path().join(pid.to_string()).join("fd/7")).unwrap();
        self
    }

    /// What is to be said of a story's conversation a day later.
    fn judge(&self, scene: &Scene) -> Liveness {
        let mut store = scene.store();
        let history = store.scan().unwrap().remove(0);
        let identity = store.identify(&history).unwrap();
        let processes = Processes::read(self.0.path(), &[999]).unwrap();
        let later = history.stamp.changed_at().unwrap().as_millis() + 86_400_000;
        liveness(&history, &identity, Some(&processes), OPEN_FOR, Timestamp::from_millis(later))
    }
}

#[test]
fn h4_an_agent_at_work_in_the_same_folder_may_have_it_open() {
    let cases: [(Agent, &[&str], &str, bool); 9] = [
        (Agent::Claude, &["claude"], "/p", true),
        (Agent::Claude, &["/usr/bin/claude", "--resume"], "/p/src", true),
        (Agent::Claude, &["claude"], "/elsewhere", false),
        (Agent::Claude, &["codex"], "/p", false),
        (Agent::Claude, &["vim", "claude.md"], "/p", false),
        (Agent::Codex, &["node", "/usr/lib/node_modules/@openai/codex/bin/codex.js"], "/p", true),
        (
            Agent::Gemini,
            &["node", "--no-warnings", "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js"],
            "/p",
            true,
        ),
        (Agent::Opencode, &["opencode", "serve"], "/p", true),
        (Agent::Goose, &["goosed"], "/p", true),
    ];
    for (agent, words, cwd, expected) in cases {
        let proc = Proc::new();
        proc.process(42, words, cwd).process(999, &["claude"], "/p");
        let judged = proc.judge(&story(agent));
        let process = Liveness::Process { pid: 42 };
        assert_eq!(judged, if expected { process } else { Liveness::Closed }, "{words:?}");
    }
}

#[test]
fn h4_a_process_that_holds_the_file_has_it_open() {
    let scene = story(Agent::Codex);
    let proc = Proc::new();
    let file = scene.histories().remove(0).file().canonicalize().unwrap();
    proc.process(43, &["something"], "/elsewhere").holds(43, &file);
    assert_eq!(proc.judge(&scene), Liveness::Open { pid: 43 });
}

#[test]
fn h4_a_lock_says_that_it_is_open() {
    let scene = story(Agent::Copilot);
    let lock = "session-state/.session-operation-locks/33333333-3333-4333-8333-333333333333.lock";
    scene.write(lock, "");
    let proc = Proc::new();
    assert_eq!(proc.judge(&scene), Liveness::Closed);
    let inode = fs::metadata(scene.path(lock)).unwrap().ino();
    let line = format!("1: FLOCK  ADVISORY  WRITE 77 fe:00:{inode} 0 EOF\n");
    fs::write(proc.0.path().join("locks"), line).unwrap();
    assert_eq!(proc.judge(&scene), Liveness::Locked);
}

#[test]
fn h4_in_doubt_it_is_open() {
    let scene = story(Agent::Claude);
    let mut store = scene.store();
    let history = store.scan().unwrap().remove(0);
    let identity = store.identify(&history).unwrap();
    let changed = history.stamp.changed_at().unwrap();
    let soon = Timestamp::from_millis(changed.as_millis() + 60_000);
    let none = Processes::default();
    assert_eq!(liveness(&history, &identity, Some(&none), OPEN_FOR, soon), Liveness::Recent);
    let never = liveness(&history, &identity, Some(&none), Duration::ZERO, soon);
    assert_eq!(never, Liveness::Closed);
    let unknown = liveness(&history, &identity, None, OPEN_FOR, soon);
    assert!(unknown.may_be_open());
}

#[test]
fn h4_the_processes_of_this_machine_can_be_read() {
    assert!(Processes::read(Path::new("/proc"), &[]).is_ok());
}
