//! Files of a repository that lead git to folders of the user, as an agent in the project may write them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use convoke_git::{Access, BranchFolder, Error, check_branch_folder, repository_of};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::scene::{Scene, limits};
use crate::worktrees::add;

/// A folder of the user with a file.
fn documents(scene: &Scene) -> PathBuf {
    let folder = scene.root().join("Documents");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("letter"), "mine").unwrap();
    folder
}

/// The folder of a work tree in the repository.
fn own(scene: &Scene, name: &str) -> PathBuf {
    scene.path(".git/worktrees").join(name)
}

fn is_misdirected<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Misdirected { .. }))
}

#[test]
fn k10_recovery_removes_no_folder_outside_of_the_work_trees() {
    let scene = Scene::with_git();
    let victim = documents(&scene);
    let made = add(&scene, "side");
    let trees = made.path.parent().unwrap();
    for path in ["side/../../Documents", "../Documents", "side/../../Documents/.", ".."] {
        fs::write(own(&scene, "side").join("locked"), "initializing").unwrap();
        let lead = format!("{}/{path}/.git\n", trees.display());
        fs::write(own(&scene, "side").join("gitdir"), lead).unwrap();
        let removed = scene.open().recover_worktrees(trees, &limits()).unwrap();
        assert_eq!(removed, Vec::<PathBuf>::new(), "{path}");
        assert!(victim.join("letter").exists() && made.path.join("README").exists(), "{path}");
    }
}

#[test]
fn k10_an_agent_in_a_work_tree_gets_no_folder_that_a_link_names() {
    let scene = Scene::with_git();
    let victim = documents(&scene);
    let path = add(&scene, "side").path;
    let access = Access::of(&path, "team/side", BranchFolder::Chosen).unwrap();
    assert!(access.writable.contains(&scene.path(".git/refs/heads/team")));
    for folder in ["refs/heads/team", "logs/refs/heads/team", "refs/heads"] {
        let folder = scene.path(".git").join(folder);
        let kept = scene.root().join("kept");
        fs::rename(&folder, &kept).unwrap();
        symlink(&victim, &folder).unwrap();
        assert!(
            is_misdirected(&Access::of(&path, "team/side", BranchFolder::Chosen)),
            "{}",
            folder.display()
        );
        fs::remove_file(&folder).unwrap();
        fs::rename(&kept, &folder).unwrap();
    }
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
    // To another repository, and to a folder that is none.
    let other = scene.root().join("other");
    scene.git_in(&scene.root(), &["init", "-q", other.to_str().unwrap()]);
    for lead in [other.join(".git"), victim] {
        fs::write(own(&scene, "side").join("commondir"), lead.to_str().unwrap()).unwrap();
        assert!(
            Access::of(&path, "team/side", BranchFolder::Chosen).is_err(),
            "{}",
            lead.display()
        );
        assert!(repository_of(&path).is_err(), "{}", lead.display());
    }
}

