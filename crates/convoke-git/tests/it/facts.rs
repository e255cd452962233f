//! What is known about a project's repository.

use std::fs;

use convoke_git::{Base, DirtyFiles, Error, Filters, Head, Lines, Operation, Project};

use crate::scene::{Scene, git, limits, odd_name};

#[test]
fn c3_facts_name_branch_base_changes_and_lines() {
    let scene = Scene::with_git();
    scene.git(&["checkout", "-qb", "side"]);
    scene.write("more", "1\n2\n");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-qm", "more"]);
    scene.write("README", "one\n2\nthree\n");
    scene.write("staged", "x\n");
    scene.git(&["add", "staged"]);
    scene.write(odd_name(), "x");
    let facts = scene.open().facts(&limits()).unwrap();
    let Head::Branch { name, commit } = &facts.head else { panic!("{facts:?}") };
    assert_eq!(name, "side");
    assert_eq!(commit.as_str(), scene.git(&["rev-parse", "HEAD"]).trim());
    let Some(Base { branch, commit }) = &facts.base else { panic!("{facts:?}") };
    assert_eq!(
        (branch.as_str(), commit.as_str()),
        ("main", scene.git(&["rev-parse", "main"]).trim())
    );
    assert_eq!(facts.dirty, DirtyFiles { staged: 1, unstaged: 1, conflicted: 0, untracked: 1 });
    assert!(!facts.dirty.is_clean());
    assert_eq!(facts.lines, Lines { added: 2, removed: 1 });
    assert_eq!((facts.operation, facts.upstream), (None, None));
}

#[test]
fn c9_facts_of_unborn_detached_and_halfway_repositories() {
    let scene = Scene::new();
    let missing = Project::open(&git(), &scene.project, scene.launcher(), Filters::Off, &limits());
    assert!(matches!(missing, Err(Error::NotARepository { .. })));
    scene.git(&["init", "-q"]);
    let facts = scene.open().facts(&limits()).unwrap();
    assert_eq!(facts.head, Head::Unborn { name: "main".to_owned() });
    assert!(facts.dirty.is_clean() && facts.base.is_none());

    let scene = Scene::with_git();
    scene.git(&["checkout", "-q", "--detach"]);
    assert!(matches!(scene.open().facts(&limits()).unwrap().head, Head::Detached { .. }));
    scene.diverge();
    scene.conflict(&["merge", "-q", "side"]);
    let facts = scene.open().facts(&limits()).unwrap();
    assert_eq!((facts.operation, facts.dirty.conflicted), (Some(Operation::Merge), 1));
    scene.git(&["merge", "--abort"]);
    scene.conflict(&["rebase", "-q", "side"]);
    let facts = scene.open().facts(&limits()).unwrap();
    assert_eq!(facts.operation, Some(Operation::Rebase));
    scene.git(&["rebase", "--abort"]);
    scene.conflict(&["cherry-pick", "side"]);
    assert_eq!(scene.open().operation(), Some(Operation::CherryPick));
}

#[test]
fn c3_facts_know_the_upstream_and_write_nothing() {
    let origin = Scene::with_git();
    let scene = Scene::new();
    fs::remove_dir(&scene.project).unwrap();
    let url = origin.project.to_str().unwrap();
    scene.git_in(&scene.root(), &["clone", "-q", url, "project"]);
    scene.write("README", "ahead\n");
    scene.git(&["commit", "-qam", "ahead"]);
    scene.write("README", "dirty\n");
    let before = scene.git_folder();
    let facts = scene.open().facts(&limits()).unwrap();
    assert_eq!(scene.git_folder(), before);
    let upstream = facts.upstream.unwrap();
    assert_eq!((upstream.name.as_str(), upstream.ahead, upstream.behind), ("origin/main", 1, 0));
    assert_eq!(facts.base.unwrap().branch, "origin/main");
}
