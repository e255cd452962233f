//! `convoke sandbox-exec`: runs a program in the sandbox that agents run in. The daemon starts agents through it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use convoke_agents::catalogue;
use convoke_agents::sandbox::{
    self, Available, Domain, Layer, Layers, Limits, Network, Policy, SandboxedCommand, Seccomp,
    StartFiles, Use,
};

use super::World;

/// Run a program in the sandbox that agents run in
///
/// The program and all that it starts write only where they may, do not see secrets, and end with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke sandbox-exec --write . --hide ~/.convoke -- bash
  convoke sandbox-exec --layers landlock,seccomp --write . -- make test
  convoke sandbox-exec --network proxy --domain '*.npmjs.org' --write . -- npm install")]
pub(crate) struct SandboxExecArgs {
    /// File or folder that may be written; a folder that is missing is made
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Folder that may not be read
    #[arg(long, value_name = "PATH")]
    hide: Vec<PathBuf>,
    /// File or folder that may not be read, if it exists
    #[arg(long, value_name = "PATH", hide = true)]
    secret: Vec<PathBuf>,
    /// Folder for temporary files, which is the program's /tmp
    #[arg(long, value_name = "PATH")]
    temp: Option<PathBuf>,
    /// Socket that may be connected to
    #[arg(long, value_name = "PATH")]
    socket: Vec<PathBuf>,
    /// Repository that git works on: it may be written but for its configuration and hooks, and so
    /// may everything in the current folder
    #[arg(long, value_name = "FOLDER", hide = true)]
    git: Option<PathBuf>,
    /// Layers to use [default: all that work here]
    #[arg(long, value_name = "LAYERS", value_delimiter = ',', value_parser = layer)]
    layers: Option<Vec<Layer>>,
    /// Let the program bring a sandbox of its own: no Landlock, and user namespaces are allowed
    #[arg(long)]
    nested: bool,
    /// What the program may reach over the network: open, proxy or off
    #[arg(long, value_name = "POLICY", default_value = "open", value_parser = network)]
    network: Network,
    /// Host that the proxy lets it connect to, such as *.example.com or 127.0.0.1:8080
    #[arg(long, value_name = "DOMAIN")]
    domain: Vec<Domain>,
    /// Bytes of memory that the program and its children may use
    #[arg(long, value_name = "BYTES")]
    memory_max: Option<u64>,
    /// Processes and threads that there may be
    #[arg(long, value_name = "COUNT")]
    tasks_max: Option<u64>,
    /// Bytes that temporary files may take
    #[arg(long, value_name = "BYTES")]
    temp_max: Option<u64>,
    /// Supervise what the socket on standard input describes
    #[arg(long, hide = true, conflicts_with = "command")]
    supervise: bool,
    /// Become what the socket on standard input describes
    #[arg(long, hide = true, conflicts_with = "command")]
    enter: bool,
    /// The program and its arguments
    #[arg(last = true, required_unless_present_any = ["supervise", "enter"], value_name = "PROGRAM")]
    command: Vec<OsString>,
}

fn layer(word: &str) -> Result<Layer, String> {
    let known = Layer::WORDS.iter().find(|(known, _)| *known == word);
    known.map(|(_, layer)| *layer).ok_or_else(|| "expected bwrap, landlock or seccomp".to_owned())
}

fn network(word: &str) -> Result<Network, String> {
    let known = Network::WORDS.iter().find(|(known, _)| *known == word);
    known.map(|(_, network)| *network).ok_or_else(|| "expected open, proxy or off".to_owned())
}

/// There is no such program.
#[derive(Debug, thiserror::Error)]
#[error("there is no program {program}")]
pub(crate) struct NoProgram {
    program: String,
}

/// A layer that was asked for does not work here.
#[derive(Debug, thiserror::Error)]
#[error("{layer} does not work here: {why}")]
pub(crate) struct NoLayer {
    layer: Layer,
    why: String,
}

