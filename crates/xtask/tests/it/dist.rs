//! The packages, made of a program that does no more than it must to be packed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use xtask::dist::pack;

const PROGRAM: &str = "#!/bin/sh
case $1 in
  completions) echo \"completions for $2\" ;;
  man-pages) echo page >\"$2/convoke.1\" && echo page >\"$2/convoke-ask.1\" ;;
  --version) echo \"convoke 0.1.0\" ;;
  *) exit 2 ;;
esac
";

fn packed(folder: &Path) -> Vec<PathBuf> {
    let program = folder.join("convoke");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap();
    pack(here, &program, &folder.join("out")).unwrap()
}

fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output().unwrap();
    assert!(output.status.success(), "{program} {words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The files of a tarball with their modes, without folders.
fn listed(tarball: &Path) -> Vec<String> {
    let listing = said(
        "tar",
        &["--list", "--verbose", "--numeric-owner", "--file", tarball.to_str().unwrap()],
    );
    let file = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[1], "0/0", "{line}");
        format!("{} {}", words[0], words[5])
    };
    listing.lines().filter(|line| line.starts_with('-')).map(file).collect()
}

#[test]
fn the_debian_package_installs_the_program_and_all_that_belongs_to_it() {
    let folder = TempDir::new().unwrap();
    let package = packed(folder.path()).remove(0);
    assert!(package.ends_with(format!("convoke_0.1.0_{}.deb", machine())));
    let package = package.to_str().unwrap();
    let members = said("ar", &["t", package]);
    assert_eq!(members, "debian-binary\ncontrol.tar.gz\ndata.tar.gz\n");
    let unpacked = Command::new("ar").args(["x", package]).current_dir(&folder).status();
    assert!(unpacked.unwrap().success());
    let mut files = listed(&folder.path().join("data.tar.gz"));
    files.sort();
    assert_eq!(
        files,
        [
            "-rw-r--r-- ./usr/lib/systemd/user/convoke.service",
            "-rw-r--r-- ./usr/share/bash-completion/completions/convoke",
            "-rw-r--r-- ./usr/share/doc/convoke/changelog.gz",
            "-rw-r--r-- ./usr/share/doc/convoke/copyright",
            "-rw-r--r-- ./usr/share/fish/vendor_completions.d/convoke.fish",
            "-rw-r--r-- ./usr/share/man/man1/convoke-ask.1.gz",
            "-rw-r--r-- ./usr/share/man/man1/convoke.1.gz",
            "-rw-r--r-- ./usr/share/zsh/vendor-completions/_convoke",
            "-rwxr-xr-x ./usr/bin/convoke",
        ]
    );
    let control = folder.path().join("control.tar.gz");
    let control = said(
        "tar",
        &["--extract", "--to-stdout", "--file", control.to_str().unwrap(), "./control"],
    );
    assert!(control.starts_with("Package: convoke\n"), "{control}");
    for line in ["Version: 0.1.0", &format!("Architecture: {}", machine())] {
        assert!(control.lines().any(|it| it == line), "{control}");
    }
}

#[test]
fn the_tarball_holds_a_program_that_runs_and_the_sums_are_right() {
    let folder = TempDir::new().unwrap();
    let [_, tarball, sums] = packed(folder.path()).try_into().unwrap();
    let into = folder.path().to_str().unwrap();
    said("tar", &["--extract", "--file", tarball.to_str().unwrap(), "--directory", into]);
    let unpacked = format!("convoke-0.1.0-{}-linux", std::env::consts::ARCH);
    let program = folder.path().join(unpacked).join("convoke");
    assert_eq!(said(program.to_str().unwrap(), &["--version"]), "convoke 0.1.0\n");
    let check = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet"])
        .arg(&sums)
        .current_dir(sums.parent().unwrap())
        .status();
    assert!(check.unwrap().success());
}

#[test]
fn the_same_program_makes_the_same_packages() {
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let [one, other] = folders.each_ref().map(|folder| packed(folder.path()));
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(fs::read(one).unwrap(), fs::read(other).unwrap(), "{}", one.display());
    }
}

fn machine() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
