//! Modules without `//!` are found.

use xtask::tidy::module_docs::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

#[test]
fn a_module_must_say_what_it_is_for_before_anything_else() {
    let files = [
        ("a.rs", "#![expect(dead_code, reason = \"x\")]\n//! After attributes.\n"),
        ("b.rs", "use std::fmt;\n//! Too late.\n"),
        ("c.rs", "//!\nfn silent() {}\n"),
        ("d.rs", ""),
        ("e.rs", "// Not of the module.\n"),
        ("f.rs", "//! First.\n#![forbid(unsafe_code)]\n"),
    ];
    let expected = ["b", "c", "d", "e"].map(|name| {
        format!(
            "{name}.rs:1: the module does not say what it is for \
             — begin with `//!`: what it does, and what it deliberately does not"
        )
    });
    assert_eq!(said(check, &files), expected);
}
