//! The ACP registry: third-party agents, with how each is run. Read from a snapshot that ships with
//! the program, or from a newer one.
//!
//! The format is that of `agentclientprotocol/registry`, `FORMAT.md`; fields that are not needed
//! are ignored.

use std::collections::BTreeMap;

use convoke_core::id::AgentName;
use serde::Deserialize;

use super::{Agent, built_in};

/// The snapshot that ships with the program.
const SNAPSHOT: &str = include_str!("registry.json");

/// Agents that the catalogue knows by another name than the registry.
const SAME: [(&str, &str); 8] = [
    ("claude-acp", "claude-agent-acp"),
    ("claude-code-acp", "claude-agent-acp"),
    ("codex-acp", "codex"),
    ("cursor", "cursor-agent"),
    ("factory-droid", "droid"),
    ("github-copilot-cli", "copilot"),
    ("mistral-vibe", "vibe"),
    ("qwen-code", "qwen"),
];

/// A registry of agents.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Registry {
    /// Its agents.
    pub agents: Vec<Registered>,
}

/// An agent of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Registered {
    /// Its id, which becomes its name in the catalogue.
    pub id: String,
    /// The name people read.
    pub name: String,
    /// Its version when the registry was written.
    pub version: String,
    distribution: Distribution,
}

/// The distributions of an agent; one of them is enough.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
struct Distribution {
    npx: Option<Package>,
    uvx: Option<Package>,
    #[serde(default)]
    binary: BTreeMap<String, Binary>,
}

/// A package that a runner downloads and starts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Package {
    package: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// A program that people download.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Binary {
    archive: String,
    cmd: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Why a registry, or one of its agents, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not a registry.
    #[error("it is not a registry of ACP agents")]
    Unreadable(#[from] serde_json::Error),
    /// It names no agent.
    #[error("it lists no agents")]
    Empty,
    /// An id that cannot be the name of an agent.
    #[error("`{id}` cannot be the name of an agent")]
    Name {
        /// The id.
        id: String,
    },
    /// There is nothing to run on this machine.
    #[error("{id} is not available for {platform}")]
    Platform {
        /// The agent.
        id: String,
        /// This machine, as the registry calls it.
        platform: String,
    },
}

/// How an agent of the registry is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// A runner downloads it when it is first started; the runner must be installed.
    Fetched {
        /// `npx` or `uvx`.
        runner: &'static str,
    },
    /// People download an archive, and put the program onto the search path.
    Downloaded {
        /// The address of the archive.
        archive: String,
        /// The program in it.
        program: String,
    },
}

impl Registry {
    /// The snapshot that ships with the program.
    pub fn shipped() -> Self {
        Self::read(SNAPSHOT).expect("a test reads the snapshot")
    }

    /// Reads a registry.
    pub fn read(text: &str) -> Result<Self, Error> {
        let registry: Self = serde_json::from_str(text)?;
        if registry.agents.is_empty() { Err(Error::Empty) } else { Ok(registry) }
    }

    /// The agent with this id.
    pub fn find(&self, id: &str) -> Option<&Registered> {
        self.agents.iter().find(|agent| agent.id == id)
    }
}

/// The name by which the catalogue knows an agent of the registry, if it does.
pub fn known_as(id: &str) -> Option<&str> {
    let renamed = SAME.iter().find(|(theirs, _)| *theirs == id).map(|(_, ours)| *ours);
    let same = || id.parse::<AgentName>().ok().filter(is_built_in).map(|_| id);
    renamed.or_else(same)
}

fn is_built_in(name: &AgentName) -> bool {
    built_in(std::path::Path::new("")).iter().any(|agent| agent.name == *name)
}

/// This machine, as the registry calls it: `linux-x86_64`.
pub fn platform() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    format!("{system}-{}", std::env::consts::ARCH)
}

