//! The contents of the packages: the program and its documentation.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::archive::compress;

/// The files, laid out twice: as they are installed, and as they are unpacked anywhere.
pub(super) struct Staged {
    /// A file system's root.
    pub(super) system: PathBuf,
    /// A folder.
    pub(super) tarball: PathBuf,
}

/// Where completions go: the shell, in a system, in a tarball.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/convoke", "completions/convoke.bash"),
    ("zsh", "usr/share/zsh/vendor-completions/_convoke", "completions/_convoke"),
    ("fish", "usr/share/fish/vendor_completions.d/convoke.fish", "completions/convoke.fish"),
];

/// Documents of the tree, and where they go in a tarball.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Lays everything out below a folder.
pub(super) fn stage(root: &Path, program: &Path, folder: &Path) -> Result<Staged> {
    let staged = Staged { system: folder.join("system"), tarball: folder.join("tarball") };
    for to in [staged.system.join("usr/bin/convoke"), staged.tarball.join("convoke")] {
        copy(program, &to)?;
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755))?;
    }
    for (shell, system, tarball) in COMPLETIONS {
        let script = said(program, &["completions", shell])?;
        write(&staged.system.join(system), &script)?;
        write(&staged.tarball.join(tarball), &script)?;
    }
    manual(program, &staged)?;
    let service = root.join("packaging/convoke.service");
    copy(&service, &staged.system.join("usr/lib/systemd/user/convoke.service"))?;
    copy(&service, &staged.tarball.join("convoke.service"))?;
    for name in DOCUMENTS {
        copy(&root.join(name), &staged.tarball.join(name))?;
    }
    about(root, &staged.system.join("usr/share/doc/convoke"))?;
    Ok(staged)
}

/// The pages of the manual; those of a system are compressed.
fn manual(program: &Path, staged: &Staged) -> Result<()> {
    let pages = staged.tarball.join("man/man1");
    fs::create_dir_all(&pages)?;
    let folder = pages.to_str().context("the path of the manual is not text")?;
    said(program, &["man-pages", folder])?;
    for page in fs::read_dir(&pages)? {
        let page = page?;
        let to = staged.system.join("usr/share/man/man1").join(page.file_name());
        copy(&page.path(), &to)?;
        compress(&to)?;
    }
    Ok(())
}

/// The files that Debian requires of every package.
fn about(root: &Path, folder: &Path) -> Result<()> {
    let read = |name: &str| {
        fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"))
    };
    let (mit, apache) = (read("LICENSE-MIT")?, read("LICENSE-APACHE")?);
    let copyright = format!(
        "Convoke may be used under either of these licences.\n\n{mit}\n\n{apache}\n\
         On Debian the Apache licence is also in /usr/share/common-licenses/Apache-2.0.\n"
    );
    write(&folder.join("copyright"), &copyright)?;
    let changelog = folder.join("changelog");
    copy(&root.join("CHANGELOG.md"), &changelog)?;
    compress(&changelog)
}

/// The output of the program.
fn said(program: &Path, words: &[&str]) -> Result<String> {
    let output = Command::new(program).args(words).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("{} {} failed: {why}", program.display(), words.join(" "));
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let text = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    write(to, text)
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    let folder = path.parent().context("a file lies in a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
