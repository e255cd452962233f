//! What is listed of a project, and what an agent in it cannot do to the daemon that lists it.

mod ignoring;
mod safety;

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in [
        "src/main.rs",
        "src/model/user.rs",
        "docs/user-guide.md",
        "target/debug/x",
        ".git/config",
        ".github/ci.yml",
    ] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), "").unwrap();
    }
    fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
    fs::write(root.join("debug.log"), "").unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    symlink("/etc/passwd", root.join("passwd")).unwrap();
    symlink("src/main.rs", root.join("main")).unwrap();
    folder
}

#[test]
fn l2_what_git_ignores_and_links_are_not_offered() {
    let folder = project();
    let index = FileIndex::build(folder.path());
    assert_eq!(
        index.search("", 100),
        [
            ".github/",
            ".gitignore",
            "docs/",
            "src/",
            ".github/ci.yml",
            "docs/user-guide.md",
            "src/main.rs",
            "src/model/",
            "src/model/user.rs",
        ]
    );
}

#[test]
fn l2_a_few_letters_find_the_file() {
    let folder = project();
    let index = FileIndex::build(folder.path());
    assert_eq!(index.search("smr", 1), ["src/main.rs"]);
    assert_eq!(index.search("user", 2), ["docs/user-guide.md", "src/model/user.rs"]);
    assert_eq!(index.search("model/", 1), ["src/model/"]);
    assert_eq!(index.search("nothing-like-it", 5), Vec::<String>::new());
}

#[test]
fn l2_threads_that_share_a_large_project_find_what_one_finds() {
    let name = |number: usize| format!("source/part{}/module{number}.rs", number % 7);
    let index = FileIndex { paths: (0..SHARE * 3 + 7).map(name).collect() };
    for typed in ["m", "module59999", "part3/mod400", "nothing-like-it"] {
        let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
        assert_eq!(index.score(&pattern), score_all(&pattern, &index.paths, 0), "{typed}");
    }
    assert_eq!(index.search("module60006", 1), [name(60_006)]);
}

#[test]
fn l2_no_path_leads_out_of_the_project() {
    let folder = project();
    let root = folder.path();
    let real = root.canonicalize().unwrap();
    assert_eq!(inside(root, "src/main.rs"), Some(real.join("src/main.rs")));
    assert_eq!(inside(root, "docs/"), Some(real.join("docs")));
    assert_eq!(inside(root, "main"), Some(real.join("src/main.rs")), "the link stays inside");
    for out in
        ["", "/etc/passwd", "../x", "src/../../x", "passwd", "etc/passwd", "gone", "src/main.rs\0"]
    {
        assert_eq!(inside(root, out), None, "{out}");
    }
}
