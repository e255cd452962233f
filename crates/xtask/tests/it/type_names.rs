//! Types with empty names are found.

use xtask::tidy::type_names::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

#[test]
fn a_type_is_named_after_what_it_is() {
    let source = "\
struct SessionManager;
struct Metadata;
pub(crate) enum AgentInfo { Info }
impl Layer for Stack { type Service = Self; }
type Data = u8;
";
    let expected =
        [(1, "SessionManager", "Manager"), (3, "AgentInfo", "Info"), (5, "Data", "Data")].map(
            |(line, name, ending)| {
                format!(
                    "a.rs:{line}: the type {name} is a “{ending}” \
                 — name it after the thing it is or the work it does"
                )
            },
        );
    assert_eq!(said(check, &[("a.rs", source)]), expected);
}
