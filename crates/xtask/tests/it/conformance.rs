//! A conformance page that is not whole or not true is found, and its test column can be written anew.

use std::fs;

use xtask::tidy::conformance::{blessed, check};
use xtask::tree::Tree;

use crate::support::{made_up, passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

const PAGE: &str = "docs/conformance.md";
const SOURCE: &str = "crates/convoke-core/src/session/tests.rs";
const INTEGRATION: &str = "crates/convoke-store/tests/it/crash.rs";

/// Every letter with its highest number.
const LETTERS: [(char, usize); 12] = [
    ('Q', 19),
    ('S', 11),
    ('T', 16),
    ('W', 10),
    ('R', 10),
    ('K', 10),
    ('M', 6),
    ('P', 12),
    ('C', 9),
    ('H', 9),
    ('N', 9),
    ('L', 3),
];

/// The name of a test as the page gives it, with an id put in, so that this file speaks of no requirement itself.
fn named(id: &str) -> (String, String) {
    let name = format!("{id}_holds");
    (format!("#[test]\nfn {name}() {{}}\n"), format!("convoke-core::session::tests::{name}"))
}

/// A page with every id, each row open and without tests but for those given.
fn page(special: &[(&str, &str)]) -> String {
    let mut text =
        "# Conformance\n\n| id | requirement | state | test |\n|---|---|---|---|\n".to_owned();
    for (letter, last) in LETTERS {
        for number in 1..=last {
            let id = format!("{letter}{number}");
            let rest =
                special.iter().find(|(known, _)| *known == id).map_or("open | |", |(_, rest)| rest);
            text.push_str(&format!("| {id} | something | {rest}\n"));
        }
    }
    text
}

#[test]
fn a_whole_page_passes() {
    let (source, test) = named("q4");
    let page = page(&[("Q4", &format!("done | `{test}` |"))]);
    assert_eq!(said(check, &[(PAGE, &page), (SOURCE, &source)]), Vec::<String>::new());
}

#[test]
fn tests_of_the_page_count() {
    let name = format!("{} a tab is opened once, and then found", "w9");
    let source = format!("test(\"{name}\", async () => {{\n  await open(\"w8\");\n}});\n");
    let file = "web/test/e2e/shell.test.js";
    let whole = page(&[("W9", &format!("done | `{file}: {name}` |"))]);
    assert_eq!(said(check, &[(PAGE, &whole), (file, &source)]), Vec::<String>::new());
    assert_eq!(said(check, &[(PAGE, &page(&[])), (file, &source)]).len(), 1);
    assert_eq!(said(check, &[(PAGE, &whole), ("web/assets/shell.test.js", &source)]).len(), 2);
}

#[test]
fn every_requirement_has_its_row_once_and_in_order() {
    let page = page(&[])
        .replace("| Q2 | something | open | |\n", "")
        .replace("| Q5 |", "| Q4 |")
        .replace("| L3 |", "| Z1 |");
    let expected = [
        "6: Q2 is missing here — give every requirement its row, in order",
        "8: Q4 comes twice or too late — list every id once, in order",
        "9: Q5 is missing here — give every requirement its row, in order",
        "127: Z1 is not a requirement — remove the row or mend its id",
        "127: L3 is missing here — give every requirement its row, in order",
    ]
    .map(|line| format!("{PAGE}:{line}"));
    assert_eq!(said(check, &[(PAGE, &page)]), expected);
    let all: usize = LETTERS.iter().map(|(_, last)| last).sum();
    assert_eq!(said(check, &[]).len(), all);
}

#[test]
fn done_needs_a_test_and_a_named_test_must_exist() {
    let page =
        page(&[("Q1", "done | |"), ("Q2", "open | `convoke-core::gone` |"), ("Q3", "nearly | |")]);
    let expected = [
        "5: Q1 is done, but no test names it \
         — put the id into the test's name or a comment on top of it, or set the row to `open`",
        "6: Q2 names convoke-core::gone, and no such test speaks of it — run `cargo xtask tidy --bless`",
        "7: Q3 is “nearly” — write `done` or `open`",
    ]
    .map(|line| format!("{PAGE}:{line}"));
    assert_eq!(said(check, &[(PAGE, &page)]), expected);
}

#[test]
fn a_test_that_names_a_requirement_must_be_in_its_row() {
    let (source, test) = named("only_w6");
    let not_a_test = source.replace("#[test]\n", "");
    assert_eq!(
        said(check, &[(PAGE, &page(&[])), (SOURCE, &source), ("crates/a/src/lib.rs", &not_a_test)]),
        [format!("{PAGE}:56: W6 does not name its test {test} — run `cargo xtask tidy --bless`")]
    );
}

#[test]
fn blessing_fills_the_test_column_and_nothing_else() {
    let (source, first) = named("q4_q9");
    let by_comment =
        "/// Keeps S1 and\n#[tokio::test]\nasync fn survives() {\n    // S2: in order.\n}\n";
    let second = "convoke-store::it::crash::survives";
    let before = page(&[("Q9", "done | `gone` |"), ("S3", "open | `gone` |")]);
    let root = made_up(&[(PAGE, &before), (SOURCE, &source), (INTEGRATION, by_comment)]);
    let (path, after) = blessed(&Tree::load(root.path()).unwrap()).unwrap();
    let expected = page(&[
        ("Q4", &format!("open | `{first}` |")),
        ("Q9", &format!("done | `{first}` |")),
        ("S1", &format!("open | `{second}` |")),
        ("S2", &format!("open | `{second}` |")),
    ]);
    assert_eq!((path, &after), (PAGE, &expected));
    fs::write(root.path().join(PAGE), after).unwrap();
    assert_eq!(check(&Tree::load(root.path()).unwrap()), []);
}
