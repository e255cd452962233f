//! Dependencies among the workspace's crates that point the wrong way are found.

use xtask::tidy::crate_direction::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

fn manifest(name: &str, dependencies: &[&str]) -> (String, String) {
    let lines: String =
        dependencies.iter().map(|name| format!("{name}.workspace = true\n")).collect();
    let text = format!("[package]\nname = \"{name}\"\n[dependencies]\n{lines}");
    (format!("crates/{name}/Cargo.toml"), text)
}

fn said_of(crates: &[(&str, &[&str])]) -> Vec<String> {
    let files: Vec<(String, String)> =
        crates.iter().map(|(name, list)| manifest(name, list)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    said(check, &files)
}

#[test]
fn the_core_depends_on_no_own_crate_and_no_crate_on_the_binary() {
    let found = said_of(&[
        ("convoke", &["convoke-core", "convoke-store"]),
        ("convoke-core", &["convoke-store"]),
        ("convoke-store", &["convoke-core", "convoke"]),
    ]);
    let expected = [
        "crates/convoke-core/Cargo.toml:4: convoke-core must not depend on convoke-store \
         — it may depend on none of ours; move the code to where both can be seen",
        "crates/convoke-store/Cargo.toml:5: convoke-store must not depend on convoke \
         — it may depend on convoke-core; move the code to where both can be seen",
    ];
    assert_eq!(found, expected);
}

#[test]
fn server_and_tui_must_not_depend_on_the_store() {
    let all: [(&str, &[&str]); 4] = [
        ("convoke-core", &[]),
        ("convoke-store", &["convoke-core"]),
        ("convoke-server", &["convoke-store", "convoke-core"]),
        ("convoke-tui", &["convoke-store"]),
    ];
    let found = said_of(&all);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("convoke-server must not depend on convoke-store"));
    assert!(found[1].contains("convoke-tui must not depend on convoke-store"));
}

#[test]
fn the_testkit_is_for_tests_alone_and_knows_only_the_core() {
    let in_tests = "[package]\nname = \"convoke-files\"\n[dev-dependencies]\nconvoke-testkit.workspace = true\n";
    let files = [
        manifest("convoke-testkit", &["convoke-core", "convoke-files"]),
        manifest("convoke-core", &[]),
        manifest("convoke-store", &["convoke-testkit"]),
        ("crates/convoke-files/Cargo.toml".to_owned(), in_tests.to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let found = said(check, &files);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("convoke-store must not depend on convoke-testkit"));
    assert!(found[1].contains("convoke-testkit must not depend on convoke-files"));
}

#[test]
fn a_new_crate_must_find_its_place() {
    assert_eq!(
        said_of(&[("convoke-common", &[])]),
        [
            "crates/convoke-common/Cargo.toml:1: the crate convoke-common has no place among the others \
          — say in crates/xtask/src/tidy/crate_direction.rs what it may depend on, and who may depend on it"
        ]
    );
}
