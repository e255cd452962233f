//! The settings: defaults, then `config.toml`, then the environment, then flags; each value knows where it comes from.
//!
//! Loading is a function of its [`Sources`]. All mistakes are reported at once, each with its line and a hint.

mod agents;
mod edit;
mod expand;
mod file;
mod kind;
mod layers;
mod mistake;
mod nearest;
mod projects;
#[cfg(test)]
mod reference;
mod settings;
pub(crate) mod teams;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_agents::catalogue::Agent;
use convoke_agents::sandbox::{self, Available, Caches, Domain, Exceptions, Layer, Network};
use convoke_server::PublicUrl;
use convoke_store::location::{self, Passwords};

use crate::environment::Environment;
pub(crate) use edit::{EditError, change, describe, put_agent};
pub(crate) use mistake::Mistakes;
pub(crate) use tree::Origin;

/// Every setting, in the form the program uses it.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) sessions: Sessions,
    pub(crate) limits: Limits,
    pub(crate) pool: Pool,
    pub(crate) changes: Changes,
    pub(crate) worktree: Worktree,
    pub(crate) sandbox: Sandbox,
    pub(crate) teams: Teams,
    pub(crate) questions: Questions,
    pub(crate) spawner: Spawner,
    pub(crate) notify: Notify,
    pub(crate) editor: Editor,
    pub(crate) history: History,
    pub(crate) store: Store,
    pub(crate) node: Node,
    pub(crate) backup: Backup,
    /// The teams' own file.
    pub(crate) teams_file: PathBuf,
    /// The built-in catalogue with the file's changes, then the file's own agents.
    pub(crate) agents: Vec<Agent>,
}

/// The daemon's listener.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) listen: SocketAddr,
    /// Whether `listen` may be anything but loopback.
    pub(crate) allow_remote: bool,
    /// Where a proxy serves the page.
    pub(crate) public_url: Option<PublicUrl>,
}

/// Limits of sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    pub(crate) max_active: u64,
    pub(crate) idle_timeout: Duration,
    /// Projects outside of this folder are refused.
    pub(crate) workspace_root: PathBuf,
}

/// Limits on the output of agents, in bytes.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) turn_bytes: u64,
    pub(crate) session_bytes: u64,
}

/// Limits of agent processes.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) max_processes: u64,
    pub(crate) idle_timeout_ms: u64,
    pub(crate) health_check_interval_ms: u64,
    /// Whether a process is kept ready for the next new session.
    pub(crate) spare: bool,
}

/// What is recorded of changes to projects.
#[derive(Debug)]
pub(crate) struct Changes {
    /// Whether checkpoints are made before and after every turn.
    pub(crate) checkpoints: bool,
}

/// Work trees of sessions.
#[derive(Debug)]
pub(crate) struct Worktree {
    /// The folder for them; `None` for the one in the user's data.
    pub(crate) root: Option<PathBuf>,
    /// Commands that set them up, by the folder of the project.
    pub(crate) set_up: BTreeMap<PathBuf, String>,
}

/// How agents are confined.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) layers: Vec<String>,
    pub(crate) require: Vec<String>,
    pub(crate) network: String,
    pub(crate) caches: String,
    pub(crate) domains: Vec<Domain>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) sockets: Vec<PathBuf>,
    /// The exceptions of single projects, by their folder.
    pub(crate) projects: BTreeMap<PathBuf, Exceptions>,
}

impl Sandbox {
    /// The settings, together with what the machine supports.
    pub(crate) fn settings(&self, available: Available) -> sandbox::Settings {
        let layers = |words: &[String]| {
            let known = |word: &String| Layer::WORDS.iter().find(|(known, _)| known == word);
            words.iter().filter_map(known).map(|(_, layer)| *layer).collect()
        };
        let network = Network::WORDS.iter().find(|(word, _)| *word == self.network);
        sandbox::Settings {
            available,
            layers: layers(&self.layers),
            require: layers(&self.require),
            hidden: self.hidden.clone(),
            sockets: self.sockets.clone(),
            network: network.map_or(Network::Open, |(_, network)| *network),
            domains: self.domains.clone(),
            projects: self.projects.clone(),
            systemd: None,
            caches: if self.caches == "project" { Caches::Project } else { Caches::Off },
        }
    }
}

/// Limits on asks between teams.
#[derive(Debug)]
pub(crate) struct Teams {
    pub(crate) max_hops: u64,
    pub(crate) max_chain_messages: u64,
    pub(crate) max_pair_messages_per_hour: u64,
}

