//! Files that are attached to prompts, from the upload to the agent.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use convoke_testkit::agent::Script;
use serde_json::{Value, json};

use crate::serve_scene::{Answer, Daemon, PNG, said, takes_images};

fn upload(daemon: &Daemon, name: &str, bytes: &[u8]) -> Answer {
    daemon.upload(name, bytes)
}

#[test]
fn l3_a_picture_is_stored_once_and_reaches_the_agent() {
    let mut daemon = Daemon::new(&takes_images());
    let stored = upload(&daemon, "my%20shot.png", PNG);
    assert_eq!(stored.status, 201, "{stored:?}");
    let stored = stored.json();
    assert_eq!(stored["name"], "my shot.png");
    assert_eq!((&stored["mediaType"], &stored["size"]), (&json!("image/png"), &json!(12)));
    assert_eq!(upload(&daemon, "other.png", PNG).json()["hash"], stored["hash"]);
    let hash = stored["hash"].as_str().unwrap();
    let path = daemon.machine.home().join("blobs").join(&hash[..2]).join(hash);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    let session = daemon.session();
    let lie = json!({"hash": hash, "name": "my shot.png", "mediaType": "text/html", "size": 1});
    let messages = daemon.turn_with(&session, &json!({"text": "look", "attachments": [lie]}));
    assert_eq!(messages[0]["content"]["attachments"], json!([stored]), "its type is looked up");
    assert_eq!(said(&messages), "look\n[image image/png of 16 base64]");

    // It is still there after the daemon was killed.
    daemon.kill_and_start();
    let read = daemon.get(&format!("/api/blobs/{hash}?name=my%20shot.png"));
    assert_eq!(read.status, 200);
    let header = |name: &str| read.header(name).unwrap_or_default().to_owned();
    assert_eq!(header("content-type"), "image/png");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("content-disposition"), "inline; filename*=UTF-8''my%20shot.png");
    assert!(header("content-security-policy").starts_with("sandbox; default-src 'none'"));
    assert_eq!(daemon.get(&format!("/api/blobs/{}", "0".repeat(64))).status, 404);
    assert_eq!(daemon.get("/api/blobs/..%2F..%2Fconfig.toml").status, 404);
}