#[test]
fn k10_the_repository_of_a_project_is_the_one_that_git_uses() {
    let scene = Scene::with_git();
    let repository = scene.path(".git");
    let evil = scene.path("evil");
    fs::create_dir_all(evil.join("objects")).unwrap();
    fs::create_dir_all(evil.join("refs")).unwrap();
    let mark = scene.root().join("mark");
    let config = format!(
        "[alias]\nx = !touch {}\n[core]\nfsmonitor = touch {}\n",
        mark.display(),
        mark.display()
    );
    fs::write(evil.join("config"), config).unwrap();
    // Git never writes this file into a main repository.
    fs::write(repository.join("commondir"), "../evil").unwrap();
    assert_eq!(repository_of(&scene.project).unwrap(), repository);
    let setting = scene.open().facts(&limits());
    assert!(!mark.exists(), "{setting:?}");
    scene.user_git(&scene.project).arg("status").output().unwrap();
    assert!(mark.exists(), "the trap does not work");
    fs::remove_file(repository.join("commondir")).unwrap();
    let linked = add(&scene, "side").path;
    let common = own(&scene, "side").join("commondir");
    // A path with a line break means another folder to git than its first line, which is the true one.
    for lead in ["../..\nD", "../..\rD", "../..\n\nD"] {
        let whole = own(&scene, "side").join(lead);
        symlink(&evil, &whole).unwrap();
        fs::write(&common, lead).unwrap();
        assert!(whole.join("objects").is_dir() && repository_of(&linked).is_err(), "{lead:?}");
    }
    for (lead, is_true) in [("../..\0D", false), ("../..", true), ("../..\r\n\n", true)] {
        fs::write(&common, lead).unwrap();
        assert_eq!(repository_of(&linked).is_ok(), is_true, "{lead:?}");
    }
    documents(&scene);
    fs::write(linked.join(".git"), "gitdir: ../Documents\n").unwrap();
    assert!(repository_of(&linked).is_err());
    // A repository elsewhere must refer to its work tree; a link proves nothing.
    let separate = scene.root().join("separate");
    let args = ["init", "-q", "--separate-git-dir", "separate", "apart"];
    scene.git_in(&scene.root(), &args);
    let apart = scene.root().join("apart");
    assert!(is_misdirected(&repository_of(&apart)));
    scene.git_in(&apart, &["config", "core.worktree", apart.to_str().unwrap()]);
    assert_eq!(repository_of(&apart).unwrap(), separate);
    let planted = scene.root().join("planted");
    fs::create_dir(&planted).unwrap();
    symlink(&repository, planted.join(".git")).unwrap();
    assert!(is_misdirected(&repository_of(&planted)));
    fs::remove_file(planted.join(".git")).unwrap();
    fs::write(planted.join(".git"), format!("gitdir: {}\n", repository.display())).unwrap();
    assert!(is_misdirected(&repository_of(&planted)));
    assert!(repository_of(Path::new("/nowhere")).is_err());
}

#[test]
fn k10_an_agent_gets_the_folder_of_its_branch_only_if_no_other_branch_is_in_it() {
    let scene = Scene::with_git();
    let path = add(&scene, "team/one").path;
    let heads = scene.path(".git/refs/heads");
    let access = |branch| Access::of(&path, branch, BranchFolder::Chosen);
    let other = |branch| match access(branch) {
        Err(Error::SharedFolder { other, .. }) => other,
        accepted => panic!("{branch}: {accepted:?}"),
    };
    let folders = ["refs/heads/team", "logs/refs/heads/team"].map(|it| scene.path(".git").join(it));
    // What git leaves is no branch.
    fs::create_dir_all(heads.join("team/empty/below")).unwrap();
    fs::write(heads.join("team/gone.lock"), "").unwrap();
    for step in ["loose", "packed"] {
        let granted = access("team/one").unwrap().writable;
        assert!(folders.iter().all(|folder| granted.contains(folder)), "{step}: {granted:?}");
        assert!(!granted.iter().any(|it| heads.starts_with(it)), "{step}: {granted:?}");
        assert_eq!(other("fix"), "main");
        scene.git(&["pack-refs", "--all"]);
    }
    // Others, also below it and with names that are no text, whether they have a file or not.
    let odd = OsString::from_vec(b"team/caf\xe9".to_vec());
    for name in ["team/two".into(), "team/below/three".into(), odd] {
        let branch = |args: &[&str]| {
            let status =
                scene.user_git(&scene.project).arg("branch").args(args).arg(&name).status();
            assert!(status.unwrap().success(), "{name:?}");
        };
        branch(&[]);
        assert_eq!(Path::new(&other("team/one")), Path::new(&*name.to_string_lossy()));
        scene.git(&["pack-refs", "--all"]);
        let before = scene.git(&["for-each-ref"]);
        assert_eq!(Path::new(&other("team/one")), Path::new(&*name.to_string_lossy()));
        assert_eq!(scene.git(&["for-each-ref"]), before);
        assert!(check_branch_folder(&scene.project, "team/one").is_err());
        branch(&["-D"]);
    }
    check_branch_folder(&scene.project, "team/one").unwrap();
    check_branch_folder(&scene.project, "free/name").unwrap();
    assert!(!heads.join("free").exists());
    // A folder of the session's own has its agent's branches only.
    scene.git(&["branch", "team/two"]);
    Access::of(&path, "team/one", BranchFolder::Own).unwrap();
    assert!(Access::of(&path, "fix", BranchFolder::Own).is_err());
    // A list that another agent wrote.
    fs::remove_file(scene.path(".git/packed-refs")).unwrap();
    symlink("/dev/zero", scene.path(".git/packed-refs")).unwrap();
    assert!(matches!(access("free/name"), Err(Error::Unwritable { .. })));
}

