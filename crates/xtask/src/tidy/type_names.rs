//! A type is named after what it is; some suffixes only show that no better name was found.

use crate::finding::Finding;
use crate::tree::Tree;

/// Endings that name nothing.
const EMPTY_ENDINGS: [&str; 9] =
    ["Manager", "Service", "Helper", "Helpers", "Util", "Utils", "Data", "Info", "Impl"];

/// Finds types with such names.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        for item in &file.items().types {
            let ending = EMPTY_ENDINGS.iter().find(|ending| item.name.ends_with(**ending));
            if let Some(ending) = ending {
                let what = format!("the type {} is a “{ending}”", item.name);
                let way_out = "name it after the thing it is or the work it does";
                findings.push(Finding::new(&file.path, item.line, what, way_out));
            }
        }
    }
    findings
}