#[test]
fn the_command_line_names_the_attachments_of_a_prompt() {
    let daemon = Daemon::new(&takes_images());
    let stored = upload(&daemon, "my%20shot.png", PNG).json();
    let session = daemon.session();
    daemon.turn_with(&session, &json!({"text": "look", "attachments": [stored]}));
    let shown = daemon.machine.run(&format!("session show {session}"));
    assert!(shown.contains("\n> look\n> Attached: my shot.png (12 bytes)\n"), "{shown}");
    let list = "\n\nlook\n\n- Attached: my shot.png (12 bytes)\n";
    let page = daemon.machine.run(&format!("session export {session} --format markdown"));
    assert!(page.contains(list), "{page}");
    // A transcript has the words as they were said.
    let transcript = daemon.machine.run(&format!("session export {session}"));
    assert!(transcript.contains(r#""content":"look","#), "{transcript}");
    let folder = daemon.machine.path().join("pages");
    daemon.machine.run_args(&["export", "--all", folder.to_str().unwrap()]);
    let page = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(list), "{page}");
}

#[test]
fn l3_a_page_or_drawing_of_the_user_is_not_run_by_a_browser() {
    let daemon = Daemon::new(&Script::new());
    let serve = |name: &str, bytes: &[u8]| {
        let hash = upload(&daemon, name, bytes).json()["hash"].as_str().unwrap().to_owned();
        let read = daemon.get(&format!("/api/blobs/{hash}?name={name}"));
        let header = |name: &str| read.header(name).unwrap_or_default().to_owned();
        let disposition = header("content-disposition");
        let how = disposition.split(';').next().unwrap().to_owned();
        assert!(header("content-security-policy").starts_with("sandbox;"));
        format!("{} {how}", header("content-type"))
    };
    assert_eq!(serve("x.svg", b"<svg onload='alert(1)'/>"), "image/svg+xml inline");
    assert_eq!(
        serve("x.html", b"<script>alert(1)</script>"),
        "text/plain; charset=utf-8 attachment"
    );
    assert_eq!(serve("x.bin", b"\0\x01"), "application/octet-stream attachment");
}

#[test]
fn l3_an_agent_that_takes_no_pictures_is_given_a_path_that_it_can_read() {
    let daemon = Daemon::new(&Script::new());
    let stored = upload(&daemon, "shot.png", PNG).json();
    let session = daemon.session();
    let messages = daemon.turn_with(&session, &json!({"text": "look", "attachments": [stored]}));
    let words = said(&messages);
    let uri = words.split("[link shot.png file://").nth(1).expect(&words).trim_end_matches(']');
    assert_eq!(fs::read(uri).unwrap(), PNG, "{words}");
    let notices = messages.iter().filter(|it| it["content"]["type"] == "notice");
    let texts: Vec<&str> = notices.map(|it| it["content"]["text"].as_str().unwrap()).collect();
    assert!(
        texts.iter().any(|text| text.contains("it was given the path of shot.png")),
        "{texts:?}"
    );
}

#[test]
fn l3_limits_are_told() {
    let daemon = Daemon::new(&Script::new());
    let empty = upload(&daemon, "empty.txt", b"");
    assert_eq!(
        (empty.status, empty.json()["detail"].as_str()),
        (422, Some("the attachment empty.txt is empty"))
    );
    let large = upload(&daemon, "large.bin", &vec![0; (32 << 20) + 1]);
    assert_eq!(large.status, 413);
    assert_eq!(large.json()["detail"], "the attachment large.bin is larger than 32 MiB");
    let session = daemon.session();
    let prompt = |body: Value| {
        let refused = daemon.post(&format!("/api/sessions/{session}/prompt"), &body);
        (refused.status, refused.json()["detail"].as_str().unwrap().to_owned())
    };
    let unknown = json!({"hash": "0".repeat(64), "name": "x"});
    let (status, detail) = prompt(json!({"text": "x", "attachments": [unknown]}));
    assert_eq!((status, &*detail), (404, &*format!("there is no attachment {}", "0".repeat(64))));
    let many: Vec<Value> = (0..17).map(|_| unknown.clone()).collect();
    let (status, detail) = prompt(json!({"text": "x", "attachments": many}));
    assert_eq!(
        (status, &*detail),
        (422, "the prompt has 17 attachments, and at most 16 are accepted")
    );
    assert_eq!(prompt(json!({"text": " "})).0, 422);
    assert!(daemon.messages(&session).is_empty());
}

#[test]
fn l3_the_command_line_attaches_files() {
    let daemon = Daemon::new(&takes_images());
    let session = daemon.session();
    let machine = &daemon.machine;
    fs::write(machine.path().join("shot.png"), PNG).unwrap();
    fs::write(machine.path().join("log.txt"), "oops").unwrap();
    let line = [
        "session", "send", &session, "why?", "--attach", "shot.png", "--attach", "log.txt",
        "--wait",
    ];
    let text = machine.run_args(&line);
    assert!(text.contains("[image image/png of 16 base64]"), "{text}");
    assert!(text.contains("log.txt: oops]"), "{text}");
    let text = machine.run_args(&["session", "send", &session, "x", "--attach", "gone.png"]);
    insta::assert_snapshot!(text, @"
    exit 1
    --- stderr
    error: cannot read gone.png
      No such file or directory (os error 2)
    ");
    let folder = machine.path().join("root/app");
    let line = [
        "session",
        "new",
        "--project",
        folder.to_str().unwrap(),
        "--agent",
        "scripted",
        "--attach",
        "shot.png",
        "--json",
    ];
    let created = machine.command(&line).output().unwrap();
    let created: Value = serde_json::from_slice(&created.stdout).unwrap();
    assert_eq!(created["prompt"]["accepted"], true, "{created}");
}

#[test]
fn l3_backups_have_the_attachments() {
    let daemon = Daemon::new(&takes_images());
    let stored = upload(&daemon, "shot.png", PNG).json();
    let hash = stored["hash"].as_str().unwrap();
    let backup = daemon.machine.json("backup --json");
    let path = std::path::Path::new(backup["path"].as_str().unwrap());
    assert_eq!(fs::read(path.join("blobs").join(&hash[..2]).join(hash)).unwrap(), PNG);
}

#[test]
fn l3_attachments_wait_in_the_queue_and_survive_a_kill() {
    use convoke_testkit::agent::Step;
    let mut daemon = Daemon::new(&takes_images().when("first", [Step::Hang]));
    let stored = upload(&daemon, "shot.png", PNG).json();
    let session = daemon.session();
    daemon.prompt(&session, "first");
    let body = json!({"text": "second", "attachments": [stored]});
    let queued = daemon.post(&format!("/api/sessions/{session}/prompt"), &body);
    assert_eq!(queued.json()["queued"], true, "{queued:?}");
    let id = queued.json()["messageId"].clone();
    daemon.kill_and_start();
    let mut events = daemon.follow(&session, 0);
    events.until(|message| message["id"] == id && message["turn"]["status"] == "ended");
    assert!(said(&daemon.messages(&session)).contains("[image image/png of 16 base64]"));
}
