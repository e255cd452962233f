//! Work trees of a session's own.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use convoke_git::{
    Branch, CheckpointKind, Discard, Error, Name, NewWorktree, Worktree, WorktreeState,
};

use crate::scene::{Files, Scene, file, files, limits, paths};

pub(crate) fn new_branch(path: &Path, name: &str) -> NewWorktree {
    let branch = Branch::New { name: name.to_owned(), from: "main".to_owned() };
    NewWorktree { path: path.to_owned(), branch }
}

pub(crate) fn removal(number: u64) -> Name {
    Name::new("s", CheckpointKind::Removal(number)).unwrap()
}

/// A work tree on a branch called like it.
pub(crate) fn add(scene: &Scene, name: &str) -> Worktree {
    let path = scene.root().join("trees").join(name);
    scene.open().add_worktree(&new_branch(&path, name), &limits()).unwrap()
}

#[test]
fn c6_a_work_tree_is_made_with_its_branch_and_listed() {
    let scene = Scene::with_git();
    let status = scene.git(&["status", "--porcelain=v2", "--branch"]);
    let made = add(&scene, "side");
    assert_eq!(made.branch.as_deref(), Some("side"));
    assert_eq!(made.state, WorktreeState::Ready);
    assert_eq!(files(&made.path), scene.files());
    let list = scene.open().worktrees(&limits()).unwrap();
    assert_eq!((list.len(), &list[1]), (2, &made));
    assert_eq!(list[0].path, scene.project);
    assert_eq!(scene.git(&["status", "--porcelain=v2", "--branch"]), status);
    // With a branch that exists already, and nowhere twice.
    scene.git(&["branch", "ready"]);
    let branch = Branch::Existing { name: "ready".to_owned() };
    let other = NewWorktree { path: scene.root().join("trees/other"), branch: branch.clone() };
    assert_eq!(scene.open().add_worktree(&other, &limits()).unwrap().branch.unwrap(), "ready");
    let again = NewWorktree { path: scene.root().join("trees/again"), branch };
    let refused = scene.open().add_worktree(&again, &limits());
    assert!(matches!(refused, Err(Error::BranchExists { .. })), "{refused:?}");
    assert!(!scene.root().join("trees/again").exists());
}

#[test]
fn c6_names_that_are_taken_or_no_branches_are_refused() {
    let scene = Scene::with_git();
    scene.git(&["branch", "taken"]);
    scene.write("README", "more");
    scene.git(&["commit", "-qam", "more"]);
    let path = scene.root().join("trees/x");
    let refused = |name: &str| {
        let error = scene.open().add_worktree(&new_branch(&path, name), &limits()).unwrap_err();
        assert!(!path.exists());
        error.to_string()
    };
    assert_eq!(refused("taken"), "the branch taken exists already");
    for name in ["-x", "a..b", "a b", "HEAD", "", "x.lock"] {
        assert!(refused(name).ends_with("cannot be used in a name of a checkpoint or branch"));
    }
    let from = "nowhere".to_owned();
    let branch = Branch::New { name: "x".to_owned(), from };
    let error = scene.open().add_worktree(&NewWorktree { path, branch }, &limits()).unwrap_err();
    assert_eq!(error.to_string(), "the commit nowhere does not exist");
}

#[test]
fn c6_files_of_worktreeinclude_are_copied() {
    let scene = Scene::with_git();
    scene.write(".gitignore", ".env*\nconfig/local/\n*.log\n");
    scene.write(
        ".worktreeinclude",
        "# secrets\n.env*\n!.env.example\nconfig/local/\nlink\nREADME\n",
    );
    scene.write(".env", "KEY=1");
    fs::set_permissions(scene.path(".env"), fs::Permissions::from_mode(0o600)).unwrap();
    scene.write(".env.example", "KEY=");
    scene.write("config/local/deep/a", "a");
    scene.write("other.log", "x");
    let secret = scene.root().join("secret");
    fs::write(&secret, "outside").unwrap();
    symlink(&secret, scene.path("link")).unwrap();
    let made = add(&scene, "side");
    fs::write(made.path.join(".env.local"), "theirs").unwrap();
    scene.write(".env.local", "ours");
    scene.write("config/local/deep/key", "hidden");
    let hidden = [scene.path("config/local/deep/key").canonicalize().unwrap()];
    let copied = scene.open().copy_included(&made.path, &hidden, &limits()).unwrap();
    assert_eq!(copied.files, paths(&[".env", "config/local/deep/a", "link"]));
    assert_eq!(copied.left_out, paths(&[".env.local", "config/local/deep/key"]));
    let mut expected = Files::from([(PathBuf::from("README"), file("one\ntwo\nthree\n"))]);
    expected.insert(".env".into(), file("KEY=1"));
    expected.insert(".env.local".into(), file("theirs"));
    expected.insert("config/local/deep/a".into(), file("a"));
    expected.insert("link".into(), crate::scene::Entry::Link(secret));
    assert_eq!(files(&made.path), expected);
    assert_eq!(fs::metadata(made.path.join(".env")).unwrap().permissions().mode() & 0o777, 0o600);
    // Without the file there is nothing to copy.
    fs::remove_file(scene.path(".worktreeinclude")).unwrap();
    let copied = scene.open().copy_included(&made.path, &[], &limits()).unwrap();
    assert_eq!(copied, convoke_git::Copied::default());
}

