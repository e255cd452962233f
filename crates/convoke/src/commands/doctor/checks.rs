//! The checks of everything but the agents, one function each. If something cannot be read, no
//! result is guessed.

use std::fmt::Display;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::Path;

use anyhow::Context;
use convoke_agents::sandbox::{Available, Layer, WRITING_GENERATION, secret_places};
use convoke_core::count::counted;
use convoke_core::time::relative;
use convoke_engine::{Team, backup};
use convoke_store::location::Server;
use convoke_store::schema::{self, Migration};
use serde::Deserialize;

use super::agents::FoundAgent;
use super::{Check, Status, World, no_home};
use crate::clock;
use crate::config::{Config, Loaded, Sandbox, teams};
use crate::home::{self, Exposure, Home, free_bytes};

/// With less space left, messages may not be stored soon.
const FREE_MIN: u64 = 16 << 20;

/// Checks the home, and returns it if it is usable.
pub(super) fn home(located: Result<Home, home::Error>, checks: &mut Vec<Check>) -> Option<Home> {
    let looked_at = located.and_then(|home| home.inspect().map(|exposure| (home, exposure)));
    match looked_at {
        Ok((home, exposure)) => match writing(home.path()) {
            Ok(()) => {
                checks.push(privacy(&home, exposure));
                Some(home)
            }
            Err(check) => {
                checks.push(*check);
                home.path().is_dir().then_some(home)
            }
        },
        Err(error) => {
            checks.push(Check::fail("home", error));
            None
        }
    }
}

fn privacy(home: &Home, exposure: Exposure) -> Check {
    let path = home.path().display();
    match exposure {
        Exposure::Private if !home.path().exists() => {
            Check::ok("home", format!("{path} will be created when needed"))
        }
        Exposure::Private => Check::ok("home", path.to_string()),
        Exposure::Open { mode } => Check::warn(
            "home",
            format!("other users can read {path} (mode {mode:o})"),
            format!("run `chmod 700 '{path}'`"),
        ),
    }
}

/// Whether the home can be written or made, found out without writing.
fn writing(home: &Path) -> Result<(), Box<Check>> {
    use rustix::fs::{Access, access};
    let folder = home.ancestors().find(|folder| folder.exists()).unwrap_or(home);
    let accessible = if folder.is_dir() {
        access(folder, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK)
    } else {
        Err(rustix::io::Errno::NOTDIR)
    };
    if let Err(error) = accessible {
        let (path, source) = (home.to_owned(), error.into());
        let error = if folder == home {
            home::Error::Unwritable { path, source }
        } else {
            home::Error::Create { path, source }
        };
        return Err(Box::new(Check::fail("home", error)));
    }
    let path = folder.display();
    match free_bytes(folder) {
        Ok(free) if free < FREE_MIN => Err(Box::new(Check {
            check: "home",
            status: Status::Fail,
            finding: format!("the disk of {path} is full ({} KiB are left)", free / 1024),
            fix: Some(format!("see what uses the space: `df -h '{path}'`; `du -xsh '{path}'`")),
        })),
        Ok(_) => Ok(()),
        Err(error) => Err(Box::new(Check::fail("home", error))),
    }
}

/// Checks the configuration, and returns it if it is valid.
pub(super) fn config(
    home: Option<&Home>,
    world: &World,
    checks: &mut Vec<Check>,
) -> Option<Loaded> {
    let Some(home) = home else {
        checks.push(no_home("config"));
        return None;
    };
    let file = home.config_file();
    match world.config(home) {
        Ok(loaded) => {
            let absence = if file.exists() { "" } else { "using the defaults; there is no " };
            checks.push(Check::ok("config", format!("{absence}{}", file.display())));
            Some(loaded)
        }
        Err(mistakes) => {
            checks.extend(mistakes.list.iter().map(|mistake| Check {
                check: "config",
                status: Status::Fail,
                finding: mistakes.describe(mistake),
                fix: Some(mistake.hint.clone()),
            }));
            None
        }
    }
}

pub(super) fn database(home: &Home, server: Option<&Server>) -> Check {
    if let Some(server) = server {
        return schema_of(server);
    }
    let path = home.database();
    if let Some(left) = backup::unfinished_restore(home.path()) {
        return Check::warn("database", left, "run `convoke serve`");
    }
    if let Some(problem) = lost(home) {
        return problem;
    }
    if !path.exists() && !path.is_symlink() {
        return Check::ok("database", "none yet; it will be created when needed");
    }
    let looked_at = schema::status(&path).and_then(|found| schema::check(&path).map(|()| found));
    match looked_at {
        Ok(migrations) => schema_is(&path.display(), &migrations, "is intact"),
        Err(error) => Check::fail("database", error),
    }
}

