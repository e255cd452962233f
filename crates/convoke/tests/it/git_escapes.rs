//! An agent that writes files of its repository, or swaps folders for links, does not make the daemon write elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use convoke_testkit::tools::search_path;
use convoke_testkit::wait::until;
use serde_json::json;

use crate::sandbox_scene::{Machine, users};
use crate::worktree_finish::install_gh_and_ssh;
use crate::worktree_scene::{
    app, begin, daemon, daemon_on, finish, git, machine, notices, repository, run, session,
};

#[test]
fn k10_a_failed_work_tree_removes_nothing_that_the_repository_names() {
    let daemon = daemon();
    let app = app(&daemon);
    let (_, path) = session(&daemon);
    let documents = daemon.machine.path().canonicalize().unwrap().join("Documents");
    fs::create_dir(&documents).unwrap();
    fs::write(documents.join("letter"), "mine").unwrap();
    // As an agent in the project may do: a work tree that is being made, with a path that leads out.
    let entry = app.join(".git/worktrees/planted");
    fs::create_dir_all(&entry).unwrap();
    let up = "../".repeat(path.components().count() + 1);
    let lead = format!("{}/{up}{}/.git\n", path.display(), documents.display());
    fs::write(entry.join("gitdir"), lead.replace("//", "/")).unwrap();
    fs::write(entry.join("commondir"), "../..\n").unwrap();
    fs::write(entry.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(entry.join("locked"), "initializing").unwrap();
    // And no branch can be made below this name.
    let main = git(&app, &["rev-parse", "main"]);
    fs::remove_dir_all(app.join(".git/refs/heads/convoke")).unwrap();
    fs::write(app.join(".git/refs/heads/convoke"), main).unwrap();
    let begun = begin(&daemon, &json!({}));
    assert_ne!(begun.status, 201, "{begun:?}");
    assert!(documents.join("letter").exists());
}

#[test]
fn k10_a_link_among_the_branches_gives_an_agent_no_folder_of_the_user() {
    let daemon = daemon();
    let app = app(&daemon);
    let (session, _) = session(&daemon);
    run(&daemon, &session, "git commit -q --allow-empty -m one");
    let secrets = daemon.machine.path().canonicalize().unwrap().join(".ssh");
    fs::create_dir(&secrets).unwrap();
    fs::write(secrets.join("id"), "private").unwrap();
    let branch = git(&app, &["for-each-ref", "--format=%(refname)", "refs/heads/convoke"]);
    git(&app, &["pack-refs", "--all"]);
    let folder = app.join(".git").join(branch.strip_suffix("/work").unwrap());
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    symlink(&secrets, &folder).unwrap();
    // Its next process starts after the session was completed.
    assert_eq!(daemon.post(&format!("/api/sessions/{session}/complete"), &json!({})).status, 200);
    daemon.post(&format!("/api/sessions/{session}/resume"), &json!({}));
    let said =
        run(&daemon, &session, &format!("cat {0}/id; echo evil > {0}/rc", secrets.display()));
    assert!(!said.contains("private"), "{said}");
    assert!(!secrets.join("rc").exists());
    let messages = serde_json::to_string(&daemon.messages(&session)).unwrap();
    assert!(messages.contains("which is not its repository"), "{messages}");
}

#[test]
fn k10_an_agent_in_a_work_tree_writes_no_branch_but_its_own() {
    let daemon = daemon();
    let app = app(&daemon);
    for branch in ["release", "team/one"] {
        git(&app, &["branch", branch]);
    }
    let (session, _) = session(&daemon);
    let all = || {
        let listed = git(&app, &["for-each-ref", "--format=%(refname) %(objectname)"]);
        let others = listed.lines().filter(|line| !line.starts_with("refs/heads/convoke/"));
        others.collect::<Vec<_>>().join("\n")
    };
    let before = all();
    assert_eq!(before.lines().count(), 3, "{before}");
    let said = run(&daemon, &session, "git commit -q --allow-empty -m one && echo committed");
    assert!(said.contains("committed"), "{said}");
    let attack = "cd $(git rev-parse --git-common-dir) && id=$(git rev-parse HEAD) && \
        for name in main release team/one team/two new/one convoke/other/work; do \
        mkdir -p refs/heads/${name%/*}; mv refs/heads/${name%/*} refs/heads/gone; \
        echo $id > refs/heads/$name; git update-ref refs/heads/$name $id; \
        git branch -f $name $id; git branch -D $name; done; \
        echo $id refs/heads/new/two >> packed-refs; ln -s new three; echo attacked";
    // The user packs them before and while the agent's process runs.
    for _ in 0..2 {
        let said = run(&daemon, &session, attack);
        assert!(said.contains("attacked"), "{said}");
        assert_eq!(all(), before, "{said}");
        git(&app, &["pack-refs", "--all"]);
    }
    assert!(!app.join(".git/refs/heads/release").exists());
    let said = run(&daemon, &session, attack);
    assert_eq!(all(), before, "{said}");
}

#[test]
fn k10_a_filter_of_the_repository_reads_no_hidden_file() {
    let machine = machine();
    let home = machine.path().canonicalize().unwrap();
    let password = home.join("dbpass");
    fs::write(&password, "correct horse\n").unwrap();
    let config = format!("[sandbox]\nhidden = [{password:?}]\n");
    let daemon = daemon_on(machine, &config, &search_path());
    let app = app(&daemon);
    let leak = format!("cat > /dev/null; cat {}; echo filtered", password.display());
    git(&app, &["config", "filter.leak.smudge", &leak]);
    fs::write(app.join(".gitattributes"), "notes.txt filter=leak\n").unwrap();
    git(&app, &["add", ".gitattributes"]);
    git(&app, &["commit", "-qm", "attributes"]);
    let (_, path) = session(&daemon);
    assert_eq!(fs::read_to_string(path.join("notes.txt")).unwrap(), "filtered\n");
}

#[test]
fn k10_a_project_that_was_swapped_for_a_link_is_neither_captured_nor_restored() {
    let machine = machine();
    let inner = machine.path().join("root/app/inner");
    fs::create_dir_all(&inner).unwrap();
    let daemon = daemon_on(machine, "", &search_path());
    let inner = app(&daemon).join("inner");
    let added = daemon.post("/api/repos", &json!({"path": inner}));
    assert_eq!(added.status, 201, "{added:?}");
    let body = json!({"repoId": added.json()["id"], "agent": "shell"});
    let session = daemon.post("/api/sessions", &body).json()["id"].as_str().unwrap().to_owned();
    run(&daemon, &session, "echo one > file");
    let before = daemon.get(&format!("/api/sessions/{session}/changes")).json();
    let victim = daemon.machine.path().canonicalize().unwrap().join(".config");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("mine"), "mine").unwrap();
    fs::rename(&inner, app(&daemon).join("kept")).unwrap();
    symlink(&victim, &inner).unwrap();
    let order = json!({"turn": before["turns"][0], "what": "files", "force": true});
    let refused = daemon.post(&format!("/api/sessions/{session}/restore"), &order);
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("inner leads to"), "{refused:?}");
    let names = fs::read_dir(&victim).unwrap().flatten().map(|it| it.file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["mine"]);
}