#[test]
fn k10_no_file_of_the_user_is_emptied_by_a_link_that_comes_and_goes() {
    let scene = Scene::with_git();
    let victim = documents(&scene).join("letter");
    let path = add(&scene, "side").path;
    let settings = own(&scene, "side").join("config.worktree");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::remove_file(&settings).ok();
                symlink(&victim, &settings).ok();
            }
        });
        for _ in 0..3_000 {
            Access::of(&path, "team/side", BranchFolder::Chosen).ok();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    // It is not given to an agent. The last exchange may have left a file in its place.
    fs::remove_file(&settings).ok();
    symlink(&victim, &settings).unwrap();
    assert!(is_misdirected(&Access::of(&path, "team/side", BranchFolder::Chosen)));
}

#[test]
fn k10_no_folder_is_made_behind_a_link_that_comes_and_goes() {
    let scene = Scene::with_git();
    let victim = documents(&scene);
    let path = add(&scene, "side").path;
    let (team, link) = (scene.path(".git/refs/heads/team"), scene.path(".git/link"));
    fs::create_dir(&team).unwrap();
    symlink(&victim, &link).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = RenameFlags::EXCHANGE;
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &team, CWD, &link, exchange).unwrap();
            }
        });
        for number in 0..3_000 {
            let branch = format!("team/{number}/work");
            Access::of(&path, &branch, BranchFolder::Chosen).ok();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let names: Vec<_> = fs::read_dir(&victim).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(names, ["letter"]);
}

#[test]
fn k10_a_folder_that_was_moved_by_hand_belongs_to_its_repository_again_as_the_message_says() {
    let scene = Scene::with_git();
    let typed = |folder: &Path, line: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", line]).current_dir(folder).env("HOME", scene.root().join("home"));
        assert!(command.status().unwrap().success(), "{line}");
    };
    let moved = |from: &Path, to: &str| {
        let to = scene.root().join(to);
        fs::rename(from, &to).unwrap();
        to
    };
    let tree = moved(&add(&scene, "side").path, "moved");
    let error = repository_of(&tree).unwrap_err();
    assert!(matches!(error, Error::MovedByHand { .. }), "{error}");
    // If there is a folder in the old place, it is the one that the repository belongs to.
    let old = fs::read_to_string(tree.join(".git")).unwrap();
    let old = Path::new(old.trim().strip_prefix("gitdir: ").unwrap()).join("gitdir");
    let old = PathBuf::from(fs::read_to_string(old).unwrap().trim());
    fs::create_dir_all(&old).unwrap();
    assert!(is_misdirected(&repository_of(&tree)));
    fs::remove_dir_all(old.parent().unwrap()).unwrap();
    typed(&tree, "git worktree repair");
    assert_eq!(repository_of(&tree).unwrap(), scene.path(".git"));
    // Submodules, whose settings are elsewhere in a sparse checkout.
    let library = Scene::with_git();
    let url = library.project.to_str().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url];
    let line = "git --work-tree=. config --worktree core.worktree \"$PWD\"";
    for name in ["full", "sparse"] {
        scene.git(&[&add[..], &[name]].concat());
        let module = scene.path(".git/modules").join(name);
        if name == "sparse" {
            scene.git_in(&scene.path(name), &["sparse-checkout", "set", "--cone", "in"]);
            assert!(module.join("config.worktree").exists());
        }
        assert_eq!(repository_of(&scene.path(name)).unwrap(), module);
        let folder = moved(&scene.path(name), name);
        fs::write(folder.join(".git"), format!("gitdir: {}\n", module.display())).unwrap();
        assert!(is_misdirected(&repository_of(&folder)));
        typed(&folder, line);
        assert_eq!(repository_of(&folder).unwrap(), module);
        typed(&folder, "git status");
    }
    let args = ["init", "-q", "--separate-git-dir", "separate", "apart"];
    scene.git_in(&scene.root(), &args);
    let apart = scene.root().join("apart");
    assert!(is_misdirected(&repository_of(&apart)));
    typed(&apart, line);
    assert_eq!(repository_of(&apart).unwrap(), scene.root().join("separate"));
}
