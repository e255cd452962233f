//! The texts of errors read as one set: they begin in lower case, since another text may come before them, and end without a
//! full stop, since a cause may follow.
//! Names stand bare, and commands and options in backticks, also in the hints of the command line.

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

/// The hints of the command line.
const HINTS: &str = "crates/convoke/src/exit/";
/// What is wrong with a command or an option in plain text, and the fix.
const BARE_COMMAND: (&str, &str) =
    ("a command or an option without backticks", "put it into backticks");
/// The start of a command in a text.
const COMMAND: &str = "convoke ";
/// The start of an option.
const OPTION: &str = "--";

/// Finds error texts of another form.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files().filter(|file| file.path.starts_with(HINTS)) {
        let strings = lex(&file.text).filter(|token| token.text.starts_with('"'));
        for text in strings.filter(|text| names_bare_command(text.text)) {
            let (what, way_out) = BARE_COMMAND;
            findings.push(Finding::new(&file.path, text.line, what, way_out));
        }
    }
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

/// Whether a command of Convoke or an option stands outside of backticks.
fn names_bare_command(text: &str) -> bool {
    let begins = |part: &str, what| part.match_indices(what).any(|(at, _)| begins_word(part, at));
    text.split('`').step_by(2).any(|part| begins(part, COMMAND) || begins(part, OPTION))
}

/// Whether a word that begins at this place is no part of a longer one.
fn begins_word(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.ends_with([' ', '(', '"', ':']))
}

fn judge(token: &Token<'_>) -> Option<(&'static str, &'static str)> {
    let text = token.text.trim_matches('"');
    if CONTRACTS.iter().chain(&NAMES).any(|known| text.starts_with(known)) {
        return None;
    }
    let first = text.chars().next()?;
    if text.contains("'{") {
        return Some((
            "a value in quotes",
            "leave names bare, and put verbatim text into backticks",
        ));
    }
    if names_bare_command(token.text) {
        return Some(BARE_COMMAND);
    }
    if first.is_ascii_uppercase() {
        return Some(("an error text that begins in upper case", "begin it in lower case"));
    }
    if text.ends_with('.') && !text.ends_with("..") {
        return Some(("an error text that ends with a full stop", "leave the full stop out"));
    }
    None
}