#[test]
fn k10_an_agent_that_leads_git_to_another_configuration_is_killed() {
    let plants = [
        ("echo ../evil > .git/commondir", ".git/commondir"),
        (
            "mkdir -p .git/worktrees/x; echo /evil > .git/worktrees/x/commondir",
            ".git/worktrees/x/commondir",
        ),
    ];
    for user in users() {
        for (plant, file) in plants {
            let machine = Machine::new(user);
            assert!(machine.free("git init -q .").status.success());
            let output =
                machine.sh("bwrap,landlock,seccomp", &format!("while :; do {plant}; done"));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && said.contains("killed for writing"), "{output:?}");
            let left = fs::read_to_string(machine.path("workspace").join(file)).unwrap_or_default();
            assert!(left.is_empty() || left == "../..\n", "{file}: {left}");
        }
        // Nor a submodule, which has a repository and a file that names it.
        let machine = Machine::new(user);
        let module = "git init -q . && git init -q .git/modules/sub --bare && mkdir sub &&
            echo 'gitdir: ../.git/modules/sub' > sub/.git";
        assert!(machine.free(module).status.success());
        let output = machine.sh("bwrap,landlock,seccomp", "echo 'gitdir: ../evil' > sub/.git");
        assert!(!output.status.success(), "{output:?}");
        let script = "while :; do echo /evil > .git/modules/sub/commondir; done";
        let output = machine.sh("bwrap,landlock,seccomp", script);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("killed for writing"), "{output:?}");
        assert!(!machine.path("workspace/.git/modules/sub/commondir").exists());
        // Work trees that git makes are none of that: the supervisor names the other one alone.
        let machine = Machine::new(user);
        let made = "git init -q . && git -c user.name=A -c user.email=a@b commit -q --allow-empty -m one &&
            git worktree add -q side && mkdir .git/worktrees/x &&
            while :; do echo /evil > .git/worktrees/x/commondir; done";
        let output = machine.sh("bwrap,landlock,seccomp", made);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("killed for writing") && !said.contains("side"), "{output:?}");
        assert!(said.contains(".git/worktrees/x/commondir"), "{output:?}");
        assert!(machine.free("git -C side status").status.success());
    }
}

