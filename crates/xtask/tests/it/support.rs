//! Temporary trees, and the findings of a check in them.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use xtask::tidy::Check;
use xtask::tree::Tree;

/// A tree of the given files in a temporary directory.
pub(crate) fn made_up(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let full = root.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }
    root
}

/// The findings of a check in a temporary tree, one per line.
pub(crate) fn said(check: Check, files: &[(&str, &str)]) -> Vec<String> {
    said_of(check, made_up(files).path())
}

/// Fails with the findings of a check in this repository.
#[track_caller]
pub(crate) fn passes_here(check: Check) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap();
    let said = said_of(check, here);
    assert!(said.is_empty(), "{}", said.join("\n"));
}

fn said_of(check: Check, root: &Path) -> Vec<String> {
    let tree = Tree::load(root).unwrap();
    check(&tree).iter().map(ToString::to_string).collect()
}
