//! The released program: one file that needs nothing of the system but its kernel.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::archive::run;

/// Builds the static program, and returns its path.
pub(super) fn program(root: &Path) -> Result<PathBuf> {
    let target = target()?;
    // The target is named even if it is this machine's own: the flags are not for programs that run
    // during the build.
    run(Command::new("cargo")
        .args([
            "build",
            "--package",
            "convoke",
            "--profile",
            "dist",
            "--locked",
            "--target",
            &target,
        ])
        .env("RUSTFLAGS", "-C target-feature=+crt-static")
        .current_dir(root))?;
    let program = root.join("target").join(target).join("dist/convoke");
    check_static(&program)?;
    Ok(program)
}

/// musl's target where it is installed, since it is made for this; else the machine's own.
fn target() -> Result<String> {
    let sysroot = PathBuf::from(said("rustc", &["--print", "sysroot"])?);
    let musl = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    if sysroot.join("lib/rustlib").join(&musl).exists() {
        return Ok(musl);
    }
    let version = said("rustc", &["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not report its target")
}

/// Fails if the program needs an interpreter, and would not start everywhere.
fn check_static(program: &Path) -> Result<()> {
    let headers = Command::new("readelf").arg("--program-headers").arg(program).output();
    let headers = headers.context("cannot start readelf")?;
    if !headers.status.success() || String::from_utf8_lossy(&headers.stdout).contains("INTERP") {
        bail!("{} is not static", program.display());
    }
    Ok(())
}

/// The time of the last commit; the epoch where git does not know it.
pub(super) fn timestamp(root: &Path) -> u64 {
    let log = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root).output();
    let said = log.map(|log| String::from_utf8_lossy(&log.stdout).trim().parse().ok());
    said.ok().flatten().unwrap_or_default()
}

fn said(program: &str, words: &[&str]) -> Result<String> {
    let output = Command::new(program).args(words).output();
    let output = output.with_context(|| format!("cannot start {program}"))?;
    if !output.status.success() {
        bail!("{program} ended with {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