#[test]
fn c7_a_work_tree_is_removed_only_after_its_files_are_saved() {
    let scene = Scene::with_git();
    let made = add(&scene, "side");
    fs::write(made.path.join("README"), "uncommitted").unwrap();
    fs::write(made.path.join("new"), "untracked").unwrap();
    let before = files(&made.path);
    let checkpoints = scene.checkpoints_of(&made.path);
    let project = scene.open();
    let discard = Discard::CapturedOnly;
    let removed = project.remove_worktree(&checkpoints, &removal(1), discard, &limits()).unwrap();
    assert!(!made.path.exists());
    assert_eq!(scene.files_in(&removed.saved.tree), before);
    let (branch, commit) = removed.branch.unwrap();
    assert_eq!(branch, "side");
    assert_eq!(project.worktrees(&limits()).unwrap().len(), 1);
    // The branch is still there, and its commit even after it was deleted.
    assert_eq!(project.resolve("side", &limits()).unwrap(), Some(commit.clone()));
    project.delete_branch("side", &commit, &limits()).unwrap();
    assert_eq!(project.resolve("side", &limits()).unwrap(), None);
    let kept = format!("refs/convoke/removed/side/{commit}");
    assert_eq!(project.resolve(&kept, &limits()).unwrap(), Some(commit));
}

#[test]
fn c7_files_that_were_not_captured_and_locks_keep_a_work_tree() {
    let scene = Scene::with_git();
    let made = add(&scene, "side");
    fs::write(made.path.join("large"), vec![b'x'; 3 << 20]).unwrap();
    let (project, checkpoints) = (scene.open(), scene.checkpoints_of(&made.path));
    let remove = |discard| project.remove_worktree(&checkpoints, &removal(1), discard, &limits());
    let refused = remove(Discard::CapturedOnly);
    let Err(Error::NotCaptured { files, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(files, paths(&["large"]));
    scene.git(&["worktree", "lock", made.path.to_str().unwrap()]);
    assert!(matches!(remove(Discard::Everything), Err(Error::Unwritable { .. })));
    assert!(made.path.join("large").exists());
    scene.git(&["worktree", "unlock", made.path.to_str().unwrap()]);
    remove(Discard::Everything).unwrap();
    assert!(!made.path.exists());
    // The main work tree is never removed.
    let main = scene.checkpoints();
    let refused = project.remove_worktree(&main, &removal(2), Discard::Everything, &limits());
    assert!(matches!(refused, Err(Error::NotFound { .. })), "{refused:?}");
    assert!(scene.path("README").exists());
}

#[test]
fn c7_commits_without_a_branch_are_kept_when_their_work_tree_is_removed() {
    let scene = Scene::with_git();
    let made = add(&scene, "side");
    scene.git_in(&made.path, &["checkout", "-q", "--detach"]);
    scene.git_in(&made.path, &["commit", "-q", "--allow-empty", "-m", "lonely"]);
    let lonely = scene.git_in(&made.path, &["rev-parse", "HEAD"]).trim().to_owned();
    let checkpoints = scene.checkpoints_of(&made.path);
    let (project, discard) = (scene.open(), Discard::CapturedOnly);
    project.remove_worktree(&checkpoints, &removal(1), discard, &limits()).unwrap();
    let refs = scene.git(&["for-each-ref", "--points-at", &lonely, "--format=%(refname)"]);
    assert_eq!(refs.trim(), format!("refs/convoke/removed/detached/{lonely}"));
}

#[test]
fn c9_a_work_tree_that_was_deleted_by_hand_is_seen_and_made_again() {
    let scene = Scene::with_git();
    let made = add(&scene, "side");
    fs::remove_dir_all(&made.path).unwrap();
    let project = scene.open();
    assert_eq!(project.worktrees(&limits()).unwrap()[1].state, WorktreeState::Gone);
    let branch = Branch::Existing { name: "side".to_owned() };
    let again = NewWorktree { path: made.path.clone(), branch };
    assert_eq!(project.add_worktree(&again, &limits()).unwrap(), made);
    fs::remove_dir_all(&made.path).unwrap();
    project.prune_worktrees(&limits()).unwrap();
    assert_eq!(project.worktrees(&limits()).unwrap().len(), 1);
}
