//! The agents whose stores can be read.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A program that stores its own conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// OpenAI Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// goose.
    Goose,
    /// Qwen Code.
    Qwen,
    /// GitHub Copilot CLI.
    Copilot,
    /// Cline.
    Cline,
    /// Kimi Code.
    Kimi,
    /// Mistral Vibe.
    Vibe,
    /// Factory Droid.
    Droid,
}

impl Agent {
    /// All of them, in the order in which lists show them.
    pub const ALL: [Self; 11] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Goose,
        Self::Qwen,
        Self::Copilot,
        Self::Cline,
        Self::Kimi,
        Self::Vibe,
        Self::Droid,
    ];

    /// The name on the command line and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Goose => "goose",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Cline => "cline",
            Self::Kimi => "kimi",
            Self::Vibe => "vibe",
            Self::Droid => "droid",
        }
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Goose => "goose",
            Self::Qwen => "Qwen Code",
            Self::Copilot => "Copilot CLI",
            Self::Cline => "Cline",
            Self::Kimi => "Kimi Code",
            Self::Vibe => "Mistral Vibe",
            Self::Droid => "Factory Droid",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(word: &str) -> Result<Self, UnknownAgent> {
        let found = Self::ALL.into_iter().find(|agent| agent.as_str() == word);
        found.ok_or_else(|| UnknownAgent(word.to_owned()))
    }
}

/// A name of no supported agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no histories of {0} can be read")]
pub struct UnknownAgent(String);
