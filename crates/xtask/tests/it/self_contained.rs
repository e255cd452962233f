//! Paths and hosts of one machine are found.

use xtask::tidy::self_contained::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

// The paths are put together here so that this file passes the check itself.
const WORK: &str = concat!("/", "work");
const ROOT: &str = concat!("/", "root");
const HOME: &str = "/home";

#[test]
fn paths_of_one_machine_are_found_and_examples_are_not() {
    let text = format!(
        "see {WORK}/main/x.rs\n\
         cd \"{ROOT}/.cargo\"\n\
         in {HOME}/jane/src\n\
         in {HOME}/me/src and {HOME}/alice\n\
         in ~{WORK}/x, a{WORK}/x, https://example.org{WORK}/x, ${{X}}{ROOT}/y, {ROOT}-evil\n"
    );
    let way_out = "is a path of one machine — use a relative path, a temporary directory, or /home/me in an example";
    let expected = [
        format!("a.md:1: `{WORK}/main/x.rs` {way_out}"),
        format!("a.md:2: `{ROOT}/.cargo` {way_out}"),
        format!("a.md:3: `{HOME}/jane/src` {way_out}"),
    ];
    assert_eq!(said(check, &[("a.md", &text)]), expected);
}

#[test]
fn packages_come_from_the_public_registries() {
    let cargo = "\
[[package]]
source = \"registry+https://github.com/rust-lang/crates.io-index\"
[[package]]
source = \"sparse+https://mirror.example.org/index/\"
";
    let npm = "\"resolved\": \"https://registry.npmjs.org/a.tgz\"\n  \"resolved\": \"http://mirror.example.org/a.tgz\"\n";
    let files = [
        (".cargo/config.toml", "[source.crates-io]\nreplace-with = \"mirror\"\n"),
        ("Cargo.lock", cargo),
        ("web/package-lock.json", npm),
    ];
    let expected = [".cargo/config.toml:2", "Cargo.lock:4", "web/package-lock.json:2"].map(|at| {
        format!(
            "{at}: packages come from a mirror \
             — use the public registry here, and redirect on the machine that needs it"
        )
    });
    assert_eq!(said(check, &files), expected);
}
