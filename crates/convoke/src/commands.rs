//! The commands, one per file, and their common parameters.

pub(crate) mod agent;
pub(crate) mod answer;
pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod browser;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod db;
pub(crate) mod demo_agent;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod inbox;
pub(crate) mod man_pages;
pub(crate) mod mcp;
pub(crate) mod node;
pub(crate) mod open;
pub(crate) mod project;
pub(crate) mod questions;
pub(crate) mod restore;
pub(crate) mod rule;
pub(crate) mod sandbox_exec;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod spawn;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod team;
pub(crate) mod tui;
pub(crate) mod user;
pub(crate) mod worktree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use convoke_store::location::Location;

use crate::args::{Args, Command, GlobalArgs};
use crate::asking::Asking;
use crate::config::{Loaded, Mistakes, Sources};
use crate::environment::Environment;
use crate::home::{self, Exposure, Home};
use crate::logs::{self, Verbosity};
use crate::output::{Format, Output};

/// How a command uses the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It creates and writes nothing, not even a log.
    Read,
    /// It creates the home, its files and a log.
    Write,
}

/// The environment of a command.
#[derive(Debug)]
pub(crate) struct World {
    /// The variables the program was started with.
    pub(crate) environment: Environment,
    /// The program itself.
    pub(crate) program: PathBuf,
}

impl World {
    /// The environment of this process.
    pub(crate) fn around(environment: Environment) -> anyhow::Result<Self> {
        let program =
            std::env::current_exe().context("cannot determine the path of this program")?;
        Ok(Self { environment, program })
    }

    /// A clone, for tasks that outlive the command line.
    pub(crate) fn copied(&self) -> Self {
        let variables = self.environment.iter();
        Self {
            environment: variables.map(|(name, value)| (name.clone(), value.clone())).collect(),
            program: self.program.clone(),
        }
    }

    /// Where the home is; nothing is read or created.
    pub(crate) fn home(&self, global: &GlobalArgs) -> Result<Home, home::Error> {
        Home::locate(global.home.as_deref(), &self.environment)
    }

    /// Loads the configuration of a home.
    pub(crate) fn config(&self, home: &Home) -> Result<Loaded, Mistakes> {
        self.config_with(home, BTreeMap::new())
    }

    /// Loads the configuration of a home, which these flags beat.
    pub(crate) fn config_with(
        &self,
        home: &Home,
        flags: BTreeMap<&'static str, String>,
    ) -> Result<Loaded, Mistakes> {
        crate::config::load(&Sources {
            home: home.path(),
            file: &home.config_file(),
            environment: &self.environment,
            flags,
            program: &self.program,
        })
    }

    /// The folder of questions to the human, as configured.
    pub(crate) fn asking(
        &self,
        access: Access,
        global: &GlobalArgs,
        verbosity: Verbosity,
        output: &Output,
    ) -> anyhow::Result<Asking> {
        let home = self.home_for(access, global, verbosity, output)?;
        Ok(Asking::new(&self.config(&home)?.config.questions))
    }

    /// The home for a command that writes nothing into it: it may be read-only, full or missing.
    pub(crate) fn read_home(&self, global: &GlobalArgs, output: &Output) -> anyhow::Result<Home> {
        self.home_for(Access::Read, global, Verbosity::of(global), output)
    }

    /// The home, there and writable, with the log open.
    pub(crate) fn open_home(&self, global: &GlobalArgs, output: &Output) -> anyhow::Result<Home> {
        self.home_for(Access::Write, global, Verbosity::of(global), output)
    }

    /// Where everything is stored: on a server, or in the home.
    pub(crate) fn database(&self, home: &Home) -> anyhow::Result<Location> {
        let server = match self.config(home) {
            Ok(loaded) => loaded.config.store.server(&self.environment)?,
            // An invalid configuration must not block the access to an existing database.
            Err(_) if home.database().exists() => None,
            Err(mistakes) => return Err(mistakes.into()),
        };
        Ok(server.map_or_else(|| home.database().into(), Location::from))
    }

    /// The home, with logging started; this much of the log goes to stderr.
    pub(crate) fn home_for(
        &self,
        access: Access,
        global: &GlobalArgs,
        verbosity: Verbosity,
        output: &Output,
    ) -> anyhow::Result<Home> {
        let home = self.home(global)?;
        let (exposure, log_folder) = match access {
            Access::Read => (home.inspect()?, None),
            Access::Write => (home.open()?, Some(&home)),
        };
        // A program that reads stderr gets one JSON object there, or nothing; flags enable more.
        let verbosity = match (output.format, verbosity) {
            (Format::Json, Verbosity::Error | Verbosity::Warn) => Verbosity::Off,
            (Format::Json | Format::Human, verbosity) => verbosity,
        };
        logs::start(verbosity, self, output, log_folder);
        if let Exposure::Open { mode } = exposure {
            let path = home.path().display();
            tracing::warn!(
                "other users can read the home {path} (mode {mode:o}); run `chmod 700 '{path}'`"
            );
        }
        Ok(home)
    }
}

/// Carries out a command.
pub(crate) fn run(args: Args, world: &World, output: &mut Output) -> anyhow::Result<ExitCode> {
    let Args { global, command } = args;
    output.format = if global.json { Format::Json } else { Format::Human };
    match command {
        Command::Serve(args) => serve::run(&args, &global, world, output),
        Command::Open(args) => open::run(&args, &global, world, output),
        Command::Browser(args) => browser::run(&args, &global, world, output),
        Command::Stop(args) => stop::run(&args, &global, world, output),
        Command::Status(_) => status::run(&global, world, output),
        Command::Tui(args) => tui::run(&args, &global, world, output),
        Command::Project(args) => project::run(&args, &global, world, output),
        Command::Session(args) => session::run(&args, &global, world, output),
        Command::Worktree(args) => worktree::run(&args, &global, world, output),
        Command::Compare(args) => compare::run(&args, &global, world, output),
        Command::Search(args) => search::run(&args, &global, world, output),
        Command::Inbox(args) => inbox::run(&args, &global, world, output),
        Command::Node(args) => node::run(&args, &global, world, output),
        Command::User(args) => user::run(&args, &global, world, output),
        Command::Audit(args) => audit::run(&args, &global, world, output),
        Command::Rule(args) => rule::run(&args, &global, world, output),
        Command::Team(args) => team::run(&args, &global, world, output),
        Command::Ask(args) => ask::run(&args, &global, world, output),
        Command::Answer(_) => answer::run(&global, world, output),
        Command::Questions(args) => questions::run(&args, &global, world, output),
        Command::Mcp(_) => mcp::run(&global, world, output),
        Command::Spawn(args) => spawn::run(&args, &global, world, output),
        Command::Import(args) => import::run(&args, &global, world, output),
        Command::Export(args) => export::run(&args, &global, world, output),
        Command::Agent(args) => agent::run(&args, &global, world, output),
        Command::DemoAgent(_) => demo_agent::run(world),
        Command::Doctor(_) => doctor::run(&global, world, output),
        Command::Config(args) => config::run(&args, &global, world, output),
        Command::Backup(args) => backup::run(&args, &global, world, output),
        Command::Restore(args) => restore::run(&args, &global, world, output),
        Command::Db(args) => db::run(&args, &global, world, output),
        Command::Completions(args) => completions::run(&args, output),
        Command::ManPages(args) => man_pages::run(&args, output),
        Command::SandboxExec(args) => return sandbox_exec::run(&args, world),
    }?;
    Ok(ExitCode::SUCCESS)
}