/// The folder of questions to the human, and their limits.
#[derive(Debug)]
pub(crate) struct Questions {
    pub(crate) dir: PathBuf,
    pub(crate) max_sessions: u64,
    pub(crate) max_questions: u64,
    pub(crate) max_options: u64,
    pub(crate) retention_days: u64,
    /// 0 waits for ever.
    pub(crate) timeout_ms: u64,
}

/// The interactive spawner.
#[derive(Debug)]
pub(crate) struct Spawner {
    pub(crate) session_expiry_days: u64,
    pub(crate) max_tokens: u64,
}

/// How the user is notified of events.
#[derive(Debug)]
pub(crate) struct Notify {
    /// A program with its arguments; empty for none.
    pub(crate) command: Vec<String>,
}

/// The user's editor.
#[derive(Debug)]
pub(crate) struct Editor {
    /// How the page opens a file in it; empty for not at all.
    pub(crate) open: String,
    /// A program with its arguments that opens a file; empty for none.
    pub(crate) command: Vec<String>,
}

/// Histories of other agents.
#[derive(Debug)]
pub(crate) struct History {
    /// Whether they are imported: `ask`, `always` or `never`.
    pub(crate) import: String,
    /// What agents may recall: `off`, `project` or `all`.
    pub(crate) recall: String,
    /// How long a changed conversation counts as open elsewhere; `None` for not at all.
    pub(crate) open_for: Option<Duration>,
}

/// Where everything is stored.
#[derive(Debug)]
pub(crate) struct Store {
    /// A database on a server; empty for the file in the home.
    pub(crate) url: String,
    pub(crate) password_file: Option<PathBuf>,
}

impl Store {
    /// The database on a server, with its password; `None` for the file in the home.
    pub(crate) fn server(
        &self,
        environment: &Environment,
    ) -> Result<Option<location::Server>, location::ServerError> {
        if self.url.is_empty() {
            return Ok(None);
        }
        let variable = |name: &str| environment.get(name)?.to_str().map(str::to_owned);
        let passwords = Passwords::from_env(variable, self.password_file.clone());
        location::Server::parse(&self.url, &passwords).map(Some)
    }
}

/// This machine among those that share a database.
#[derive(Debug)]
pub(crate) struct Node {
    /// Empty for the host name.
    pub(crate) name: String,
}

/// Backups that the daemon makes by itself.
#[derive(Debug)]
pub(crate) struct Backup {
    /// `None` for never.
    pub(crate) every: Option<Duration>,
    pub(crate) keep: u64,
    pub(crate) dir: PathBuf,
}

/// The sources of a configuration. Nothing else is read.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    /// Convoke's home, which relative paths are relative to.
    pub(crate) home: &'a Path,
    /// The file, which need not exist.
    pub(crate) file: &'a Path,
    /// The variables that beat it.
    pub(crate) environment: &'a Environment,
    /// Flags that were given, such as `--listen`; they take precedence over everything.
    pub(crate) flags: BTreeMap<&'static str, String>,
    /// Convoke itself, which contains the demo agent.
    pub(crate) program: &'a Path,
}

/// A configuration, and for each of its values where it comes from.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) effective: Vec<Effective>,
}

impl Loaded {
    /// Whether the user has set this key.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.effective.iter().any(|it| it.key == key && it.origin != Origin::Default)
    }
}

/// A value as people see it.
#[derive(Debug, PartialEq)]
pub(crate) struct Effective {
    /// The dotted key of the file.
    pub(crate) key: String,
    /// The value; secrets are already masked.
    pub(crate) value: serde_json::Value,
    /// Who set it.
    pub(crate) origin: Origin,
}

/// Puts the layers on top of each other, or reports every mistake in them.
pub(crate) fn load(sources: &Sources<'_>) -> Result<Loaded, Mistakes> {
    let mut mistakes = Vec::new();
    let written = file::read(sources.file, sources.environment, &mut mistakes);
    settle(written, sources, mistakes)
}

/// As `load`, with another text in place of the file's.
fn load_text(sources: &Sources<'_>, text: &str) -> Result<Loaded, Mistakes> {
    let mut mistakes = Vec::new();
    let written = file::read_text(text, sources.environment, &mut mistakes);
    settle(written, sources, mistakes)
}

fn settle(
    written: Vec<tree::Entry>,
    sources: &Sources<'_>,
    mut mistakes: Vec<mistake::Mistake>,
) -> Result<Loaded, Mistakes> {
    let loaded = layers::settle(written, sources, &mut mistakes);
    if mistakes.is_empty() {
        return Ok(loaded);
    }
    mistakes.sort_by_key(mistake::Mistake::place);
    Err(Mistakes { file: sources.file.to_owned(), list: mistakes })
}
