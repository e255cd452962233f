//! The agents that Convoke knows out of the box, and where a program is installed.
//!
//! The configuration adds to this list and changes it; nothing here starts a program.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use convoke_core::id::AgentName;

use crate::sandbox::{Domain, Limits};

/// An agent program: how it is shown, started and confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The name it is asked for by.
    pub name: AgentName,
    /// The name people read.
    pub title: String,
    /// Two letters for narrow places.
    pub badge: String,
    /// What it speaks on its standard input and output.
    pub protocol: Protocol,
    /// The program: a name to look up on the search path, or an absolute path.
    pub command: String,
    /// Its arguments; `{workspace}` stands for the project's absolute path.
    pub args: Vec<String>,
    /// Variables it gets besides the inherited ones. May hold keys, so it does not belong in a log.
    pub env: BTreeMap<String, String>,
    /// What it may write.
    pub sandbox: Sandbox,
    /// The agent's own files and folders that it must write even when sandboxed, absolute or below `~`.
    pub writable: Vec<PathBuf>,
    /// Files and folders with secrets that it may read, absolute or below `~`.
    pub readable: Vec<PathBuf>,
    /// Parts of its own folders that stay read-only: the agent executes them when the user starts it without Convoke.
    pub protected: Vec<PathBuf>,
    /// Whether the agent uses its own sandbox, which does not work inside of every layer.
    pub nested_sandbox: NestedSandbox,
    /// Hosts of its model that it may connect to where the network is a proxy.
    pub domains: Vec<Domain>,
    /// What it may use up.
    pub limits: Limits,
    /// The command that installs it; unknown for agents that only the configuration names.
    pub install: Option<String>,
}

/// What an agent speaks on its standard input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The Agent Client Protocol.
    Acp,
    /// Claude Code's stream of JSON lines.
    Claude,
}

impl Protocol {
    /// Every protocol with the word that the configuration has for it.
    pub const WORDS: [(&str, Self); 2] = [("acp", Self::Acp), ("claude", Self::Claude)];
}

/// How an agent's file operations are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sandbox {
    /// It writes in its workspace and in its own folders only; the kernel sees to it.
    Workspace,
    /// It writes wherever the user may.
    Off,
}

impl Sandbox {
    /// Every kind of confinement with its word in the configuration.
    pub const WORDS: [(&str, Self); 2] = [("workspace", Self::Workspace), ("off", Self::Off)];
}

/// Whether an agent confines its commands itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NestedSandbox {
    /// It does not, so that every layer holds.
    None,
    /// It does, by namespaces and mounts: Landlock would forbid the mounts, and seccomp both, so that bubblewrap holds it
    /// from outside.
    Bubblewrap,
}

impl NestedSandbox {
    /// Every kind with the word that the configuration has for it.
    pub const WORDS: [(&str, Self); 2] = [("none", Self::None), ("bwrap", Self::Bubblewrap)];
}

impl Agent {
    /// An agent with only a name; `command` is still empty.
    pub fn named(name: AgentName) -> Self {
        Self {
            title: name.to_string(),
            badge: badge_of(name.as_str()),
            name,
            protocol: Protocol::Acp,
            command: String::new(),
            args: Vec::new(),
            env: BTreeMap::new(),
            sandbox: Sandbox::Workspace,
            writable: Vec::new(),
            readable: Vec::new(),
            protected: Vec::new(),
            nested_sandbox: NestedSandbox::None,
            domains: Vec::new(),
            limits: Limits::default(),
            install: None,
        }
    }
}

/// Initials of the first two words, or the first two letters of the only one.
fn badge_of(name: &str) -> String {
    let words: Vec<&str> = name.split(['-', '_', '.']).filter(|word| !word.is_empty()).collect();
    let letters: String = match words.as_slice() {
        [first, second, ..] => first.chars().take(1).chain(second.chars().take(1)).collect(),
        _ => words.concat().chars().take(2).collect(),
    };
    letters.to_uppercase()
}

/// The built-in agents; `program` is Convoke itself, which contains the demo agent.
pub fn built_in(program: &Path) -> Vec<Agent> {
    BUILT_IN.iter().map(|entry| entry.agent(program)).collect()
}

/// Where `command` is installed: itself when absolute, else the first match on the search path.
///
/// Empty and relative entries of the search path are passed over, because they mean another program in every folder.
pub fn find(command: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let command = Path::new(command);
    if command.is_absolute() {
        return is_executable(command).then(|| command.to_owned());
    }
    if command.components().count() != 1 {
        return None;
    }
    std::env::split_paths(path?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(command))
        .find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The part of an agent that can be written down as a constant.
struct Entry {
    name: &'static str,
    title: &'static str,
    badge: &'static str,
    protocol: Protocol,
    command: Program,
    args: &'static [&'static str],
    writable: &'static [&'static str],
    protected: &'static [&'static str],
    nested_sandbox: NestedSandbox,
    /// The hosts of its model, as their makers list them for firewalls; where users choose the model, those of the
    /// agent's own services.
    domains: &'static [&'static str],
}

