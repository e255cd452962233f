//! Tests wait for facts, never for time: a sleep is too long on a fast machine and too short on a slow one.
//! Nor do they spin, which takes the core from the program that they wait for.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::rust::{Kind, Token, lex};
use crate::tree::{SourceFile, Tree};

/// Functions that tests must not call, in modules of these names, and what to do instead.
struct Rule {
    functions: &'static [&'static str],
    modules: &'static [&'static str],
    problem: &'static str,
    way_out: &'static str,
}

const RULES: [Rule; 2] = [
    Rule {
        functions: &["sleep", "sleep_ms", "sleep_until"],
        modules: &["thread", "time"],
        problem: "a test sleeps",
        way_out: "wait for the event, the file or the exit that the sleep stands for",
    },
    Rule {
        functions: &["yield_now"],
        modules: &["thread"],
        problem: "a test spins",
        way_out: "wait with `convoke_testkit::wait`, which leaves the core to the program under test",
    },
];

/// Finds sleeps and spinning in test files and test modules.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let test_files = test_files(tree);
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let in_tests = |line: &usize| {
            test_files.contains(&file.path)
                || file.items().test_modules.iter().any(|module| module.contains(*line))
        };
        for rule in &RULES {
            if !rule.functions.iter().any(|function| file.text.contains(function)) {
                continue;
            }
            let lines: BTreeSet<usize> =
                uses(&file.text, rule).into_iter().filter(in_tests).collect();
            findings.extend(
                lines
                    .into_iter()
                    .map(|line| Finding::new(&file.path, line, rule.problem, rule.way_out)),
            );
        }
    }
    findings
}

/// The lines on which a function of the rule is called or imported.
fn uses(source: &str, rule: &Rule) -> Vec<usize> {
    let code: Vec<Token<'_>> = lex(source).filter(|token| token.kind != Kind::Comment).collect();
    let mut lines = Vec::new();
    let (mut in_import, mut of_module) = (false, false);
    for (at, token) in code.iter().enumerate() {
        match token.text {
            "use" => (in_import, of_module) = (true, false),
            ";" => in_import = false,
            text if rule.modules.contains(&text) => of_module = true,
            text if rule.functions.contains(&text) => {
                let path: Vec<&str> =
                    code.iter().take(at).rev().take(3).map(|token| token.text).collect();
                let called =
                    matches!(path.as_slice(), [":", ":", module] if rule.modules.contains(module));
                if called || (in_import && of_module) {
                    lines.push(token.line);
                }
            }
            _ => {}
        }
    }
    lines
}

/// The files with nothing but tests: by their folder, their name, or the `#[cfg(test)] mod x;` that
/// declares them.
fn test_files(tree: &Tree) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for file in tree.rust_files() {
        if file.path.split('/').any(|part| part == "tests") || file.name() == "tests.rs" {
            paths.insert(file.path.clone());
        }
        let modules = &file.items().test_modules;
        let outside = modules.iter().filter(|module| module.end_line.is_none());
        paths.extend(outside.map(|module| module_path(file, &module.name)));
    }
    paths
}

/// Where `mod name;` in a file leads.
fn module_path(file: &SourceFile, name: &str) -> String {
    let stem = file.path.trim_end_matches(".rs");
    let folder = match file.name() {
        "lib.rs" | "main.rs" => stem.rsplit_once('/').map_or("", |(folder, _)| folder),
        _ => stem,
    };
    format!("{folder}/{name}.rs")
}
