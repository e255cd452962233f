//! The list of settings. Checking, `convoke config show` and the reference page all come from it.
//!
//! A contract with users: a key, a variable or a default that changes here goes into the changelog.

use super::kind::{Base, Kind};

/// A setting.
pub(super) struct Setting {
    /// Its dotted key in the file.
    pub(super) key: &'static str,
    /// The variable that beats the file.
    pub(super) variable: Option<&'static str>,
    /// The flag that beats the variable.
    pub(super) flag: Option<&'static str>,
    /// What it is for.
    pub(super) doc: &'static str,
    /// Its accepted values, its default, and its field.
    pub(super) kind: Kind,
    /// When a change in the file takes effect.
    pub(super) effect: Effect,
}

/// When a change of a setting takes effect in a running daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// At once.
    Now,
    /// At the next start.
    Restart,
}

impl Setting {
    /// The last part of the key.
    pub(super) fn name(&self) -> &'static str {
        self.key.rsplit('.').next().unwrap_or(self.key)
    }

    /// The hint for an invalid value.
    pub(super) fn hint(&self) -> String {
        format!("{}; by default `{} = {}`", self.doc, self.name(), self.kind.default_toml())
    }

    const fn new(key: &'static str, doc: &'static str, kind: Kind) -> Self {
        Self { key, variable: None, flag: None, doc, kind, effect: Effect::Restart }
    }

    const fn variable(self, variable: &'static str) -> Self {
        Self { variable: Some(variable), ..self }
    }

    const fn flag(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }

    const fn live(self) -> Self {
        Self { effect: Effect::Now, ..self }
    }
}

/// A year; longer waits are typing mistakes.
const YEAR_MS: u64 = 365 * 24 * 60 * 60 * 1000;
/// Likewise, for idle sessions.
const YEAR_MINUTES: f64 = 365.0 * 24.0 * 60.0;
/// The upper limit of sizes.
const TEBIBYTE: u64 = 1 << 40;
/// The upper limit of ages in days: a century.
const CENTURY_DAYS: u64 = 36_500;

/// The layers of the sandbox.
const LAYERS: [&str; 3] = ["bwrap", "landlock", "seccomp"];

