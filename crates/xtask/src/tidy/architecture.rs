//! The page on the architecture knows every crate there is.

use crate::finding::Finding;
use crate::manifest;
use crate::tree::Tree;

const PAGE: &str = "docs/ARCHITECTURE.md";

/// Finds crates that the page does not name.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let page = tree.file(PAGE).map_or("", |file| &file.text);
    let unnamed = manifest::crates(tree)
        .into_iter()
        .filter(|manifest| !page.contains(&format!("`{}`", manifest.name)));
    unnamed
        .map(|manifest| {
            let what = format!("the crate `{}` is not named", manifest.name);
            Finding::new(
                PAGE,
                1,
                what,
                "say there what it does and which protocol, format or program it wraps",
            )
        })
        .collect()
}
