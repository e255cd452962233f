//! The rules of this tree that no compiler knows, one module a rule.
//!
//! A rule is a function from a tree to findings, so that the command line and the tests run the same code.

pub mod architecture;
pub mod conformance;
pub mod crate_direction;
pub mod error_texts;
pub mod file_length;
pub mod foreign_crates;
pub mod migrations;
pub mod mod_files;
pub mod module_docs;
pub mod schema_only;
pub mod self_contained;
pub mod sleep_in_tests;
pub mod type_names;
pub mod unfinished;

use std::fs;

use anyhow::{Context, Result};

use crate::finding::Finding;
use crate::tree::Tree;

/// A rule.
pub type Check = fn(&Tree) -> Vec<Finding>;

/// All rules.
pub const CHECKS: [Check; 14] = [
    architecture::check,
    conformance::check,
    crate_direction::check,
    error_texts::check,
    file_length::check,
    foreign_crates::check,
    migrations::check,
    mod_files::check,
    module_docs::check,
    schema_only::check,
    self_contained::check,
    sleep_in_tests::check,
    type_names::check,
    unfinished::check,
];

/// Applies every rule; the findings come sorted by file and line.
pub fn run(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(tree)).collect();
    findings.sort();
    findings
}

/// Regenerates files that are derived from the tree, and returns the paths of those that changed.
pub fn bless(tree: &Tree) -> Result<Vec<String>> {
    let mut written = Vec::new();
    for (path, text) in
        [conformance::blessed(tree), migrations::blessed(tree)].into_iter().flatten()
    {
        if tree.file(path).is_some_and(|file| file.text == text) {
            continue;
        }
        fs::write(tree.root().join(path), text).with_context(|| format!("cannot write {path}"))?;
        written.push(path.to_owned());
    }
    Ok(written)
}
