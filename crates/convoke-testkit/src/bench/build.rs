//! Builds programs to be measured, as they are released.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::Result;

/// A program that cargo built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The folder of its package.
    pub package: PathBuf,
    /// The program itself.
    pub path: PathBuf,
}

/// The kind of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Measuring.
    Benchmark,
    /// Anything else.
    Product,
}

/// Runs cargo with these arguments and returns the programs it built or found up to date.
///
/// Cargo's own output goes to standard error.
pub fn programs(words: &[&str]) -> Result<Vec<Program>> {
    let mut cargo = Command::new("cargo");
    cargo.args(words).arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    // Cargo sets these for the program that it runs, which is the caller here. The build scripts of
    // some crates run again when they change, and then everything that depends on those is rebuilt.
    for (name, _) in std::env::vars_os() {
        let is_of_caller = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if is_of_caller {
            cargo.env_remove(&name);
        }
    }
    let output = cargo.output()?;
    if !output.status.success() {
        return Err(format!("`cargo {}` failed", words.join(" ")).into());
    }
    Ok(String::from_utf8(output.stdout)?.lines().filter_map(program).collect())
}

/// The program with this name, built from the package of the same name with the profile of the calling benchmark.
pub fn product(name: &str) -> Result<PathBuf> {
    let benchmark = std::env::current_exe()?;
    let profile = profile_of(&benchmark).ok_or("a benchmark is started by `cargo xtask bench`")?;
    let built =
        programs(&["build", "--profile", profile, "--quiet", "--package", name, "--bin", name])?;
    let program = built.into_iter().find(|program| program.name == name);
    Ok(program.ok_or_else(|| format!("cargo did not build {name}"))?.path)
}

/// The profile of a benchmark: cargo stores it at `target/PROFILE/deps/NAME`.
fn profile_of(benchmark: &Path) -> Option<&str> {
    benchmark.parent()?.parent()?.file_name()?.to_str()
}

/// The program of one of cargo's messages, which are about many other things too.
fn program(line: &str) -> Option<Program> {
    #[derive(Deserialize)]
    struct Message {
        reason: String,
        manifest_path: PathBuf,
        target: Target,
        executable: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
        kind: Vec<String>,
    }
    let message: Message = serde_json::from_str(line).ok()?;
    let kind = match message.target.kind.first()?.as_str() {
        "bench" => Kind::Benchmark,
        "bin" => Kind::Product,
        _ => return None,
    };
    let (name, package) = (message.target.name, message.manifest_path.parent()?.to_owned());
    let path = message.executable.filter(|_| message.reason == "compiler-artifact")?;
    Some(Program { name, kind, package, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_of_a_benchmark_is_the_name_of_its_folder() {
        assert_eq!(profile_of(Path::new("/t/dist/deps/store-1f2e")), Some("dist"));
        assert_eq!(profile_of(Path::new("store")), None);
    }

    #[test]
    fn only_messages_about_programs_name_one() {
        let artifact = |kind: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/home/me/a/Cargo.toml",
                "target":{{"name":"a","kind":["{kind}"]}},"executable":{executable}}}"#
            )
        };
        let found = Program {
            name: "a".into(),
            kind: Kind::Benchmark,
            package: "/home/me/a".into(),
            path: "/t/a".into(),
        };
        assert_eq!(program(&artifact("bench", "\"/t/a\"")), Some(found));
        assert_eq!(program(&artifact("lib", "null")), None);
        assert_eq!(program(r#"{"reason":"build-finished","success":true}"#), None);
    }
}
