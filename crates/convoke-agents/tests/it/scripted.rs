//! A machine with one scripted agent on it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use convoke_agents::Error;
use convoke_agents::catalogue::{Mentions, Protocol, Tools};
use convoke_agents::driver::{self, Confinement, Launch, OwnSandbox, Start};
use convoke_testkit::agent::Script;
use convoke_testkit::host::example;
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::running::{Running, TIMEOUT, empties, random};

/// A session's id that both protocols take.
pub(crate) const ID: &str = "a3f784c5-7770-4396-a222-0eff2d7f2c84";

/// A folder for an agent, and the script that it follows.
pub(crate) struct Machine {
    folder: TempDir,
    protocol: Protocol,
}

impl Machine {
    pub(crate) fn new(protocol: Protocol, script: &Script) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("script.json"), serde_json::to_vec(script).unwrap()).unwrap();
        Self { folder, protocol }
    }

    /// Where the agent works.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// How the agent is started.
    pub(crate) fn launch(&self) -> Launch {
        let protocol = match self.protocol {
            Protocol::Acp => "acp",
            Protocol::Claude => "claude",
        };
        let script = self.workspace().join("script.json").to_str().unwrap().to_owned();
        let home = self.workspace().into_os_string();
        Launch {
            protocol: self.protocol,
            program: example("scripted_agent"),
            args: vec!["--protocol".to_owned(), protocol.to_owned(), script],
            environment: BTreeMap::from([
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("HOME".into(), home.clone()),
                ("TMPDIR".into(), home),
            ]),
            workspace: self.workspace(),
            confinement: Confinement::Off,
            missing: Vec::new(),
            temp: None,
            own_sandbox: OwnSandbox::None,
            mentions: Mentions::Link,
            tools: Tools::Stdio,
            mcp_servers: Vec::new(),
            start: Start::New { id: ID.to_owned() },
            start_timeout: TIMEOUT,
            leftovers: None,
            lease: None,
            gate: None,
        }
    }

    /// Starts the agent in a new session.
    pub(crate) async fn start(&self) -> Running {
        Running::start(self.launch()).await
    }

    /// Starts the agent in a session that it should know.
    pub(crate) async fn resume(&self, agent_session: &str) -> Running {
        let start = Start::Resume { agent_session: agent_session.to_owned() };
        Running::start(Launch { start, ..self.launch() }).await
    }

    /// Starts an agent that cannot be started.
    pub(crate) async fn fail(&self, launch: Launch) -> Error {
        let (sender, _reports) = mpsc::channel(4);
        let started = driver::start(launch, random, sender).await;
        started.map(|(_, started)| started).unwrap_err()
    }

    /// Waits until nothing runs in the workspace.
    pub(crate) async fn empties(&self) {
        empties(&self.workspace()).await;
    }
}
