//! What sessions change in their projects: checkpoints, diffs, restores and forks, with real git.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use convoke_testkit::agent::{Script, Step};
use convoke_testkit::wait;
use serde_json::{Value, json};

use crate::serve_scene::Daemon;
use crate::socket_scene::Socket;
use crate::worktree_crash::stoppable;

/// A daemon whose demo agent may write everything in its project.
fn daemon() -> Daemon {
    let daemon = Daemon::new(&Script::new().when("slow", [Step::say("walnut"), Step::Hang]));
    let rule = json!({"effect": "allow", "matcher": {"kind": "edit", "glob": "**"}});
    let made = daemon.post("/api/rules", &rule);
    assert_eq!(made.status, 201, "{made:?}");
    daemon
}

fn app(daemon: &Daemon) -> PathBuf {
    daemon.machine.path().join("root/app")
}

/// Has the demo agent write a file, and waits for the checkpoint after the turn. Gives the turn.
fn write(daemon: &Daemon, session: &str, path: &str, text: &str) -> u64 {
    let mut socket = Socket::open(daemon);
    daemon.turn(session, &format!("/write {path} {text}"));
    let updated = socket.until_frame(|frame| {
        frame["type"] == "changes:updated" && frame["uid"] == session && frame["turn"].is_u64()
    });
    assert_eq!(fs::read_to_string(app(daemon).join(path)).unwrap(), format!("{text}\n"));
    updated["turn"].as_u64().unwrap()
}

fn changes(daemon: &Daemon, session: &str, query: &str) -> Value {
    let found = daemon.get(&format!("/api/sessions/{session}/changes{query}"));
    assert_eq!(found.status, 200, "{found:?}");
    found.json()
}

/// The paths of a list of changes with their states and lines.
fn files(changes: &Value) -> Vec<String> {
    let files = changes["files"].as_array().unwrap().iter();
    let line = |file: &Value| {
        let text = |key: &str| file[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} +{} -{}", text("status"), text("path"), file["added"], file["removed"])
    };
    files.map(line).collect()
}

