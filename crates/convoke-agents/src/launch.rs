//! From an entry of the catalogue to a program that can be started: where it is, what it sees, what it may write.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::catalogue::{Agent, Sandbox, find};
use crate::driver::{Confinement, Launch, McpServer, Start};
use crate::error::{Error, Result};
use crate::sandbox;

/// How long an agent may take to be ready: slow ones need seconds, and a stuck one must not be waited for.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What Convoke knows of the world that an agent starts in.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The variables that Convoke itself was started with.
    pub environment: BTreeMap<OsString, OsString>,
    /// Convoke itself, which confines agents.
    pub convoke: PathBuf,
    /// Convoke's home, which agents do not get to see.
    pub home: PathBuf,
    /// A private folder for the temporary files of this agent.
    pub temp: PathBuf,
}

/// What a process is started for.
#[derive(Debug, Clone)]
pub struct Occasion {
    /// The project's folder: absolute, existing, links resolved.
    pub workspace: PathBuf,
    /// Which conversation it takes part in.
    pub start: Start,
    /// The servers of tools that the agent is given.
    pub mcp_servers: Vec<McpServer>,
}

impl Launch {
    /// How an agent is started on an occasion.
    pub fn of(agent: &Agent, around: &Surroundings, occasion: Occasion) -> Result<Self> {
        let path = around.environment.get(OsStr::new("PATH"));
        let program = find(&agent.command, path.map(OsString::as_os_str)).ok_or_else(|| {
            Error::NotInstalled { agent: agent.name.clone(), command: agent.command.clone() }
        })?;
        let workspace = occasion.workspace.to_string_lossy();
        Ok(Self {
            protocol: agent.protocol,
            program,
            args: agent.args.iter().map(|arg| arg.replace("{workspace}", &workspace)).collect(),
            environment: environment(agent, around),
            confinement: confinement(agent, around),
            workspace: occasion.workspace,
            mcp_servers: occasion.mcp_servers,
            start: occasion.start,
            patience: PATIENCE,
            leftovers: Some(around.home.join("run/agents")),
            lease: None,
        })
    }
}

/// Everything that Convoke was started with but its own variables, which may hold secrets, and what the agent adds.
fn environment(agent: &Agent, around: &Surroundings) -> BTreeMap<OsString, OsString> {
    let is_ours = |name: &OsStr| name.to_string_lossy().starts_with("CONVOKE_");
    let inherited = around.environment.iter().filter(|(name, _)| !is_ours(name));
    let own = agent.env.iter().map(|(name, value)| (name.into(), value.into()));
    let temp = (OsString::from("TMPDIR"), around.temp.clone().into_os_string());
    inherited.map(|(name, value)| (name.clone(), value.clone())).chain([temp]).chain(own).collect()
}

fn confinement(agent: &Agent, around: &Surroundings) -> Confinement {
    match agent.sandbox {
        Sandbox::Off => Confinement::Off,
        // Whoever starts it says so, once, in the session's log.
        Sandbox::Workspace if sandbox::landlock_generation().is_none() => Confinement::Off,
        Sandbox::Workspace => {
            let user = around.environment.get(OsStr::new("HOME")).map(Path::new);
            let own = agent.writable.iter().filter_map(|path| expand(path, user));
            Confinement::Workspace {
                helper: around.convoke.clone(),
                writable: own.chain([around.temp.clone()]).collect(),
                hidden: vec![around.home.clone()],
            }
        }
    }
}

/// A path below `~` in the user's folder; one that cannot be told is no path.
fn expand(path: &Path, user: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix("~") {
        Ok(rest) => user.map(|user| user.join(rest)),
        Err(_) => Some(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::built_in;

    fn surroundings() -> Surroundings {
        let variables =
            [("PATH", "/bin"), ("HOME", "/home/me"), ("CONVOKE_TOKEN", "secret"), ("KEY", "k")];
        Surroundings {
            environment: variables.map(|(name, value)| (name.into(), value.into())).into(),
            convoke: PathBuf::from("/usr/bin/convoke"),
            home: PathBuf::from("/home/me/.convoke"),
            temp: PathBuf::from("/run/tmp"),
        }
    }

    fn occasion() -> Occasion {
        Occasion {
            workspace: PathBuf::from("/srv/app"),
            start: Start::New { id: "id".to_owned() },
            mcp_servers: Vec::new(),
        }
    }

    fn shell() -> Agent {
        let mut agent = built_in(Path::new("/usr/bin/convoke")).swap_remove(0);
        agent.command = "sh".to_owned();
        agent.args = vec!["--workspace".to_owned(), "{workspace}".to_owned()];
        agent.env = BTreeMap::from([("KEY".to_owned(), "own".to_owned())]);
        agent
    }

    #[test]
    fn s6_an_agent_is_given_its_workspace_and_none_of_our_secrets() {
        let launch = Launch::of(&shell(), &surroundings(), occasion()).unwrap();
        assert_eq!(launch.program, Path::new("/bin/sh"));
        assert_eq!(launch.args, ["--workspace", "/srv/app"]);
        let variables: Vec<String> = launch
            .environment
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(variables, ["HOME=/home/me", "KEY=own", "PATH=/bin", "TMPDIR=/run/tmp"]);
    }

    #[test]
    fn s6_a_confined_agent_writes_its_own_folders_and_does_not_see_our_home() {
        let Confinement::Workspace { helper, writable, hidden } =
            confinement(&shell(), &surroundings())
        else {
            // Without Landlock there is nothing to hold it.
            assert_eq!(sandbox::landlock_generation(), None);
            return;
        };
        assert_eq!(helper, Path::new("/usr/bin/convoke"));
        assert_eq!(
            writable,
            ["/home/me/.claude", "/home/me/.claude.json", "/run/tmp"].map(PathBuf::from)
        );
        assert_eq!(hidden, [PathBuf::from("/home/me/.convoke")]);
    }

    #[test]
    fn an_agent_that_is_not_installed_is_named() {
        let agent = built_in(Path::new("/usr/bin/convoke")).swap_remove(1);
        let Err(error) = Launch::of(&agent, &surroundings(), occasion()) else {
            panic!("it was found");
        };
        assert_eq!(
            error.to_string(),
            "the agent codex is not installed: there is no codex-acp on the search path"
        );
    }
}
