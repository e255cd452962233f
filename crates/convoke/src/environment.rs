//! The process environment, read once and passed on, so that tests can replace it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The daemon's MCP endpoint, and the token of the agent's session.
pub(crate) struct McpEndpoint {
    /// The address of `/mcp`.
    pub(crate) url: String,
    /// A secret.
    pub(crate) token: String,
}

/// Only one of the two variables is set.
#[derive(Debug, thiserror::Error)]
#[error("{missing} is not set, though the other of CONVOKE_MCP_URL and CONVOKE_MCP_TOKEN is")]
pub(crate) struct McpEndpointError {
    missing: &'static str,
}

/// The environment variables that the program was started with.
#[derive(Debug, Default)]
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Reads the variables of this process.
    pub(crate) fn of_this_process() -> Self {
        std::env::vars_os().collect()
    }

    /// The value of a variable, when it is set.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Every variable.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }

    /// The endpoint that the daemon passed to one of its own agents; `None` for any other process.
    pub(crate) fn mcp_endpoint(&self) -> Result<Option<McpEndpoint>, McpEndpointError> {
        let text = |name| {
            let value = self.get(name).map(|value| value.to_string_lossy().into_owned());
            value.filter(|value| !value.is_empty())
        };
        match (text("CONVOKE_MCP_URL"), text("CONVOKE_MCP_TOKEN")) {
            (Some(url), Some(token)) => Ok(Some(McpEndpoint { url, token })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(McpEndpointError { missing: "CONVOKE_MCP_TOKEN" }),
            (None, Some(_)) => Err(McpEndpointError { missing: "CONVOKE_MCP_URL" }),
        }
    }

    /// The user's own folder, when `HOME` names one.
    pub(crate) fn user_folder(&self) -> Option<&Path> {
        self.get("HOME").map(Path::new).filter(|path| path.is_absolute())
    }

    /// `path` with a leading `~` replaced by the user's own folder; `None` when that is not known.
    pub(crate) fn expand_tilde(&self, path: &Path) -> Option<PathBuf> {
        match path.strip_prefix("~") {
            Ok(rest) if rest.as_os_str().is_empty() => self.user_folder().map(Path::to_owned),
            Ok(rest) => self.user_folder().map(|folder| folder.join(rest)),
            Err(_) => Some(path.to_owned()),
        }
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_stands_for_the_users_folder_only_at_the_start() {
        let at_home = Environment::from_iter([("HOME", "/home/ann")]);
        let expand = |path: &str| at_home.expand_tilde(Path::new(path)).unwrap();
        assert_eq!(expand("~"), Path::new("/home/ann"));
        assert_eq!(expand("~/"), Path::new("/home/ann"));
        assert_eq!(expand("~/a/~"), Path::new("/home/ann/a/~"));
        assert_eq!(expand("~bob/a"), Path::new("~bob/a"));
        assert_eq!(expand("/a/~/b"), Path::new("/a/~/b"));
    }

    #[test]
    fn a_tilde_means_nothing_without_an_absolute_home() {
        for variables in [vec![], vec![("HOME", "")], vec![("HOME", "here")]] {
            let environment = Environment::from_iter(variables);
            assert_eq!(environment.expand_tilde(Path::new("~/a")), None);
            assert_eq!(environment.expand_tilde(Path::new("/a")), Some(PathBuf::from("/a")));
        }
    }
}
