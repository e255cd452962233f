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
