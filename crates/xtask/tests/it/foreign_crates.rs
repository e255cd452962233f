//! Foreign crates on the wrong side of their border are found.

use xtask::tidy::foreign_crates::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

#[test]
fn a_foreign_crate_stops_at_its_border() {
    let store = "[package]\nname = \"convoke-store\"\n[dependencies]\nrusqlite = \"0.41\"\n";
    let server = "[package]\nname = \"convoke-server\"\n[dependencies]\nserde = \"1\"\nrusqlite.workspace = true\n";
    assert_eq!(
        said(
            check,
            &[
                ("crates/convoke-store/Cargo.toml", store),
                ("crates/convoke-server/Cargo.toml", server)
            ]
        ),
        ["crates/convoke-server/Cargo.toml:5: convoke-server depends on rusqlite, which stops at \
          convoke-histories and convoke-store — ask convoke-histories or convoke-store for what is needed, in our own types"]
    );
}

#[test]
fn neither_a_new_name_nor_a_platform_nor_a_test_opens_the_border() {
    let root = "[workspace.dependencies]\nshared = { package = \"axum\", version = \"0.8\" }\n";
    let engine = "\
[package]
name = \"convoke-engine\"
[dependencies]
db = { package = \"rusqlite\", version = \"0.41\" }
shared.workspace = true
[target.'cfg(unix)'.dependencies]
landlock = \"0.4\"
[dev-dependencies]
tempfile = \"3\"
anyhow = \"1\"
[build-dependencies.clap]
version = \"4\"
";
    let found = said(check, &[("Cargo.toml", root), ("crates/convoke-engine/Cargo.toml", engine)]);
    let at: Vec<&str> = found.iter().filter_map(|line| line.split(", ").next()).collect();
    let expected = [(4, "rusqlite"), (5, "axum"), (11, "clap"), (10, "anyhow"), (7, "landlock")]
        .map(|(line, name)| {
            format!("crates/convoke-engine/Cargo.toml:{line}: convoke-engine depends on {name}")
        });
    assert_eq!(at, expected);
}

#[test]
fn the_core_knows_nothing_but_data() {
    let core = "[package]\nname = \"convoke-core\"\n[dependencies]\nserde = \"1\"\ntokio = \"1\"\n[dev-dependencies]\ninsta = \"1\"\ncriterion = \"1\"\n";
    assert_eq!(
        said(check, &[("crates/convoke-core/Cargo.toml", core)]),
        [
            "crates/convoke-core/Cargo.toml:5: convoke-core depends on tokio, and knows nothing but data \
          — do it in another crate, or add tokio to the list in crates/xtask/src/tidy/foreign_crates.rs and say why"
        ]
    );
}
