//! The built-in agents as constants: what was measured of each, in one place.

use std::path::{Path, PathBuf};

use super::{
    Agent, Login, LoginState, Mentions, NestedSandbox, Protocol, Resume, Sandbox, Tools, Weight,
    protected,
};
use crate::sandbox::Limits;

/// The part of an agent that can be written down as a constant.
pub(super) struct Entry {
    name: &'static str,
    title: &'static str,
    badge: &'static str,
    protocol: Protocol,
    command: Program,
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    writable: &'static [&'static str],
    protected: &'static [&'static str],
    nested_sandbox: NestedSandbox,
    unnested_env: &'static [(&'static str, &'static str)],
    /// The hosts of its model, as their makers list them for firewalls; where users choose the model, those of the
    /// agent's own services.
    domains: &'static [&'static str],
    resume: Resume,
    tools: Tools,
    weight: Weight,
    login: Access,
}

/// Where a built-in agent's program comes from.
enum Program {
    /// An external program, and the command that installs it.
    Installed { command: &'static str, install: &'static str },
    /// Convoke itself.
    Own,
}

/// How people log in, and where that shows.
struct Access {
    hint: &'static str,
    variables: &'static [&'static str],
    files: &'static [&'static str],
    otherwise: LoginState,
}

impl Entry {
    pub(super) fn agent(&self, program: &Path) -> Agent {
        let (command, install) = match self.command {
            Program::Installed { command, install } => {
                (command.to_owned(), Some(install.to_owned()))
            }
            Program::Own => (program.to_string_lossy().into_owned(), None),
        };
        let owned = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Agent {
            name: self.name.parse().expect("a test reads every built-in name"),
            like: None,
            title: self.title.to_owned(),
            badge: self.badge.to_owned(),
            protocol: self.protocol,
            command,
            args: self.args.iter().map(ToString::to_string).collect(),
            env: owned(self.env),
            sandbox: Sandbox::Workspace,
            writable: self.writable.iter().map(PathBuf::from).collect(),
            readable: Vec::new(),
            protected: self.protected.iter().map(PathBuf::from).collect(),
            nested_sandbox: self.nested_sandbox,
            domains: self
                .domains
                .iter()
                .map(|it| it.parse().expect("a test reads every domain"))
                .collect(),
            unnested_env: owned(self.unnested_env),
            limits: Limits::default(),
            resume: self.resume,
            tools: self.tools,
            mentions: Mentions::Link,
            weight: self.weight,
            login: Some(self.login.login()),
            install,
        }
    }
}

impl Access {
    fn login(&self) -> Login {
        Login {
            hint: self.hint.to_owned(),
            variables: self.variables.iter().map(ToString::to_string).collect(),
            files: self.files.iter().map(PathBuf::from).collect(),
            otherwise: self.otherwise,
        }
    }
}

/// What most entries have in common.
const ACP: Entry = Entry {
    name: "",
    title: "",
    badge: "",
    protocol: Protocol::Acp,
    command: Program::Own,
    args: &[],
    env: &[],
    writable: &[],
    protected: &[],
    nested_sandbox: NestedSandbox::None,
    unnested_env: &[],
    domains: &[],
    resume: Resume::Native,
    tools: Tools::Stdio,
    weight: Weight::Light,
    login: NOT_NEEDED,
};

const NOT_NEEDED: Access =
    Access { hint: "", variables: &[], files: &[], otherwise: LoginState::NotNeeded };

const CLAUDE_FOLDERS: &[&str] = &["~/.claude", "~/.claude.json"];
const CLAUDE_DOMAINS: &[&str] = &["*.anthropic.com", "claude.ai", "*.claude.com"];
const CLAUDE_LOGIN: Access = Access {
    hint: "run `claude` and type `/login`, or set ANTHROPIC_API_KEY",
    variables: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ],
    files: &["~/.claude/.credentials.json"],
    otherwise: LoginState::LoggedOut,
};

