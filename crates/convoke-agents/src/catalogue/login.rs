//! Detects whether the user has logged in to an agent, without asking it.
//!
//! Only names are checked: that a variable is set, that a file exists. Their contents are not read.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::Agent;

/// How people log in to an agent, and how a login is detected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The instruction for people: a command to run, a variable to set.
    pub hint: String,
    /// Variables, one of which is enough.
    pub variables: Vec<String>,
    /// Files of which one is enough, absolute or below `~`.
    pub files: Vec<PathBuf>,
    /// What it means if none of them exists.
    pub otherwise: LoginState,
}

/// Whether the user has logged in to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginState {
    /// A key or a login exists; only the agent can tell whether it is still valid.
    LoggedIn,
    /// None exists.
    LoggedOut,
    /// It cannot be detected: keys may be in a keyring or in the agent's settings.
    Unknown,
    /// The agent needs none.
    NotNeeded,
}

impl LoginState {
    /// The name on the wire and in lists.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LoggedIn => "logged_in",
            Self::LoggedOut => "logged_out",
            Self::Unknown => "unknown",
            Self::NotNeeded => "not_needed",
        }
    }
}

impl Agent {
    /// Whether the user has logged in, in an environment in which the agent would be started.
    pub fn login_state(&self, environment: &BTreeMap<OsString, OsString>) -> LoginState {
        let Some(login) = &self.login else { return LoginState::Unknown };
        let is_set = |name: &String| {
            let own = self.env.get(name).is_some_and(|value| !value.is_empty());
            own || environment.get(OsStr::new(name)).is_some_and(|value| !value.is_empty())
        };
        let home = environment.get(OsStr::new("HOME")).map(Path::new);
        let exists = |path: &PathBuf| match path.strip_prefix("~") {
            Ok(rest) => home.is_some_and(|home| home.join(rest).exists()),
            Err(_) => path.exists(),
        };
        if login.variables.iter().any(is_set) || login.files.iter().any(exists) {
            return LoginState::LoggedIn;
        }
        login.otherwise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::built_in;

    #[test]
    fn l1_a_log_in_shows_in_a_variable_or_a_file() {
        let agents = built_in(Path::new("/usr/bin/convoke"));
        let state = |name: &str, environment: &BTreeMap<OsString, OsString>| {
            let agent = agents.iter().find(|agent| agent.name.as_str() == name).unwrap();
            agent.login_state(environment).as_str()
        };
        let folder = tempfile::tempdir().unwrap();
        let home = BTreeMap::from([("HOME".into(), folder.path().into())]);
        assert_eq!(state("claude-code", &home), "logged_out");
        assert_eq!(state("opencode", &home), "logged_out");
        assert_eq!(state("qwen", &home), "unknown");
        assert_eq!(state("demo", &home), "not_needed");
        std::fs::create_dir(folder.path().join(".claude")).unwrap();
        std::fs::write(folder.path().join(".claude/.credentials.json"), "{}").unwrap();
        assert_eq!(state("claude-code", &home), "logged_in");
        let key = |value: &str| BTreeMap::from([("GEMINI_API_KEY".into(), value.into())]);
        assert_eq!(state("gemini", &key("secret")), "logged_in");
        assert_eq!(state("gemini", &key("")), "logged_out");
    }
}