/// The network cannot be closed without the layer that has namespaces.
#[derive(Debug, thiserror::Error)]
#[error("`--network {network}` needs bwrap, which does not work here: {why}")]
pub(crate) struct NetworkNotHeld {
    network: Network,
    why: String,
}

pub(crate) fn run(args: &SandboxExecArgs, world: &World) -> anyhow::Result<ExitCode> {
    if args.supervise {
        return Ok(sandbox::supervise()?);
    }
    if args.enter {
        return Ok(sandbox::enter()?);
    }
    let [program, rest @ ..] = args.command.as_slice() else { return Ok(ExitCode::SUCCESS) };
    let path = world.environment.get("PATH");
    let name = program.to_string_lossy();
    let found = catalogue::find(&name, path)
        .or_else(|| Some(PathBuf::from(program)).filter(|_| name.contains('/')))
        .ok_or_else(|| NoProgram { program: name.into_owned() })?;
    let here = std::env::current_dir().context("cannot determine the current folder")?;
    let mut policy = policy(args, world)?;
    let named = rest.iter().map(PathBuf::from).filter(|path| path.is_absolute());
    policy.shown = std::iter::once(found.clone()).chain(named).collect();
    // The current folder is where the program works, whether or not it may write there.
    let workspace = args.write.first().filter(|_| args.git.is_none()).cloned();
    let workspace = workspace.unwrap_or_else(|| here.clone());
    let variables = world.environment.iter();
    let environment = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
    let args = rest.to_vec();
    Ok(sandbox::run_sandboxed(SandboxedCommand {
        policy,
        program: found,
        args,
        environment,
        workspace,
    })?)
}

fn policy(args: &SandboxExecArgs, world: &World) -> anyhow::Result<Policy> {
    let path = world.environment.get("PATH");
    let available = match args.git {
        // The daemon names the layers that it has tried, for every single command of git.
        Some(_) => Available::assume(path),
        None => Available::detect(path),
    };
    let wants = |layer: Layer| match &args.layers {
        Some(wanted) if !wanted.contains(&layer) => Ok(false),
        Some(_) => match available.lacks(layer) {
            Some(why) => Err(NoLayer { layer, why: why.to_owned() }),
            None => Ok(true),
        },
        None => Ok(available.lacks(layer).is_none()),
    };
    let landlock = wants(Layer::Landlock)? && !args.nested;
    let layers = Layers {
        bubblewrap: wants(Layer::Bubblewrap)?.then(|| available.bubblewrap.clone().ok()).flatten(),
        landlock: if landlock { Use::On } else { Use::Off },
        seccomp: match (wants(Layer::Seccomp)?, args.nested) {
            (false, _) => Seccomp::Off,
            (true, false) => Seccomp::Strict,
            (true, true) => Seccomp::Nested,
        },
    };
    if layers.bubblewrap.is_none() && args.network != Network::Open {
        let why =
            available.lacks(Layer::Bubblewrap).unwrap_or("--layers does not include it").to_owned();
        return Err(NetworkNotHeld { network: args.network, why }.into());
    }
    let secrets = sandbox::secret_places(world.environment.get("HOME").map(Path::new));
    Ok(Policy {
        layers,
        writable: if args.git.is_none() { args.write.clone() } else { Vec::new() },
        writable_direct: args
            .git
            .iter()
            .flat_map(|git| args.write.iter().chain([git]))
            .cloned()
            .collect(),
        hidden: args.hide.clone(),
        secrets: [secrets, args.secret.clone()].concat(),
        readable: Vec::new(),
        protected: args.git.iter().flat_map(|folder| sandbox::held_of_git(folder)).collect(),
        start_files: match args.git {
            Some(_) => StartFiles::Writable,
            None => StartFiles::Protected,
        },
        shown: Vec::new(),
        sockets: args.socket.clone(),
        temp: args.temp.clone(),
        network: args.network,
        domains: args.domain.clone(),
        tools: None,
        limits: Limits {
            memory_bytes: args.memory_max,
            tasks: args.tasks_max,
            temp_bytes: args.temp_max,
        },
        scope: None,
    })
}
