//! `convoke agent add` and `convoke agent refresh`: agents of the ACP registry.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use convoke_agents::catalogue::find;
use convoke_agents::catalogue::registry::{self, Arrival, Registered, Registry};
use convoke_core::count::counted;
use serde::Serialize;

use crate::commands::World;
use crate::config::{Sources, put_agent};
use crate::home::Home;
use crate::output::{Output, plain, table};

/// Where the registry is published.
const PUBLISHED: &str = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json";
/// The largest registry that is read; today's has 0.1 MB.
const REGISTRY_BYTES_MAX: u64 = 8 << 20;
/// The timeout of a download.
const DOWNLOAD_SECONDS: &str = "60";

/// Add an agent of the ACP registry to the configuration
///
/// Agents from npm and PyPI are fetched by `npx` and `uvx` when they are first started. `convoke
/// agent list --registry` lists the ids.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke agent add auggie
  convoke agent add kilo --replace")]
pub(crate) struct AddArgs {
    /// Agent, by its id in the registry
    id: String,
    /// Replace an agent of this name that is in the configuration
    #[arg(long)]
    replace: bool,
}

/// Read a newer copy of the ACP registry
///
/// Without an argument the published one is downloaded, with curl.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke agent refresh
  convoke agent refresh ~/Downloads/registry.json")]
pub(crate) struct RefreshArgs {
    /// File or URL to read it from
    #[arg(value_name = "FILE|URL", default_value = PUBLISHED)]
    from: String,
}

/// Why an agent cannot be added.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AddError {
    /// The registry does not list it.
    #[error("the registry lists no agent {id}")]
    Unregistered {
        /// What was given.
        id: String,
    },
    /// The catalogue has it.
    #[error("{name} is a built-in agent")]
    BuiltIn {
        /// Its name there.
        name: String,
        /// How to install it.
        install: String,
    },
    /// The configuration has an agent of this name.
    #[error("the configuration has an agent {name} already")]
    Exists {
        /// Its name.
        name: String,
    },
    /// The registry could not be downloaded.
    #[error("cannot download {url}: {why}")]
    Download {
        /// From where.
        url: String,
        /// Why not.
        why: String,
    },
}

/// A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Added {
    name: String,
    title: String,
    version: String,
    command: String,
    args: Vec<String>,
    /// The remaining step before it can be started.
    #[serde(skip_serializing_if = "Option::is_none")]
    todo: Option<String>,
}

/// A contract with scripts.
#[derive(Serialize)]
struct Refreshed {
    agents: usize,
    path: String,
}

