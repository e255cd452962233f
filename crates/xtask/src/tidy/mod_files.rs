//! A module `foo` is in `foo.rs`: ten editor tabs called `mod.rs` look the same.

use crate::finding::Finding;
use crate::tree::Tree;

/// Finds files called `mod.rs`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let offenders = tree.files().iter().filter(|file| file.name() == "mod.rs");
    offenders
        .map(|file| {
            let folder = file.path.trim_end_matches("/mod.rs");
            Finding::new(&file.path, 1, "a mod.rs", format!("rename it to {folder}.rs"))
        })
        .collect()
}
