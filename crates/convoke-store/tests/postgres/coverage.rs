//! That no test of the store is left out here by accident.

use std::collections::BTreeSet;

/// Modules of tests that are about the files of SQLite, or that have a twin here, or that would take long.
const FILES: [&str; 8] =
    ["copies", "crash", "database", "files", "guard", "released", "schema", "search_many"];

fn modules(main: &str) -> BTreeSet<&str> {
    let names = main.lines().filter_map(|line| line.strip_prefix("mod "));
    names.map(|name| name.trim_end_matches(';')).collect()
}

#[test]
fn n1_every_test_of_the_store_that_is_not_about_files_runs_on_a_server() {
    let (files, server) = (include_str!("../it/main.rs"), include_str!("main.rs"));
    let shared = |name: &&str| server.contains(&format!("#[path = \"../it/{name}.rs\"]"));
    let left_out: Vec<&str> = modules(files).into_iter().filter(|name| !shared(name)).collect();
    assert_eq!(left_out, FILES);
}
