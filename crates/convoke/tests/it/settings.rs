//! Settings that are shown and changed while the daemon runs, and the command that notifies.

use std::fs;

use convoke_testkit::agent::{Ask, Script, Step, Tool};
use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::serve_scene::Daemon;
use crate::socket_scene::Socket;

fn config_file(daemon: &Daemon) -> std::path::PathBuf {
    daemon.machine.home().join("config.toml")
}

fn setting(config: &Value, key: &str) -> Value {
    let settings = config["settings"].as_array().unwrap();
    settings.iter().find(|setting| setting["key"] == key).unwrap().clone()
}

#[test]
fn p9_a_change_is_written_to_the_file_and_its_comments_stay() {
    let written = "# Mine\n[sessions]\n# Not too many.\nmax_active = 3 # was 5\n";
    let daemon = Daemon::with(&Script::new(), written);
    let shown = daemon.get("/api/config").json();
    assert_eq!(shown["path"], config_file(&daemon).to_str().unwrap());
    let max = setting(&shown, "sessions.max_active");
    assert_eq!(
        (&max["value"], &max["default"], &max["kind"], &max["restart"]),
        (&json!(3), &json!(5), &json!("number"), &json!(true))
    );
    assert!(max["source"].as_str().unwrap().starts_with("config.toml:"), "{max}");
    assert_eq!(setting(&shown, "sandbox.network")["choices"], json!(["open", "proxy", "off"]));
    let text = shown.to_string();
    assert!(!text.contains("scripted") && !text.contains(daemon.token()), "no agents, no secrets");

    let changes = json!({"changes": {"sessions.max_active": 7, "editor.open": "zed"}});
    let changed = daemon.call("PATCH", "/api/config", &changes);
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_eq!(setting(&changed.json(), "sessions.max_active")["value"], 7);
    let file = fs::read_to_string(config_file(&daemon)).unwrap();
    let expected =
        "# Mine\n[sessions]\n# Not too many.\nmax_active = 7 # was 5\n\n[editor]\nopen = \"zed\"\n";
    assert!(file.ends_with(expected), "{file}");
    // The page learns at once how files are opened.
    let mut socket = Socket::open(&daemon);
    assert_eq!(socket.ask(json!({"type": "project:list"}))["editor"], "zed");
    let shown = socket.ask(json!({"type": "config:set", "changes": {"editor.open": null}}));
    assert_eq!(shown["type"], "config");
    assert_eq!(setting(&shown, "editor.open")["source"], "default");
    assert_eq!(socket.ask(json!({"type": "project:list"})).get("editor"), None);
    assert_eq!(socket.ask(json!({"type": "config:get"}))["settings"], shown["settings"]);
}

#[test]
fn p9_what_will_not_do_is_refused_and_a_broken_file_is_left_alone() {
    let daemon = Daemon::new(&Script::new());
    let before = fs::read_to_string(config_file(&daemon)).unwrap();
    for changes in [
        json!({"sessions.max_active": 0}),
        json!({"pool.spare": "yes"}),
        json!({"pool.spare": false, "server.listen": "everywhere"}),
    ] {
        let refused = daemon.call("PATCH", "/api/config", &json!({"changes": changes}));
        assert_eq!(refused.status, 422, "{refused:?}");
    }
    let unknown =
        daemon.call("PATCH", "/api/config", &json!({"changes": {"sessions.max_activ": 3}}));
    assert_eq!(unknown.status, 404);
    assert!(unknown.body.contains("did you mean `sessions.max_active`?"), "{unknown:?}");
    assert_eq!(fs::read_to_string(config_file(&daemon)).unwrap(), before);

    let broken = format!("{before}\n[sessions\n");
    fs::write(config_file(&daemon), &broken).unwrap();
    let refused = daemon.call("PATCH", "/api/config", &json!({"changes": {"pool.spare": false}}));
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("invalid_config")));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    let line = broken.lines().count();
    assert!(detail.contains(&format!("config.toml:{line}:")), "{detail}");
    assert!(refused.json()["hint"].is_string());
    assert_eq!(daemon.get("/api/config").status, 409);
    assert_eq!(fs::read_to_string(config_file(&daemon)).unwrap(), broken);
}

