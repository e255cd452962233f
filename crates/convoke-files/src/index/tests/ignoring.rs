//! Which files are left out, as git does it.

use std::fs;
use std::path::Path;

use ignore::gitignore::GitignoreBuilder;
use proptest::prelude::*;

use super::super::patterns::{Kind, Patterns, Verdict};
use super::*;

/// The files of a project, without folders and ignore files, in which these are written.
fn files(root: &Path, written: &[(&str, &str)]) -> Vec<String> {
    for (name, content) in written {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), content).unwrap();
    }
    let mut found = FileIndex::build(root).search("", 100);
    found.retain(|path| !path.ends_with('/') && !path.ends_with("ignore"));
    found
}

fn files_of(written: &[(&str, &str)]) -> Vec<String> {
    files(tempfile::tempdir().unwrap().path(), written)
}

#[test]
fn l2_the_ignore_file_of_the_innermost_folder_wins() {
    let found = files_of(&[
        (".gitignore", "*.log\n/top\nbuild/\n"),
        ("a.log", ""),
        ("top", ""),
        ("sub/.gitignore", "!keep.log\n*.tmp\n"),
        ("sub/top", ""),
        ("sub/keep.log", ""),
        ("sub/other.log", ""),
        ("sub/x.tmp", ""),
        ("sub/deep/keep.log", ""),
        ("sub/deep/.gitignore", "keep.log"),
        ("sub/build/x", ""),
        ("y.tmp", ""),
    ]);
    assert_eq!(found, ["y.tmp", "sub/keep.log", "sub/top"]);
}

#[test]
fn l2_an_ignore_file_for_search_tools_wins_over_that_of_git() {
    let found = files_of(&[
        (".ignore", "!generated.rs\nsecret\n"),
        (".gitignore", "generated.rs\n!secret\n"),
        ("generated.rs", ""),
        ("secret", ""),
        ("sub/.gitignore", "generated.rs\n"),
        ("sub/generated.rs", ""),
        ("seen", ""),
    ]);
    assert_eq!(found, ["generated.rs", "seen", "sub/generated.rs"]);
}

#[test]
fn l2_folders_around_the_project_and_the_private_file_of_its_repository_count() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let written =
        [(".gitignore", "/app/out\n"), (".git/info/exclude", "/app/notes\n*.bak\n"), ("notes", "")];
    files(root, &written);
    let inner = [("out", ""), ("notes", ""), ("x.bak", ""), ("sub/out", ""), ("seen", "")];
    assert_eq!(files(&root.join("app"), &inner), ["seen", "sub/out"]);

    // A linked work tree, whose `.git` is a file.
    let tree = root.join("linked");
    let git = format!("gitdir: {}\n", root.join(".git/worktrees/linked").display());
    files(root, &[(".git/worktrees/linked/commondir", "../..\n"), ("linked/.git", &git)]);
    assert_eq!(files(&tree, &[("y.bak", ""), ("seen", "")]), ["seen"]);
}

#[test]
fn l2_ignore_files_are_read_as_git_reads_them() {
    let patterns = "\u{feff}*.bom\r\n# comment\r\n\\#name\n\\!name\nspace \\ \ntrailing  \n\
        **/any/here\ninside/**\na/**/z\n[a-c]1\n[!a-c]2\n[]x]3\nq?\n/\n!\n\\*\n{b,c}\n";
    let ignored = [
        "x.bom",
        "#name",
        "!name",
        "trailing",
        "any/here",
        "s/any/here",
        "inside/x",
        "a/z",
        "a/s/s/z",
        "a1",
        "d2",
        "]3",
        "x3",
        "qq",
        "*",
        "{b,c}",
        "s/a1",
    ];
    let seen = ["comment", "any/there", "e/z", "d1", "a2", "q", "qqq", "s/inside/x", "b", "c", "o"];
    let folder = tempfile::tempdir().unwrap();
    let written: Vec<_> = ignored.iter().chain(&seen).map(|name| (*name, "")).collect();
    files(folder.path(), &written);
    let mut found = files(folder.path(), &[(".gitignore", patterns)]);
    found.sort();
    let mut expected = seen.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn l2_patterns_mean_what_they_mean_to_the_crate_ignore() {
    // Not `[!a]`, which matches a slash there, though not for git.
    let piece =
        || prop::sample::select(vec!["a", "b", "ab", "*", "?", "[ab]", "[a-b]", "a*b", "*.a"]);
    let part = || {
        let name = prop::collection::vec(piece(), 1..4).prop_map(|pieces| pieces.concat());
        prop_oneof![4 => name, 1 => Just("**".to_owned())]
    };
    let line = (
        prop::sample::select(vec!["", "!", "/", "!/"]),
        prop::collection::vec(part(), 1..4),
        prop::sample::select(vec!["", "/"]),
    );
    let line =
        line.prop_map(|(before, parts, after)| format!("{before}{}{after}", parts.join("/")));
    // Three asterisks match what one matches, but for the crate.
    let line = line.prop_filter("asterisks in a row", |line| !line.contains("***"));
    let path = prop::collection::vec("[ab][ab.]{0,3}", 1..5).prop_map(|names| names.join("/"));
    let lines = prop::collection::vec(line, 1..5);
    proptest!(ProptestConfig::with_cases(2000), |(lines in lines, path in path)| {
        let mut builder = GitignoreBuilder::new("");
        for line in &lines {
            builder.add_line(None, line).unwrap();
        }
        let theirs = builder.build().unwrap();
        let ours = Patterns::parse(lines.join("\n").as_bytes(), usize::MAX).unwrap();
        for (kind, is_dir) in [(Kind::File, false), (Kind::Folder, true)] {
            let expected = match theirs.matched(&path, is_dir) {
                ignore::Match::None => None,
                ignore::Match::Ignore(_) => Some(Verdict::Ignore),
                ignore::Match::Whitelist(_) => Some(Verdict::Include),
            };
            prop_assert_eq!(ours.verdict(&path, kind), expected, "{:?} {}", lines, path);
        }
    });
}
