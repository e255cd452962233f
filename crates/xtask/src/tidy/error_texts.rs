//! The texts of errors read as one set: they begin in lower case, since another text may come before them, and end without a
//! full stop, since a cause may follow.

use crate::finding::Finding;
use crate::rust::{Kind, Token, lex};
use crate::tree::{SourceFile, Tree};

/// Beginnings of texts that other programs compare: those of the question files, of teams and of JSON-RPC.
const CONTRACTS: [&str; 10] = [
    "Answer ",
    "At least one question ",
    "Invalid ",
    "No answers ",
    "Parse error",
    "Process error ",
    "Question ",
    "Session ",
    "Too many questions",
    "Unknown team",
];
/// Beginnings that are names.
const NAMES: [&str; 1] = ["Convoke "];

/// Finds error texts of another form.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let has_errors = |file: &&SourceFile| file.is_rust() && file.text.contains("#[error(");
    for file in tree.files().iter().filter(has_errors) {
        let tokens: Vec<Token<'_>> =
            lex(&file.text).filter(|token| token.kind != Kind::Comment).collect();
        for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.text == "error") {
            let before = |back: usize| tokens.get(at.wrapping_sub(back)).map(|token| token.text);
            if (before(2), before(1)) != (Some("#"), Some("[")) {
                continue;
            }
            if let Some(text) = tokens.get(at + 2).filter(|token| token.text.starts_with('"')) {
                findings.extend(
                    judge(text)
                        .map(|(what, way_out)| Finding::new(&file.path, text.line, what, way_out)),
                );
            }
        }
    }
    findings
}

fn judge(token: &Token<'_>) -> Option<(&'static str, &'static str)> {
    let text = token.text.trim_matches('"');
    if CONTRACTS.iter().chain(&NAMES).any(|known| text.starts_with(known)) {
        return None;
    }
    let first = text.chars().next()?;
    if first.is_ascii_uppercase() {
        return Some(("an error text that begins in upper case", "begin it in lower case"));
    }
    if text.ends_with('.') && !text.ends_with("..") {
        return Some(("an error text that ends with a full stop", "leave the full stop out"));
    }
    None
}
