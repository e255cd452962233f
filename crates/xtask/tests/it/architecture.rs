//! A crate that the architecture page does not name is found.

use xtask::tidy::architecture::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

#[test]
fn a_crate_must_be_named_as_a_crate() {
    let files = [
        ("crates/convoke/Cargo.toml", "[package]\nname = \"convoke\"\n"),
        ("crates/convoke-core/Cargo.toml", "[package]\nname = \"convoke-core\"\n"),
        ("docs/ARCHITECTURE.md", "Of convoke there is `convoke-core`.\n"),
    ];
    assert_eq!(
        said(check, &files),
        ["docs/ARCHITECTURE.md:1: the crate `convoke` is not named \
          — say there what it does and which protocol, format or program it wraps"]
    );
}
