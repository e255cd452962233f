//! A Debian package: three members of an `ar` archive, two of them tarballs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::archive::{run, write as write_archive};
use super::files::Staged;
use super::{Release, VERSION};

/// The fields of the control file, besides version, architecture and size.
const CONTROL: &str = "\
Package: convoke
Section: devel
Priority: optional
Maintainer: The Convoke authors <convoke@localhost>
Recommends: git
Description: keeps the conversations people have with coding agents
 Convoke is one program: a daemon with a page in the browser, a terminal
 interface, a command line, a REPL and an MCP server. It keeps conversations
 with coding agents durable, resumable and visible from everywhere.
";

/// Writes the package, and returns its path.
pub(super) fn write(release: &Release, staged: &Staged, out: &Path) -> Result<PathBuf> {
    let machine = debian_name(release.machine)?;
    let package = out.join(format!("convoke_{VERSION}_{machine}.deb"));
    let parts = out.join("files/deb");
    fs::create_dir_all(parts.join("control"))?;
    let size = kilobytes(&staged.system)?;
    let control =
        format!("{CONTROL}Version: {VERSION}\nArchitecture: {machine}\nInstalled-Size: {size}\n");
    fs::write(parts.join("control/control"), control)?;
    fs::write(parts.join("control/md5sums"), checksums(&staged.system)?)?;
    fs::write(parts.join("debian-binary"), "2.0\n")?;
    write_archive(&parts.join("control"), &parts.join("control.tar.gz"), ".", release.timestamp)?;
    write_archive(&staged.system, &parts.join("data.tar.gz"), ".", release.timestamp)?;
    if package.exists() {
        fs::remove_file(&package)?;
    }
    // The members' order is part of the format.
    run(Command::new("ar")
        .arg("rcD")
        .arg(&package)
        .args(["debian-binary", "control.tar.gz", "data.tar.gz"].map(|name| parts.join(name))))?;
    Ok(package)
}

fn debian_name(machine: &str) -> Result<&'static str> {
    match machine {
        "x86_64" => Ok("amd64"),
        "aarch64" => Ok("arm64"),
        "riscv64" => Ok("riscv64"),
        other => bail!("the Debian name of the architecture {other} is not known"),
    }
}

/// The sums by which `dpkg --verify` finds files that were changed.
fn checksums(system: &Path) -> Result<String> {
    let mut lines = String::new();
    for path in files(system)? {
        let sum = Command::new("md5sum").arg("--").arg(&path).output();
        let sum = String::from_utf8(sum.context("cannot start md5sum")?.stdout)?;
        let sum = sum.split_whitespace().next().context("md5sum says nothing")?;
        let name = path.strip_prefix(system)?.display();
        lines.push_str(&format!("{sum}  {name}\n"));
    }
    Ok(lines)
}

fn kilobytes(system: &Path) -> Result<u64> {
    let mut kilobytes = 0;
    for path in files(system)? {
        kilobytes += fs::metadata(path)?.len().div_ceil(1024);
    }
    Ok(kilobytes)
}

/// All files below a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
