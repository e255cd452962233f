//! The locations of stores: the home folder and environment variables, passed in by the caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The parts of the environment that locate stores. Nothing here reads the process's own
/// environment.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    home: PathBuf,
    variables: BTreeMap<String, PathBuf>,
}

impl Environment {
    /// An environment with this home folder and no variables.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into(), variables: BTreeMap::new() }
    }

    /// The same with a variable set; an empty value counts as not set.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<PathBuf>) -> Self {
        let value = value.into();
        if !value.as_os_str().is_empty() {
            self.variables.insert(name.into(), value);
        }
        self
    }

    /// The variables that decide where stores are; a caller needs to hand over no others.
    pub const VARIABLES: [&str; 16] = [
        "CLAUDE_CONFIG_DIR",
        "CLINE_DATA_DIR",
        "CLINE_DIR",
        "CLINE_SESSION_DATA_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "FACTORY_HOME_OVERRIDE",
        "GEMINI_CLI_HOME",
        "GOOSE_PATH_ROOT",
        "KIMI_CODE_HOME",
        "KIMI_SHARE_DIR",
        "QWEN_HOME",
        "QWEN_RUNTIME_DIR",
        "VIBE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
    ];

    /// A folder below the home.
    pub(crate) fn in_home(&self, path: impl AsRef<Path>) -> PathBuf {
        self.home.join(path)
    }

    /// The folder that a variable names. A relative one means nothing to a daemon and counts as not set; `~/` is
    /// expanded, since some agents do so.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(name)?;
        if let Ok(rest) = value.strip_prefix("~") {
            return Some(self.home.join(rest));
        }
        value.is_absolute().then(|| value.clone())
    }

    /// Where programs keep their data.
    pub(crate) fn data_home(&self) -> PathBuf {
        self.folder("XDG_DATA_HOME").unwrap_or_else(|| self.in_home(".local/share"))
    }
}
