//! Files called `mod.rs` are found.

use xtask::tidy::mod_files::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

#[test]
fn a_module_lives_in_a_file_of_its_name() {
    assert_eq!(
        said(check, &[("crates/a/src/b/mod.rs", ""), ("crates/a/src/mod_files.rs", "")]),
        ["crates/a/src/b/mod.rs:1: a mod.rs — rename it to crates/a/src/b.rs"]
    );
}
