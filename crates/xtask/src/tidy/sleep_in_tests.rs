//! Tests wait for facts, never for time: a sleep is too long on a fast machine and too short on a slow one.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::rust::{Kind, Token, lex};
use crate::tree::{SourceFile, Tree};

/// Functions that wait for time, in any module called `thread` or `time`.
const SLEEPS: [&str; 3] = ["sleep", "sleep_ms", "sleep_until"];

/// Finds sleeps in test files and test modules.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let test_files = test_files(tree);
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| file.text.contains("sleep")) {
        let in_tests = |line: &usize| {
            test_files.contains(&file.path)
                || file.items().test_modules.iter().any(|module| module.contains(*line))
        };
        let lines: BTreeSet<usize> = sleeps(&file.text).into_iter().filter(in_tests).collect();
        findings.extend(lines.into_iter().map(|line| {
            let way_out = "wait for the event, the file or the exit that the sleep stands for";
            Finding::new(&file.path, line, "a test sleeps", way_out)
        }));
    }
    findings
}

/// The lines on which `thread::sleep` or `time::sleep` is called or imported.
fn sleeps(source: &str) -> Vec<usize> {
    let code: Vec<Token<'_>> = lex(source).filter(|token| token.kind != Kind::Comment).collect();
    let mut lines = Vec::new();
    let (mut in_import, mut of_time) = (false, false);
    for (at, token) in code.iter().enumerate() {
        match token.text {
            "use" => (in_import, of_time) = (true, false),
            ";" => in_import = false,
            "thread" | "time" => of_time = true,
            text if SLEEPS.contains(&text) => {
                let path: Vec<&str> =
                    code.iter().take(at).rev().take(3).map(|token| token.text).collect();
                let called = matches!(path.as_slice(), [":", ":", "thread" | "time"]);
                if called || (in_import && of_time) {
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
