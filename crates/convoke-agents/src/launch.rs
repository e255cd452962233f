//! Turns an entry of the catalogue into a launch: the program, its environment, and its
//! confinement.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::catalogue::{Agent, NestedSandbox, Sandbox, find};
use crate::driver::{Confinement, Launch, McpServer, OwnSandbox, Start};
use crate::error::{Error, Result};
use crate::sandbox::{
    self, Caches, Layer, Layers, Missing, Network, Policy, Seccomp, Settings, StartFiles, Use,
};
use crate::temp::TempFolder;
use rustix::fs::{Mode, OFlags, mkdirat, open, openat, symlinkat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

/// The timeout for an agent to be ready: slow ones need seconds.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// The environment variables that set the download caches of package managers.
const CACHES: [(&str, &str); 16] = [
    ("BUN_INSTALL_CACHE_DIR", "bun"),
    ("CARGO_HOME", "cargo"),
    ("CCACHE_DIR", "ccache"),
    ("COMPOSER_CACHE_DIR", "composer"),
    ("DENO_DIR", "deno"),
    ("GOCACHE", "go-build"),
    ("GOMODCACHE", "go-mod"),
    ("GRADLE_USER_HOME", "gradle"),
    ("NUGET_PACKAGES", "nuget"),
    ("PIP_CACHE_DIR", "pip"),
    ("PUB_CACHE", "pub"),
    ("SCCACHE_DIR", "sccache"),
    ("UV_CACHE_DIR", "uv"),
    ("UV_TOOL_DIR", "uv-tools"),
    ("YARN_CACHE_FOLDER", "yarn"),
    ("npm_config_cache", "npm"),
];

/// The environment in which Convoke starts agents.
#[derive(Debug, Clone)]
pub struct LaunchEnvironment {
    /// The variables that Convoke itself was started with.
    pub environment: BTreeMap<OsString, OsString>,
    /// Convoke itself, which confines agents.
    pub convoke: PathBuf,
    /// Convoke's home, which is hidden from agents.
    pub home: PathBuf,
    /// A private folder for the temporary files of this agent.
    pub temp: Arc<TempFolder>,
    /// The settings of the sandbox, and what the machine supports.
    pub sandbox: Settings,
}

/// The parameters of one start.
#[derive(Debug, Clone)]
pub struct LaunchParameters {
    /// The project's folder: absolute, existing, links resolved.
    pub workspace: PathBuf,
    /// The conversation that it takes part in.
    pub start: Start,
    /// The servers of tools that the agent is given.
    pub mcp_servers: Vec<McpServer>,
    /// The repository of the workspace, if it is a work tree that Convoke made.
    pub worktree: Option<WorktreeOf>,
}

impl LaunchParameters {
    /// The project's folder, whose exceptions and caches apply.
    fn project(&self) -> &Path {
        self.worktree.as_ref().map_or(&self.workspace, |it| &it.project)
    }
}

/// The project of a work tree, and the parts of its repository that an agent needs.
#[derive(Debug, Clone, Default)]
pub struct WorktreeOf {
    /// The project's folder.
    pub project: PathBuf,
    /// Paths that git writes for the work tree and its branch.
    pub writable: Vec<PathBuf>,
    /// Read-only paths inside of them.
    pub protected: Vec<PathBuf>,
    /// Further paths that git reads.
    pub readable: Vec<PathBuf>,
}

impl Launch {
    /// Builds the launch of an agent.
    pub fn of(
        agent: &Agent,
        around: &LaunchEnvironment,
        parameters: LaunchParameters,
    ) -> Result<Self> {
        let path = around.environment.get(OsStr::new("PATH"));
        let program = find(&agent.command, path.map(OsString::as_os_str)).ok_or_else(|| {
            let (agent, install) = (agent.clone(), agent.install.clone());
            Error::NotInstalled { agent: agent.name, command: agent.command, install }
        })?;
        let workspace = parameters.workspace.to_string_lossy();
        let (confinement, missing) = confinement(agent, around, &parameters)?;
        let own_sandbox = OwnSandbox::of(agent, &missing);
        Ok(Self {
            protocol: agent.protocol,
            program,
            args: agent.args.iter().map(|arg| arg.replace("{workspace}", &workspace)).collect(),
            environment: environment(agent, around, own_sandbox, parameters.project()),
            confinement,
            missing,
            own_sandbox,
            temp: Some(Arc::clone(&around.temp)),
            workspace: parameters.workspace,
            mcp_servers: parameters.mcp_servers,
            tools: agent.tools,
            mentions: agent.mentions,
            start: parameters.start,
            start_timeout: TIMEOUT,
            leftovers: Some(around.home.join("run/agents")),
            lease: None,
            gate: None,
        })
    }
}

/// Convoke's environment without its own variables, which may hold secrets, and with the agent's
/// variables.
fn environment(
    agent: &Agent,
    around: &LaunchEnvironment,
    own_sandbox: OwnSandbox,
    workspace: &Path,
) -> BTreeMap<OsString, OsString> {
    let is_ours = |name: &OsStr| name.to_string_lossy().starts_with("CONVOKE_");
    let inherited = around.environment.iter().filter(|(name, _)| !is_ours(name));
    let unnested = match own_sandbox {
        OwnSandbox::Off => Some(&agent.unnested_env),
        OwnSandbox::None | OwnSandbox::Nested => None,
    };
    let own = unnested.into_iter().flatten().chain(&agent.env);
    let own = own.map(|(name, value)| (name.into(), value.into()));
    let temp = (OsString::from("TMPDIR"), around.temp.path().as_os_str().to_owned());
    let caches = match (agent.sandbox, cfg!(target_os = "linux")) {
        (Sandbox::Workspace, true) => caches(around, workspace).map(|(_, caches)| caches),
        (Sandbox::Workspace, false) | (Sandbox::Off, _) => None,
    };
    let caches = caches.into_iter().flatten().map(|(name, path)| (name.into(), path.into()));
    let inherited = inherited.map(|(name, value)| (name.clone(), value.clone()));
    inherited.chain([temp]).chain(caches).chain(own).collect()
}

impl OwnSandbox {
    /// Whether an agent's own sandbox can work inside of the active layers.
    fn of(agent: &Agent, missing: &[Missing]) -> Self {
        match (agent.nested_sandbox, agent.sandbox) {
            (NestedSandbox::None, _) => Self::None,
            // No outer layer could interfere with it.
            (NestedSandbox::Bubblewrap, Sandbox::Off) => Self::Nested,
            (NestedSandbox::Bubblewrap, Sandbox::Workspace) => {
                let lacks = |layer: Layer| missing.iter().any(|it| it.layer == layer);
                // Landlock forbids mounts, and replaces bubblewrap if that is missing.
                let is_held = lacks(Layer::Bubblewrap) && !lacks(Layer::Landlock);
                if is_held { Self::Off } else { Self::Nested }
            }
        }
    }
}

/// The folder for the download caches of package managers, for agents of one project, and the
/// variables that set it.
///
/// A confined agent cannot write the user's own caches: the user's builds would execute what it put
/// there.
fn caches(
    around: &LaunchEnvironment,
    workspace: &Path,
) -> Option<(PathBuf, Vec<(String, PathBuf)>)> {
    if around.sandbox.caches == Caches::Off {
        return None;
    }
    let variable = |name: &str| around.environment.get(OsStr::new(name)).map(PathBuf::from);
    let home = variable("HOME").filter(|path| path.is_absolute())?;
    let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache.unwrap_or_else(|| home.join(".cache"));
    let digest = Sha256::digest(workspace.as_os_str().as_encoded_bytes());
    let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let folder = cache.join("convoke").join(&name);
    let variables = CACHES.iter().map(|(name, inside)| ((*name).to_owned(), folder.join(inside)));
    let variables = variables.collect();
    link_cargo_settings(&home.join(".cargo"), &cache, &name);
    Some((folder, variables))
}

/// Links cargo's settings into a project's cache, since cargo reads them from the same folder.
///
/// Agents can write there: below the user's cache folder, no link is followed.
fn link_cargo_settings(own: &Path, cache: &Path, project: &str) {
    let settings = ["config.toml", "config"].map(|name| (name, own.join(name)));
    let existing: Vec<_> = settings.iter().filter(|(_, path)| path.is_file()).collect();
    if existing.is_empty() {
        return;
    }
    let linked = open_cargo_cache(cache, project).and_then(|folder| {
        for (name, path) in existing {
            match symlinkat(path, &folder, *name) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    });
    if let Err(error) = linked {
        // Without the link, crates come from the default registry.
        tracing::warn!(cache = %cache.display(), "cannot link cargo's settings into the cache of a project: {error}");
    }
}

/// Opens the folder for cargo in the cache of a project, and creates it if it is missing.
fn open_cargo_cache(cache: &Path, project: &str) -> std::io::Result<OwnedFd> {
    std::fs::create_dir_all(cache)?;
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    // The user may have put the cache folder itself elsewhere.
    let mut folder = open(cache, flags, Mode::empty())?;
    for name in ["convoke", project, "cargo"] {
        match mkdirat(&folder, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        folder = openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(folder)
}

/// The confinement of an agent, and the layers that it lacks.
fn confinement(
    agent: &Agent,
    around: &LaunchEnvironment,
    parameters: &LaunchParameters,
) -> Result<(Confinement, Vec<Missing>)> {
    if !cfg!(target_os = "linux") {
        if agent.sandbox == Sandbox::Workspace {
            check_network(agent, around, &[])?;
        }
        return Ok((Confinement::Off, Vec::new()));
    }
    let supervised = |policy| Confinement::Supervised {
        helper: around.convoke.clone(),
        policy: Box::new(policy),
    };
    if agent.sandbox == Sandbox::Off {
        let policy = Policy {
            limits: agent.limits.or_default(),
            scope: around.sandbox.systemd.clone(),
            ..Policy::unconfined()
        };
        return Ok((supervised(policy), Vec::new()));
    }
    let (layers, missing) = layers(agent, &around.sandbox);
    let demanded = missing.iter().find(|it| around.sandbox.require.contains(&it.layer));
    if let Some(Missing { layer, why }) = demanded.cloned() {
        return Err(Error::LayerMissing { agent: agent.name.clone(), layer, why });
    }
    check_network(agent, around, &missing)?;
    let user = around.environment.get(OsStr::new("HOME")).map(Path::new);
    let expanded = |paths: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().filter_map(|path| expand(path, user)).collect()
    };
    let exceptions = around.sandbox.exceptions(parameters.project());
    let cache = caches(around, parameters.project()).map(|(folder, _)| folder);
    let own = parameters.worktree.clone().unwrap_or_default();
    let cache = cache.into_iter().collect();
    let writable = [expanded(&agent.writable), exceptions.writable, cache].concat();
    let readable = [expanded(&agent.readable), exceptions.readable, own.readable].concat();
    let secrets = [sandbox::secret_places(user), around.sandbox.hidden.clone()].concat();
    let policy = Policy {
        layers,
        secrets: sandbox::hidden_secrets(secrets, &[writable.clone(), readable.clone()].concat()),
        writable_direct: own.writable,
        hidden: vec![around.home.clone()],
        protected: [expanded(&agent.protected), own.protected, program(agent, around)].concat(),
        start_files: StartFiles::Protected,
        shown: shown(agent, around),
        sockets: around.sandbox.sockets.clone(),
        temp: Some(around.temp.path().to_owned()),
        network: around.sandbox.network,
        domains: [agent.domains.clone(), around.sandbox.domains.clone(), exceptions.domains]
            .concat(),
        tools: tools(&parameters.mcp_servers),
        limits: agent.limits.or_default(),
        scope: around.sandbox.systemd.clone(),
        writable,
        readable,
    };
    Ok((supervised(policy), missing))
}

/// Refuses to start an agent whose network policy cannot be enforced.
fn check_network(agent: &Agent, around: &LaunchEnvironment, missing: &[Missing]) -> Result<()> {
    let network = around.sandbox.network;
    let lacking = missing.iter().find(|it| it.layer == Layer::Bubblewrap);
    let why = match (network, lacking) {
        (Network::Open, _) => return Ok(()),
        (Network::Proxy | Network::Off, Some(lacking)) => lacking.why.clone(),
        (Network::Proxy | Network::Off, None) if cfg!(target_os = "linux") => return Ok(()),
        (Network::Proxy | Network::Off, None) => "only Linux has it".to_owned(),
    };
    Err(Error::NetworkNotHeld { agent: agent.name.clone(), network, why })
}

/// The address of Convoke's own tools, from the variables of their server.
fn tools(servers: &[McpServer]) -> Option<SocketAddr> {
    let url = servers.iter().find_map(|server| server.env.get("CONVOKE_MCP_URL"))?;
    let authority = url.strip_prefix("http://")?.split('/').next()?;
    authority.parse().ok()
}

/// The program of an agent, if it is installed. It is protected even in a folder that the agent may write, because it
/// also runs without a sandbox: when the user starts it, and when Convoke asks for its version.
fn program(agent: &Agent, around: &LaunchEnvironment) -> Vec<PathBuf> {
    let path = around.environment.get(OsStr::new("PATH"));
    find(&agent.command, path.map(OsString::as_os_str)).into_iter().collect()
}

/// The files in the user's command line of an agent.
fn shown(agent: &Agent, around: &LaunchEnvironment) -> Vec<PathBuf> {
    let args = agent.args.iter().map(PathBuf::from).filter(|path| path.is_absolute());
    program(agent, around).into_iter().chain(args).collect()
}

/// The layers that confine an agent on this machine, and those that are missing.
pub fn layers_of(agent: &Agent, settings: &Settings) -> (Vec<Layer>, Vec<Missing>) {
    if agent.sandbox == Sandbox::Off || !cfg!(target_os = "linux") {
        return (Vec::new(), Vec::new());
    }
    let (_, missing) = layers(agent, settings);
    let is_missing = |layer: &Layer| missing.iter().any(|it| it.layer == *layer);
    let held = Layer::WORDS.iter().map(|(_, layer)| *layer).filter(|it| !is_missing(it)).collect();
    (held, missing)
}

/// The active layers of an agent, and the missing ones.
fn layers(agent: &Agent, settings: &Settings) -> (Layers, Vec<Missing>) {
    let mut missing = Vec::new();
    let mut holds = |layer: Layer, conflict: Option<&str>| {
        let switched_off = "sandbox.layers does not include it";
        let why = (!settings.layers.contains(&layer))
            .then_some(switched_off)
            .or_else(|| settings.available.lacks(layer))
            .or(conflict);
        missing.extend(why.map(|why| Missing { layer, why: why.to_owned() }));
        why.is_none()
    };
    let bubblewrap = holds(Layer::Bubblewrap, None);
    // Without bubblewrap around it, the agent's own sandbox does not suffice.
    let nested = agent.nested_sandbox == NestedSandbox::Bubblewrap && bubblewrap;
    let conflict = "the agent's own sandbox uses mounts, which Landlock forbids";
    let landlock = holds(Layer::Landlock, nested.then_some(conflict));
    let seccomp = holds(Layer::Seccomp, None);
    let layers = Layers {
        bubblewrap: settings.available.bubblewrap.clone().ok().filter(|_| bubblewrap),
        landlock: if landlock { Use::On } else { Use::Off },
        seccomp: match (seccomp, nested) {
            (false, _) => Seccomp::Off,
            (true, true) => Seccomp::Nested,
            (true, false) => Seccomp::Strict,
        },
    };
    (layers, missing)
}

/// Expands `~` in a path; `None` if the user's home is unknown.
fn expand(path: &Path, user: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix("~") {
        Ok(rest) => user.map(|user| user.join(rest)),
        Err(_) => Some(path.to_owned()),
    }
}

#[cfg(test)]
mod tests;
