//! Pipes, devices and huge files in the place of files that git reads: git waits for them, and Convoke does not.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::thread;

use convoke_git::{Error, Filters, Project};
use convoke_testkit::wait::until;

use crate::scene::{Scene, before, git, limits};

fn pipe(path: &Path) {
    fs::remove_file(path).ok();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The file that an error names, and what it is.
fn named(error: Error, root: &Path) -> (String, &'static str) {
    let Error::Unreadable { path, why } = error else { panic!("{error}") };
    (path.strip_prefix(root).unwrap().display().to_string(), why)
}

#[test]
fn c9_a_pipe_that_git_would_wait_for_is_named_by_checkpoints() {
    // Git waits for each of these, in the folder or in one below.
    let names = [
        ".gitignore",
        ".gitattributes",
        "a/b/.gitignore",
        "a/b/.gitattributes",
        "nested/.git/HEAD",
        "nested/.git/commondir",
    ];
    for name in names {
        let scene = Scene::with_git();
        scene.checkpoint(1);
        scene.write("nested/.git/HEAD", "ref: refs/heads/main\n");
        scene.write("nested/.git/objects/x", "");
        scene.write("nested/.git/refs/x", "");
        scene.write("a/b/c", "changed\n");
        pipe(&scene.path(name));
        let checkpoints = scene.checkpoints();
        let error = checkpoints.checkpoint(&before(2), &limits()).unwrap_err();
        assert_eq!(named(error, &scene.project), (name.to_owned(), "it is a named pipe"));
        // The way out that the message names.
        fs::remove_file(scene.path(name)).unwrap();
        let saved = checkpoints.checkpoint(&before(2), &limits()).unwrap();
        assert!(scene.files_in(&saved.tree).contains_key(Path::new("a/b/c")));
    }
}

#[test]
fn c9_a_pipe_around_the_work_tree_is_named_by_its_checkpoints() {
    let scene = Scene::with_git();
    scene.write("inner/part/x", "x");
    let inner = scene.path("inner/part");
    for name in [".gitignore", "inner/.gitignore"] {
        pipe(&scene.path(name));
        let error = convoke_git::Checkpoints::open(
            &git(),
            &scene.ours,
            &inner,
            convoke_git::Options::default(),
            &limits(),
        );
        let error = error.unwrap_err();
        assert_eq!(named(error, &scene.project), (name.to_owned(), "it is a named pipe"));
        fs::remove_file(scene.path(name)).unwrap();
    }
    // One that no rule of this folder depends on is not checked.
    pipe(&scene.path("other/.gitignore"));
    scene.checkpoints_of(&inner).checkpoint(&before(1), &limits()).unwrap();
}

#[test]
fn c9_a_pipe_in_a_repository_is_named_when_it_is_opened_or_read() {
    let names = ["HEAD", "config", "index", "packed-refs", "info/exclude", "refs/heads/main"];
    for name in names {
        let scene = Scene::with_git();
        let name = format!(".git/{name}");
        pipe(&scene.path(&name));
        let project =
            Project::open(&git(), &scene.project, scene.launcher(), Filters::Off, &limits());
        let error = match project {
            Ok(project) => project.facts(&limits()).unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(named(error, &scene.project), (name, "it is a named pipe"));
    }
}

#[test]
fn c9_devices_and_huge_files_are_named_and_the_empty_device_is_not() {
    let scene = Scene::with_git();
    let exclude = scene.path(".git/info/exclude");
    fs::create_dir_all(exclude.parent().unwrap()).unwrap();
    let facts = || scene.open().facts(&limits());
    fs::remove_file(&exclude).ok();
    symlink("/dev/null", &exclude).unwrap();
    facts().unwrap();
    fs::remove_file(&exclude).unwrap();
    let head = scene.read(".git/HEAD");
    fs::remove_file(scene.path(".git/HEAD")).unwrap();
    symlink("/dev/zero", scene.path(".git/HEAD")).unwrap();
    let open = || Project::open(&git(), &scene.project, scene.launcher(), Filters::Off, &limits());
    let error = open().unwrap_err();
    assert_eq!(named(error, &scene.project), (".git/HEAD".to_owned(), "it is a device"));
    fs::remove_file(scene.path(".git/HEAD")).unwrap();
    scene.write(".git/HEAD", head);
    File::create(scene.path(".gitignore")).unwrap().set_len(1 << 33).unwrap();
    let error = scene.checkpoints().checkpoint(&before(1), &limits()).unwrap_err();
    let text = "it is too large; delete it, or move it out of the folder";
    let path = scene.path(".gitignore");
    assert_eq!(error.to_string(), format!("git cannot read {}: {text}", path.display()));
}

/// What the processes of a folder wait for, in the kernel's words.
fn waiting(folder: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|it| it.path());
    let own = processes.filter(|it| fs::read_link(it.join("cwd")).is_ok_and(|cwd| cwd == folder));
    own.filter_map(|it| fs::read_to_string(it.join("wchan")).ok()).collect()
}

#[test]
fn c9_git_does_not_wait_for_a_pipe_that_was_deleted_meanwhile() {
    let scene = Scene::with_git();
    let checkpoints = scene.checkpoints();
    let pipes = [scene.path("a/.gitignore"), scene.path("b/.gitignore")];
    let attempt = || {
        pipes.iter().for_each(|path| pipe(path));
        thread::scope(|scope| {
            let saved = scope.spawn(|| checkpoints.checkpoint(&before(1), &limits()));
            until("git waits for a pipe", || {
                let places = waiting(&scene.project);
                let is_waiting =
                    |place: &String| matches!(place.as_str(), "wait_for_partner" | "fifo_open");
                saved.is_finished() || places.iter().any(is_waiting)
            });
            pipes.iter().for_each(|path| fs::remove_file(path).unwrap());
            saved.join().unwrap().unwrap_err()
        })
    };
    // On a busy machine the pipe may be found before this test has seen that git waits.
    let mut errors = (0..20).map(|_| attempt());
    let error = errors.find(|error| !matches!(error, Error::Unreadable { .. })).unwrap();
    let text = "git ls-files waited for a named pipe that is gone by now; try again";
    assert_eq!(error.to_string(), text);
    checkpoints.checkpoint(&before(1), &limits()).unwrap();
}
