//! Which files the daemon opens while it imports and follows conversations: no credentials.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::SystemTime;

use convoke_testkit::wait::until;
use rustix::fs::inotify;
use serde_json::json;

use crate::histories::{ID, Store, import, line, sessions, words};

/// Files with secrets, below the home of a user.
const SECRETS: [&str; 14] = [
    ".claude.json",
    ".claude/.credentials.json",
    ".claude/settings.json",
    ".claude/projects/-gone-app/auth.json",
    ".codex/auth.json",
    ".codex/config.toml",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".config/goose/secrets.yaml",
    ".config/gh/hosts.yml",
    ".cline/data/settings/providers.json",
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
];

/// How it is seen that a file was opened.
enum Watch {
    Events(OwnedFd),
    /// All instances of inotify are in use: the times of the last access tell.
    Times(Vec<PathBuf>),
}

impl Watch {
    fn begin(files: &[PathBuf]) -> Self {
        let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
        if let Ok(queue) = inotify::init(flags) {
            for file in files {
                inotify::add_watch(&queue, file, inotify::WatchFlags::OPEN).unwrap();
            }
            return Self::Events(queue);
        }
        for file in files {
            let times = FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH);
            File::options().write(true).open(file).unwrap().set_times(times).unwrap();
        }
        Self::Times(files.to_vec())
    }

    /// How many of the files were opened.
    fn opened(self) -> usize {
        match self {
            Self::Events(queue) => {
                let mut buffer = [MaybeUninit::uninit(); 1 << 14];
                let mut events = inotify::Reader::new(queue, &mut buffer);
                let mut opened = BTreeSet::new();
                while let Ok(event) = events.next() {
                    opened.insert(event.wd());
                }
                opened.len()
            }
            Self::Times(files) => {
                let accessed = files.iter().map(|file| fs::metadata(file).unwrap().accessed());
                accessed.filter(|time| *time.as_ref().unwrap() > SystemTime::UNIX_EPOCH).count()
            }
        }
    }
}

#[test]
fn h5_the_daemon_opens_transcripts_and_no_credentials() {
    let store = Store::new();
    let secrets = SECRETS.map(|path| store.machine.path().join(path));
    for secret in &secrets {
        fs::create_dir_all(secret.parent().unwrap()).unwrap();
        fs::write(secret, "{}").unwrap();
    }
    let (watched, control) = (Watch::begin(&secrets), Watch::begin(&[store.file(ID)]));
    let (daemon, file) = store.daemon();
    daemon.get("/api/agents");
    daemon.get("/api/histories");
    import(&daemon, &json!({}));
    let mut opened = File::options().append(true).open(&file).unwrap();
    std::io::Write::write_all(&mut opened, line("u2", "user", "Where?", 3).as_bytes()).unwrap();
    until("its new message is imported", || words(&daemon, &sessions(&daemon)[0]).len() == 3);
    assert_eq!(control.opened(), 1, "what is opened is not seen");
    assert_eq!(watched.opened(), 0);
}
