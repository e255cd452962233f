//! A cgroup for each agent, if the user's systemd can create one: it enforces the limits without
//! sampling.
//!
//! The supervisor is then started through `systemd-run --user --scope`, which moves itself into a
//! new scope and executes the supervisor. Otherwise the supervisor enforces the limits by sampling.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::paths;
use super::policy::Limits;
use crate::catalogue;

/// The variables that `systemd-run` needs to reach the user's systemd; it gets no others.
const VARIABLES: [&str; 2] = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
/// The options for a systemd scope that ends with its last process.
const MAKE: [&str; 4] = ["--user", "--scope", "--quiet", "--collect"];

/// The user's systemd, which makes scopes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Systemd {
    #[serde(with = "paths")]
    program: PathBuf,
    variables: Vec<(String, String)>,
}

impl Systemd {
    /// The systemd of the user with this environment, if it can create a scope.
    pub fn detect(environment: &BTreeMap<OsString, OsString>) -> Option<Self> {
        let path = environment.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let runtime = environment.get(OsStr::new("XDG_RUNTIME_DIR")).map(Path::new)?;
        if !runtime.join("systemd/private").exists() {
            return None;
        }
        let variable = |name: &&str| {
            let value = environment.get(OsStr::new(name))?.to_str()?;
            Some(((*name).to_owned(), value.to_owned()))
        };
        let variables = VARIABLES.iter().filter_map(variable).collect();
        let systemd = Self { program: catalogue::find("systemd-run", path)?, variables };
        systemd.works().then_some(systemd)
    }

    fn works(&self) -> bool {
        let tried = Command::new(&self.program)
            .args(MAKE)
            .args(["--", "/bin/true"])
            .env_clear()
            .envs(self.variables())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|status| status.success())
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The arguments that come before the supervisor's own command line.
    pub(super) fn words(limits: Limits) -> Vec<String> {
        let limit = |name: &str, value: Option<u64>| {
            let value = value.filter(|value| *value != u64::MAX)?;
            Some(["-p".to_owned(), format!("{name}={value}")])
        };
        let limits = [limit("MemoryMax", limits.memory_bytes), limit("TasksMax", limits.tasks)];
        let limits = limits.into_iter().flatten().flatten();
        MAKE.iter().map(ToString::to_string).chain(limits).chain(["--".to_owned()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k4_limits_become_properties_of_a_scope() {
        let limits = Limits { memory_bytes: Some(4 << 30), tasks: Some(64), temp_bytes: Some(1) };
        assert_eq!(
            Systemd::words(limits).join(" "),
            "--user --scope --quiet --collect -p MemoryMax=4294967296 -p TasksMax=64 --"
        );
        let unlimited = Limits { memory_bytes: Some(u64::MAX), ..Limits::default() };
        assert_eq!(Systemd::words(unlimited).join(" "), "--user --scope --quiet --collect --");
    }

    #[test]
    fn k4_a_systemd_that_makes_no_scope_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let fake = folder.path().join("systemd-run");
        let write = |script: &str| {
            std::fs::write(&fake, format!("#!/bin/sh\n{script}\n")).unwrap();
            let mode =
                <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
            std::fs::set_permissions(&fake, mode).unwrap();
        };
        let detect = |variables: &[&str]| {
            let here = folder.path().as_os_str().to_owned();
            let known = variables.iter().map(|name| (OsString::from(name), here.clone()));
            Systemd::detect(&known.collect())
        };
        write("exit 0");
        assert_eq!(detect(&["PATH", "XDG_RUNTIME_DIR"]), None, "no systemd of the user's runs");
        std::fs::create_dir(folder.path().join("systemd")).unwrap();
        std::fs::write(folder.path().join("systemd/private"), "").unwrap();
        let found = detect(&["PATH", "XDG_RUNTIME_DIR"]).unwrap();
        assert_eq!(found.program(), fake);
        assert_eq!(found.variables().count(), 1, "and nothing else of the environment");
        write("exit 1");
        assert_eq!(detect(&["PATH", "XDG_RUNTIME_DIR"]), None);
        assert_eq!(detect(&["PATH"]), None);
    }
}
