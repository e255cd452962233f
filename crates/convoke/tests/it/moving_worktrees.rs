//! Sessions with a work tree of their own that move from one machine to another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use convoke_testkit::postgres::{self, Database};
use convoke_testkit::wait::until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::daemon_scene::{Scene, mask};
use crate::moving::{
    begin, clones, count, go_on, hold_up, is_held_up, make_away, move_to, owner, signal,
};
use crate::worktree_scene::git;

/// Two machines with a clone each, and a session with a work tree on the first.
struct Two {
    here: Scene,
    there: Scene,
    session: String,
}

impl Two {
    fn on(database: &Database) -> Self {
        let (here, there) = clones(database);
        git(&there.web(), &["config", "user.name", "Ann"]);
        git(&there.web(), &["config", "user.email", "ann@localhost"]);
        let session = begin(&here, "demo --worktree");
        Self { here, there, session }
    }

    fn tree(&self) -> Value {
        let shown = self.here.machine.json(&format!("session show {} --json", self.session));
        shown["worktree"].clone()
    }

    /// The folder of the work tree, on whichever machine.
    fn path(&self) -> PathBuf {
        self.tree()["path"].as_str().unwrap().into()
    }

    fn branch(&self) -> String {
        self.tree()["branch"].as_str().unwrap().to_owned()
    }

    /// Leaves a commit, a changed file and a new one in the work tree.
    fn work(&self) {
        let path = self.path();
        commit(&path, "committed.txt", "by the agent");
        fs::write(path.join("notes.txt"), "changed\n").unwrap();
        fs::write(path.join("new.txt"), "untracked\n").unwrap();
    }

    /// How many work trees the repository of a machine has, with the main one.
    fn trees(&self, scene: &Scene) -> usize {
        git(&scene.web(), &["worktree", "list"]).lines().count()
    }

    fn move_there(&self) -> String {
        move_to(&self.here, &self.session, "workstation")
    }

    fn run(&self, scene: &Scene, args: &[&str]) -> String {
        scene.run_args(&[args, &[self.session.as_str()]].concat())
    }
}

/// The process of a machine's daemon, which answers no more questions once it sleeps.
fn process(scene: &Scene) -> Pid {
    Pid::from_raw(i32::try_from(scene.pid()).unwrap()).unwrap()
}

fn commit(folder: &Path, file: &str, message: &str) {
    fs::write(folder.join(file), "committed\n").unwrap();
    git(folder, &["add", file]);
    git(folder, &["commit", "-qm", message]);
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap()
}

/// The messages of the commits, the newest first.
fn log(folder: &Path) -> Vec<String> {
    git(folder, &["log", "--format=%s"]).lines().map(str::to_owned).collect()
}

/// What `work` left is in a folder.
fn assert_work(path: &Path) {
    assert_eq!(log(path), ["by the agent", "first"]);
    assert_eq!(
        (read(path, "notes.txt"), read(path, "new.txt")),
        ("changed\n".into(), "untracked\n".into())
    );
    assert_eq!(git(path, &["status", "--porcelain"]), " M notes.txt\n?? new.txt");
}

