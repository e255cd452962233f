//! Which files are opened: no credentials, nothing behind links, nothing that is not on the agent's list.

use std::collections::BTreeSet;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use convoke_histories::{Agent, Error, Store};
use convoke_testkit::host::example;
use rustix::fs::inotify;

use crate::render::conversations;
use crate::scene::Scene;
use crate::stories::story;
use crate::unified;

/// Files that lie beside transcripts and are none of our business.
const NEIGHBOURS: [&str; 13] = [
    "auth.json",
    ".credentials.json",
    "credentials.json",
    "oauth_creds.json",
    "config.json",
    "settings.json",
    "mcp-auth.json",
    "hosts.yml",
    ".env",
    "secrets.yaml",
    "config.toml",
    "session-store.db",
    "providers.json",
];

/// What each agent's store is read from; nothing else may be opened.
fn allowed(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Claude => &["11111111-1111-4111-8111-111111111111.jsonl"],
        Agent::Codex => &[
            "rollout-2026-11-01T10-00-00-019a0000-0000-7000-8000-000000000001.jsonl",
            "state_5.sqlite",
        ],
        Agent::Gemini => &["session-2026-11-01T10-00-aaaaaaaa.jsonl", "projects.json"],
        Agent::Opencode => &["opencode.db"],
        Agent::Goose => &["sessions.db"],
        Agent::Qwen => &["22222222-2222-4222-8222-222222222222.jsonl"],
        Agent::Copilot => &["events.jsonl", "workspace.yaml"],
        Agent::Cline => &["1793527200000_abc_cli.messages.json", "1793527200000_abc_cli.json"],
        Agent::Kimi => &["wire.jsonl", "state.json"],
        Agent::Vibe => &["messages.jsonl", "meta.json"],
        Agent::Droid => &[
            "66666666-6666-4666-8666-666666666666.jsonl",
            "66666666-6666-4666-8666-666666666666.settings.json",
        ],
    }
}

/// What a session of Vibe 3 is read from, besides its chunks.
const UNIFIED: [&str; 6] = [
    "CURRENT",
    "meta.json",
    "manifest.json",
    "projection-state.json",
    "runtime-state.json",
    "0000000000000001.jsonl",
];

/// All folders of a store, with a neighbour of each name in every one of them.
fn surrounded(scene: &Scene) -> Vec<PathBuf> {
    let mut folders = vec![scene.root()];
    let mut next = 0;
    while let Some(folder) = folders.get(next).cloned() {
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        folders.extend(entries.filter(|path| path.is_dir()));
        next += 1;
    }
    for folder in &folders {
        for name in NEIGHBOURS {
            fs::write(folder.join(name), "{\"secret\":1}").unwrap();
        }
    }
    fs::write(scene.path("history.jsonl"), "{}").unwrap();
    folders
}

#[test]
fn h5_no_file_is_opened_that_is_not_on_the_list() {
    let scenes = Agent::ALL.map(|agent| (story(agent), allowed(agent).to_vec()));
    // Its chunks have the names that their content gives them.
    let unified = unified::story().scene;
    let chunks =
        fs::read_dir(unified.path(&format!("logs/session/unified/{}/chunks", unified::ID)));
    let chunks: Vec<_> = chunks.unwrap().map(|it| it.unwrap().file_name()).collect();
    let mut expected = UNIFIED.to_vec();
    expected.extend(chunks.iter().map(|it| it.to_str().unwrap()));
    for (scene, expected) in scenes.into_iter().chain([(unified, expected)]) {
        let agent = scene.agent;
        let folders = surrounded(&scene);
        let opened = match watch(&folders) {
            Some(queue) => {
                read_everything(agent, &scene.root());
                names_opened(&queue)
            }
            // Some machines have no inotify instance left.
            None => opened_under_strace(agent, &scene.root()),
        };
        let expected: BTreeSet<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(opened, expected, "{agent}");
    }
}

/// Lists, identifies and reads all conversations.
fn read_everything(agent: Agent, root: &Path) {
    let mut store = Store::open_at(agent, root).unwrap().unwrap();
    for history in store.scan().unwrap() {
        store.identify(&history).unwrap();
    }
    assert!(!conversations(agent, root).is_empty());
}

/// Watches folders for files that are opened in them.
fn watch(folders: &[PathBuf]) -> Option<OwnedFd> {
    let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
    let queue = inotify::init(flags).ok()?;
    for folder in folders {
        inotify::add_watch(&queue, folder, inotify::WatchFlags::OPEN).ok()?;
    }
    Some(queue)
}

fn names_opened(queue: &OwnedFd) -> BTreeSet<String> {
    let mut buffer = [MaybeUninit::uninit(); 1 << 16];
    let mut events = inotify::Reader::new(queue, &mut buffer);
    let mut names = BTreeSet::new();
    while let Ok(event) = events.next() {
        let is_folder = event.events().contains(inotify::ReadFlags::ISDIR);
        if let Some(name) = event.file_name().filter(|_| !is_folder) {
            names.insert(name.to_str().unwrap().to_owned());
        }
    }
    names
}

