//! `kill -9` in the middle.
//! x

use std::path::PathBuf;

/// The program that does one thing to a project.
pub(crate) fn helper() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/change_project");
    assert!(program.exists(), "{} is missing: build the examples too", program.display());
    program
}
