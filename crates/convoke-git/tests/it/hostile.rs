//! A project whose configuration names programs wherever git lets it; none of them runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use convoke_git::{
    Branch, Checkpoints, Discard, Finish, FinishRequest, Guard, NewWorktree, Options, Outcome,
    Scope,
};

use crate::scene::{Scene, before, files, git, limits, undo};
use crate::worktrees::removal;

/// Every setting that makes git run a program; `PROGRAM` leaves its name behind.
const CONFIG: &str = r#"
[core]
    fsmonitor = PROGRAM fsmonitor
    pager = PROGRAM pager
    editor = PROGRAM editor
    askPass = PROGRAM askpass
    sshCommand = PROGRAM ssh
    gitProxy = PROGRAM proxy
    hooksPath = HOOKS
    alternateRefsCommand = PROGRAM alternate-refs
    attributesFile = ATTRIBUTES
    worktree = ELSEWHERE
[pager]
    status = PROGRAM pager-status
    diff = true
    log = true
[alias]
    status = !PROGRAM alias-status
    ls-files = !PROGRAM alias-ls-files
    worktree = !PROGRAM alias-worktree
[filter "evil"]
    clean = PROGRAM clean
    smudge = PROGRAM smudge
    required = true
[filter "evil.process"]
    process = PROGRAM process
    required = true
[filter "lfs"]
    clean = PROGRAM lfs-clean
    smudge = PROGRAM lfs-smudge
[diff]
    external = PROGRAM external-diff
    submodule = diff
[diff "evil"]
    command = PROGRAM diff-command
    textconv = PROGRAM textconv
[merge "evil"]
    driver = PROGRAM merge-driver
[gpg]
    program = PROGRAM gpg
[commit]
    gpgSign = true
[credential]
    helper = !PROGRAM credential
[sequence]
    editor = PROGRAM sequence-editor
[submodule "sub"]
    update = !PROGRAM submodule-update
    url = ext::PROGRAM submodule-url
    active = true
[submodule]
    recurse = true
[status]
    submoduleSummary = true
[extensions]
    partialClone = evil
[remote "evil"]
    url = ext::PROGRAM remote
    promisor = true
    uploadpack = PROGRAM uploadpack
    vcs = evil
[remote "origin"]
    url = ext::PROGRAM origin
[gc]
    auto = 1
[maintenance]
    auto = true
[trailer "evil"]
    command = PROGRAM trailer
[interactive]
    diffFilter = PROGRAM diff-filter
[rebase]
    autoStash = true
"#;

const HOOKS: [&str; 13] = [
    "pre-commit",
    "commit-msg",
    "prepare-commit-msg",
    "post-commit",
    "post-checkout",
    "post-merge",
    "pre-merge-commit",
    "post-index-change",
    "post-rewrite",
    "pre-rebase",
    "reference-transaction",
    "pre-auto-gc",
    "fsmonitor-watchman",
];

struct Trap {
    scene: Scene,
    marks: PathBuf,
}

