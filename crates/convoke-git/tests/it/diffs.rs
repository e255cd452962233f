//! What differs between two moments.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use convoke_git::{FileMode, LineKind, Lines, Status};

use crate::scene::{Scene, limits, odd_name};

#[test]
fn c3_the_list_has_status_modes_renames_and_counts() {
    let scene = Scene::new();
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    scene.write("moved", &long);
    scene.write("gone", "x\n");
    scene.write("script", "x\n");
    scene.write("data", b"\0\x01\x02");
    scene.write("was-file", "x\n");
    scene.write(odd_name(), "a\nb\n");
    let from = scene.checkpoint(1).tree;
    fs::rename(scene.path("moved"), scene.path("target")).unwrap();
    scene.write("target", format!("{long}more\n"));
    fs::remove_file(scene.path("gone")).unwrap();
    fs::set_permissions(scene.path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    scene.write("data", b"\0\x01\x03");
    fs::remove_file(scene.path("was-file")).unwrap();
    symlink("data", scene.path("was-file")).unwrap();
    scene.write(odd_name(), "a\nB\nc\n");
    let to = scene.checkpoint(2).tree;
    let list = scene.checkpoints().changes(&from, &to, 100, &limits()).unwrap();
    assert!(list.is_complete);
    // One of them is found alone as it is in the list.
    for change in list.changes.iter().filter(|change| change.path.to_str().is_some()) {
        let path = change.path.to_str().unwrap();
        let found = scene.checkpoints().change(&from, &to, path, &limits()).unwrap();
        assert_eq!(found.as_ref(), Some(change));
    }
    assert_eq!(scene.checkpoints().change(&from, &to, "unchanged", &limits()).unwrap(), None);
    let brief: Vec<_> = list
        .changes
        .iter()
        .map(|change| {
            let modes = [&change.old, &change.new].map(|it| it.as_ref().map(|it| it.mode));
            (change.path.clone(), change.status.clone(), modes, change.lines)
        })
        .collect();
    let (regular, none) = (Some(FileMode::Regular), None);
    let count = |added, removed| Some(Lines { added, removed });
    let expected = [
        (PathBuf::from("data"), Status::Modified, [regular, regular], none),
        (PathBuf::from("gone"), Status::Deleted, [regular, None], count(0, 1)),
        (odd_name(), Status::Modified, [regular, regular], count(2, 1)),
        (
            PathBuf::from("script"),
            Status::Modified,
            [regular, Some(FileMode::Executable)],
            count(0, 0),
        ),
        (
            PathBuf::from("target"),
            Status::Renamed { from: "moved".into() },
            [regular, regular],
            count(1, 0),
        ),
        (
            PathBuf::from("was-file"),
            Status::TypeChanged,
            [regular, Some(FileMode::Link)],
            count(1, 1),
        ),
    ];
    assert_eq!(brief, expected);
    assert!(list.changes[0].is_binary && !list.changes[1].is_binary);
    assert_eq!(list.total(), Lines { added: 4, removed: 3 });
}

#[test]
fn c3_a_long_list_is_cut_off_and_says_so() {
    let scene = Scene::new();
    let from = scene.checkpoint(1).tree;
    for number in 0..300 {
        scene.write(format!("file{number:03}"), "x\n");
    }
    let to = scene.checkpoint(2).tree;
    let checkpoints = scene.checkpoints();
    let list = checkpoints.changes(&from, &to, 100, &limits()).unwrap();
    assert!(!list.is_complete && list.changes.len() == 100);
    let list = checkpoints.changes(&from, &to, 300, &limits()).unwrap();
    assert!(list.is_complete && list.changes.len() == 300);
    assert_eq!(list.total(), Lines { added: 300, removed: 0 });
    assert_eq!(checkpoints.changes(&to, &to, 1, &limits()).unwrap().changes, []);
}

#[test]
fn c3_a_file_in_the_place_of_a_folder_has_a_diff_of_its_own() {
    let scene = Scene::new();
    scene.write("a", "file\n");
    scene.write("b/x", "in a folder\n");
    let from = scene.checkpoint(1).tree;
    for path in ["a", "b/x"] {
        fs::remove_file(scene.path(path)).unwrap();
    }
    fs::remove_dir(scene.path("b")).unwrap();
    scene.write("a/x", "one\n");
    scene.write("a/y", "two\n");
    scene.write("b", "now a file\n");
    let to = scene.checkpoint(2).tree;
    let checkpoints = scene.checkpoints();
    let list = checkpoints.changes(&from, &to, 10, &limits()).unwrap();
    let diffs = list.changes.iter().map(|change| {
        let diff = checkpoints.file_diff(&from, &to, change, 1 << 20, &limits()).unwrap();
        let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
        let lines = lines.map(|line| String::from_utf8_lossy(&line.text).into_owned());
        (change.path.display().to_string(), lines.collect::<Vec<_>>())
    });
    let of = |path: &str, text: &str| (path.to_owned(), vec![text.to_owned()]);
    let expected = [
        of("a", "file"),
        of("a/x", "one"),
        of("a/y", "two"),
        of("b", "now a file"),
        of("b/x", "in a folder"),
    ];
    assert_eq!(diffs.collect::<Vec<_>>(), expected);
}

#[test]
fn c3_a_files_diff_has_hunks_with_lines() {
    let scene = Scene::new();
    let lines: Vec<String> = (1..=30).map(|n| format!("{n}")).collect();
    scene.write(odd_name(), lines.join("\n"));
    let from = scene.checkpoint(1).tree;
    let mut changed = lines;
    changed[1] = "two\r".to_owned();
    changed.remove(14);
    changed.push("--- not a header".to_owned());
    scene.write(odd_name(), changed.join("\n"));
    let to = scene.checkpoint(2).tree;
    let checkpoints = scene.checkpoints();
    let list = checkpoints.changes(&from, &to, 10, &limits()).unwrap();
    let diff = checkpoints.file_diff(&from, &to, &list.changes[0], 1 << 20, &limits()).unwrap();
    assert!(diff.is_complete && !diff.is_binary);
    let show = |line: &convoke_git::Line| {
        let sign = match line.kind {
            LineKind::Context => ' ',
            LineKind::Added => '+',
            LineKind::Removed => '-',
        };
        let end = if line.has_newline { "" } else { " (no newline)" };
        format!("{sign}{}{end}", String::from_utf8_lossy(&line.text))
    };
    let shown: Vec<Vec<String>> =
        diff.hunks.iter().map(|hunk| hunk.lines.iter().map(show).collect()).collect();
    assert_eq!(shown[0], [" 1", "-2", "+two\r", " 3", " 4", " 5"]);
    assert_eq!(shown[1], [" 12", " 13", " 14", "-15", " 16", " 17", " 18"]);
    let last = [" 28", " 29", "-30 (no newline)", "+30", "+--- not a header (no newline)"];
    assert_eq!(shown[2], [" 27"].into_iter().chain(last).collect::<Vec<_>>());
    let starts: Vec<_> = diff.hunks.iter().map(|hunk| (hunk.old_start, hunk.new_start)).collect();
    assert_eq!(starts, [(1, 1), (12, 12), (27, 26)]);
}

#[test]
fn c3_renamed_binary_and_huge_files_have_a_diff_of_their_own_kind() {
    let scene = Scene::new();
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    scene.write("moved", &long);
    scene.write("data", b"\0one");
    scene.write("empty", "");
    let from = scene.checkpoint(1).tree;
    fs::rename(scene.path("moved"), scene.path("target")).unwrap();
    scene.write("target", long.replace("line 5\n", "line five\n"));
    scene.write("data", b"\0two");
    scene.write("huge", "long line\n".repeat(100_000));
    fs::remove_file(scene.path("empty")).unwrap();
    let to = scene.checkpoint(2).tree;
    let checkpoints = scene.checkpoints();
    let list = checkpoints.changes(&from, &to, 10, &limits()).unwrap();
    let diff = |path: &str| {
        let change = list.changes.iter().find(|it| it.path.as_os_str() == path).unwrap();
        checkpoints.file_diff(&from, &to, change, 100_000, &limits()).unwrap()
    };
    assert_eq!(diff("target").hunks.len(), 1);
    assert_eq!(diff("target").hunks[0].lines.len(), 8);
    assert!(diff("data").is_binary && diff("data").hunks.is_empty());
    assert!(diff("empty").hunks.is_empty() && diff("empty").is_complete);
    let huge = diff("huge");
    assert!(!huge.is_complete);
    assert!(huge.hunks[0].lines.len() > 1000 && huge.hunks[0].lines.len() < 100_000);
}

#[test]
fn c3_attributes_of_the_project_cannot_hide_a_change() {
    let scene = Scene::new();
    scene.write(".gitattributes", "* -diff\n*.txt binary\n");
    scene.write("a.txt", "one\n");
    let from = scene.checkpoint(1).tree;
    scene.write("a.txt", "two\n");
    let to = scene.checkpoint(2).tree;
    let checkpoints = scene.checkpoints();
    let list = checkpoints.changes(&from, &to, 10, &limits()).unwrap();
    assert_eq!(list.total(), Lines { added: 1, removed: 1 });
    let diff = checkpoints.file_diff(&from, &to, &list.changes[0], 1000, &limits()).unwrap();
    assert_eq!(diff.hunks.len(), 1);
}
