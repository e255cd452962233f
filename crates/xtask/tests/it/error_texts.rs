//! Error texts of another form are found.

use xtask::tidy::error_texts::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

#[test]
fn an_error_begins_in_lower_case_and_ends_without_a_full_stop() {
    let source = r#"
#[error("cannot open {path}")]
#[error("Cannot open {path}")]
#[error("it is closed.")]
#[error("Unknown team: {name}")]
#[error(transparent)]
"#;
    let expected = [
        "a.rs:3: an error text that begins in upper case — begin it in lower case",
        "a.rs:4: an error text that ends with a full stop — leave the full stop out",
    ];
    assert_eq!(said(check, &[("a.rs", source)]), expected);
}

#[test]
fn an_error_names_things_bare_and_commands_in_backticks() {
    let source = r#"
#[error("there is no agent {name}")]
#[error("there is no agent '{name}'")]
#[error("run convoke stop first")]
#[error("run `convoke stop` first, or see `convoke status`")]
"#;
    let expected = [
        "a.rs:3: a value in quotes — leave names bare, and put verbatim text into backticks",
        "a.rs:4: a command or an option without backticks — put it into backticks",
    ];
    assert_eq!(said(check, &[("a.rs", source)]), expected);
}

#[test]
fn a_hint_of_the_command_line_has_its_commands_in_backticks() {
    let path = "crates/convoke/src/exit/advice.rs";
    let source = r#"
fn hints() -> [&str; 5] {
    ["start it: convoke serve", "start it with `convoke serve`", "a newer Convoke wrote it",
     "choose with --home", "choose with `--home`"]
}
"#;
    let what = "a command or an option without backticks — put it into backticks";
    let expected = [3, 4].map(|line| format!("{path}:{line}: {what}"));
    assert_eq!(said(check, &[(path, source)]), expected);
}