/// What leads git elsewhere is known to no process, however it came there.
#[test]
fn k10_a_process_that_starts_while_another_plants_a_redirection_may_not_keep_it() {
    let plant = "echo ../evil > .git/commondir";
    let until_killed = format!("timeout 30 sh -c 'while :; do {plant}; done'; echo survived");
    for user in users() {
        // It is there at the start.
        let machine = Machine::new(user);
        assert!(machine.free(&format!("git init -q . && {plant}")).status.success());
        let output = machine.sh("bwrap,landlock,seccomp", "ls .git");
        assert!(output.status.success(), "{output:?}");
        let (said, listed) = (utf8(&output.stderr), utf8(&output.stdout));
        assert!(said.contains("repaired") && !listed.contains("commondir"), "{output:?}");
        assert!(machine.free(plant).status.success());
        let output = machine.sh("bwrap,landlock,seccomp", &until_killed);
        assert!(utf8(&output.stderr).contains("killed for writing"), "{output:?}");
        assert!(!utf8(&output.stdout).contains("survived"), "{output:?}");
        // Another process plants it at the time of the start.
        let file = machine.path("workspace/.git/commondir");
        std::thread::scope(|scope| {
            let first = scope.spawn(|| machine.sh("bwrap,landlock,seccomp", &until_killed));
            until("the first plants it", || file.exists() || first.is_finished());
            let second = machine.sh("bwrap,landlock,seccomp", &until_killed);
            for output in [first.join().unwrap(), second] {
                assert!(utf8(&output.stderr).contains("killed for writing"), "{output:?}");
                assert!(!utf8(&output.stdout).contains("survived"), "{output:?}");
            }
        });
        assert!(!file.exists());
    }
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Where the user's git would run a program, in repositories of all layouts.
#[test]
fn k10_repositories_of_all_layouts_are_protected() {
    let lib = "set -e; git init -q lib; git -C lib commit -q --allow-empty -m lib;
        git init -q mid; git -C mid commit -q --allow-empty -m mid;
        git -C mid submodule -q add \"$PWD/lib\" deep; git -C mid commit -qm deep;";
    let submodules = format!(
        "{lib} git init -q .; git submodule -q add \"$PWD/lib\" third_party/a/b;
         git submodule -q add \"$PWD/mid\" m; git submodule -q update --init --recursive"
    );
    let bare = "set -e; git init -q --bare .bare; echo 'gitdir: ./.bare' > .git;
        tree=$(git --git-dir=.bare mktree < /dev/null);
        git update-ref refs/heads/main $(git commit-tree -m one $tree); git worktree add -q main main";
    let apart = "mkdir store && git init -q --separate-git-dir store/app .";
    let own = "git init -q --bare .";
    let layouts: [(&str, &[&str]); 4] = [
        (
            &submodules,
            &[".git/modules/third_party/a/b", ".git/modules/m", ".git/modules/m/modules/deep"],
        ),
        (bare, &[".bare"]),
        (apart, &["store/app"]),
        (own, &["."]),
    ];
    let settings = "export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=protocol.file.allow \
        GIT_CONFIG_VALUE_0=always GIT_CONFIG_KEY_1=user.name GIT_CONFIG_VALUE_1=A \
        GIT_CONFIG_KEY_2=user.email GIT_CONFIG_VALUE_2=a@b;";
    for user in users() {
        for (layout, repositories) in layouts {
            let machine = Machine::new(user);
            let made = machine.free(&format!("{settings} {layout}"));
            assert!(made.status.success(), "{layout}: {made:?}");
            for repository in repositories {
                let plants = [
                    format!("git config -f {repository}/config core.fsmonitor evil"),
                    format!("echo evil > {repository}/hooks/post-checkout"),
                    format!("mv {repository}/config {repository}/kept"),
                    format!("rm {repository}/config"),
                ];
                for plant in &plants {
                    let output = machine.sh("bwrap,landlock,seccomp", plant);
                    assert!(!output.status.success(), "{plant}: {output:?}");
                }
                // It may be renamed away, and the next start does not rely on it.
                machine.sh(
                    "bwrap,landlock,seccomp",
                    &format!("mv {repository}/HEAD {repository}/kept"),
                );
                let output = machine.sh("bwrap,landlock,seccomp", &plants[0]);
                assert!(!output.status.success(), "without HEAD: {output:?}");
                machine.done(
                    "bwrap,landlock,seccomp",
                    &format!("mv {repository}/kept {repository}/HEAD"),
                );
                let lead = format!("while :; do echo /evil > {repository}/commondir; done");
                let output = machine.sh("bwrap,landlock,seccomp", &lead);
                assert!(utf8(&output.stderr).contains("killed for writing"), "{lead}: {output:?}");
            }
            // The same attack works where nothing protects, and work goes on where something does.
            let config = format!("{}/config", repositories[0]);
            machine.done("bwrap,landlock,seccomp", "git rev-parse --git-dir && git gc -q");
            assert!(machine.free(&format!("echo >> {config}")).status.success());
        }
    }
}

#[test]
fn k10_a_name_that_is_not_utf8_stops_no_agent() {
    for user in users() {
        let machine = Machine::new(user);
        let made = "git init -q \"$(printf 'a\\377')\"";
        machine.done("bwrap,landlock,seccomp", made);
        assert_eq!(machine.done("bwrap,landlock,seccomp", "echo started"), "started\n");
        let plant = "cd a* && git config core.pager evil";
        let output = machine.sh("bwrap,landlock,seccomp", plant);
        assert!(!output.status.success(), "{output:?}");
    }
}

#[test]
fn k10_the_submodules_of_a_work_tree_are_protected() {
    let daemon = daemon();
    let app = app(&daemon);
    let lib = daemon.machine.path().canonicalize().unwrap().join("lib");
    fs::create_dir(&lib).unwrap();
    repository(&lib);
    let local = ["-c", "protocol.file.allow=always", "submodule", "-q"];
    git(&app, &[&local[..], &["add", lib.to_str().unwrap(), "sub"]].concat());
    git(&app, &["commit", "-qm", "submodule"]);
    let (session, path) = session(&daemon);
    git(&path, &[&local[..], &["update", "--init"]].concat());
    // Its next process starts after the session was completed.
    assert_eq!(daemon.post(&format!("/api/sessions/{session}/complete"), &json!({})).status, 200);
    daemon.post(&format!("/api/sessions/{session}/resume"), &json!({}));
    let mark = app.join("mark");
    let plant = format!("git -C sub config core.fsmonitor 'touch {}' && echo done", mark.display());
    let said = run(&daemon, &session, &plant);
    assert!(!said.contains("done"), "{said}");
    let script = plant.split(" && ").next().unwrap();
    git(&path, &["status"]);
    assert!(!mark.exists());
    // The trap works.
    let free = Command::new("/bin/sh").args(["-c", script]).current_dir(&path).status();
    assert!(free.unwrap().success());
    git(&path, &["status"]);
    assert!(mark.exists());
}

#[test]
fn k10_a_pipe_that_git_would_wait_for_does_not_block_prompts_and_other_projects() {
    let daemon = daemon();
    let app = app(&daemon);
    let body = json!({"repoId": daemon.project(), "agent": "shell"});
    let begun = daemon.post("/api/sessions", &body);
    let session = begun.json()["id"].as_str().unwrap().to_owned();
    run(&daemon, &session, "echo one > file");
    let changes = || daemon.get(&format!("/api/sessions/{session}/changes"));
    assert_eq!(changes().status, 200);
    // The first is found before git is started, the second by a search when git takes long.
    for place in [".gitignore", "deep/er/.gitignore"] {
        run(&daemon, &session, &format!("mkdir -p deep/er; rm -f {place}; mkfifo {place}"));
        assert!(run(&daemon, &session, "echo still here").contains("still here"));
        // Waits for the checkpoint after the turn, too.
        let refused = changes();
        assert_eq!(refused.status, 409, "{refused:?}");
        let path = app.join(place);
        let text = format!("git cannot read {}: it is a named pipe; delete it", path.display());
        assert!(refused.body.contains(&text), "{refused:?}");
        fs::remove_file(&path).unwrap();
        assert_eq!(changes().status, 200);
    }
    // One notice for a session, not one for each turn.
    let text = format!("git cannot read {}: it is", app.join(".gitignore").display());
    let notices = notices(&daemon, &session, "checkpoint_failed");
    let [notice] = notices.as_slice() else { panic!("{notices:?}") };
    assert!(notice["error"].as_str().unwrap().contains(&text), "{notice:?}");
}

#[test]
fn k10_a_pull_request_sends_no_file_of_a_hidden_repository() {
    let machine = machine();
    let home = machine.path().canonicalize().unwrap();
    let tools = home.join("tools");
    fs::create_dir(&tools).unwrap();
    install_gh_and_ssh(&tools);
    let private = home.join("private");
    fs::create_dir(&private).unwrap();
    repository(&private);
    fs::write(private.join("secret"), "correct horse\n").unwrap();
    let secret = git(&private, &["hash-object", "-w", "secret"]);
    let path = format!("{}:{}", tools.display(), search_path());
    let daemon = daemon_on(machine, &format!("[sandbox]\nhidden = [{private:?}]\n"), &path);
    let app = app(&daemon);
    git(&home, &["init", "-q", "--bare", "origin.git"]);
    git(&app, &["remote", "add", "origin", "ssh://git@github.test/ann/app.git"]);
    let (session, _) = session(&daemon);
    run(&daemon, &session, "echo mine > mine");
    let body = json!({"how": "pr", "message": "x"});
    let made = finish(&daemon, &session, &body);
    assert_eq!(made.status, 200, "{made:?}");
    // A commit with a file that the agent cannot read; only its name is known.
    let plant = format!(
        "common=$(git rev-parse --git-common-dir); mkdir -p $common/objects/info; \
         echo {}/.git/objects > $common/objects/info/alternates; \
         tree=$(printf '100644 blob {secret}\\tsecret\\n' | git mktree --missing); \
         git update-ref HEAD $(git commit-tree -p HEAD -m planted $tree) && echo planted; \
         git cat-file -e {secret} || echo unread",
        private.display()
    );
    let said = run(&daemon, &session, &plant);
    assert!(said.contains("planted") && said.contains("unread"), "{said}");
    let answer = finish(&daemon, &session, &body);
    let origin = home.join("origin.git");
    let sent = git(&origin, &["cat-file", "--batch-all-objects", "--batch-check"]);
    assert!(!sent.contains(&secret), "{answer:?}");
    assert_eq!(answer.status, 409, "{answer:?}");
}