pub(super) const BUILT_IN: [Entry; 14] = [
    Entry {
        name: "claude-code",
        title: "Claude Code",
        badge: "CC",
        protocol: Protocol::Claude,
        command: Program::Installed {
            command: "claude",
            install: "npm install -g @anthropic-ai/claude-code",
        },
        writable: CLAUDE_FOLDERS,
        protected: protected::CLAUDE,
        domains: CLAUDE_DOMAINS,
        login: CLAUDE_LOGIN,
        ..ACP
    },
    Entry {
        name: "codex",
        title: "Codex",
        badge: "CX",
        command: Program::Installed {
            command: "codex-acp",
            install: "npm install -g @agentclientprotocol/codex-acp",
        },
        writable: &["~/.codex"],
        protected: protected::CODEX,
        nested_sandbox: NestedSandbox::Bubblewrap,
        unnested_env: &[("INITIAL_AGENT_MODE", "agent-full-access")],
        domains: &["*.openai.com", "chatgpt.com"],
        login: Access {
            hint: "run `codex login`, or set OPENAI_API_KEY",
            variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
            files: &["~/.codex/auth.json"],
            // `config.toml` may name another provider.
            otherwise: LoginState::Unknown,
        },
        ..ACP
    },
    Entry {
        name: "gemini",
        title: "Gemini CLI",
        badge: "GM",
        command: Program::Installed {
            command: "gemini",
            install: "npm install -g @google/gemini-cli",
        },
        args: &["--acp"],
        writable: &["~/.gemini"],
        protected: protected::GEMINI,
        domains: &[
            "generativelanguage.googleapis.com",
            "cloudcode-pa.googleapis.com",
            "aiplatform.googleapis.com",
            "oauth2.googleapis.com",
        ],
        // A session that is loaded twice is lost, and its files with it.
        resume: Resume::Transcript,
        login: Access {
            hint: "run `gemini` and choose how to log in, or set GEMINI_API_KEY",
            variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"],
            files: &["~/.gemini/oauth_creds.json"],
            otherwise: LoginState::LoggedOut,
        },
        ..ACP
    },
    Entry {
        name: "opencode",
        title: "opencode",
        badge: "OC",
        command: Program::Installed { command: "opencode", install: "npm install -g opencode-ai" },
        args: &["acp"],
        writable: &[
            "~/.cache/opencode",
            "~/.config/opencode",
            "~/.local/share/opencode",
            "~/.local/state/opencode",
        ],
        protected: protected::OPENCODE,
        domains: &["opencode.ai", "*.opencode.ai", "models.dev"],
        weight: Weight::Heavy,
        login: Access {
            hint: "run `opencode auth login`",
            variables: &[
                "ANTHROPIC_API_KEY",
                "GEMINI_API_KEY",
                "GOOGLE_GENERATIVE_AI_API_KEY",
                "OPENAI_API_KEY",
                "OPENCODE_API_KEY",
                "OPENROUTER_API_KEY",
            ],
            // Its configuration may name a provider. Without one it tries a model of its makers' for ever.
            files: &[
                "~/.local/share/opencode/auth.json",
                "~/.config/opencode/opencode.json",
                "~/.config/opencode/opencode.jsonc",
            ],
            otherwise: LoginState::LoggedOut,
        },
        ..ACP
    },
    Entry {
        name: "goose",
        title: "goose",
        badge: "GO",
        command: Program::Installed { command: "goose", install: "npm install -g @aaif/goose-acp" },
        args: &["acp"],
        writable: &["~/.config/goose", "~/.local/share/goose", "~/.local/state/goose"],
        protected: protected::GOOSE,
        login: Access {
            hint: "run `goose configure`",
            variables: &["GOOSE_PROVIDER"],
            files: &["~/.config/goose/config.yaml"],
            otherwise: LoginState::LoggedOut,
        },
        ..ACP
    },
    Entry {
        name: "qwen",
        title: "Qwen Code",
        badge: "QW",
        command: Program::Installed {
            command: "qwen",
            install: "npm install -g @qwen-code/qwen-code",
        },
        args: &["--acp"],
        // Without it, the first turn of a session may begin before the tools of servers are there.
        env: &[("QWEN_CODE_LEGACY_MCP_BLOCKING", "1")],
        writable: &["~/.qwen"],
        protected: protected::QWEN,
        domains: &["*.qwen.ai", "*.aliyuncs.com"],
        weight: Weight::Heavy,
        login: Access {
            hint: "run `qwen` and type `/auth`, or set OPENAI_API_KEY",
            variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
            files: &["~/.qwen/oauth_creds.json"],
            otherwise: LoginState::Unknown,
        },
        ..ACP
    },
    Entry {
        name: "copilot",
        title: "Copilot CLI",
        badge: "CP",
        command: Program::Installed {
            command: "copilot",
            install: "npm install -g @github/copilot",
        },
        args: &["--acp"],
        writable: &["~/.copilot", "~/.cache/copilot"],
        protected: protected::COPILOT,
        domains: &["*.githubcopilot.com", "github.com", "api.github.com"],
        tools: Tools::Http,
        login: Access {
            hint: "run `copilot login`, or set COPILOT_GITHUB_TOKEN",
            variables: &[
                "COPILOT_GITHUB_TOKEN",
                "GH_TOKEN",
                "GITHUB_TOKEN",
                "COPILOT_PROVIDER_API_KEY",
            ],
            files: &[],
            // Its log-in is in the keyring, where there is one.
            otherwise: LoginState::Unknown,
        },
        ..ACP
    },
    Entry {
        name: "cline",
        title: "Cline",
        badge: "CL",
        command: Program::Installed { command: "cline", install: "npm install -g cline" },
        args: &["--acp", "--auto-approve", "false"],
        // Without it, sessions run in a daemon that it shares with the user, outside of the sandbox.
        env: &[("CLINE_SESSION_BACKEND_MODE", "local")],
        writable: &["~/.cline"],
        protected: protected::CLINE,
        domains: &["*.cline.bot"],
        tools: Tools::Cline,
        login: Access {
            hint: "run `cline auth`, or set CLINE_API_KEY",
            variables: &["CLINE_API_KEY"],
            files: &[],
            otherwise: LoginState::Unknown,
        },
        ..ACP
    },
    Entry {
        name: "kimi",
        title: "Kimi Code",
        badge: "KI",
        command: Program::Installed {
            command: "kimi",
            install: "npm install -g @moonshot-ai/kimi-code",
        },
        args: &["acp"],
        writable: &["~/.kimi-code"],
        protected: protected::KIMI,
        domains: &["*.moonshot.ai", "*.moonshot.cn", "*.kimi.com"],
        login: Access {
            hint: "run `kimi login`",
            variables: &["KIMI_API_KEY", "MOONSHOT_API_KEY"],
            files: &[],
            otherwise: LoginState::Unknown,
        },
        ..ACP
    },
    Entry {
        name: "vibe",
        title: "Mistral Vibe",
        badge: "VI",
        command: Program::Installed {
            command: "vibe-acp",
            install: "uv tool install mistral-vibe",
        },
        writable: &["~/.vibe"],
        protected: protected::VIBE,
        domains: &["*.mistral.ai"],
        login: Access {
            hint: "run `vibe --setup`, or set MISTRAL_API_KEY",
            variables: &["MISTRAL_API_KEY"],
            files: &["~/.vibe/.env"],
            otherwise: LoginState::Unknown,
        },
        ..ACP
    },
    Entry {
        name: "claude-agent-acp",
        title: "Claude Agent (ACP)",
        badge: "CA",
        command: Program::Installed {
            command: "claude-agent-acp",
            install: "npm install -g @agentclientprotocol/claude-agent-acp",
        },
        writable: CLAUDE_FOLDERS,
        protected: protected::CLAUDE,
        domains: CLAUDE_DOMAINS,
        login: CLAUDE_LOGIN,
        ..ACP
    },
    Entry {
        name: "cursor-agent",
        title: "Cursor",
        badge: "CU",
        command: Program::Installed {
            command: "cursor-agent",
            install: "curl https://cursor.com/install -fsS | bash",
        },
        args: &["acp"],
        writable: &["~/.cursor", "~/.config/cursor"],
        protected: protected::CURSOR,
        domains: &["*.cursor.sh", "*.cursor.com"],
        login: Access {
            hint: "run `cursor-agent login`, or set CURSOR_API_KEY",
            variables: &["CURSOR_API_KEY"],
            files: &["~/.config/cursor/auth.json"],
            otherwise: LoginState::Unknown,
        },
        ..ACP
    },
    Entry {
        name: "droid",
        title: "Factory Droid",
        badge: "DR",
        command: Program::Installed { command: "droid", install: "npm install -g droid" },
        args: &["exec", "--output-format", "acp"],
        env: &[
            ("DROID_DISABLE_AUTO_UPDATE", "true"),
            ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false"),
        ],
        writable: &["~/.factory"],
        protected: protected::DROID,
        domains: &["*.factory.ai"],
        login: Access {
            hint: "run `droid` and type `/login`, or set FACTORY_API_KEY",
            variables: &["FACTORY_API_KEY"],
            files: &["~/.factory/auth.json"],
            otherwise: LoginState::Unknown,
        },
        ..ACP
    },
    Entry {
        name: "demo",
        title: "Demo",
        badge: "DM",
        command: Program::Own,
        args: &["demo-agent"],
        writable: &["~/.local/state/convoke-demo"],
        ..ACP
    },
];
