//! K4: whatever an agent writes into a project, listing it ends soon and takes little memory.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, Mode};

use super::super::walk::{self, Limits};
use super::*;

/// The listing of a project with a file, in which an agent does something.
fn listed(act: impl FnOnce(&Path)) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/main.rs"), "").unwrap();
    act(folder.path());
    FileIndex::build(folder.path()).search("", 100)
}

fn pipe(path: &Path) {
    rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
}

#[test]
fn k4_an_ignore_file_that_links_to_an_endless_device_is_not_read() {
    for name in [".gitignore", ".ignore", "src/.gitignore", ".git"] {
        let found = listed(|root| symlink("/dev/zero", root.join(name)).unwrap());
        assert_eq!(found, ["src/", "src/main.rs"], "{name}");
    }
    let found = listed(|root| {
        fs::create_dir_all(root.join(".git/info")).unwrap();
        symlink("/dev/zero", root.join(".git/info/exclude")).unwrap();
    });
    assert_eq!(found, ["src/", "src/main.rs"]);
    let found = listed(|root| {
        fs::write(root.join(".git"), format!("gitdir: {}\n", root.join("src").display())).unwrap();
        symlink("/dev/zero", root.join("src/commondir")).unwrap();
    });
    assert_eq!(found, ["src/", "src/main.rs"]);
}

#[test]
fn k4_an_ignore_file_that_is_a_named_pipe_is_not_waited_for() {
    for name in [".gitignore", ".ignore", "src/.gitignore", ".git"] {
        let found = listed(|root| pipe(&root.join(name)));
        assert_eq!(found, ["src/", "src/main.rs"], "{name}");
    }
    let found = listed(|root| {
        fs::create_dir_all(root.join(".git/info")).unwrap();
        pipe(&root.join(".git/info/exclude"));
    });
    assert_eq!(found, ["src/", "src/main.rs"]);
}

#[test]
fn k4_an_ignore_file_of_two_megabytes_is_not_applied() {
    let lines = |count: usize| "*.rs\n".to_owned() + &"# nothing\n".repeat(count);
    let small = listed(|root| fs::write(root.join(".gitignore"), lines(1000)).unwrap());
    assert_eq!(small, [".gitignore", "src/"]);
    let large = listed(|root| fs::write(root.join(".gitignore"), lines(2 << 20)).unwrap());
    assert_eq!(large, [".gitignore", "src/", "src/main.rs"]);
    // A file without content that claims to have a terabyte.
    let sparse = listed(|root| {
        let mut file = fs::File::create(root.join(".gitignore")).unwrap();
        file.write_all(b"*.rs\n").unwrap();
        file.set_len(1 << 40).unwrap();
    });
    assert_eq!(sparse, [".gitignore", "src/", "src/main.rs"]);
}

#[test]
fn k4_the_files_of_all_folders_on_a_path_count_together() {
    let found = listed(|root| {
        let file = "# nothing\n".repeat(60 << 10);
        fs::write(root.join(".gitignore"), format!("*.log\n{file}")).unwrap();
        fs::write(root.join("src/.gitignore"), format!("*.rs\n{file}")).unwrap();
        fs::write(root.join("src/debug.log"), "").unwrap();
    });
    assert_eq!(found, [".gitignore", "src/", "src/.gitignore", "src/main.rs"]);
}

#[test]
fn k4_patterns_that_are_made_to_be_costly_are_matched_soon() {
    let name = "ab".repeat(120) + ".rs";
    for line in [
        // A regular expression of each would have thousands of states.
        (0..1000).map(|number| format!("*a??????????????{number}.rs\n")).collect::<String>(),
        // One that is parsed or matched by recursion would overflow the stack.
        "{".repeat(500_000) + &"}".repeat(500_000),
        "[".repeat(60_000),
        "*a".repeat(30_000),
        "**/a/".repeat(10_000) + "b",
        "a/*/".repeat(10_000) + "b",
        // Too many wildcards, and the most lines that a file may have.
        "?\n".repeat(500_000),
        (0..150_000).map(|number| format!("{number}\n")).collect(),
    ] {
        let found = listed(|root| {
            fs::write(root.join(".gitignore"), &line).unwrap();
            fs::write(root.join("src").join(&name), "").unwrap();
        });
        let expected = [".gitignore", "src/", &format!("src/{name}"), "src/main.rs"];
        assert_eq!(found, expected, "{line:.20}");
    }
}

#[test]
fn k4_links_that_form_a_loop_and_special_files_are_passed_over() {
    let found = listed(|root| {
        symlink(".", root.join("here")).unwrap();
        symlink("../src", root.join("src/again")).unwrap();
        symlink("/", root.join("everything")).unwrap();
        pipe(&root.join("pipe"));
        drop(UnixListener::bind(root.join("socket")).unwrap());
    });
    assert_eq!(found, ["src/", "src/main.rs"]);
}

#[test]
fn k4_a_listing_ends_at_its_limits_with_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..50 {
        fs::write(folder.path().join(format!("file{number:02}")), "").unwrap();
        symlink("file00", folder.path().join(format!("link{number:02}"))).unwrap();
    }
    let found = |limits: Limits| walk::paths(folder.path(), &limits).len();
    assert_eq!(found(Limits::DEFAULT), 50);
    assert_eq!(found(Limits { entries: 7, ..Limits::DEFAULT }), 7);
    assert_eq!(found(Limits { path_bytes: 60, ..Limits::DEFAULT }), 10);
    assert_eq!(found(Limits { time: Duration::ZERO, ..Limits::DEFAULT }), 0);
}

#[test]
fn k4_folders_that_are_nested_deeply_are_listed_with_the_rules_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let deepest = folder.path().join("d/".repeat(300));
    fs::create_dir_all(&deepest).unwrap();
    for above in deepest.ancestors().take(300) {
        fs::write(above.join(".gitignore"), "*.log\n").unwrap();
    }
    assert_eq!(FileIndex::build(folder.path()).len(), 300 * 2);
}