fn opened_under_strace(agent: Agent, root: &Path) -> BTreeSet<String> {
    let program = example("read_store");
    let noted = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new("strace")
        .args(["-f", "-e", "trace=open,openat,openat2", "-o"])
        .arg(noted.path())
        .args([program.as_os_str(), agent.as_str().as_ref(), root.as_os_str()])
        .output()
        .expect("neither inotify nor strace is there to see which files are opened");
    assert!(output.status.success(), "{output:?}");
    let trace = String::from_utf8_lossy(&fs::read(noted.path()).unwrap()).into_owned();
    // Everything that is opened as a file, below the root or from a folder's descriptor.
    let lines =
        trace.lines().filter(|line| !line.contains("O_DIRECTORY") && !line.contains("= -1"));
    let paths = lines.filter_map(|line| line.split('"').nth(1));
    let root = root.to_str().unwrap();
    let paths = paths.filter(|path| path.starts_with(root) || !path.contains('/'));
    paths.map(|path| path.rsplit('/').next().unwrap_or(path).to_owned()).collect()
}

#[test]
fn h5_links_are_not_followed() {
    let outside = tempfile::TempDir::new().unwrap();
    fs::create_dir_all(outside.path().join("-q")).unwrap();
    fs::write(outside.path().join("-q/s.jsonl"), "{}\n").unwrap();
    let scene = story(Agent::Claude);
    let before = scene.histories();
    symlink(outside.path().join("-q"), scene.path("projects/-q")).unwrap();
    symlink(outside.path().join("-q/s.jsonl"), scene.path("projects/-p/s.jsonl")).unwrap();
    assert_eq!(scene.histories(), before);
    // Even if it is swapped after the scan.
    let mut store = scene.store();
    let mut history = before.into_iter().next().unwrap();
    for path in ["projects/-p/s.jsonl", "projects/-q/s.jsonl"] {
        history.path = path.to_owned();
        let error = store.read(&history, None).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error}");
    }
}

#[test]
fn h5_a_linked_database_is_not_opened() {
    let other = story(Agent::Opencode);
    let scene = Scene::new(Agent::Opencode);
    fs::create_dir_all(scene.root()).unwrap();
    symlink(other.path("opencode.db"), scene.path("opencode.db")).unwrap();
    assert_eq!(scene.histories(), []);
}

#[test]
fn h5_names_that_are_not_on_the_list_and_paths_that_lead_out_are_refused() {
    let scene = story(Agent::Claude);
    scene.write("projects/-p/auth.json", "{}");
    let mut store = scene.store();
    let history = store.scan().unwrap().remove(0);
    for path in
        ["projects/-p/auth.json", ".credentials.json", "projects/../../x.jsonl", "/etc/passwd", ""]
    {
        let history = convoke_histories::History { path: path.to_owned(), ..history.clone() };
        let error = store.read(&history, None).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{path}: {error}");
    }
}

#[test]
fn h5_what_is_no_regular_file_is_not_opened() {
    let scene = story(Agent::Claude);
    let fifo = scene.path("projects/-p/fifo.jsonl");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    fs::create_dir(scene.path("projects/-p/folder.jsonl")).unwrap();
    assert_eq!(scene.histories().len(), 1);
    let mut store = scene.store();
    let history = store.scan().unwrap().remove(0);
    for path in ["projects/-p/fifo.jsonl", "projects/-p/folder.jsonl"] {
        let history = convoke_histories::History { path: path.to_owned(), ..history.clone() };
        assert!(matches!(store.read(&history, None).unwrap_err(), Error::Refused { .. }));
    }
}

#[test]
fn h5_reading_leaves_a_store_as_it_was() {
    for (agent, database) in
        [(Agent::Opencode, "opencode.db"), (Agent::Goose, "sessions/sessions.db")]
    {
        let scene = story(agent);
        // Closed, with a write-ahead log as its mode: the agent is not running.
        scene.sql(database, "PRAGMA journal_mode = WAL");
        let folder = scene.path(database).parent().unwrap().to_owned();
        let list = || -> BTreeSet<PathBuf> {
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect()
        };
        let before = (list(), fs::read(scene.path(database)).unwrap());
        read_everything(agent, &scene.root());
        assert_eq!((list(), fs::read(scene.path(database)).unwrap()), before, "{agent}");
    }
}

#[test]
fn h3_rows_of_a_database_that_is_in_use_are_seen_before_they_are_folded_in() {
    let scene = story(Agent::Opencode);
    let agent = rusqlite::Connection::open(scene.path("opencode.db")).unwrap();
    agent.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    let mut store = scene.store();
    let before = store.scan().unwrap();
    agent
        .execute_batch("INSERT INTO part VALUES ('prt_a', 'msg_3', 'ses_2', 1793527206000, 1793527206000, '{\"type\":\"text\",\"text\":\"still writing\"}'); UPDATE session SET time_updated = 1793527206000 WHERE id = 'ses_2'")
        .unwrap();
    let after = store.scan().unwrap();
    assert_ne!(after[1], before[1]);
    assert!(scene.render().contains("still writing"));
}
