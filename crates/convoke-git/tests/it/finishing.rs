//! Getting the commits of a work tree into their base.

use std::fs;
use std::path::Path;

use convoke_git::{Conflict, Error, Finish, FinishRequest, Finished, Outcome, Result, Worktree};

use crate::scene::{Scene, files, limits, paths};
use crate::worktrees::{add, removal};

const ALL: [Finish; 3] = [Finish::Merge, Finish::Squash, Finish::Rebase];

/// A work tree with two commits, and a base that went on.
fn diverged() -> (Scene, Worktree) {
    let scene = Scene::with_git();
    let made = add(&scene, "side");
    for number in 1..=2 {
        fs::write(made.path.join(format!("side{number}")), "x\n").unwrap();
        scene.git_in(&made.path, &["add", "-A"]);
        scene.git_in(&made.path, &["commit", "-qm", &format!("side {number}")]);
    }
    scene.write("main1", "x\n");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-qm", "main 1"]);
    (scene, made)
}

fn finish(scene: &Scene, tree: &Path, how: Finish) -> Result<Outcome> {
    let (checkpoints, saved) = (scene.checkpoints_of(tree), removal(1));
    let request = FinishRequest {
        how,
        branch: "side",
        base: "main",
        message: "finished\n",
        checkpoints: &checkpoints,
        saved: &saved,
    };
    scene.open_at(tree).finish(&scene.open(), request, &limits())
}

fn finished(outcome: Result<Outcome>) -> Finished {
    match outcome {
        Ok(Outcome::Finished(finished)) => finished,
        other => panic!("{other:?}"),
    }
}

/// What must not change when finishing fails.
fn facts(scene: &Scene, tree: &Path) -> Vec<String> {
    let mut facts = vec![scene.git(&["rev-parse", "main", "side"])];
    for folder in [&scene.project, tree] {
        facts.push(scene.git_in(folder, &["status", "--porcelain=v2", "--branch"]));
        facts.push(format!("{:?}", files(folder)));
    }
    facts
}

#[test]
fn c7_a_commit_without_an_author_is_refused_and_changes_nothing() {
    let (scene, made) = diverged();
    fs::write(scene.root().join("home/.gitconfig"), "[user]\nuseConfigOnly = true\n").unwrap();
    let before = facts(&scene, &made.path);
    for how in [Finish::Merge, Finish::Squash] {
        assert!(matches!(finish(&scene, &made.path, how), Err(Error::NoIdentity)));
        assert_eq!(facts(&scene, &made.path), before);
    }
}

#[test]
fn c7_merge_squash_and_rebase_move_the_base_and_its_files() {
    let subjects = [
        (Finish::Merge, "finished\nside 2\nside 1\nmain 1\nfirst\n"),
        (Finish::Squash, "finished\nmain 1\nfirst\n"),
        (Finish::Rebase, "side 2\nside 1\nmain 1\nfirst\n"),
    ];
    for (how, expected) in subjects {
        let (scene, made) = diverged();
        let done = finished(finish(&scene, &made.path, how));
        assert_eq!(scene.git(&["log", "--format=%s", "--topo-order", "main"]), expected, "{how:?}");
        let expected = paths(&["README", "main1", "side1", "side2"]);
        assert_eq!(scene.files().into_keys().collect::<Vec<_>>(), expected);
        assert_eq!(files(&made.path).into_keys().collect::<Vec<_>>(), expected);
        for folder in [&scene.project, &made.path] {
            assert_eq!(scene.git_in(folder, &["status", "--porcelain"]), "");
            assert_eq!(scene.git_in(folder, &["rev-parse", "HEAD"]).trim(), done.new.as_str());
        }
        assert_eq!(scene.git_in(&made.path, &["branch", "--show-current"]).trim(), "side");
        let kept = scene.git(&["rev-parse", &format!("refs/convoke/finished/side/{}", done.tip)]);
        assert_eq!(kept.trim(), done.tip.as_str());
        // Once more, there is nothing left to do.
        assert_eq!(finish(&scene, &made.path, how).unwrap(), Outcome::NothingToDo);
    }
}

#[test]
fn c7_a_base_that_is_checked_out_nowhere_moves_alone() {
    for how in ALL {
        let (scene, made) = diverged();
        scene.git(&["checkout", "-q", "--detach"]);
        let before = scene.files();
        let done = finished(finish(&scene, &made.path, how));
        assert_eq!(scene.git(&["rev-parse", "main"]).trim(), done.new.as_str());
        assert_eq!(scene.files(), before);
    }
}

#[test]
fn c7_conflicts_are_told_and_nothing_is_changed() {
    for how in ALL {
        let (scene, made) = diverged();
        for (folder, text) in [(&scene.project, "main\n"), (&made.path, "side\n")] {
            fs::write(folder.join("README"), text).unwrap();
            fs::write(folder.join("both"), text).unwrap();
            scene.git_in(folder, &["add", "-A"]);
            scene.git_in(folder, &["commit", "-qm", "README"]);
        }
        fs::remove_file(scene.path("main1")).unwrap();
        scene.git(&["commit", "-qam", "deleted"]);
        let before = facts(&scene, &made.path);
        let outcome = finish(&scene, &made.path, how).unwrap();
        let conflict = |name: &str| Conflict {
            path: name.into(),
            is_missing_in_base: false,
            is_missing_in_branch: false,
        };
        assert_eq!(outcome, Outcome::Conflicts(vec![conflict("README"), conflict("both")]));
        assert_eq!(facts(&scene, &made.path), before, "{how:?}");
    }
}

