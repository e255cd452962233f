//! Files stay short enough to be read in one sitting.

use crate::finding::Finding;
use crate::tree::{SourceFile, Tree};

/// Lines of Rust before a closing block of tests; beyond that a file holds more than one idea.
const RUST_LINES_MAX: usize = 500;

/// Documents that are read from top to bottom, often, and must stay worth it.
const DOCUMENT_LINES_MAX: [(&str, usize); 2] = [("AGENTS.md", 60), ("docs/ARCHITECTURE.md", 200)];

/// Files that may be longer, each with its reason (generated, a table).
const EXCEPTIONS: [(&str, &str); 0] = [];

/// Finds files that are too long.
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.files().iter().filter_map(too_long).collect()
}

fn too_long(file: &SourceFile) -> Option<Finding> {
    if EXCEPTIONS.iter().any(|(path, _)| *path == file.path) {
        return None;
    }
    let (lines, max, way_out) = if file.is_rust() {
        let way_out = "split it by idea, or move its tests to a tests.rs beside it";
        (lines_before_tests(file), RUST_LINES_MAX, way_out)
    } else {
        let (_, max) = DOCUMENT_LINES_MAX.iter().find(|(path, _)| *path == file.path)?;
        (file.text.lines().count(), *max, "say it shorter, or move detail to where it belongs")
    };
    let what = format!("{lines} lines, at most {max} are allowed");
    (lines > max).then(|| Finding::new(&file.path, max + 1, what, way_out))
}

fn lines_before_tests(file: &SourceFile) -> usize {
    let closing = file.items().test_modules.iter().find(|module| module.closes_file);
    closing.map_or_else(|| file.text.lines().count(), |module| module.line - 1)
}
