//! Long files are found; tests at the end of a file are not counted.

use xtask::tidy::file_length::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

#[test]
fn a_file_of_501_lines_is_too_long() {
    let long = "//! Long.\n".repeat(501);
    assert_eq!(
        said(
            check,
            &[("crates/a/src/lib.rs", &long), ("crates/a/src/ok.rs", &"//!\n".repeat(500))]
        ),
        ["crates/a/src/lib.rs:501: 501 lines, at most 500 are allowed \
          — split it by idea, or move its tests to a tests.rs beside it"]
    );
}

#[test]
fn tests_count_unless_they_close_the_file() {
    let code = "const A: u8 = 0;\n".repeat(490);
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "    // A test.\n".repeat(300));
    let closing = format!("{code}{tests}");
    let amid = format!("{tests}{code}");
    let found = said(check, &[("a.rs", &closing), ("b.rs", &amid)]);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("b.rs:501: 793 lines"), "{found:?}");
}

#[test]
fn the_pages_that_are_read_most_have_limits_of_their_own() {
    let found =
        said(check, &[("AGENTS.md", &"A line.\n".repeat(61)), ("README.md", &"\n".repeat(600))]);
    let expected = "AGENTS.md:61: 61 lines, at most 60 are allowed \
                    — say it shorter, or move detail to where it belongs";
    assert_eq!(found, [expected]);
}