fn git(daemon: &Daemon, args: &[&str]) {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", daemon.machine.path());
    let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost"];
    let done = command.current_dir(app(daemon)).args(identity).args(args).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn c1_c2_c3_a_folder_without_git_shows_the_changes_of_a_session_and_of_each_turn() {
    let daemon = daemon();
    fs::write(app(&daemon).join("notes.txt"), "one old word\n").unwrap();
    let session = daemon.session_with("demo");
    let first = write(&daemon, &session, "notes.txt", "one new word");
    // What the user does between turns is not shown as the agent's.
    fs::write(app(&daemon).join("mine.txt"), "mine\n").unwrap();
    let second = write(&daemon, &session, "more.txt", "more");
    let turn = |turn: u64| files(&changes(&daemon, &session, &format!("?turn={turn}")));
    assert_eq!(turn(first), ["modified notes.txt +1 -1"]);
    assert_eq!(turn(second), ["added more.txt +1 -0"]);
    let whole = changes(&daemon, &session, "");
    assert_eq!(whole["turns"], json!([first, second]));
    assert_eq!(whole["totals"], json!({"files": 2, "added": 2, "removed": 1}));
    let shown = daemon.get(&format!("/api/sessions/{session}")).json();
    assert_eq!(shown["changes"], whole["totals"]);
    let path = format!("/api/sessions/{session}/changes/file?path=notes.txt&turn={first}");
    let diff = daemon.get(&path).json();
    assert_eq!(
        diff["hunks"][0]["lines"],
        json!([
            {"kind": "removed", "old": 1, "text": "one old word", "marks": [[4, 7]]},
            {"kind": "added", "new": 1, "text": "one new word", "marks": [[4, 7]]},
        ])
    );
    assert_eq!(daemon.get(&format!("/api/sessions/{session}/changes?turn=99")).status, 404);
    let missing = format!("/api/sessions/{session}/changes/file?path=nothing.txt");
    assert_eq!(daemon.get(&missing).status, 404);
    // The home has the checkpoints, and the project nothing but its files.
    let mut found: Vec<_> =
        fs::read_dir(app(&daemon)).unwrap().map(|it| it.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, ["mine.txt", "more.txt", "notes.txt"]);
}

#[test]
fn c3_a_session_shows_what_its_turns_changed_and_not_what_others_did_before_or_between_them() {
    let daemon = daemon();
    let user = |path: &str, text: &str| fs::write(app(&daemon).join(path), text).unwrap();
    let session = daemon.session_with("demo");
    // Before the first turn, and after the session was created.
    for path in ["notes.txt", "later.txt", "both.txt", "renamed.txt"] {
        user(path, "one\ntwo\n");
    }
    write(&daemon, &session, "notes.txt", "by the agent");
    write(&daemon, &session, "both.txt", "by the agent");
    user("mine.txt", "mine\n");
    user("later.txt", "one\nmine\n");
    user("both.txt", "by the agent\nand by me\n");
    fs::remove_file(app(&daemon).join("renamed.txt")).unwrap();
    user("folder", "was a file\n");
    write(&daemon, &session, "later.txt", "by the agent");
    fs::remove_file(app(&daemon).join("folder")).unwrap();
    fs::create_dir(app(&daemon).join("folder")).unwrap();
    user("folder/mine.txt", "mine\n");
    write(&daemon, &session, "more.txt", "by the agent");
    user("last.txt", "after the last turn\n");
    let whole = changes(&daemon, &session, "");
    let expected = [
        "modified both.txt +2 -2",
        "modified later.txt +1 -2",
        "added more.txt +1 -0",
        "modified notes.txt +1 -2",
    ];
    assert_eq!(files(&whole), expected);
    let between = ["folder/mine.txt", "later.txt", "mine.txt", "renamed.txt"];
    assert_eq!(whole["between"], json!({"files": 4, "paths": between}));
    let shown = daemon.machine.run_args(&["session", "diff", &session, "--stat"]);
    assert!(
        shown.contains("~ mine.txt  changed between the turns, which is not shown\n"),
        "{shown}"
    );
    let totals = || daemon.get(&format!("/api/sessions/{session}")).json()["changes"].clone();
    assert_eq!(totals(), whole["totals"]);
    // What it reverts to is what the user wrote.
    let body = json!({"path": "later.txt"});
    let reverted = daemon.post(&format!("/api/sessions/{session}/revert"), &body);
    assert_eq!(reverted.json()["written"], json!(["later.txt"]), "{reverted:?}");
    assert_eq!(fs::read_to_string(app(&daemon).join("later.txt")).unwrap(), "one\nmine\n");
    // Changed back by a later turn.
    daemon.turn(&session, "/write more.txt by the agent");
    fs::write(app(&daemon).join("notes.txt"), "one\ntwo\n").unwrap();
    write(&daemon, &session, "more.txt", "again");
    let left = ["modified both.txt +2 -2", "added more.txt +1 -0"];
    assert_eq!(files(&changes(&daemon, &session, "")), left);
    assert_eq!(totals(), json!({"files": 2, "added": 3, "removed": 2}));
}

#[test]
fn c3_what_a_turn_changes_before_a_slow_checkpoint_is_made_is_its_own() {
    let (daemon, hold) = stoppable();
    let session = daemon.session_with("shell");
    daemon.turn(&session, "echo first > first.txt");
    // Waits for the checkpoint after the turn.
    changes(&daemon, &session, "");
    fs::write(&hold, "ls-files").unwrap();
    let project = app(&daemon).canonicalize().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| daemon.turn(&session, "echo own > own.txt"));
        let own = project.join("own.txt");
        wait::until("the prompt was sent without the checkpoint", || own.exists());
        fs::remove_file(&hold).unwrap();
    });
    let whole = changes(&daemon, &session, "");
    assert_eq!(files(&whole), ["added first.txt +1 -0", "added own.txt +1 -0"]);
    assert_eq!(whole["between"], Value::Null);
    let turns = whole["turns"].as_array().unwrap();
    let second = changes(&daemon, &session, &format!("?turn={}", turns[1]));
    assert_eq!(files(&second), ["added own.txt +1 -0"]);
}

