//! Which files are checked.

use std::process::Command;

use xtask::tree::Tree;

use crate::support::made_up;

const FILES: [(&str, &str); 4] =
    [("src/a.rs", ""), (".ci/run", ""), ("target/debug/b.rs", ""), ("ignored/c.rs", "")];

fn paths(root: &std::path::Path) -> Vec<String> {
    Tree::load(root).unwrap().files().iter().map(|file| file.path.clone()).collect()
}

#[test]
fn without_git_all_files_count_but_those_in_build_folders() {
    let root = made_up(&FILES);
    assert_eq!(paths(root.path()), [".ci/run", "ignored/c.rs", "src/a.rs"]);
}

#[test]
fn in_a_checkout_what_git_ignores_does_not_count() {
    let root = made_up(&FILES);
    std::fs::write(root.path().join(".gitignore"), "/ignored\n/target\n").unwrap();
    let git = |args: &[&str]| {
        let status = Command::new("git").args(args).current_dir(root.path()).status().unwrap();
        assert!(status.success());
    };
    git(&["init", "--quiet"]);
    git(&["add", ".gitignore", "src/a.rs"]);
    assert_eq!(paths(root.path()), [".ci/run", ".gitignore", "src/a.rs"]);
}

#[test]
fn a_deleted_file_and_one_that_is_not_text_are_passed_over() {
    let root = made_up(&FILES);
    std::fs::write(root.path().join("picture.png"), [0x89, 0xff, 0x00]).unwrap();
    std::fs::remove_file(root.path().join("src/a.rs")).unwrap();
    assert_eq!(paths(root.path()), [".ci/run", "ignored/c.rs"]);
}
