//! Files of the project that prompts mention.

use std::fs;
use std::os::unix::fs::symlink;

use convoke_testkit::agent::Script;
use serde_json::{Value, json};

use crate::serve_scene::Daemon;

fn daemon() -> Daemon {
    let daemon = Daemon::new(&Script::new());
    let root = daemon.machine.path().join("root/app");
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/main.rs"), "fn main() {}").unwrap();
    fs::write(root.join(".gitignore"), "*.log\n").unwrap();
    fs::write(root.join("debug.log"), "").unwrap();
    symlink("/etc/passwd", root.join("passwd")).unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    daemon
}

#[test]
fn l2_files_of_a_project_are_found_without_what_leads_out_of_it() {
    let daemon = daemon();
    let project = daemon.project();
    let project = project.as_str().unwrap();
    let find =
        |query: &str| daemon.get(&format!("/api/repos/{project}/files?query={query}")).json();
    assert_eq!(find("mr"), json!({"files": ["src/main.rs"]}));
    assert_eq!(find("passwd"), json!({"files": []}));
    assert_eq!(find("etc%2F"), json!({"files": []}));
    assert_eq!(find(""), json!({"files": [".gitignore", "src/", "src/main.rs"]}));
    assert_eq!(daemon.get(&format!("/api/repos/{project}/files?limit=0")).status, 422);
}

#[test]
fn l2_a_mentioned_file_is_a_link_for_the_agent() {
    let daemon = daemon();
    let session = daemon.session();
    let prompt = |files: Value| {
        let path = format!("/api/sessions/{session}/prompt");
        daemon.post(&path, &json!({"text": "read @src/main.rs", "files": files}))
    };
    for out in ["passwd", "etc/passwd", "../../secret", "/etc/passwd", "src/gone.rs"] {
        let refused = prompt(json!([out]));
        assert_eq!(refused.status, 422, "{out}: {refused:?}");
        let detail = format!("{out} is not a file or folder of the project");
        assert_eq!(refused.json()["detail"], detail);
    }
    let id = prompt(json!(["src/main.rs"])).json()["messageId"].clone();
    let mut events = daemon.follow(&session, 0);
    events.until(|message| message["id"] == id && message["turn"]["status"] == "ended");
    let messages = daemon.messages(&session);
    assert_eq!(messages[0]["content"]["files"], json!(["src/main.rs"]));
    let said = messages[1]["content"]["text"].as_str().unwrap();
    assert!(
        said.contains("[link src/main.rs file://") && said.ends_with("/app/src/main.rs]"),
        "{said}"
    );
}

#[test]
fn l2_the_command_line_sends_what_it_mentions() {
    let daemon = daemon();
    let session = daemon.session();
    let text = daemon.machine.run_args(&[
        "session",
        "send",
        &session,
        "see @src/main.rs, @nobody",
        "--wait",
    ]);
    assert!(text.contains("[link src/main.rs file://"), "{text}");
    assert!(!text.contains("[link nobody"), "{text}");
}
