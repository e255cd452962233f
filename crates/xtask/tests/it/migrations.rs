//! Migrations that lack a half, a number or their checksum are found, and released ones stay as they are.

use std::fs;

use xtask::tidy::migrations::{blessed, check};
use xtask::tree::Tree;

use crate::support::{made_up, passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

const FOLDER: &str = "crates/convoke-store/migrations";

fn file(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

#[test]
fn no_migrations_are_no_trouble() {
    assert!(said(check, &[("README.md", "")]).is_empty());
    let root = made_up(&[]);
    assert_eq!(blessed(&Tree::load(root.path()).unwrap()), None);
}

#[test]
fn a_migration_has_two_halves_and_the_next_number() {
    let names = ["0001_a.up.sql", "0001_a.down.sql", "0003_b.up.sql", "c.sql"].map(file);
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "")).collect();
    let found = said(check, &files);
    let expected = [
        "0003_b.up.sql:1: it has no 0003_b.down.sql — write the other half",
        "c.sql:1: not the name of a migration — call it NNNN_what.up.sql or NNNN_what.down.sql",
        "0003_b.up.sql:1: number 0002 was expected here — number migrations from 0001 without gaps or doubles",
        "checksums.txt:1: the migration 0001_a.down.sql is not listed — run `cargo xtask tidy --bless`",
    ]
    .map(file);
    assert_eq!(found[..4], expected);
}

#[test]
fn blessing_follows_unreleased_files_and_leaves_released_lines_alone() {
    let root = made_up(&[
        (&file("0001_a.up.sql"), "CREATE"),
        (&file("0001_a.down.sql"), "DROP"),
        (&file("0002_b.up.sql"), "ALTER"),
        (&file("0002_b.down.sql"), "ALTER back"),
    ]);
    let load = || Tree::load(root.path()).unwrap();
    let said = || check(&load()).iter().map(ToString::to_string).collect::<Vec<_>>();
    let write = |name: &str, text: &str| fs::write(root.path().join(file(name)), text).unwrap();

    let (path, list) = blessed(&load()).unwrap();
    assert_eq!(path, file("checksums.txt"));
    // A release moves the lines of the first migration up; `down` sorts before `up`.
    let lines: Vec<&str> = list.lines().filter(|line| line.contains("0001_")).collect();
    let first = format!("{}\n{}\n", lines[0], lines[1]);
    let released =
        list.replace(&first, "").replace("# released\n", &format!("# released\n{first}"));
    write("checksums.txt", &released);
    assert_eq!(said(), Vec::<String>::new());

    write("0001_a.up.sql", "CREATE more");
    write("0002_b.up.sql", "ALTER more");
    let changed = "checksums.txt:7: the released migration 0001_a.up.sql changed \
                   — restore the file, and put the change into a new migration";
    let stale =
        "checksums.txt:11: the migration 0002_b.up.sql changed — run `cargo xtask tidy --bless`";
    assert_eq!(said(), [file(changed), file(stale)]);

    let (_, list) = blessed(&load()).unwrap();
    write("checksums.txt", &list);
    assert_eq!(said(), [file(changed)]);
}
