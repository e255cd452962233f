//! The files under inspection, read once.
//!
//! In a git checkout these are the tracked files and the ones that `git add` would take; elsewhere all files
//! outside build folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result};

use crate::rust::Items;

/// One text file.
#[derive(Debug)]
pub struct SourceFile {
    /// The path relative to the root, with `/` between its parts.
    pub path: String,
    /// The whole text.
    pub text: String,
    items: OnceLock<Items>,
}

impl SourceFile {
    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether this is Rust source.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The items of Rust source; parsed once, since several checks need them.
    pub fn items(&self) -> &Items {
        self.items.get_or_init(|| Items::of(&self.text))
    }
}

/// A source tree.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    files: Vec<SourceFile>,
}

/// Folders without source, if there is no git to list the files.
const BUILD_FOLDERS: [&str; 3] = [".git", "node_modules", "target"];

impl Tree {
    /// Reads every text file under `root`; files that are not UTF-8 are left out.
    pub fn load(root: &Path) -> Result<Self> {
        let mut paths = BTreeSet::new();
        if !list_by_git(root, &mut paths) {
            walk(root, "", &mut paths)?;
        }
        let mut files = Vec::new();
        for path in paths {
            let full = root.join(&path);
            // A tracked file may be deleted on disk, and a link points at text that is listed elsewhere.
            if !full.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                continue;
            }
            let bytes = fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(SourceFile { path, text, items: OnceLock::new() });
            }
        }
        Ok(Self { root: root.to_owned(), files })
    }

    /// The root of the tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All files, sorted by path.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The Rust files, sorted by path.
    pub fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// The file at a path.
    pub fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

/// Fills `paths` and returns true, or leaves it unchanged if this is no checkout or git cannot be
/// run.
fn list_by_git(root: &Path, paths: &mut BTreeSet<String>) -> bool {
    if !root.join(".git").exists() {
        return false;
    }
    let args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let Ok(output) = Command::new("git").args(args).current_dir(root).output() else {
        return false;
    };
    let listing = String::from_utf8_lossy(&output.stdout);
    paths.extend(listing.split_terminator('\0').map(str::to_owned));
    output.status.success()
}

fn walk(root: &Path, folder: &str, paths: &mut BTreeSet<String>) -> Result<()> {
    let entries =
        fs::read_dir(root.join(folder)).with_context(|| format!("cannot list {folder}/"))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_file() {
            paths.insert(path);
        } else if kind.is_dir() && !BUILD_FOLDERS.contains(&name.as_str()) {
            walk(root, &path, paths)?;
        }
    }
    Ok(())
}