/// Where a built-in agent's program comes from.
enum Program {
    /// An external program, and the command that installs it.
    Installed { command: &'static str, install: &'static str },
    /// Convoke itself.
    Own,
}

impl Entry {
    fn agent(&self, program: &Path) -> Agent {
        let (command, install) = match self.command {
            Program::Installed { command, install } => {
                (command.to_owned(), Some(install.to_owned()))
            }
            Program::Own => (program.to_string_lossy().into_owned(), None),
        };
        Agent {
            name: self.name.parse().expect("a test reads every built-in name"),
            title: self.title.to_owned(),
            badge: self.badge.to_owned(),
            protocol: self.protocol,
            command,
            args: self.args.iter().map(ToString::to_string).collect(),
            env: BTreeMap::new(),
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
            limits: Limits::default(),
            install,
        }
    }
}

const BUILT_IN: [Entry; 6] = [
    Entry {
        name: "claude-code",
        title: "Claude Code",
        badge: "CC",
        protocol: Protocol::Claude,
        command: Program::Installed {
            command: "claude",
            install: "npm install -g @anthropic-ai/claude-code",
        },
        args: &[],
        writable: &["~/.claude", "~/.claude.json"],
        protected: &[
            "~/.claude/CLAUDE.md",
            "~/.claude/agents",
            "~/.claude/commands",
            "~/.claude/hooks",
            "~/.claude/keybindings.json",
            "~/.claude/output-styles",
            "~/.claude/plugins",
            "~/.claude/settings.json",
            "~/.claude/settings.local.json",
            "~/.claude/skills",
            "~/.claude/statusline-command.sh",
        ],
        nested_sandbox: NestedSandbox::None,
        domains: &["*.anthropic.com", "claude.ai", "*.claude.com"],
    },
    Entry {
        name: "codex",
        title: "Codex",
        badge: "CX",
        protocol: Protocol::Acp,
        command: Program::Installed {
            command: "codex-acp",
            install: "npm install -g @agentclientprotocol/codex-acp",
        },
        args: &[],
        writable: &["~/.codex"],
        protected: &[
            "~/.codex/AGENTS.md",
            "~/.codex/config.toml",
            "~/.codex/hooks.json",
            "~/.codex/prompts",
            "~/.codex/rules",
            "~/.codex/skills",
        ],
        nested_sandbox: NestedSandbox::Bubblewrap,
        domains: &["*.openai.com", "chatgpt.com"],
    },
    Entry {
        name: "gemini",
        title: "Gemini CLI",
        badge: "GM",
        protocol: Protocol::Acp,
        command: Program::Installed {
            command: "gemini",
            install: "npm install -g @google/gemini-cli",
        },
        args: &["--acp"],
        writable: &["~/.gemini"],
        protected: &[
            "~/.gemini/GEMINI.md",
            "~/.gemini/commands",
            "~/.gemini/extensions",
            "~/.gemini/settings.json",
        ],
        nested_sandbox: NestedSandbox::None,
        domains: &[
            "generativelanguage.googleapis.com",
            "cloudcode-pa.googleapis.com",
            "aiplatform.googleapis.com",
            "oauth2.googleapis.com",
        ],
    },
    Entry {
        name: "opencode",
        title: "opencode",
        badge: "OC",
        protocol: Protocol::Acp,
        command: Program::Installed { command: "opencode", install: "npm install -g opencode-ai" },
        args: &["acp"],
        writable: &[
            "~/.cache/opencode",
            "~/.config/opencode",
            "~/.local/share/opencode",
            "~/.local/state/opencode",
        ],
        protected: &[
            "~/.config/opencode/agent",
            "~/.config/opencode/command",
            "~/.config/opencode/config.json",
            "~/.config/opencode/opencode.json",
            "~/.config/opencode/opencode.jsonc",
            "~/.config/opencode/plugin",
            "~/.config/opencode/plugins",
            "~/.config/opencode/tool",
        ],
        nested_sandbox: NestedSandbox::None,
        domains: &["opencode.ai", "*.opencode.ai", "models.dev"],
    },
    Entry {
        name: "goose",
        title: "goose",
        badge: "GO",
        protocol: Protocol::Acp,
        command: Program::Installed {
            command: "goose",
            install: "npm install -g @aaif/goose-binary-linux-x64",
        },
        args: &["acp"],
        writable: &["~/.config/goose", "~/.local/share/goose", "~/.local/state/goose"],
        protected: &["~/.config/goose/config.yaml", "~/.config/goose/recipes"],
        nested_sandbox: NestedSandbox::None,
        domains: &[],
    },
    Entry {
        name: "demo",
        title: "Demo",
        badge: "DM",
        protocol: Protocol::Acp,
        command: Program::Own,
        args: &["demo-agent"],
        writable: &["~/.local/state/convoke-demo"],
        protected: &[],
        nested_sandbox: NestedSandbox::None,
        domains: &[],
    },
];

#[cfg(test)]
mod tests;