#[test]
fn c7_dirty_trees_and_operations_in_progress_are_refused() {
    let (scene, made) = diverged();
    fs::write(made.path.join("forgotten"), "x").unwrap();
    let refused = finish(&scene, &made.path, Finish::Merge);
    let Err(Error::Dirty { files, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(files, paths(&["forgotten"]));
    // It can be committed, without hooks and signatures.
    let commit = scene.open_at(&made.path).commit_all("side", "rest", &limits()).unwrap();
    assert!(commit.is_some());
    assert_eq!(scene.open_at(&made.path).commit_all("side", "rest", &limits()).unwrap(), None);
    scene.write("README", "the user is at work");
    let before = facts(&scene, &made.path);
    for how in ALL {
        let refused = finish(&scene, &made.path, how);
        let Err(Error::Dirty { path, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(path, scene.project);
        assert_eq!(facts(&scene, &made.path), before);
    }
    scene.git(&["checkout", "-q", "README"]);
    // Untracked files of the user are no obstacle, unless they would be overwritten.
    scene.write("untracked", "x");
    scene.write("side1", "would be overwritten");
    let before = facts(&scene, &made.path);
    let refused = finish(&scene, &made.path, Finish::Squash);
    assert!(matches!(refused, Err(Error::Failed { .. })), "{refused:?}");
    assert_eq!(facts(&scene, &made.path), before);
    fs::remove_file(scene.path("side1")).unwrap();
    finished(finish(&scene, &made.path, Finish::Squash));
    assert_eq!(scene.read("untracked"), "x");
}

#[test]
fn c7_a_work_tree_without_a_branch_or_with_an_unknown_base_is_refused() {
    let (scene, made) = diverged();
    scene.git(&["checkout", "-q", "--detach"]);
    scene.git(&["branch", "-qM", "main", "trunk"]);
    let refused = finish(&scene, &made.path, Finish::Merge).unwrap_err();
    assert_eq!(refused.to_string(), "the branch main does not exist");
    scene.git_in(&made.path, &["checkout", "-q", "--detach"]);
    let refused = finish(&scene, &made.path, Finish::Merge);
    assert!(matches!(refused, Err(Error::Detached { .. })), "{refused:?}");
}

#[test]
fn k10_a_branch_of_the_user_is_not_touched_for_a_work_tree_that_leads_to_it() {
    for lead in ["worktrees/side/HEAD", "refs/heads/side"] {
        let (scene, made) = diverged();
        scene.git(&["branch", "release", "side~1"]);
        // As its agent may do, and a file that is not committed.
        fs::write(made.path.join("planted"), "x").unwrap();
        fs::write(scene.path(".git").join(lead), "ref: refs/heads/release\n").unwrap();
        let refs = || scene.git(&["for-each-ref", "refs/heads/release", "refs/heads/main"]);
        let before = refs();
        let is_refused =
            |error| matches!(error, Error::OtherBranch { found, .. } if found == "release");
        for how in ALL {
            assert!(is_refused(finish(&scene, &made.path, how).unwrap_err()), "{lead}");
        }
        let own = scene.open_at(&made.path);
        assert!(is_refused(own.commit_all("side", "planted", &limits()).unwrap_err()), "{lead}");
        let checked = scene.open().check_branch_of(&made.path, "side", &limits());
        assert!(is_refused(checked.unwrap_err()), "{lead}");
        assert_eq!(refs(), before, "{lead}");
        // Nor if it leads there when its branch is deleted.
        scene
            .open()
            .remove_worktree(
                &scene.checkpoints_of(&made.path),
                &removal(1),
                convoke_git::Discard::Everything,
                &limits(),
            )
            .unwrap();
        let tip = scene.open().resolve("refs/heads/side", &limits()).unwrap().unwrap();
        scene.open().delete_branch("side", &tip, &limits()).unwrap();
        assert_eq!(refs(), before, "{lead}");
        assert!(!scene.path(".git/refs/heads/side").exists(), "{lead}");
    }
}

#[test]
fn c7_required_signatures_and_the_users_merge_settings_do_not_matter() {
    let (scene, made) = diverged();
    let settings = [
        ("commit.gpgSign", "true"),
        ("gpg.program", "false"),
        ("merge.ff", "only"),
        ("pull.rebase", "true"),
        ("rebase.autoSquash", "true"),
        ("rebase.updateRefs", "true"),
        ("merge.verifySignatures", "true"),
        ("core.editor", "false"),
        ("core.commentChar", "f"),
    ];
    for (key, value) in settings {
        scene.git(&["config", key, value]);
    }
    let done = finished(finish(&scene, &made.path, Finish::Merge));
    let commit = scene.git(&["cat-file", "commit", done.new.as_str()]);
    assert!(commit.ends_with("\n\nfinished\n") && !commit.contains("gpgsig"), "{commit}");
}
