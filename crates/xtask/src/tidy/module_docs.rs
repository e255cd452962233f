//! Every Rust file begins with a module doc.

use crate::finding::Finding;
use crate::rust::{Kind, lex};
use crate::tree::Tree;

/// Finds Rust files that do not open with `//!`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let silent = tree.rust_files().filter(|file| !opens_with_docs(&file.text));
    silent
        .map(|file| {
            let what = "the module does not say what it is for";
            let way_out = "begin with `//!`: what it does, and what it deliberately does not";
            Finding::new(&file.path, 1, what, way_out)
        })
        .collect()
}

/// Whether the first thing that is not an inner attribute is a non-empty `//!`.
fn opens_with_docs(source: &str) -> bool {
    let mut depth = 0_usize;
    for token in lex(source) {
        match (token.kind, token.text) {
            (Kind::Mark, "[") => depth += 1,
            (Kind::Mark, "]") => depth = depth.saturating_sub(1),
            (Kind::Mark, "#" | "!") => {}
            (Kind::Word | Kind::Mark | Kind::Literal | Kind::Comment, _) if depth > 0 => {}
            (_, text) => {
                return text.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty());
            }
        }
    }
    false
}
