//! Puts file, environment and flags on top of the defaults.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::agents;
use super::mistake::{Mistake, Problem};
use super::nearest;
use super::projects;
use super::settings::{self, SETTINGS, Setting};
use super::tree::{Entry, Node, Origin, Value};
use super::{
    Backup, Changes, Config, Editor, Effective, History, Limits, Loaded, Notify, Pool, Questions,
    Sandbox, Server, Sessions, Sources, Spawner, Store, Teams, Worktree,
};

/// Resolves every value; errors are added to `mistakes`, and the other values are still checked.
pub(super) fn settle(
    written: Vec<Entry>,
    sources: &Sources<'_>,
    mistakes: &mut Vec<Mistake>,
) -> Loaded {
    let mut sorted = Sorted::default();
    sorted.take(written, "", mistakes);
    let mut config = unset();
    let mut effective = Vec::new();
    for setting in &SETTINGS {
        let layers = [
            sorted.settings.remove(setting.key),
            variable(setting, sources, mistakes),
            flag(setting, sources),
        ];
        effective.extend(setting.settle(layers, sources, &mut config, mistakes));
    }
    keep_remote_out(&config, &effective, mistakes);
    let projects = projects::settle(sorted.projects, sources, &mut effective, mistakes);
    config.sandbox.projects = projects.exceptions;
    config.worktree.set_up = projects.set_up;
    config.agents = agents::settle(sorted.agents, sources, &mut effective, mistakes);
    Loaded { config, effective }
}

/// The contents of the file, by section.
#[derive(Default)]
struct Sorted {
    settings: BTreeMap<&'static str, Node>,
    agents: Vec<Entry>,
    projects: Vec<Entry>,
}

impl Sorted {
    fn take(&mut self, entries: Vec<Entry>, section: &str, mistakes: &mut Vec<Mistake>) {
        for entry in entries {
            let key = if section.is_empty() {
                entry.key.clone()
            } else {
                format!("{section}.{}", entry.key)
            };
            if let Some(setting) = settings::find(&key).filter(|_| !entry.key.contains('.')) {
                self.settings.insert(setting.key, entry.node);
            } else if !settings::names_in(section).contains(&entry.key.as_str()) {
                mistakes.push(unknown(&entry, &key, section));
            } else {
                self.take_section(entry.node, &key, mistakes);
            }
        }
    }

    fn take_section(&mut self, node: Node, section: &str, mistakes: &mut Vec<Mistake>) {
        let Value::Table(entries) = node.value else {
            let problem = Problem::wrong_type("a table", &node);
            let hint = || format!("start it with `[{section}]`");
            mistakes.push(problem.at(node.origin, section, hint));
            return;
        };
        if section == "agents" {
            self.agents = entries;
        } else if section == "projects" {
            self.projects = entries;
        } else {
            self.take(entries, section, mistakes);
        }
    }
}

fn unknown(entry: &Entry, key: &str, section: &str) -> Mistake {
    let known = settings::names_in(section);
    let elsewhere = SETTINGS.iter().find(|setting| setting.name() == entry.key);
    let hint = match (nearest::nearest(&entry.key, &known), elsewhere) {
        (None, Some(setting)) => format!("did you mean `{}`?", setting.key),
        (Some(_), _) | (None, None) => nearest::hint(&entry.key, &known),
    };
    Mistake { origin: Some(entry.origin), text: format!("unknown key `{key}`"), hint }
}

fn variable(setting: &Setting, sources: &Sources<'_>, mistakes: &mut Vec<Mistake>) -> Option<Node> {
    let name = setting.variable?;
    let value = sources.environment.get(name)?;
    let origin = Origin::Variable(name);
    let Some(text) = value.to_str() else {
        let problem = Problem::new("the value is not valid UTF-8");
        mistakes.push(problem.at(origin, setting.key, || setting.hint()));
        return None;
    };
    Some(Node { origin, value: setting.kind.read_text(text) })
}

fn flag(setting: &Setting, sources: &Sources<'_>) -> Option<Node> {
    let name = setting.flag?;
    let text = sources.flags.get(name)?;
    Some(Node { origin: Origin::Flag(name), value: setting.kind.read_text(text) })
}

impl Setting {
    /// Takes the value of the highest layer; the lower ones are validated, too.
    fn settle(
        &self,
        layers: [Option<Node>; 3],
        sources: &Sources<'_>,
        config: &mut Config,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<Effective> {
        let mut nodes: Vec<Node> = layers.into_iter().flatten().collect();
        if nodes.is_empty() {
            nodes.push(Node { origin: Origin::Default, value: self.kind.default_value() });
        }
        let mut effective = None;
        for node in nodes {
            if matches!(node.value, Value::Broken) {
                continue;
            }
            match self.kind.set(&node, sources, config) {
                Ok(value) => {
                    let (key, origin) = (self.key.to_owned(), node.origin);
                    effective = Some(Effective { key, value, origin });
                }
                Err(problem) => mistakes.push(problem.at(node.origin, self.key, || self.hint())),
            }
        }
        effective
    }
}

/// Refuses a non-local address unless a second setting allows remote access.
fn keep_remote_out(config: &Config, effective: &[Effective], mistakes: &mut Vec<Mistake>) {
    let Server { listen, allow_remote, .. } = config.server;
    let settled = effective.iter().find(|value| value.key == "server.listen");
    if let Some(settled) = settled
        && !listen.ip().is_loopback()
        && !allow_remote
    {
        let text = format!("other machines could reach {listen}");
        mistakes.push(Problem::new(text).at(settled.origin, "server.listen", || {
            "use 127.0.0.1, or set `allow_remote = true` in [server]".to_owned()
        }));
    }
}

/// A configuration before the first layer. All values are replaced by the defaults in the list of settings.
fn unset() -> Config {
    Config {
        server: Server {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            allow_remote: false,
            public_url: None,
        },
        sessions: Sessions {
            max_active: 0,
            idle_timeout: Duration::ZERO,
            workspace_root: PathBuf::new(),
        },
        limits: Limits { turn_bytes: 0, session_bytes: 0 },
        pool: Pool {
            max_processes: 0,
            idle_timeout_ms: 0,
            health_check_interval_ms: 0,
            spare: false,
        },
        changes: Changes { checkpoints: false },
        worktree: Worktree { root: None, set_up: BTreeMap::new() },
        sandbox: Sandbox {
            layers: Vec::new(),
            require: Vec::new(),
            network: String::new(),
            caches: String::new(),
            domains: Vec::new(),
            hidden: Vec::new(),
            sockets: Vec::new(),
            projects: BTreeMap::new(),
        },
        teams: Teams { max_hops: 0, max_chain_messages: 0, max_pair_messages_per_hour: 0 },
        questions: Questions {
            dir: PathBuf::new(),
            max_sessions: 0,
            max_questions: 0,
            max_options: 0,
            retention_days: 0,
            timeout_ms: 0,
        },
        notify: Notify { command: Vec::new() },
        editor: Editor { open: String::new(), command: Vec::new() },
        history: History { import: String::new(), recall: String::new(), open_for: None },
        store: Store { url: String::new(), password_file: None },
        node: super::Node { name: String::new() },
        backup: Backup { every: None, keep: 0, dir: PathBuf::new() },
        spawner: Spawner { session_expiry_days: 0, max_tokens: 0 },
        teams_file: PathBuf::new(),
        agents: Vec::new(),
    }
}