/// A contract with scripts.
#[derive(Serialize)]
struct Available {
    agents: Vec<AvailableAgent>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AvailableAgent {
    id: String,
    title: String,
    version: String,
    /// The built-in agent that it is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    built_in: Option<String>,
}

/// The copy of the registry in the home, which is newer than the shipped one.
fn copy(home: &Home) -> PathBuf {
    home.path().join("registry.json")
}

/// The registry: the copy in the home, else the one that ships with the program.
fn current(home: &Home) -> anyhow::Result<Registry> {
    let path = copy(home);
    match fs::read_to_string(&path) {
        Ok(text) => Registry::read(&text).with_context(|| format!("cannot use {}", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Registry::shipped()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

pub(super) fn add(
    args: &AddArgs,
    home: &Home,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let configured = world.config(home)?.config.agents;
    let same = configured.iter().find(|agent| agent.name.as_str() == args.id);
    if let Some(agent) = same {
        if let (Some(install), None) = (&agent.install, &agent.like) {
            let (name, install) = (agent.name.to_string(), install.clone());
            return Err(AddError::BuiltIn { name, install }.into());
        }
        if !args.replace {
            return Err(AddError::Exists { name: args.id.clone() }.into());
        }
    }
    let registry = current(home)?;
    let found = registry.find(&args.id);
    let found = found.ok_or_else(|| AddError::Unregistered { id: args.id.clone() })?;
    let (agent, arrival) = found.agent(&registry::platform())?;
    let file = home.config_file();
    put_agent(
        &Sources {
            home: home.path(),
            file: &file,
            environment: &world.environment,
            flags: std::collections::BTreeMap::new(),
            program: &world.program,
        },
        &agent,
    )?;
    let added = Added {
        name: agent.name.to_string(),
        title: agent.title,
        version: found.version.clone(),
        command: agent.command,
        args: agent.args,
        todo: to_do(&arrival, world),
    };
    output.show(&added, |added, _| {
        let line = [vec![added.command.clone()], added.args.clone()].concat().join(" ");
        let mut text = format!(
            "Added {} {} as {} to {}: {}\n",
            plain(&added.title),
            plain(&added.version),
            added.name,
            file.display(),
            plain(&line)
        );
        if let Some(todo) = &added.todo {
            text.push_str(&format!("{}\n", plain(todo)));
        }
        text.push_str("A running daemon uses it after a restart: `convoke stop`\n");
        text
    })
}

/// The step that people must do before the agent can be started.
fn to_do(arrival: &Arrival, world: &World) -> Option<String> {
    match arrival {
        Arrival::Fetched { runner } => {
            let is_there = find(runner, world.environment.get("PATH")).is_some();
            let package = if *runner == "npx" { "Node.js with npm" } else { "uv" };
            (!is_there).then(|| {
                format!("Install {package} first: there is no {runner} on the search path.")
            })
        }
        Arrival::Downloaded { archive, program } => {
            Some(format!("Download {archive} and put {program} onto the search path."))
        }
    }
}

pub(super) fn refresh(args: &RefreshArgs, home: &Home, output: &Output) -> anyhow::Result<()> {
    let is_url = ["https://", "http://"].iter().any(|scheme| args.from.starts_with(scheme));
    let text = if is_url { download(&args.from)? } else { read(Path::new(&args.from))? };
    let registry =
        Registry::read(&text).with_context(|| format!("cannot use {}", plain(&args.from)))?;
    let path = copy(home);
    convoke_files::atomic::write(&path, text.as_bytes())?;
    let refreshed = Refreshed { agents: registry.agents.len(), path: path.display().to_string() };
    output.show(&refreshed, |refreshed, _| {
        let agents = counted(refreshed.agents, "agent");
        format!("The registry lists {agents}; stored in {}\n", refreshed.path)
    })
}

fn read(path: &Path) -> anyhow::Result<String> {
    let about = || format!("cannot read {}", path.display());
    let size = fs::metadata(path).with_context(about)?.len();
    anyhow::ensure!(size <= REGISTRY_BYTES_MAX, "{} is larger than a registry", path.display());
    fs::read_to_string(path).with_context(about)
}

/// Downloads a text with curl: the program itself speaks no TLS.
fn download(url: &str) -> anyhow::Result<String> {
    let fail = |why: String| AddError::Download { url: plain(url), why };
    let limit = REGISTRY_BYTES_MAX.to_string();
    let output = Command::new("curl")
        .args(["--fail", "--silent", "--show-error", "--location", "--proto", "=https,http"])
        .args(["--max-time", DOWNLOAD_SECONDS, "--max-filesize", &limit, "--", url])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| fail(format!("curl does not start: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(fail(plain(&said)).into());
    }
    String::from_utf8(output.stdout).map_err(|_| fail("it is not text".to_owned()).into())
}

/// Lists the agents that can be added.
pub(super) fn available(home: &Home, output: &Output) -> anyhow::Result<()> {
    let entry = |agent: Registered| AvailableAgent {
        built_in: registry::known_as(&agent.id).map(str::to_owned),
        id: agent.id,
        title: agent.name,
        version: agent.version,
    };
    let agents = current(home)?.agents.into_iter().map(entry).collect();
    output.show(&Available { agents }, |listed, _| {
        let row = |agent: &AvailableAgent| {
            let known = agent.built_in.as_ref().map(|name| format!("built in as {name}"));
            [
                plain(&agent.id),
                plain(&agent.title),
                plain(&agent.version),
                known.unwrap_or_default(),
            ]
        };
        table(["AGENT", "TITLE", "VERSION", ""], listed.agents.iter().map(row).collect())
    })
}