impl Trap {
    fn new() -> Self {
        let scene = Scene::with_git();
        let root = scene.root();
        let marks = root.join("marks");
        fs::create_dir(&marks).unwrap();
        let program = root.join("program");
        let script =
            format!("#!/bin/sh\ntouch {}/$(basename $0)-$1\ncat 2>/dev/null\n", marks.display());
        fs::write(&program, &script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        scene.git(&["init", "-q", "sub"]);
        scene.write("sub/x", "x");
        scene.git_in(&scene.path("sub"), &["add", "x"]);
        scene.git_in(&scene.path("sub"), &["commit", "-qm", "x"]);
        scene.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n");
        scene.git(&["-c", "advice.addEmbeddedRepo=false", "add", "-A"]);
        scene.git(&["commit", "-qm", "submodule"]);
        // From here on, the repository is the attacker's.
        for hooks in [scene.path(".git/hooks"), root.join("hooks"), scene.path("sub/.git/hooks")] {
            fs::create_dir_all(&hooks).unwrap();
            for hook in HOOKS {
                fs::copy(&program, hooks.join(hook)).unwrap();
            }
        }
        let attributes = "* filter=evil diff=evil merge=evil ident\n*.p filter=evil.process\n\
            *.bin filter=lfs diff=lfs merge=lfs\n";
        fs::write(root.join("attributes"), attributes).unwrap();
        scene.write(".git/info/attributes", attributes);
        scene.write(".gitattributes", attributes);
        let elsewhere = root.join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let config = CONFIG.replace("PROGRAM", program.to_str().unwrap());
        let config = config.replace("HOOKS", root.join("hooks").to_str().unwrap());
        let config = config.replace("ATTRIBUTES", root.join("attributes").to_str().unwrap());
        let config = config.replace("ELSEWHERE", elsewhere.to_str().unwrap());
        for name in [".git/config", "sub/.git/config"] {
            let old = scene.read(name);
            scene.write(name, format!("{old}{config}"));
        }
        for name in ["a.txt", "b.p", "c.bin", "sub/x"] {
            scene.write(name, "content\n");
        }
        Self { scene, marks }
    }

    fn marks(&self) -> Vec<PathBuf> {
        files(&self.marks).into_keys().collect()
    }
}

#[test]
fn c9_the_traps_of_the_hostile_project_work() {
    let trap = Trap::new();
    let scene = &trap.scene;
    scene.user_git(&scene.project).args(["--work-tree=.", "add", "-A"]).output().unwrap();
    scene.user_git(&scene.project).args(["--work-tree=.", "diff", "HEAD"]).output().unwrap();
    let marks = trap.marks();
    for name in ["program-clean", "program-fsmonitor"] {
        assert!(marks.contains(&PathBuf::from(name)), "{name}: {marks:?}");
    }
}

#[test]
fn c9_checkpoints_diffs_and_restores_of_a_hostile_project_run_nothing() {
    let trap = Trap::new();
    let scene = &trap.scene;
    let untouched = scene.git_folder();
    let checkpoints = scene.checkpoints();
    let first = scene.checkpoint(1);
    let mut expected = scene.files();
    assert_eq!(scene.files_in(&first.tree), expected);
    scene.write("a.txt", "changed\n");
    scene.write("b.p", "changed\n");
    scene.write("sub/x", "changed\n");
    let second = scene.checkpoint(2);
    let list = checkpoints.changes(&first.tree, &second.tree, 10, &limits()).unwrap();
    assert_eq!(list.changes.len(), 3);
    for change in &list.changes {
        let diff = checkpoints.file_diff(&first.tree, &second.tree, change, 1000, &limits());
        assert_eq!(diff.unwrap().hunks.len(), 1);
    }
    let restored = checkpoints.restore(&first, Scope::All, Guard::Force, &undo(1), &limits());
    assert_eq!(restored.unwrap().written.len(), 3);
    assert_eq!(scene.files(), expected);
    checkpoints.collect(std::time::Duration::ZERO, &limits()).unwrap();
    // The user's configuration and a global one are not read either.
    scene.write("new", "x\n");
    expected.insert("new".into(), crate::scene::file("x\n"));
    assert_eq!(scene.files_in(&scene.checkpoint(3).tree), expected);
    assert_eq!(scene.git_folder(), untouched);
    assert_eq!(trap.marks(), Vec::<PathBuf>::new());
}

#[test]
fn c9_facts_and_work_trees_of_a_hostile_project_run_nothing() {
    let trap = Trap::new();
    let scene = &trap.scene;
    let project = scene.open();
    assert_eq!(project.work_tree(), scene.project);
    let facts = project.facts(&limits()).unwrap();
    assert!(!facts.dirty.is_clean());
    assert_eq!(trap.marks(), Vec::<PathBuf>::new());
    let path = scene.root().join("trees/side");
    let branch = Branch::New { name: "side".to_owned(), from: "main".to_owned() };
    let made = project.add_worktree(&NewWorktree { path, branch }, &limits()).unwrap();
    fs::write(made.path.join("README"), "one\ntwo\nthree\nside\n").unwrap();
    let side = scene.open_at(&made.path);
    side.commit_all("side", "side", &limits()).unwrap();
    assert_eq!(trap.marks(), Vec::<PathBuf>::new());
    project.commit_all("main", "main", &limits()).unwrap();
    let (checkpoints, saved) = (scene.checkpoints_of(&made.path), removal(1));
    for (number, how) in [Finish::Merge, Finish::Squash, Finish::Rebase].into_iter().enumerate() {
        fs::write(made.path.join("new"), format!("{number}\n")).unwrap();
        side.commit_all("side", "new", &limits()).unwrap();
        let checkpoints = &checkpoints;
        let message = "finished";
        let request = FinishRequest {
            how,
            branch: "side",
            base: "main",
            message,
            checkpoints,
            saved: &saved,
        };
        let outcome = side.finish(&project, request, &limits()).unwrap();
        assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
    }
    let discard = Discard::Everything;
    project.remove_worktree(&checkpoints, &removal(2), discard, &limits()).unwrap();
    assert_eq!(trap.marks(), Vec::<PathBuf>::new());
    assert_eq!(scene.read("new"), "2\n");
}

#[test]
fn c9_links_and_pipes_in_the_place_of_gits_files_are_not_followed() {
    let scene = Scene::with_git();
    let secret = scene.root().join("secret");
    fs::write(&secret, "*.txt\n").unwrap();
    fs::remove_file(scene.path(".git/info/exclude")).ok();
    fs::create_dir_all(scene.path(".git/info")).unwrap();
    std::os::unix::fs::symlink(&secret, scene.path(".git/info/exclude")).unwrap();
    fs::remove_file(scene.path(".git/index")).unwrap();
    let fifo = |path: &Path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    fifo(&scene.path(".git/index"));
    scene.write("a.txt", "x");
    let options = Options::default();
    let checkpoints =
        Checkpoints::open(&git(), &scene.ours, &scene.project, options, &limits()).unwrap();
    let saved = checkpoints.checkpoint(&before(1), &limits()).unwrap();
    assert_eq!(scene.files_in(&saved.tree), scene.files());
    fs::remove_file(scene.path(".git/info/exclude")).unwrap();
    fifo(&scene.path(".git/info/exclude"));
    let saved = checkpoints.checkpoint(&before(2), &limits()).unwrap();
    assert_eq!(scene.files_in(&saved.tree), scene.files());
}