/// Every setting outside of `[agents]`, in the order in which it is shown.
pub(super) static SETTINGS: [Setting; 45] = [
    Setting::new(
        "teams_file",
        "the file that describes the teams, relative to the home",
        Kind::Path { default: "teams.json", base: Base::Home, field: |c| &mut c.teams_file },
    ),
    Setting::new(
        "server.listen",
        "where the daemon listens; port 0 picks a free one",
        Kind::Address { default: "127.0.0.1:7717", field: |c| &mut c.server.listen },
    )
    .flag("--listen"),
    Setting::new(
        "server.allow_remote",
        "whether `listen` may be an address that other machines can reach",
        Kind::Switch { default: false, field: |c| &mut c.server.allow_remote },
    ),
    Setting::new(
        "server.public_url",
        "where a proxy serves the page to other machines, such as \"https://convoke.example.org\"; its host is then accepted, and links for people lead there",
        Kind::PageUrl { field: |c| &mut c.server.public_url },
    ),
    Setting::new(
        "sessions.max_active",
        "sessions that may be active at once",
        Kind::Whole { default: 5, range: 1..=1_000, field: |c| &mut c.sessions.max_active },
    )
    .variable("AGENT_MAX_CONCURRENT_SESSIONS"),
    Setting::new(
        "sessions.idle_timeout_minutes",
        "minutes without activity after which a session is completed; fractions are allowed",
        Kind::Minutes {
            default: 30.0,
            // 60 ms, so that people who try it out do not wait for minutes.
            range: 0.001..=YEAR_MINUTES,
            field: |c| &mut c.sessions.idle_timeout,
        },
    )
    .variable("AGENT_SESSION_IDLE_TIMEOUT"),
    Setting::new(
        "sessions.workspace_root",
        "the folder that all projects must be inside of",
        Kind::Path { default: "~", base: Base::Nothing, field: |c| &mut c.sessions.workspace_root },
    )
    .variable("AGENT_WORKSPACE_ROOT"),
    Setting::new(
        "limits.turn_bytes",
        "bytes that an agent may send in one turn; a turn that sends more is cancelled",
        Kind::Whole {
            default: 64 << 20,
            range: 64 << 10..=TEBIBYTE,
            field: |c| &mut c.limits.turn_bytes,
        },
    ),
    Setting::new(
        "limits.session_bytes",
        "bytes that one session may hold; then it accepts no more prompts",
        Kind::Whole {
            default: 1 << 30,
            range: 64 << 10..=TEBIBYTE,
            field: |c| &mut c.limits.session_bytes,
        },
    ),
    Setting::new(
        "pool.max_processes",
        "agent processes that may run at once; further turns wait",
        Kind::Whole { default: 10, range: 1..=1_000, field: |c| &mut c.pool.max_processes },
    ),
    Setting::new(
        "pool.idle_timeout_ms",
        "milliseconds after which an idle agent process is stopped",
        Kind::Whole {
            default: 300_000,
            range: 1..=YEAR_MS,
            field: |c| &mut c.pool.idle_timeout_ms,
        },
    ),
    Setting::new(
        "pool.health_check_interval_ms",
        "milliseconds between checks of the agent processes",
        Kind::Whole {
            default: 30_000,
            // More often than this would be a busy loop.
            range: 10..=YEAR_MS,
            field: |c| &mut c.pool.health_check_interval_ms,
        },
    ),
    Setting::new(
        "pool.spare",
        "whether a process is kept ready for the next new session, of the agent and project used last",
        Kind::Switch { default: true, field: |c| &mut c.pool.spare },
    ),
    Setting::new(
        "changes.checkpoints",
        "whether a checkpoint of the project is made before and after every turn, so that changes can be shown and undone",
        Kind::Switch { default: true, field: |c| &mut c.changes.checkpoints },
    ),
    Setting::new(
        "worktree.root",
        "the folder for the work trees of sessions; empty for convoke/worktrees in $XDG_DATA_HOME, or else in ~/.local/share",
        Kind::Folder { field: |c| &mut c.worktree.root },
    ),
    Setting::new(
        "sandbox.layers",
        "the layers that confine agents; one that does not work here is skipped, with a notice",
        Kind::Words { default: &LAYERS, choices: &LAYERS, field: |c| &mut c.sandbox.layers },
    ),
    Setting::new(
        "sandbox.require",
        "layers without which no agent is started",
        Kind::Words { default: &[], choices: &LAYERS, field: |c| &mut c.sandbox.require },
    ),
    Setting::new(
        "sandbox.caches",
        "where package managers that sandboxed agents run keep what they download: in a folder for each project below $XDG_CACHE_HOME/convoke or ~/.cache/convoke, or in your own folders, which such agents can only read",
        Kind::Word {
            default: "project",
            choices: &["project", "off"],
            field: |c| &mut c.sandbox.caches,
        },
    ),
    Setting::new(
        "sandbox.network",
        "what sandboxed agents may reach: everything, allowed hosts through a proxy that asks you about others, or nothing but Convoke's own tools; without bwrap only \"open\" starts",
        Kind::Word {
            default: "open",
            choices: &["open", "proxy", "off"],
            field: |c| &mut c.sandbox.network,
        },
    ),
    Setting::new(
        "sandbox.domains",
        "hosts that the proxy lets agents connect to without asking, such as [\"*.example.com\", \"10.0.0.7:5432\"]; ports 80 and 443 unless one is given",
        Kind::Domains { field: |c| &mut c.sandbox.domains },
    ),
    Setting::new(
        "sandbox.hidden",
        "files and folders that agents may not read, besides those that `convoke doctor` lists",
        Kind::Paths { field: |c| &mut c.sandbox.hidden },
    ),
    Setting::new(
        "sandbox.sockets",
        "Unix sockets that agents may connect to, such as [\"${SSH_AUTH_SOCK}\"]",
        Kind::Paths { field: |c| &mut c.sandbox.sockets },
    ),
    Setting::new(
        "teams.max_hops",
        "teams in one chain of asks",
        Kind::Whole { default: 5, range: 1..=100, field: |c| &mut c.teams.max_hops },
    ),
    Setting::new(
        "teams.max_chain_messages",
        "asks between teams that one ask may cause, including itself",
        Kind::Whole { default: 50, range: 1..=100_000, field: |c| &mut c.teams.max_chain_messages },
    ),
    Setting::new(
        "teams.max_pair_messages_per_hour",
        "asks per hour from one team to another, over all threads",
        Kind::Whole {
            default: 200,
            range: 1..=1_000_000,
            field: |c| &mut c.teams.max_pair_messages_per_hour,
        },
    ),
    Setting::new(
        "questions.dir",
        "the folder for questions to you, relative to the home",
        Kind::Path { default: "questions", base: Base::Home, field: |c| &mut c.questions.dir },
    )
    .variable("CONVOKE_QUESTIONS_DIR"),
    Setting::new(
        "questions.max_sessions",
        "question sets that may wait for an answer at once",
        Kind::Whole { default: 100, range: 1..=100_000, field: |c| &mut c.questions.max_sessions },
    ),
    Setting::new(
        "questions.max_questions",
        "questions in one set",
        Kind::Whole { default: 5, range: 1..=100, field: |c| &mut c.questions.max_questions },
    ),
    Setting::new(
        "questions.max_options",
        "options of one question",
        Kind::Whole { default: 5, range: 2..=100, field: |c| &mut c.questions.max_options },
    ),
    Setting::new(
        "questions.retention_days",
        "days after which answered and rejected question sets are cleaned up; 0 keeps them for ever",
        Kind::Whole {
            default: 7,
            range: 0..=CENTURY_DAYS,
            field: |c| &mut c.questions.retention_days,
        },
    ),
    Setting::new(
        "questions.timeout_ms",
        "milliseconds to wait for an answer; 0 waits for ever",
        Kind::Whole { default: 0, range: 0..=YEAR_MS, field: |c| &mut c.questions.timeout_ms },
    ),
    Setting::new(
        "spawner.interactive.session_expiry_days",
        "days after which interactive sessions are cleaned up; 0 keeps them for ever",
        Kind::Whole {
            default: 0,
            range: 0..=CENTURY_DAYS,
            field: |c| &mut c.spawner.session_expiry_days,
        },
    ),
    Setting::new(
        "spawner.interactive.max_tokens",
        "tokens of context that an interactive session may carry",
        Kind::Whole {
            default: 100_000,
            range: 1_000..=100_000_000,
            field: |c| &mut c.spawner.max_tokens,
        },
    ),
    Setting::new(
        "notify.command",
        "the program, with its arguments, that the daemon runs when a session needs you, has finished or has failed; it gets one JSON object on its standard input, and no shell is involved",
        Kind::Command { field: |c| &mut c.notify.command },
    )
    .live(),
    Setting::new(
        "editor.open",
        "how the page opens a file in your editor: \"vscode\", \"zed\", \"cursor\", a URL with {path}, {line} and {column}, or nothing",
        Kind::Text { default: "", field: |c| &mut c.editor.open },
    )
    .live(),
    Setting::new(
        "editor.command",
        "the program, with its arguments, that the daemon runs to open a file from the page if `editor.open` is empty; {path}, {line} and {column} in them are replaced, and no shell is involved",
        Kind::Command { field: |c| &mut c.editor.command },
    )
    .live(),
    Setting::new(
        "history.import",
        "whether conversations that other agents keep are imported: after you said so, always, or never",
        Kind::Word {
            default: "ask",
            choices: &["ask", "always", "never"],
            field: |c| &mut c.history.import,
        },
    ),
    Setting::new(
        "history.recall",
        "which earlier sessions agents can search and read: none, those of their project, or all",
        Kind::Word {
            default: "project",
            choices: &["off", "project", "all"],
            field: |c| &mut c.history.recall,
        },
    ),
    Setting::new(
        "history.open_for",
        "how long after its last change a conversation counts as open in another program, so that a prompt continues a copy of it; with \"off\", only programs that run and locks count",
        Kind::Interval { default: "5m", field: |c| &mut c.history.open_for },
    ),
    Setting::new(
        "store.url",
        "a PostgreSQL database that daemons on several machines share, such as \"postgres://user@host/database?sslmode=verify-full\"; without it, everything is in one file in the home. The password comes from `store.password_file`, PGPASSWORD or ~/.pgpass",
        Kind::Database { field: |c| &mut c.store.url },
    ),
    Setting::new(
        "store.password_file",
        "a file with the password for `store.url`, which only you can read",
        Kind::Folder { field: |c| &mut c.store.password_file },
    ),
    Setting::new(
        "node.name",
        "what this machine is called among those that share `store.url`; by default its host name",
        Kind::Text { default: "", field: |c| &mut c.node.name },
    ),
    Setting::new(
        "backup.every",
        "how often the daemon makes a backup, if anything changed",
        Kind::Interval { default: "24h", field: |c| &mut c.backup.every },
    ),
    Setting::new(
        "backup.keep",
        "backups that are kept in `backup.dir`; older ones are removed after a new one is verified",
        Kind::Whole { default: 3, range: 1..=10_000, field: |c| &mut c.backup.keep },
    ),
    Setting::new(
        "backup.dir",
        "the folder for backups, relative to the home",
        Kind::Path { default: "backups", base: Base::Home, field: |c| &mut c.backup.dir },
    ),
];

/// The setting with this key.
pub(super) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// The keys in the section with this dotted name; the empty name is the top of the file.
pub(super) fn names_in(section: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    for setting in &SETTINGS {
        let rest = match section {
            "" => Some(setting.key),
            _ => setting.key.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')),
        };
        let name = rest.and_then(|rest| rest.split('.').next());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    if section.is_empty() {
        names.extend(["agents", "projects"]);
    }
    names
}