/// Whether the server responds, and its schema.
fn schema_of(server: &Server) -> Check {
    match schema::status(server.clone()) {
        Ok(migrations) if migrations.iter().all(|migration| migration.applied_at.is_none()) => {
            Check::ok("database", format!("{server} is empty; it will be filled when needed"))
        }
        Ok(migrations) => schema_is(server, &migrations, "answers"),
        Err(error) => Check::fail("database", error),
    }
}

fn schema_is(database: &dyn Display, migrations: &[Migration], state: &str) -> Check {
    let applied = migrations.iter().filter(|migration| migration.applied_at.is_some());
    let version = applied.map(|migration| migration.version).max().unwrap_or(0);
    let newest = migrations.iter().map(|migration| migration.version).max().unwrap_or(0);
    if version < newest {
        let finding = format!("{database} has schema {version}, and {newest} is the newest");
        return Check::warn("database", finding, "run `convoke db migrate`");
    }
    Check::ok("database", format!("{database} {state}, schema {version}"))
}

/// The copy of a database that was deleted or replaced under a daemon.
fn lost(home: &Home) -> Option<Check> {
    let (path, rescued) = (home.database(), home.path().join("convoke.db.rescued"));
    if !rescued.exists() {
        return None;
    }
    let finding = format!(
        "{} was deleted or replaced while a daemon was running; the stored data is in {}",
        path.display(),
        rescued.display()
    );
    let fix = if path.exists() {
        format!(
            "use that one: `convoke restore '{0}'`; or keep the other: `mv '{0}' '{0}.old'`",
            rescued.display()
        )
    } else {
        "start the daemon again, which puts it back: `convoke stop`, `convoke serve`".to_owned()
    };
    Some(Check { check: "database", status: Status::Fail, finding, fix: Some(fix) })
}

/// Whether the newest backup is as recent as configured.
pub(super) fn backups(config: &Config) -> Check {
    let folder = config.backup.dir.display();
    match (backup::newest(&config.backup.dir), config.backup.every) {
        (Err(error), _) => Check::fail("backups", error),
        (Ok(Some((path, manifest))), _) => {
            let age = relative(manifest.created_at, clock::now());
            Check::ok("backups", format!("the newest is {} ({age})", path.display()))
        }
        (Ok(None), Some(_)) => Check::ok("backups", format!("none yet in {folder}")),
        (Ok(None), None) => Check::warn(
            "backups",
            format!("none in {folder}, and automatic backups are off"),
            "run `convoke backup`, or set backup.every in config.toml",
        ),
    }
}

