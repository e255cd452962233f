//! Files of a repository that lead git to folders of the user, as an agent in the project may write them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use convoke_git::{Access, Error, repository_of};

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
    let access = Access::of(&path, "team/side").unwrap();
    assert!(access.writable.contains(&scene.path(".git/refs/heads/team")));
    for folder in ["refs/heads/team", "logs/refs/heads/team", "refs/heads"] {
        let folder = scene.path(".git").join(folder);
        let kept = scene.root().join("kept");
        fs::rename(&folder, &kept).unwrap();
        symlink(&victim, &folder).unwrap();
        assert!(is_misdirected(&Access::of(&path, "team/side")), "{}", folder.display());
        fs::remove_file(&folder).unwrap();
        fs::rename(&kept, &folder).unwrap();
    }
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
    // To another repository, and to a folder that is none.
    let other = scene.root().join("other");
    scene.git_in(&scene.root(), &["init", "-q", other.to_str().unwrap()]);
    for lead in [other.join(".git"), victim] {
        fs::write(own(&scene, "side").join("commondir"), lead.to_str().unwrap()).unwrap();
        assert!(Access::of(&path, "team/side").is_err(), "{}", lead.display());
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
    // A path with a line break means another folder to git than its first line.
    let linked = scene.root().join("linked");
    fs::create_dir_all(linked.join("own")).unwrap();
    fs::write(linked.join("own/HEAD"), "ref: refs/heads/main\n").unwrap();
    symlink(documents(&scene), linked.join("own/C")).unwrap();
    fs::write(linked.join(".git"), "gitdir: own\n").unwrap();
    for lead in ["C\nD", "C\rD", "C\0D", "C", "C\n"] {
        fs::write(linked.join("own/commondir"), lead).unwrap();
        assert!(repository_of(&linked).is_err(), "{lead:?}");
    }
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
fn k10_packed_branches_beside_that_of_a_work_tree_are_protected() {
    let scene = Scene::with_git();
    let path = add(&scene, "fix").path;
    scene.git(&["branch", "release"]);
    scene.git(&["branch", "team/one"]);
    scene.git(&["pack-refs", "--all"]);
    let heads = scene.path(".git/refs/heads");
    assert!(!heads.join("release").exists());
    let before = scene.git(&["for-each-ref"]);
    let access = Access::of(&path, "fix").unwrap();
    for other in ["main", "release", "team"] {
        assert!(access.protected.contains(&heads.join(other)), "{other}: {access:?}");
    }
    assert!(!access.protected.contains(&heads.join("fix")));
    assert_eq!(scene.git(&["for-each-ref"]), before);
    // A list that another agent wrote.
    let packed = scene.path(".git/packed-refs");
    fs::write(&packed, "ref: refs/heads/broken\n").unwrap();
    Access::of(&path, "fix").unwrap();
    assert!(!heads.join("broken").exists());
    let commit = "1".repeat(40);
    let many: String = (0..6_000).map(|n| format!("{commit} refs/heads/b{n}\n")).collect();
    fs::write(&packed, many).unwrap();
    assert!(Access::of(&path, "fix").is_err() && !heads.join("b1").exists());
}
