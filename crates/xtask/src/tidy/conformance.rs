//! `docs/conformance.md` maps requirements to tests; this keeps it complete and correct.
//!
//! People write the requirements and whether they are done; the tests are found in the tree.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::tree::Tree;

const PAGE: &str = "docs/conformance.md";

/// The requirements: each letter with its highest number. They are never renumbered.
const REQUIREMENTS: [(char, usize); 12] = [
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

const BLESS: &str = "run `cargo xtask tidy --bless`";

/// Finds requirements that are missing, misplaced, done without a test, or not mapped to their
/// tests.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let text = tree.file(PAGE).map_or("", |file| &file.text);
    let rows: Vec<Row<'_>> =
        text.lines().enumerate().filter_map(|(index, line)| Row::read(index + 1, line)).collect();
    let mut findings = order(&rows);
    let tests = tests(tree);
    for row in &rows {
        let none = BTreeSet::new();
        findings.extend(row.judge(tests.get(row.id).unwrap_or(&none)));
    }
    findings
}

/// The page with its test column as the tree has it; `None` when there is no page.
pub fn blessed(tree: &Tree) -> Option<(&'static str, String)> {
    let page = tree.file(PAGE)?;
    let tests = tests(tree);
    let mut text = String::new();
    for (index, line) in page.text.lines().enumerate() {
        match Row::read(index + 1, line) {
            Some(Row { id, requirement, state, .. }) => {
                let named: Vec<String> =
                    tests.get(id).into_iter().flatten().map(|test| format!("`{test}`")).collect();
                let row = format!("| {id} | {requirement} | {state} | {} |", named.join("<br>"));
                text.push_str(&row.replace("|  |", "| |"));
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
    Some((PAGE, text))
}

/// One row of the page's tables.
struct Row<'a> {
    line: usize,
    id: &'a str,
    requirement: &'a str,
    state: &'a str,
    tests: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// Reads a line that begins with something like an id; a missing cell reads as empty.
    fn read(line: usize, text: &'a str) -> Option<Self> {
        let mut cells = text.strip_prefix('|')?.split('|').map(str::trim);
        let id = cells.next()?;
        let (letter, number) = id.split_at_checked(1)?;
        if !letter.chars().all(|c| c.is_ascii_uppercase()) || number.parse::<usize>().is_err() {
            return None;
        }
        let [requirement, state, tests] = [(); 3].map(|()| cells.next().unwrap_or_default());
        let tests = tests.split("<br>").map(|test| test.trim().trim_matches('`'));
        let tests = tests.filter(|test| !test.is_empty()).collect();
        Some(Self { line, id, requirement, state, tests })
    }

    fn judge(&self, in_tree: &BTreeSet<String>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut report = |what: String, way_out: &str| {
            findings.push(Finding::new(PAGE, self.line, what, way_out));
        };
        let id = self.id;
        if self.requirement.is_empty() {
            report(format!("{id} says nothing"), "put the requirement in a short phrase");
        }
        match self.state {
            "open" => {}
            "done" if !in_tree.is_empty() => {}
            "done" => report(
                format!("{id} is done, but no test names it"),
                "put the id into the test's name or a comment on top of it, or set the row to `open`",
            ),
            other => report(format!("{id} is “{other}”"), "write `done` or `open`"),
        }
        for test in self.tests.iter().filter(|test| !in_tree.contains(**test)) {
            report(format!("{id} names {test}, and no such test speaks of it"), BLESS);
        }
        for test in in_tree.iter().filter(|test| !self.tests.contains(&test.as_str())) {
            report(format!("{id} does not name its test {test}"), BLESS);
        }
        findings
    }
}

/// Finds ids that are missing, repeated, unknown or out of order.
fn order(rows: &[Row<'_>]) -> Vec<Finding> {
    let expected = ids();
    let mut findings = Vec::new();
    let mut next = 0;
    for row in rows {
        let Some(place) = expected.iter().position(|id| id == row.id) else {
            let what = format!("{} is not a requirement", row.id);
            findings.push(Finding::new(PAGE, row.line, what, "remove the row or mend its id"));
            continue;
        };
        if place < next {
            let what = format!("{} comes twice or too late", row.id);
            findings.push(Finding::new(PAGE, row.line, what, "list every id once, in order"));
            continue;
        }
        let skipped = expected.iter().take(place).skip(next);
        findings.extend(skipped.map(|id| missing(row.line, id)));
        next = place + 1;
    }
    let end = rows.last().map_or(1, |row| row.line);
    findings.extend(expected.iter().skip(next).map(|id| missing(end, id)));
    findings
}

fn missing(line: usize, id: &str) -> Finding {
    Finding::new(
        PAGE,
        line,
        format!("{id} is missing here"),
        "give every requirement its row, in order",
    )
}

fn ids() -> Vec<String> {
    let of = |(letter, last)| (1..=last).map(move |number| format!("{letter}{number}"));
    REQUIREMENTS.into_iter().flat_map(of).collect()
}

/// The tests that speak of each requirement: `crate::module::name`, or `web/test/file.test.js: name` of the page's.
fn tests(tree: &Tree) -> BTreeMap<String, BTreeSet<String>> {
    let known: BTreeSet<String> = ids().into_iter().collect();
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut found = |spoken: &str, path: &str| {
        let words = spoken.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_uppercase);
        for id in words.filter(|id| known.contains(id)) {
            tests.entry(id).or_default().insert(path.to_owned());
        }
    };
    for file in tree.rust_files() {
        let Some(place) = place(&file.path) else { continue };
        for test in &file.items().tests {
            let path = place.iter().chain(&test.modules).chain([&test.name]);
            let path = path.map(String::as_str).collect::<Vec<_>>().join("::");
            std::iter::once(&test.name).chain(&test.comments).for_each(|it| found(it, &path));
        }
    }
    for file in tree.files().iter().filter(|file| is_page_test(&file.path)) {
        for name in file.text.lines().filter_map(page_test) {
            found(name, &format!("{}: {name}", file.path));
        }
    }
    tests
}

fn is_page_test(path: &str) -> bool {
    path.starts_with("web/test/") && path.ends_with(".test.js")
}

/// The name of the test that begins on a line of the page's tests.
fn page_test(line: &str) -> Option<&str> {
    line.strip_prefix("test(\"")?.split_once('"').map(|(name, _)| name)
}

/// A file's crate and modules: `crates/a/src/b/c.rs` is `a::b::c`, `crates/a/tests/it/b.rs` is `a::it::b`.
fn place(path: &str) -> Option<Vec<String>> {
    let (name, inside) = path.strip_prefix("crates/")?.split_once('/')?;
    let (_, module) = inside.strip_suffix(".rs")?.split_once('/')?;
    let parts = module.split('/').filter(|part| !matches!(*part, "lib" | "main"));
    Some(std::iter::once(name).chain(parts).map(str::to_owned).collect())
}