#[test]
fn p9_the_users_command_gets_what_happened_as_json() {
    let ask = Ask::new(Tool::named("1", "shell", json!({})), &[("yes", "allow_once")]);
    let script = Script::new()
        .when("answer", [Step::say("All done.")])
        .when("crash", [Step::Exit(3)])
        .when("ask", [Step::Ask(ask)]);
    let daemon = Daemon::new(&script);
    let heard = daemon.machine.path().join("heard");
    let command = ["/bin/sh", "-c", "cat >> \"$0\"; echo >> \"$0\"", heard.to_str().unwrap()];
    // Set while the daemon runs.
    let set = daemon.call("PATCH", "/api/config", &json!({"changes": {"notify.command": command}}));
    assert_eq!(set.status, 200, "{set:?}");
    let session = daemon.session();
    daemon.turn(&session, "answer");
    daemon.turn(&session, "crash");
    daemon.prompt(&session, "ask");
    let lines = || -> Vec<Value> {
        let text = fs::read_to_string(&heard).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    until("three notifications", || lines().len() == 3);
    let told = lines();
    let events: Vec<&Value> = told.iter().map(|line| &line["event"]).collect();
    assert_eq!(events, ["finished", "failed", "needs_you"]);
    let first = &told[0];
    assert_eq!(
        (&first["title"], &first["project"], &first["agent"], &first["text"]),
        (&json!("answer"), &json!("app"), &json!("scripted"), &json!("All done."))
    );
    assert!(first["url"].as_str().unwrap().ends_with(&format!("/s/{session}")), "{first}");
    assert!(first["sessionId"].as_str().unwrap().starts_with("scripted:"), "{first}");
    assert!(told[1]["text"].as_str().unwrap().contains("process ended"), "{}", told[1]);
}

#[test]
fn the_users_command_opens_a_file_at_its_place_and_nothing_outside_of_the_workspace() {
    let daemon = Daemon::new(&Script::new());
    let mut socket = Socket::open(&daemon);
    let file = daemon.machine.path().join("root/app/with space.rs");
    fs::write(&file, "fn main() {}\n").unwrap();
    let file = file.canonicalize().unwrap();
    let open = |path: &str| json!({"type": "file:open", "path": path, "line": 3});
    let refused = socket.ask(open(file.to_str().unwrap()));
    assert_eq!(refused["type"], "error", "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("editor.command"), "{refused}");

    let noted = daemon.machine.path().join("noted");
    let script = "printf '%s\\n' \"$@\" > \"$0.part\" && mv \"$0.part\" \"$0\"";
    let command = json!(["/bin/sh", "-c", script, noted, "-g", "{path}:{line}:{column}"]);
    let set = daemon.call("PATCH", "/api/config", &json!({"changes": {"editor.command": command}}));
    assert_eq!(set.status, 200, "{set:?}");
    assert_eq!(socket.ask(json!({"type": "project:list"}))["editor"], "command");
    let opened = socket.ask(open(file.to_str().unwrap()));
    assert_eq!(opened["type"], "file:opened", "{opened}");
    until("the editor was started", || noted.exists());
    let expected = format!("-g\n{}:3:1\n", file.display());
    assert_eq!(fs::read_to_string(&noted).unwrap(), expected);

    fs::remove_file(&noted).unwrap();
    let link = daemon.machine.path().join("root/app/link");
    std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
    for path in ["/etc/hostname", link.to_str().unwrap(), "app/main.rs", "/nowhere/a.rs"] {
        let refused = socket.ask(open(path));
        assert_eq!(refused["type"], "error", "{path}: {refused}");
    }
    assert!(!noted.exists());
}