impl Registered {
    /// The agent as an entry of the catalogue, and how it is installed. One that the catalogue
    /// knows keeps its folders, its login and its confinement.
    pub fn agent(&self, platform: &str) -> Result<(Agent, Arrival), Error> {
        let name: AgentName = self.id.parse().map_err(|_| Error::Name { id: self.id.clone() })?;
        let known = known_as(&self.id).and_then(|ours| {
            let mut agents = built_in(std::path::Path::new("")).into_iter();
            agents.find(|agent| agent.name.as_str() == ours)
        });
        let mut agent = Agent::named(name.clone());
        match known {
            Some(known) => {
                agent = Agent { like: Some(known.name.clone()), name, install: None, ..known };
            }
            None => agent.writable = self.guessed_folders(),
        }
        agent.title.clone_from(&self.name);
        let Distribution { npx, uvx, binary } = &self.distribution;
        let arrival = match (npx, uvx, binary.get(platform)) {
            (Some(package), _, _) => fetched(&mut agent, "npx", &["--yes"], package),
            (None, Some(package), _) => fetched(&mut agent, "uvx", &[], package),
            (None, None, Some(found)) => {
                // An archive has the program somewhere inside; people put it where programs are looked for.
                let program = found.cmd.rsplit('/').next().unwrap_or(&found.cmd).to_owned();
                agent.command.clone_from(&program);
                agent.args.clone_from(&found.args);
                agent.env.extend(found.env.clone());
                Arrival::Downloaded { archive: found.archive.clone(), program: found.cmd.clone() }
            }
            (None, None, None) => {
                let (id, platform) = (self.id.clone(), platform.to_owned());
                return Err(Error::Platform { id, platform });
            }
        };
        Ok((agent, arrival))
    }

    /// Where agents of this name usually keep their state.
    fn guessed_folders(&self) -> Vec<std::path::PathBuf> {
        let places = ["~/.", "~/.config/", "~/.local/share/"];
        places.map(|place| format!("{place}{}", self.id).into()).to_vec()
    }
}

fn fetched(agent: &mut Agent, runner: &'static str, first: &[&str], package: &Package) -> Arrival {
    runner.clone_into(&mut agent.command);
    let first = first.iter().map(ToString::to_string);
    let own = package.args.iter().cloned();
    agent.args = first.chain([package.package.clone()]).chain(own).collect();
    agent.env.extend(package.env.clone());
    Arrival::Fetched { runner }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_every_agent_of_the_snapshot_can_be_added() {
        let registry = Registry::shipped();
        assert!(registry.agents.len() >= 30, "{}", registry.agents.len());
        for registered in &registry.agents {
            let (agent, _) = registered.agent("linux-x86_64").unwrap();
            assert!(!agent.command.is_empty(), "{registered:?}");
            let known = known_as(&registered.id);
            let is_known = |name: &&str| is_built_in(&name.parse().unwrap());
            assert_eq!(known.filter(is_known), known, "{registered:?}");
        }
    }

    #[test]
    fn l1_a_registered_agent_is_run_as_its_distribution_says() {
        let registry = Registry::read(
            r#"{"version": "1.0.0", "extensions": [], "agents": [
                {"id": "neat", "name": "Neat", "version": "1.0.0", "description": "x", "authors": ["me"],
                 "distribution": {"npx": {"package": "@neat/cli@1.0.0", "args": ["--acp"], "env": {"NEAT": "1"}}}},
                {"id": "snake", "name": "Snake", "version": "2.0.0", "distribution": {"uvx": {"package": "snake==2.0.0"}}},
                {"id": "box", "name": "Box", "version": "3.0.0", "distribution": {"binary": {
                    "linux-x86_64": {"archive": "https://box.test/x.tgz", "cmd": "./bin/box", "args": ["acp"], "sha256": "00"}}}}
            ]}"#,
        )
        .unwrap();
        let line = |id: &str| {
            let (agent, arrival) = registry.find(id).unwrap().agent("linux-x86_64").unwrap();
            format!("{} {} {:?} {arrival:?}", agent.command, agent.args.join(" "), agent.env)
        };
        insta::assert_snapshot!(["neat", "snake", "box"].map(line).join("\n"), @r#"
        npx --yes @neat/cli@1.0.0 --acp {"NEAT": "1"} Fetched { runner: "npx" }
        uvx snake==2.0.0 {} Fetched { runner: "uvx" }
        box acp {} Downloaded { archive: "https://box.test/x.tgz", program: "./bin/box" }
        "#);
        let elsewhere = registry.find("box").unwrap().agent("linux-riscv64").unwrap_err();
        assert_eq!(elsewhere.to_string(), "box is not available for linux-riscv64");
        assert!(Registry::read("[]").is_err() && Registry::read(r#"{"agents": []}"#).is_err());
    }

    #[test]
    fn l1_an_agent_that_the_catalogue_knows_keeps_its_confinement() {
        let registry = Registry::shipped();
        let (agent, _) = registry.find("codex-acp").unwrap().agent("linux-x86_64").unwrap();
        assert_eq!(agent.nested_sandbox, crate::catalogue::NestedSandbox::Bubblewrap);
        assert_eq!(agent.writable, [std::path::PathBuf::from("~/.codex")]);
        assert_eq!(agent.command, "npx");
    }
}
