//! The rules together, and the command line around them.

use std::process::Command;

use xtask::tidy;
use xtask::tree::Tree;

use crate::support::made_up;

#[test]
fn findings_come_in_the_order_of_the_tree() {
    let root = made_up(&[("b.rs", "struct AInfo;\n"), ("a.rs", "//! A.\n\nfn f() { todo!() }\n")]);
    let found = tidy::run(&Tree::load(root.path()).unwrap());
    let at: Vec<(&str, usize)> = found
        .iter()
        .filter(|finding| finding.path.ends_with(".rs"))
        .map(|finding| (&*finding.path, finding.line))
        .collect();
    assert_eq!(at, [("a.rs", 3), ("b.rs", 1), ("b.rs", 1)]);
}

#[test]
fn blessing_writes_what_changed_and_then_nothing() {
    let page = "docs/conformance.md";
    let root = made_up(&[
        (page, "| Q1 | something | open | `gone` |\n"),
        ("crates/convoke-store/migrations/0001_a.up.sql", "CREATE"),
    ]);
    let bless = || tidy::bless(&Tree::load(root.path()).unwrap()).unwrap();
    assert_eq!(bless(), [page, "crates/convoke-store/migrations/checksums.txt"]);
    assert_eq!(bless(), Vec::<String>::new());
    let text = std::fs::read_to_string(root.path().join(page)).unwrap();
    assert_eq!(text, "| Q1 | something | open | |\n");
}

#[test]
fn an_unknown_chore_is_answered_with_the_known_ones() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("tidee").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("Usage: cargo xtask tidy"));
}