#[test]
fn n8_c6_a_session_moves_with_its_work_tree_and_is_finished_there() {
    let database = postgres::database();
    let two = Two::on(&database);
    two.here.say(&two.session, "remember the walnut");
    two.work();
    let (before, branch) = (two.path(), two.branch());
    let moved = two.move_there();
    assert!(moved.contains("The work tree was brought along:"), "{moved}");
    assert!(moved.contains(&format!("on the branch {}.", mask(&branch))), "{moved}");
    assert_eq!(owner(&database, &two.session), "workstation");
    // It is there, and no longer here.
    let path = two.path();
    assert!(!before.exists(), "{}", before.display());
    assert_eq!(git(&two.here.web(), &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(git(&path, &["branch", "--show-current"]), branch);
    assert_work(&path);
    assert!(two.there.run("worktree list").contains(&mask(&branch)));
    assert!(!two.here.run("worktree list").contains(&mask(&branch)));
    let told = two.here.say(&two.session, "what did I say?");
    assert!(told.contains("remember the walnut") && told.contains("what did I say?**"), "{told}");
    // Finished from the other machine, into the base branch of its new one.
    let finished = two.run(&two.here, &["session", "finish", "--merge"]);
    assert!(finished.starts_with("exit 0"), "{finished}");
    assert_eq!(read(&two.there.web(), "notes.txt"), "changed\n");
    assert_eq!(read(&two.there.web(), "committed.txt"), "committed\n");
    assert!(log(&two.there.web()).contains(&"by the agent".to_owned()));
    assert!(!path.exists() && log(&two.here.web()) == ["first"]);
    // What is left of it can be restored, and does not move.
    let refused = move_to(&two.there, &two.session, "laptop");
    assert!(refused.contains("was removed") && refused.contains("worktree restore"), "{refused}");
}

#[test]
fn n8_c6_a_work_tree_moves_there_and_back_with_everything_that_was_done() {
    let database = postgres::database();
    let two = Two::on(&database);
    two.work();
    for round in 1..=2 {
        assert!(two.move_there().contains("The work tree was brought along:"));
        let there = two.path();
        assert!(there.starts_with(two.there.machine.path().canonicalize().unwrap()));
        commit(&there, &format!("there-{round}.txt"), &format!("there {round}"));
        fs::write(there.join("new.txt"), format!("round {round}\n")).unwrap();
        let back = move_to(&two.there, &two.session, "laptop");
        assert!(back.contains("The work tree was brought along:"), "{back}");
        let path = two.path();
        assert!(
            !there.exists() && path.starts_with(two.here.machine.path().canonicalize().unwrap())
        );
        assert_eq!(log(&path).first().unwrap(), &format!("there {round}"));
        assert_eq!(read(&path, "notes.txt"), "changed\n");
        assert_eq!(read(&path, "new.txt"), format!("round {round}\n"));
    }
    let told = two.here.say(&two.session, "hello");
    assert!(told.contains("hello**"), "{told}");
}

#[test]
fn n8_c6_a_work_tree_that_cannot_move_as_it_is_stays() {
    let database = postgres::database();
    let two = Two::on(&database);
    two.work();
    let path = two.path();
    let refused = |args: &str, why: &str| {
        let refused = move_to(&two.here, &two.session, args);
        assert!(refused.starts_with("exit 1") && refused.contains(why), "{refused}");
    };
    fs::write(path.join("large.bin"), vec![7; 3 << 20]).unwrap();
    refused("workstation", "cannot be moved: large.bin");
    fs::remove_file(path.join("large.bin")).unwrap();
    refused("workstation --files leave", "moves with all of its files");
    refused("workstation --files checkpoint", "moves with all of its files");
    git(&path, &["add", "-A"]);
    git(&path, &["commit", "-qm", "all of it"]);
    git(&path, &["checkout", "-q", "--detach", "main"]);
    refused("workstation", "is not on its branch convoke/");
    fs::write(path.join("notes.txt"), "contradiction\n").unwrap();
    git(&path, &["commit", "-qam", "contradiction"]);
    let other = git(&path, &["rev-parse", "HEAD"]);
    git(&path, &["checkout", "-q", &two.branch()]);
    let merge = Command::new("git").args(["merge", "-q", &other]).current_dir(&path).output();
    assert!(!merge.unwrap().status.success());
    refused("workstation", "in the middle of a merge");
    git(&path, &["merge", "--abort"]);
    // The laptop is away, with the files.
    let asleep = process(&two.here);
    kill_process(asleep, Signal::STOP).unwrap();
    make_away(&database, "laptop");
    let away = move_to(&two.there, &two.session, "workstation --from-away");
    kill_process(asleep, Signal::CONT).unwrap();
    assert!(away.contains("is on laptop, which is away"), "{away}");
    assert!(path.exists() && owner(&database, &two.session) == "laptop");
    let told = two.here.say(&two.session, "still here");
    assert!(told.contains("still here**"), "{told}");
}

#[test]
fn n8_c6_a_session_whose_work_tree_cannot_be_created_there_is_handed_back() {
    let database = postgres::database();
    let two = Two::on(&database);
    // The laptop has fetched what the workstation has not.
    commit(&two.path(), "fetched.txt", "fetched");
    let fetched = git(&two.path(), &["rev-parse", "HEAD"]);
    git(&two.here.web(), &["update-ref", "refs/remotes/origin/main", &fetched]);
    two.work();
    let (path, branch) = (two.path(), two.branch());
    let is_whole = || {
        assert_eq!((owner(&database, &two.session).as_str(), two.path()), ("laptop", path.clone()));
        assert_eq!(log(&path), ["by the agent", "fetched", "first"]);
        assert_eq!(git(&path, &["status", "--porcelain"]), " M notes.txt\n?? new.txt");
        let told = two.here.say(&two.session, "still here");
        assert!(told.contains("still here**"), "{told}");
        until("nothing is left there", || two.trees(&two.there) == 1);
    };
    let refused = two.move_there();
    assert!(refused.starts_with("exit 1") && refused.contains("could not create"), "{refused}");
    assert!(refused.contains(&format!("the commit {fetched}: run `git fetch`")), "{refused}");
    is_whole();
    assert_eq!(count(&database, "Still on laptop, in"), "1");
    let source = two.here.web();
    git(&two.there.web(), &["fetch", "-q", source.to_str().unwrap(), &fetched]);
    // A branch with this name is in the way.
    let tree = git(&two.there.web(), &["write-tree"]);
    let other = git(&two.there.web(), &["commit-tree", "-m", "other", &tree]);
    git(&two.there.web(), &["branch", &branch, &other]);
    let refused = two.move_there();
    let in_the_way = format!("has a branch {} with other commits", mask(&branch));
    assert!(refused.contains(&in_the_way), "{refused}");
    is_whole();
    // It is not Convoke's, and left alone.
    assert_eq!(git(&two.there.web(), &["rev-parse", &branch]), other);
    git(&two.there.web(), &["branch", "-qD", &branch]);
    let moved = two.move_there();
    assert!(moved.contains("The work tree was brought along:"), "{moved}");
    assert_eq!(log(&two.path()), ["by the agent", "fetched", "first"]);
    assert_eq!(read(&two.path(), "new.txt"), "untracked\n");
    assert!(!path.exists());
    let told = two.there.say(&two.session, "hello");
    assert!(told.contains("hello**"), "{told}");
}

#[test]
fn n8_k1_a_machine_that_is_killed_before_a_session_leaves_keeps_its_work_tree() {
    let database = postgres::database();
    let two = Two::on(&database);
    two.work();
    let path = two.path();
    hold_up(&database, "UPDATE OF node ON agent_sessions");
    let moving = two.here.start(&["session", "move", &two.session, "--to", "workstation"]);
    until("the transaction is under way", || is_held_up(&database));
    signal(&two.here, Signal::KILL);
    go_on(&database);
    drop(moving);
    let told = two.here.say(&two.session, "still here");
    assert!(told.contains("still here**"), "{told}");
    assert_eq!((owner(&database, &two.session).as_str(), two.path()), ("laptop", path.clone()));
    assert_work(&path);
    let moved = two.move_there();
    assert!(moved.contains("The work tree was brought along:"), "{moved}");
    assert_work(&two.path());
}

#[test]
fn n8_k1_a_machine_that_is_killed_while_a_work_tree_arrives_completes_it() {
    let database = postgres::database();
    let two = Two::on(&database);
    two.work();
    let before = two.path();
    hold_up(&database, "DELETE ON session_moves");
    let moving = two.here.start(&["session", "move", &two.session, "--to", "workstation"]);
    until("the work tree is made, and not more", || is_held_up(&database));
    signal(&two.there, Signal::KILL);
    go_on(&database);
    two.there.run("node list");
    let left = "SELECT count(*) FROM session_moves";
    until("the move is complete", || database.value(left).as_deref() == Some("0"));
    drop(moving);
    assert_work(&two.path());
    assert_eq!(two.trees(&two.there), 2);
    until("it is removed where it was", || !before.exists());
}

#[test]
fn n8_k1_a_work_tree_that_cannot_be_removed_is_named_and_removed_at_the_next_start() {
    let database = postgres::database();
    let two = Two::on(&database);
    two.work();
    let (before, web) = (two.path(), two.here.web());
    let locked = before.to_str().unwrap();
    git(&web, &["worktree", "lock", locked]);
    let moved = two.move_there();
    assert!(moved.contains("The work tree was brought along:"), "{moved}");
    assert!(moved.contains("remains") && moved.contains("it is locked"), "{moved}");
    assert!(before.exists());
    git(&web, &["worktree", "unlock", locked]);
    signal(&two.here, Signal::KILL);
    two.here.run("node list");
    until("it is removed", || !before.exists());
    assert_work(&two.path());
}

#[test]
fn n8_k1_a_session_comes_back_with_everything_from_a_machine_where_it_has_not_arrived() {
    let database = postgres::database();
    let two = Two::on(&database);
    two.work();
    let before = two.path();
    let asleep = process(&two.there);
    kill_process(asleep, Signal::STOP).unwrap();
    let mut moving = two.here.start(&["session", "move", &two.session, "--to", "workstation"]);
    until("the workstation has it", || owner(&database, &two.session) == "workstation");
    make_away(&database, "workstation");
    moving.until(|line| line.contains("workstation has it, and is away"));
    assert_work(&before);
    let back = move_to(&two.here, &two.session, "laptop --from-away");
    kill_process(asleep, Signal::CONT).unwrap();
    assert!(back.contains("Moved back to laptop before it had arrived elsewhere."), "{back}");
    assert_eq!(two.path(), before);
    assert_work(&before);
    let told = two.there.say(&two.session, "hello");
    assert!(told.contains("hello**") && owner(&database, &two.session) == "laptop", "{told}");
}

#[test]
fn n8_k1_a_machine_that_wakes_after_a_session_was_taken_back_removes_its_work_tree() {
    let database = postgres::database();
    let two = Two::on(&database);
    two.work();
    let before = two.path();
    let asleep = process(&two.there);
    hold_up(&database, "DELETE ON session_moves");
    let moving = two.here.start(&["session", "move", &two.session, "--to", "workstation"]);
    until("the work tree is created, and not more", || is_held_up(&database));
    kill_process(asleep, Signal::STOP).unwrap();
    go_on(&database);
    make_away(&database, "workstation");
    assert_eq!(two.trees(&two.there), 2);
    let back = move_to(&two.here, &two.session, "laptop --from-away");
    kill_process(asleep, Signal::CONT).unwrap();
    drop(moving);
    assert!(back.contains("Moved back to laptop before it had arrived elsewhere."), "{back}");
    until("nothing is left there", || two.trees(&two.there) == 1);
    assert_eq!(two.path(), before);
    assert_work(&before);
    let running = "SELECT count(*) FROM nodes WHERE lease_until > clock_timestamp()";
    until("the workstation is back", || database.value(running).as_deref() == Some("2"));
    let moved = two.move_there();
    assert!(moved.contains("The work tree was brought along:"), "{moved}");
    assert_work(&two.path());
}

#[test]
fn n8_c6_a_session_of_an_undecided_comparison_does_not_move() {
    let database = postgres::database();
    let (here, _there) = clones(&database);
    let web = here.web().canonicalize().unwrap();
    let line = format!("compare hello --agents demo,demo --project {} --json", web.display());
    let compared = here.machine.json(&line);
    let session = compared["entries"][0]["session"]["id"].as_str().unwrap().to_owned();
    let refused = move_to(&here, &session, "workstation");
    assert!(refused.contains("comparison") && refused.contains("compare --keep"), "{refused}");
}
