//! The version of an agent's program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::Agent;

/// How long a program may take to print its version; agents in JavaScript need two seconds on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest version that is shown.
const CHARS_MAX: usize = 60;

/// The version in an agent's arguments, for one that a package runner downloads: `npx --yes
/// cline@3.0.65 --acp`.
pub fn pinned(agent: &Agent) -> Option<String> {
    let runner = Path::new(&agent.command).file_name()?.to_str()?;
    if !["npx", "uvx"].contains(&runner) {
        return None;
    }
    let package = agent.args.iter().find(|arg| !arg.starts_with('-'))?;
    let (_, version) = package.rsplit_once("==").or_else(|| {
        // A scope begins with `@`, too.
        package.rsplit_once('@').filter(|(name, _)| !name.is_empty())
    })?;
    Some(version.to_owned()).filter(|version| !version.is_empty())
}

/// The first line that a program prints for `--version`; `None` if it fails or times out.
///
/// The program is not sandboxed, so it gets no keys: only the variables that it needs to run.
pub async fn ask(program: &Path, environment: &BTreeMap<OsString, OsString>) -> Option<String> {
    let asked = Command::new(program)
        .arg("--version")
        .env_clear()
        .envs(environment.iter().filter(|(name, _)| is_passed_on(name)))
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(TIMEOUT, asked).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.chars().take(CHARS_MAX).collect())
}

/// Whether a variable says where programs and the user's files are, or in which language to print.
fn is_passed_on(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    ["PATH", "HOME", "TMPDIR", "LANG"].iter().any(|it| it.as_bytes() == name)
        || name.starts_with(b"LC_")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn k10_a_program_that_is_asked_for_its_version_gets_no_keys() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("agent");
        fs::write(
            &program,
            "#!/bin/sh\necho \"$1:$HOME:$LC_ALL:$ANTHROPIC_API_KEY:$NODE_OPTIONS\"\n",
        )
        .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let variables = [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/me"),
            ("LC_ALL", "C"),
            ("ANTHROPIC_API_KEY", "secret"),
            ("NODE_OPTIONS", "--require=x"),
        ];
        let environment = variables.map(|(name, value)| (name.into(), value.into())).into();
        assert_eq!(ask(&program, &environment).await.as_deref(), Some("--version:/home/me:C::"));
    }

    #[test]
    fn l1_a_package_that_a_runner_fetches_has_its_version_in_the_arguments() {
        let version = |command: &str, args: &[&str]| {
            let mut agent = Agent::named("x".parse().unwrap());
            agent.command = command.to_owned();
            agent.args = args.iter().map(ToString::to_string).collect();
            pinned(&agent)
        };
        assert_eq!(version("npx", &["--yes", "@a/b@1.2.3", "--acp"]).as_deref(), Some("1.2.3"));
        assert_eq!(version("/usr/bin/uvx", &["fast==0.1", "-x"]).as_deref(), Some("0.1"));
        assert_eq!(version("uvx", &["minion@0.8", "acp"]).as_deref(), Some("0.8"));
        assert_eq!(version("npx", &["--yes", "@a/b"]), None);
        assert_eq!(version("claude", &["x@1"]), None);
    }
}
