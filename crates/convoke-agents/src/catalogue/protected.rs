//! The parts of the built-in agents' own folders that stay read-only.
//!
//! Other programs of the user obey or execute them without a sandbox, first of all the agent itself when the user starts
//! it: settings and instructions, hooks, plugins, scheduled tasks, and downloaded programs. A path is protected where it
//! exists when the agent starts. An agent that would update such a program fails, and uses the installed one.

pub(super) const CLAUDE: &[&str] = &[
    "~/.claude/CLAUDE.md",
    "~/.claude/agents",
    "~/.claude/commands",
    "~/.claude/hooks",
    "~/.claude/keybindings.json",
    "~/.claude/local",
    "~/.claude/output-styles",
    "~/.claude/plugins",
    "~/.claude/rules",
    "~/.claude/scheduled-tasks",
    "~/.claude/settings.json",
    "~/.claude/settings.local.json",
    "~/.claude/skills",
    "~/.claude/statusline-command.sh",
];

pub(super) const CODEX: &[&str] = &[
    "~/.codex/AGENTS.md",
    "~/.codex/AGENTS.override.md",
    "~/.codex/agents",
    "~/.codex/config.toml",
    "~/.codex/hooks.json",
    "~/.codex/packages",
    "~/.codex/plugins",
    "~/.codex/prompts",
    "~/.codex/rules",
    "~/.codex/skills",
];

pub(super) const GEMINI: &[&str] = &[
    "~/.gemini/.env",
    "~/.gemini/GEMINI.md",
    "~/.gemini/agents",
    "~/.gemini/bin",
    "~/.gemini/commands",
    "~/.gemini/extensions",
    "~/.gemini/policies",
    "~/.gemini/settings.json",
    "~/.gemini/skills",
    "~/.gemini/tmp/bin",
    "~/.gemini/trustedFolders.json",
];

pub(super) const OPENCODE: &[&str] = &[
    "~/.cache/opencode/bin",
    "~/.cache/opencode/node_modules",
    "~/.cache/opencode/packages",
    "~/.config/opencode/AGENTS.md",
    "~/.config/opencode/agent",
    "~/.config/opencode/agents",
    "~/.config/opencode/command",
    "~/.config/opencode/commands",
    "~/.config/opencode/config.json",
    "~/.config/opencode/mode",
    "~/.config/opencode/modes",
    "~/.config/opencode/node_modules",
    "~/.config/opencode/opencode.json",
    "~/.config/opencode/opencode.jsonc",
    "~/.config/opencode/package.json",
    "~/.config/opencode/plugin",
    "~/.config/opencode/plugins",
    "~/.config/opencode/skill",
    "~/.config/opencode/skills",
    "~/.config/opencode/tool",
    "~/.config/opencode/tools",
    "~/.local/share/opencode/bin",
];

pub(super) const GOOSE: &[&str] = &[
    "~/.config/goose/.goosehints",
    "~/.config/goose/config.yaml",
    "~/.config/goose/custom_providers",
    "~/.config/goose/prompts",
    "~/.config/goose/recipes",
    "~/.config/goose/skills",
    "~/.local/share/goose/schedule.json",
    "~/.local/share/goose/scheduled_recipes",
];

pub(super) const QWEN: &[&str] = &[
    "~/.qwen/.env",
    "~/.qwen/QWEN.md",
    "~/.qwen/agents",
    "~/.qwen/bin",
    "~/.qwen/commands",
    "~/.qwen/extension-store",
    "~/.qwen/extensions",
    "~/.qwen/hooks",
    "~/.qwen/rules",
    "~/.qwen/settings.json",
    "~/.qwen/skills",
    "~/.qwen/trustedFolders.json",
    "~/.qwen/updates",
    "~/.qwen/workflows",
];

pub(super) const COPILOT: &[&str] = &[
    "~/.cache/copilot/pkg",
    "~/.copilot/agents",
    "~/.copilot/copilot-instructions.md",
    "~/.copilot/extensions",
    "~/.copilot/hooks",
    "~/.copilot/installed-plugins",
    "~/.copilot/mcp-config.json",
    "~/.copilot/pkg",
    "~/.copilot/skills",
    "~/.copilot/state/installed-plugins",
];

pub(super) const CLINE: &[&str] = &[
    "~/.cline/agents",
    "~/.cline/cron",
    "~/.cline/data/settings/cline_mcp_settings.json",
    "~/.cline/hooks",
    "~/.cline/plugins",
    "~/.cline/rules",
    "~/.cline/skills",
    "~/.cline/workflows",
];

pub(super) const KIMI: &[&str] = &[
    "~/.kimi-code/AGENTS.md",
    "~/.kimi-code/agents",
    "~/.kimi-code/bin",
    "~/.kimi-code/config.toml",
    "~/.kimi-code/hooks",
    "~/.kimi-code/mcp.json",
    "~/.kimi-code/plugins",
    "~/.kimi-code/skills",
];

pub(super) const VIBE: &[&str] = &[
    "~/.vibe/.env",
    "~/.vibe/AGENTS.md",
    "~/.vibe/agents",
    "~/.vibe/config.toml",
    "~/.vibe/hooks.toml",
    "~/.vibe/prompts",
    "~/.vibe/skills",
    "~/.vibe/tools",
    "~/.vibe/trusted_folders.toml",
];

pub(super) const CURSOR: &[&str] = &[
    "~/.cursor/agents",
    "~/.cursor/commands",
    "~/.cursor/extensions",
    "~/.cursor/hooks",
    "~/.cursor/hooks.json",
    "~/.cursor/mcp.json",
    "~/.cursor/plugins",
    "~/.cursor/rules",
    "~/.cursor/skills",
];

pub(super) const DROID: &[&str] = &[
    "~/.factory/AGENTS.md",
    "~/.factory/bin",
    "~/.factory/commands",
    "~/.factory/droids",
    "~/.factory/hooks",
    "~/.factory/hooks.json",
    "~/.factory/mcp.json",
    "~/.factory/plugins",
    "~/.factory/settings.json",
    "~/.factory/skills",
];
