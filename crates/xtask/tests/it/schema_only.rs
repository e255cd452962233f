//! A binary that reaches past the schema is found.

use xtask::tidy::schema_only::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

#[test]
fn the_binary_sees_the_schema_and_the_errors_and_nothing_else_of_the_store() {
    let binary = "\
use convoke_store::schema::{self, Migration};
use convoke_store::{Error, schema::status};
// convoke_store::Store in a comment
fn f() { convoke_store::Store::open(path) }
use convoke_store::{
    Error, search::{Hit, Query}, Store,
};
use convoke_store as store;
";
    let engine = "use convoke_store::Store;\n";
    let files =
        [("crates/convoke/src/main.rs", binary), ("crates/convoke-engine/src/lib.rs", engine)];
    let expected = [(4, "Store"), (5, "search"), (5, "Store"), (8, "all")].map(|(line, name)| {
        format!(
            "crates/convoke/src/main.rs:{line}: the binary uses {name} of convoke_store \
             — ask the server for it; only `schema`, `location`, `transfer` and `Error` are open, see docs/decisions/0001"
        )
    });
    assert_eq!(said(check, &files), expected);
}