#[test]
fn c1_the_git_of_a_project_is_not_touched_by_checkpoints() {
    let daemon = daemon();
    git(&daemon, &["init", "-q"]);
    fs::write(app(&daemon).join("notes.txt"), "old\n").unwrap();
    fs::write(app(&daemon).join(".gitignore"), "ignored\n").unwrap();
    fs::write(app(&daemon).join("ignored"), "secret\n").unwrap();
    git(&daemon, &["add", "-A"]);
    git(&daemon, &["commit", "-qm", "first"]);
    let folder = || {
        let found = Command::new("sh")
            .args(["-c", "find .git -type f | sort | xargs sha256sum; stat -c '%n %y' .git/index"])
            .current_dir(app(&daemon))
            .output();
        String::from_utf8(found.unwrap().stdout).unwrap()
    };
    let before = folder();
    let session = daemon.session_with("demo");
    write(&daemon, &session, "notes.txt", "new");
    assert_eq!(files(&changes(&daemon, &session, "")), ["modified notes.txt +1 -1"]);
    assert_eq!(folder(), before);
}

#[test]
fn c3_the_command_line_shows_a_patch_that_git_applies() {
    let daemon = daemon();
    fs::write(app(&daemon).join("notes.txt"), "old\n").unwrap();
    let session = daemon.session_with("demo");
    write(&daemon, &session, "notes.txt", "new");
    write(&daemon, &session, "more.txt", "more");
    let run =
        |args: &[&str]| daemon.machine.run_args(&[&["session", "diff", &session], args].concat());
    insta::assert_snapshot!(run(&[]), @r"
    exit 0
    --- stdout
    diff --git a/more.txt b/more.txt
    new file mode 100644
    --- /dev/null
    +++ b/more.txt
    @@ -0,0 +1,1 @@
    +more
    diff --git a/notes.txt b/notes.txt
    --- a/notes.txt
    +++ b/notes.txt
    @@ -1,1 +1,1 @@
    -old
    +new
    ");
    insta::assert_snapshot!(run(&["--stat"]), @r"
    exit 0
    --- stdout
    A more.txt   +1 -0
    M notes.txt  +1 -1
    2 files changed, +2 -1
    turns: 1, 2; `--turn N` shows one of them
    ");
    let patch = daemon.machine.command(&["session", "diff", &session]).output().unwrap().stdout;
    fs::write(daemon.machine.path().join("it.patch"), patch).unwrap();
    fs::remove_file(app(&daemon).join("more.txt")).unwrap();
    fs::write(app(&daemon).join("notes.txt"), "old\n").unwrap();
    git(&daemon, &["apply", "../../it.patch"]);
    assert_eq!(fs::read_to_string(app(&daemon).join("notes.txt")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(app(&daemon).join("more.txt")).unwrap(), "more\n");
}

#[test]
fn c5_files_are_restored_and_that_is_undone_unless_someone_else_changed_them() {
    let daemon = daemon();
    let notes = app(&daemon).join("notes.txt");
    fs::write(&notes, "old\n").unwrap();
    let session = daemon.session_with("demo");
    let first = write(&daemon, &session, "notes.txt", "new");
    write(&daemon, &session, "more.txt", "more");
    let restore = format!("/api/sessions/{session}/restore");
    let files_only = json!({"turn": first, "what": "files"});
    fs::write(&notes, "by hand\n").unwrap();
    let refused = daemon.post(&restore, &files_only);
    let problem = refused.json();
    assert_eq!((refused.status, &problem["files"]), (409, &json!(["notes.txt"])), "{problem}");
    assert_eq!(problem["code"], "files_changed");
    let forced = daemon.post(&restore, &json!({"turn": first, "what": "files", "force": true}));
    assert_eq!(
        forced.json(),
        json!({"written": ["notes.txt"], "removed": ["more.txt"], "blocked": []})
    );
    assert_eq!(fs::read_to_string(&notes).unwrap(), "old\n");
    let undo = format!("/api/sessions/{session}/undo");
    assert_eq!(daemon.post(&undo, &json!({})).status, 200);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "by hand\n");
    assert!(app(&daemon).join("more.txt").exists());
    let told = daemon.messages(&session);
    let events: Vec<_> =
        told.iter().filter(|it| it["content"]["event"] == "files_restored").collect();
    assert_eq!(events.len(), 2, "{told:?}");
    // One turn back by the command line, files and conversation.
    let said = daemon.machine.run_args(&[
        "session",
        "restore",
        &session,
        "--turn",
        &first.to_string(),
        "--force",
    ]);
    assert!(
        said.contains("restored notes.txt") && said.contains("The conversation continues"),
        "{said}"
    );
    assert!(daemon.machine.run_args(&["session", "undo", &session]).contains("restored notes.txt"));
    // An undo does not undo itself.
    insta::assert_snapshot!(daemon.machine.run_args(&["session", "undo", &session]), @r"
    exit 1
    --- stderr
    error: there is nothing to undo: no restore since the last turn that is not undone already
    ");
}

#[test]
fn c3_people_number_turns_from_one_wherever_they_name_one() {
    let daemon = daemon();
    let session = daemon.session_with("demo");
    write(&daemon, &session, "a.txt", "a");
    let second = write(&daemon, &session, "b.txt", "b");
    let run = |args: &[&str]| daemon.machine.run_args(&[&["session"], args].concat());
    let shown = run(&["show", &session]);
    assert!(shown.contains("\nTurn 1\n> /write a.txt a\n"), "{shown}");
    assert!(shown.contains("\nTurn 2\n> /write b.txt b\n"), "{shown}");
    assert_eq!(changes(&daemon, &session, "")["numbers"], json!([1, 2]));
    let diff = run(&["diff", &session, "--turn", "2", "--stat"]);
    assert_eq!(diff, "exit 0\n--- stdout\nA b.txt  +1 -0\n1 file changed, +1 -0\n");
    for command in ["diff", "restore", "fork"] {
        let told = run(&[command, &session, "--turn", &second.to_string()]);
        let expected = format!(
            "exit 1\n--- stderr\nerror: there is no turn {second}; the session has turns 1 to 2\n"
        );
        assert_eq!(told, expected, "{command}");
    }
    let restored = run(&["restore", &session, "--turn", "2", "--files"]);
    assert_eq!(restored, "exit 0\n--- stdout\nremoved b.txt\n");
    let messages = daemon.messages(&session);
    let told = messages.iter().find(|it| it["content"]["event"] == "files_restored").unwrap();
    assert_eq!((&told["content"]["turn"], &told["content"]["number"]), (&json!(second), &json!(2)));
}

#[test]
fn c4_one_file_and_one_hunk_are_reverted() {
    let daemon = daemon();
    let (notes, other) = (app(&daemon).join("notes.txt"), app(&daemon).join("other.txt"));
    fs::write(&notes, "old\n").unwrap();
    fs::write(&other, "old\n").unwrap();
    let session = daemon.session_with("demo");
    write(&daemon, &session, "notes.txt", "new");
    write(&daemon, &session, "other.txt", "new");
    let revert = format!("/api/sessions/{session}/revert");
    let reverted = daemon.post(&revert, &json!({"path": "notes.txt"}));
    assert_eq!(reverted.json()["written"], json!(["notes.txt"]), "{reverted:?}");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "old\n");
    assert_eq!(fs::read_to_string(&other).unwrap(), "new\n");
    assert_eq!(files(&changes(&daemon, &session, "")), ["modified other.txt +1 -1"]);
    let reverted = daemon.post(&revert, &json!({"path": "other.txt", "hunk": 0}));
    assert_eq!(reverted.status, 200, "{reverted:?}");
    assert_eq!(fs::read_to_string(&other).unwrap(), "old\n");
    assert!(files(&changes(&daemon, &session, "")).is_empty());
    let shown = daemon.get(&format!("/api/sessions/{session}")).json();
    assert_eq!(shown["changes"], json!({"files": 0, "added": 0, "removed": 0}));
    assert_eq!(daemon.post(&revert, &json!({"path": "other.txt", "hunk": 7})).status, 404);
    // What was reverted can be brought back, one step at a time.
    let undo = format!("/api/sessions/{session}/undo");
    assert_eq!(daemon.post(&undo, &json!({})).json()["written"], json!(["other.txt"]));
    assert_eq!(files(&changes(&daemon, &session, "")), ["modified other.txt +1 -1"]);
}

#[test]
fn c1_an_erased_session_leaves_no_checkpoints_and_switched_off_there_are_none() {
    let daemon = daemon();
    let session = daemon.session_with("demo");
    write(&daemon, &session, "notes.txt", "new");
    let snapshots = daemon.machine.path().join(".convoke/snapshots");
    let repository = fs::read_dir(snapshots).unwrap().next().unwrap().unwrap().path();
    let refs = || {
        let found = Command::new("git").arg("-C").arg(&repository).arg("for-each-ref").output();
        String::from_utf8(found.unwrap().stdout).unwrap()
    };
    assert!(refs().contains(&session));
    assert_eq!(daemon.post(&format!("/api/sessions/{session}/erase"), &json!({})).status, 204);
    wait::until("its checkpoints are deleted", || !refs().contains(&session));
    let off = Daemon::with(&Script::new(), "[changes]\ncheckpoints = false\n");
    let session = off.session_with("demo");
    off.turn(&session, "hello");
    let refused = off.get(&format!("/api/sessions/{session}/changes"));
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(!off.machine.path().join(".convoke/snapshots").exists());
}

#[test]
fn c8_a_fork_has_the_conversation_up_to_its_turn_and_goes_on_alone() {
    let daemon = daemon();
    let session = daemon.session_with("demo");
    let first = write(&daemon, &session, "notes.txt", "new");
    daemon.turn(&session, "hello");
    let before = daemon.messages(&session);
    let fork = daemon.post(&format!("/api/sessions/{session}/fork"), &json!({"turn": first}));
    assert_eq!(fork.status, 201, "{fork:?}");
    let title = fork.json()["title"].as_str().unwrap().to_owned();
    assert!(title.ends_with(" (fork of turn 1)"), "{title}");
    let forked = fork.json()["id"].as_str().unwrap().to_owned();
    let texts = |session: &str| -> Vec<Value> {
        let messages = daemon.messages(session);
        let texts = messages.iter().filter(|it| it["role"] != "system");
        texts.map(|it| it["content"]["text"].clone()).collect()
    };
    assert_eq!(texts(&forked), ["/write notes.txt new", "I wrote `notes.txt`."]);
    let shown = daemon.machine.run(&format!("session show {forked}"));
    assert!(
        shown.contains(&format!("- This session is a fork of session {session}.\n")),
        "{shown}"
    );
    assert!(!shown.contains("imported"), "{shown}");
    daemon.turn(&forked, "/write notes.txt other");
    assert_eq!(texts(&forked).len(), 4);
    assert_eq!(daemon.messages(&session), before);
    let unknown = daemon.post(&format!("/api/sessions/{session}/fork"), &json!({"turn": 2}));
    assert_eq!(unknown.status, 404, "{unknown:?}");
}

#[test]
fn c5_a_restore_right_after_a_turn_knows_what_the_turn_changed() {
    let daemon = daemon();
    let session = daemon.session_with("demo");
    for turn in 0..5 {
        let name = format!("{turn}.txt");
        let messages = daemon.turn(&session, &format!("/write {name} x"));
        let prompt = messages.iter().rfind(|message| message["role"] == "user").unwrap();
        let seq = prompt["seq"].clone();
        let body = json!({"turn": seq, "what": "files"});
        let restored = daemon.post(&format!("/api/sessions/{session}/restore"), &body);
        assert_eq!(restored.json()["removed"], json!([name]), "{restored:?}");
    }
}
