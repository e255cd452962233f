//! Unfinished work is recorded in an issue, not in a comment.

use crate::finding::Finding;
use crate::rust::{Kind, Token, lex};
use crate::tree::{SourceFile, Tree};

/// A file without any of these needs no lexing.
const SIGNS: [&str; 5] = ["FIXME", "TODO", "ignore", "todo", "unimplemented"];

/// Finds notes without an issue, and code and tests that only pretend to be there.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let suspect = |file: &&SourceFile| SIGNS.iter().any(|sign| file.text.contains(sign));
    for file in tree.files().iter().filter(suspect) {
        if file.is_rust() {
            let tokens: Vec<Token<'_>> = lex(&file.text).collect();
            for token in tokens.iter().filter(|token| token.kind == Kind::Comment) {
                notes(&file.path, token.line, &outside_code(token.text), &mut findings);
            }
            pretences(&file.path, &tokens, &mut findings);
        } else if file.path.ends_with(".md") {
            notes(&file.path, 1, &outside_code(&file.text), &mut findings);
        } else if is_code(file) {
            notes(&file.path, 1, &file.text, &mut findings);
        }
    }
    findings
}

/// Blanks code spans and fences, in which a marker is only mentioned, and keeps their lines.
fn outside_code(text: &str) -> String {
    let blank = |(at, part): (usize, &str)| {
        if at % 2 == 0 { part.to_owned() } else { "\n".repeat(part.matches('\n').count()) }
    };
    text.split('`').enumerate().map(blank).collect()
}

fn is_code(file: &SourceFile) -> bool {
    let extension = file.name().rsplit_once('.').map_or("", |(_, extension)| extension);
    let known = ["css", "html", "js", "mjs", "sh", "sql", "toml", "ts", "yaml", "yml"];
    known.contains(&extension) || file.text.starts_with("#!")
}

fn notes(path: &str, first_line: usize, text: &str, findings: &mut Vec<Finding>) {
    for (offset, line) in text.lines().enumerate() {
        let at = first_line + offset;
        let mut words = line.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
        while let Some(word) = words.next() {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            if bare == "FIXME" {
                let way_out = "mend it now, or open an issue and write `TODO(#number)`";
                findings.push(Finding::new(path, at, "a FIXME", way_out));
            }
            // `TODO(#12)` splits into `TODO(`, `#`, `12)`.
            let numbered = word == "TODO("
                && words.next() == Some("#")
                && words
                    .next()
                    .is_some_and(|number| number.trim_end_matches(')').parse::<u32>().is_ok());
            if bare == "TODO" && !numbered {
                let way_out = "open an issue and write `TODO(#number)`";
                findings.push(Finding::new(path, at, "a TODO without an issue", way_out));
            }
        }
    }
}

fn pretences(path: &str, tokens: &[Token<'_>], findings: &mut Vec<Finding>) {
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
        let before = |back: usize| tokens.get(at.wrapping_sub(back)).map(|token| token.text);
        let after = tokens.get(at + 1).map(|token| token.text);
        let (what, way_out) = match (token.text, before(2), before(1), after) {
            ("todo" | "unimplemented", _, _, Some("!")) => (
                format!("a {}! in the code", token.text),
                "write it, or leave the whole item out until it is written",
            ),
            ("ignore", Some("#"), Some("["), _) => (
                "an ignored test".to_owned(),
                "mend the test or delete it; one that needs a special machine asks for it and says so",
            ),
            _ => continue,
        };
        findings.push(Finding::new(path, token.line, what, way_out));
    }
}
