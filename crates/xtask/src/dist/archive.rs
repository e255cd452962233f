//! Reproducible archives: they depend only on their contents and the given time.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Writes the contents of a folder as a compressed tarball, everything below `prefix`.
pub(super) fn write(folder: &Path, to: &Path, prefix: &str, timestamp: u64) -> Result<()> {
    let plain = to.with_extension("");
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=gnu", "--sort=name", "--numeric-owner"])
        .args(["--owner=0", "--group=0", "--mode=u+rw,go=rX"])
        .arg(format!("--mtime=@{timestamp}"))
        .arg(format!("--transform=s,^\\.,{prefix},"))
        .arg("--file")
        .arg(&plain)
        .arg("--directory")
        .arg(folder)
        .arg(".");
    run(&mut tar)?;
    // The best level would take several times as long for one per cent less.
    run(Command::new("gzip").args(["--no-name", "--force"]).arg(&plain))
}

/// Compresses a small file in place, as Debian requires; `.gz` is appended to its name.
pub(super) fn compress(path: &Path) -> Result<()> {
    run(Command::new("gzip").args(["--best", "--no-name", "--force"]).arg(path))
}

/// Runs a command that must succeed.
pub(super) fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}
