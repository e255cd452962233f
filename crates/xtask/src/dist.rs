//! `cargo xtask dist`: a static program, its manual, completions and service, as a Debian package and as a tarball.
//!
//! Written with `tar`, `gzip` and `ar`, which every machine with a compiler has. The same commit makes the same packages.

mod archive;
mod build;
mod deb;
mod files;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use files::{Staged, stage};

/// The command-line options.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// The program to pack; one is built if none is named.
    program: Option<PathBuf>,
    /// Where the packages go, below the root if relative.
    out: PathBuf,
}

impl Options {
    /// Parses the arguments after `dist`; `None` when they are invalid.
    pub fn read(words: &[&str]) -> Option<Self> {
        let mut options = Self { program: None, out: PathBuf::from("target/dist") };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--program" => options.program = Some(PathBuf::from(words.next()?)),
                "--out" => options.out = PathBuf::from(words.next()?),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// Makes the packages, and prints their paths.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let program = match &options.program {
        Some(program) => root.join(program),
        None => build::program(root)?,
    };
    for package in pack(root, &program, &root.join(&options.out))? {
        writeln!(io::stdout(), "{}", package.display())?;
    }
    Ok(())
}

/// Packs a program, and returns the paths of the packages.
pub fn pack(root: &Path, program: &Path, out: &Path) -> Result<Vec<PathBuf>> {
    let release = Release { machine: std::env::consts::ARCH, timestamp: build::timestamp(root) };
    let folder = out.join("files");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let staged = stage(root, program, &folder)?;
    let mut made = vec![deb::write(&release, &staged, out)?, tarball(&release, &staged, out)?];
    made.push(checksums(&made, out)?);
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    Ok(made)
}

/// The version of every crate here, this one's too.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The target machine of the packages, and the timestamp of their files.
struct Release {
    /// As Rust and the kernel call the machine.
    machine: &'static str,
    /// Seconds since 1970; that of the commit, so that the same commit makes the same packages.
    timestamp: u64,
}

fn tarball(release: &Release, staged: &Staged, out: &Path) -> Result<PathBuf> {
    let name = format!("convoke-{VERSION}-{}-linux", release.machine);
    let path = out.join(format!("{name}.tar.gz"));
    archive::write(&staged.tarball, &path, &name, release.timestamp)?;
    Ok(path)
}

fn checksums(made: &[PathBuf], out: &Path) -> Result<PathBuf> {
    let mut lines = String::new();
    for path in made {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let sum = HEXLOWER.encode(&Sha256::digest(&bytes));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        lines.push_str(&format!("{sum}  {name}\n"));
    }
    let path = out.join("SHA256SUMS");
    fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_command_line_say_what_is_packed_and_where_to() {
        let read = Options::read(&["--program", "a/b", "--out", "c"]).unwrap();
        assert_eq!((read.program, read.out), (Some(PathBuf::from("a/b")), PathBuf::from("c")));
        assert_eq!(Options::read(&["--program"]), None);
        assert_eq!(Options::read(&["x"]), None);
    }
}