/// Whether the daemon could listen, or does.
pub(super) fn port(home: &Home, loaded: &Loaded) -> Check {
    let address = loaded.config.server.listen;
    match TcpListener::bind(address) {
        Ok(_) if address.port() == 0 => Check::ok("port", "any free port will be used"),
        Ok(_) => Check::ok("port", format!("{address} is free")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => taken(home, loaded),
        Err(error) => {
            let error = anyhow::Error::from(error).context(format!("cannot listen on {address}"));
            Check::fail("port", error)
        }
    }
}

/// A team with an invalid configuration prevents the daemon from starting.
pub(super) fn teams(config: &Config, agents: &[FoundAgent]) -> Check {
    let path = config.teams_file.display();
    let teams = match teams::read(&config.teams_file, &config.teams) {
        Ok(file) => file.teams.teams,
        Err(error) => return Check::fail("teams", error),
    };
    for team in &teams {
        let Team { name, agent, .. } = team;
        let wrong = if !config.agents.iter().any(|known| known.name == *agent) {
            format!("the team {name} has no agent: none is called {agent}")
        } else if agents.iter().any(|found| found.is_missing(agent.as_str())) {
            format!("the team {name} has no agent: {agent} is not installed")
        } else if let Err(error) = team.clone().checked(config.sessions.workspace_root.clone()) {
            error.to_string()
        } else {
            continue;
        };
        return Check {
            check: "teams",
            status: Status::Fail,
            finding: wrong,
            fix: Some(format!("fix that, or remove the team from {path}")),
        };
    }
    match teams.len() {
        0 => Check::ok("teams", "none are configured"),
        1 => Check::ok("teams", format!("1 is configured in {path}")),
        count => Check::ok("teams", format!("{count} are configured in {path}")),
    }
}

/// The part of the daemon's file that shows whether the port belongs to it.
#[derive(Deserialize)]
struct Daemon {
    pid: u32,
    url: String,
}

fn taken(home: &Home, loaded: &Loaded) -> Check {
    let address = loaded.config.server.listen;
    // A missing or broken file names no daemon, so the port belongs to another program.
    let said = fs::read(home.daemon_file()).ok();
    let daemon = said.and_then(|said| serde_json::from_slice::<Daemon>(&said).ok());
    match daemon {
        Some(Daemon { pid, url }) if url.trim_end_matches('/') == format!("http://{address}") => {
            Check::ok("port", format!("the daemon of this home listens on {address} (pid {pid})"))
        }
        Some(_) | None if !loaded.is_set("server.listen") => Check::ok(
            "port",
            format!("{address} is in use by another program; the next free port will be used"),
        ),
        Some(_) | None => Check::warn(
            "port",
            format!("{address} is in use by another program"),
            "stop that program, or choose another `listen` in [server] of config.toml",
        ),
    }
}

pub(super) fn logs(home: &Home) -> Check {
    let folder = home.logs();
    if !folder.exists() {
        return Check::ok("logs", "none yet; the folder will be created when needed");
    }
    let writable = fs::read_dir(&folder)
        .and_then(|entries| {
            rustix::fs::access(&folder, rustix::fs::Access::WRITE_OK)?;
            Ok(entries.count())
        })
        .with_context(|| format!("cannot write logs in {}", folder.display()));
    match writable {
        Ok(files) => {
            Check::ok("logs", format!("{} ({})", folder.display(), counted(files, "file")))
        }
        Err(error) => {
            let (finding, _) = crate::exit::explain(&error);
            Check::warn(
                "logs",
                finding,
                format!("see what is there: `ls -ld '{}'`", folder.display()),
            )
        }
    }
}

/// Each layer of the sandbox: on, or why not.
pub(super) fn sandbox(world: &World, config: Option<&Config>) -> Vec<Check> {
    let available = Available::detect(world.environment.get("PATH"));
    let wanted =
        |word: &str| config.is_none_or(|config| config.sandbox.layers.iter().any(|it| it == word));
    let demanded = |word: &str| {
        config.is_some_and(|config| config.sandbox.require.iter().any(|it| it == word))
    };
    let check = |(word, layer): &(&str, Layer)| match available.lacks(*layer) {
        _ if !wanted(word) => Check::warn(
            "sandbox",
            format!("{word} is off: sandbox.layers does not include it"),
            format!("add \"{word}\" to sandbox.layers in config.toml"),
        ),
        Some(why) if demanded(word) => Check {
            check: "sandbox",
            status: Status::Fail,
            finding: format!("{word} is off, and sandbox.require requires it: {why}"),
            fix: Some(way_out(*layer).to_owned()),
        },
        Some(why) => Check::warn("sandbox", format!("{word} is off: {why}"), way_out(*layer)),
        None => Check::ok("sandbox", format!("{word} is on{}", detail(*layer, &available))),
    };
    let mut checks: Vec<Check> = Layer::WORDS.iter().map(check).collect();
    checks.extend(config.and_then(|config| network(&config.sandbox, &available)));
    let home = world.environment.get("HOME").map(Path::new);
    let own = config.map(|config| config.sandbox.hidden.clone()).unwrap_or_default();
    let places = [secret_places(home), own].concat();
    let there: Vec<String> = places
        .iter()
        .filter(|place| place.symlink_metadata().is_ok())
        .map(|place| place.display().to_string())
        .collect();
    let count = places.len();
    checks.push(Check::ok(
        "secrets",
        format!("{count} paths are hidden from agents; of these exist: {}", there.join(", ")),
    ));
    checks
}

/// Whether a restricted network policy can be enforced.
fn network(sandbox: &Sandbox, available: &Available) -> Option<Check> {
    let finding = match sandbox.network.as_str() {
        "proxy" => format!(
            "agents may connect to {} listed hosts; the proxy asks about others",
            sandbox.domains.len()
        ),
        "off" => "agents may connect only to Convoke's own tools".to_owned(),
        _ => return None,
    };
    let is_wanted = sandbox.layers.iter().any(|word| word == "bwrap");
    let lacking = available
        .lacks(Layer::Bubblewrap)
        .or((!is_wanted).then_some("sandbox.layers does not include it"));
    Some(match lacking {
        None => Check::ok("network", finding),
        Some(why) => Check {
            check: "network",
            status: Status::Fail,
            finding: format!(
                "no agent starts: sandbox.network = \"{}\" needs bwrap, which is off: {why}",
                sandbox.network
            ),
            fix: Some(
                "install bubblewrap, or set sandbox.network = \"open\" in config.toml".to_owned(),
            ),
        },
    })
}

const fn way_out(layer: Layer) -> &'static str {
    match layer {
        Layer::Bubblewrap => {
            "install bubblewrap (on Debian with `apt-get install bubblewrap`) and allow user namespaces"
        }
        Layer::Landlock => "use Linux 6.2 or later with Landlock enabled",
        Layer::Seccomp => "use a kernel with seccomp filters",
    }
}

fn detail(layer: Layer, available: &Available) -> String {
    match (layer, &available.bubblewrap, &available.landlock) {
        (Layer::Bubblewrap, Ok(path), _) => format!(" ({})", path.display()),
        (Layer::Landlock, _, Ok(generation)) if *generation < WRITING_GENERATION => {
            format!(" (ABI {generation}, which does not restrict truncation)")
        }
        (Layer::Landlock, _, Ok(generation)) => format!(" (ABI {generation})"),
        (Layer::Bubblewrap | Layer::Landlock | Layer::Seccomp, _, _) => String::new(),
    }
}
