//! The binary manages the schema of the database and accesses everything else in it through the
//! server.
//!
//! `docs/decisions/0001` explains why it depends on the store at all.

use crate::finding::Finding;
use crate::rust::{Kind, Token, lex};
use crate::tree::{SourceFile, Tree};

const BINARY: &str = "crates/convoke/";
const STORE: &str = "convoke_store";

/// The modules that the binary may use: maintenance, the location of the database, and the errors
/// that it has hints for.
const ALLOWED: [&str; 4] = ["Error", "location", "schema", "transfer"];

/// Finds other names of the store's in the binary.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let suspect = |file: &&SourceFile| file.path.starts_with(BINARY) && file.text.contains(STORE);
    for file in tree.rust_files().filter(suspect) {
        let code: Vec<Token<'_>> =
            lex(&file.text).filter(|token| token.kind != Kind::Comment).collect();
        for (at, token) in code.iter().enumerate().filter(|(_, token)| token.text == STORE) {
            let after = code.get(at + 1..).unwrap_or_default();
            for name in names(after).into_iter().filter(|name| !ALLOWED.contains(name)) {
                let what = format!("the binary uses {name} of {STORE}");
                let way_out = "ask the server for it; only `schema`, `location`, `transfer` and `Error` are open, see docs/decisions/0001";
                findings.push(Finding::new(&file.path, token.line, what, way_out));
            }
        }
    }
    findings
}

/// The names that are imported from a crate, from the tokens after its name: `::a`, `::{a, b::c}`,
/// or neither.
fn names<'a>(after: &[Token<'a>]) -> Vec<&'a str> {
    match after {
        [colon, second, brace, rest @ ..] if is_path(colon, second) && brace.text == "{" => {
            group(rest)
        }
        [colon, second, name, ..] if is_path(colon, second) => vec![name.text],
        _ => vec!["all"],
    }
}

fn is_path(colon: &Token<'_>, second: &Token<'_>) -> bool {
    colon.text == ":" && second.text == ":"
}

/// The first name of every path in a group of imports.
fn group<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let (mut depth, mut begins, mut names) = (1_usize, true, Vec::new());
    for token in tokens {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => begins = true,
            name if depth == 1 && begins => {
                names.push(name);
                begins = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}
