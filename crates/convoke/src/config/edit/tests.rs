//! Files before and after changes.

use super::*;
use crate::environment::Environment;

/// Changes a file, and returns what is in it afterwards, or why it was not changed.
fn changed(file: &str, changes: Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, file).unwrap();
    let environment = Environment::from_iter([("HOME", "/home/ann")]);
    let sources = Sources {
        home: folder.path(),
        file: &path,
        environment: &environment,
        flags: BTreeMap::new(),
        program: Path::new("/usr/bin/convoke"),
    };
    let changes = serde_json::from_value(changes).unwrap();
    match change(&sources, &changes) {
        Ok(_) => fs::read_to_string(&path).unwrap(),
        Err(error) => {
            assert_eq!(fs::read_to_string(&path).unwrap(), file, "nothing is written");
            format!("error: {error}")
        }
    }
}

#[test]
fn p9_a_change_keeps_comments_and_order() {
    let file = "\
# My settings
teams_file = \"teams.json\"

[sessions]
# As many as fit on the screen.
max_active = 3 # was 5
idle_timeout_minutes = 10

[pool]
spare = false
";
    let changes = json!({
        "sessions.max_active": 8,
        "sessions.idle_timeout_minutes": null,
        "pool.max_processes": 4,
        "notify.command": ["notify-send", "Convoke"],
    });
    insta::assert_snapshot!(changed(file, changes), @r#"
    # My settings
    teams_file = "teams.json"

    [sessions]
    # As many as fit on the screen.
    max_active = 8 # was 5

    [pool]
    spare = false
    max_processes = 4

    [notify]
    command = ["notify-send", "Convoke"]
    "#);
}

#[test]
fn p9_dotted_keys_and_inline_tables_are_changed_where_they_are() {
    let file = "pool.spare = true\nsessions = { max_active = 3 }\n";
    let changes = json!({"pool.spare": false, "sessions.max_active": 4});
    assert_eq!(changed(file, changes), "pool.spare = false\nsessions = { max_active = 4 }\n");
}

#[test]
fn p9_a_value_that_will_not_do_is_refused_and_nothing_is_written() {
    let cases = [
        ("", json!({"sessions.max_active": 0})),
        ("", json!({"sessions.max_active": "five"})),
        ("", json!({"sessions.max_activ": 5})),
        ("", json!({"sandbox.network": "closed"})),
        ("", json!({"sandbox.hidden": [1]})),
        ("", json!({"notify.command": [""]})),
        ("", json!({"server.listen": "0.0.0.0:80"})),
        ("[sessions\n", json!({"sessions.max_active": 5})),
        ("[sessions]\nmax_active = 0\n", json!({"pool.spare": false})),
    ];
    let lines = cases.map(|(file, changes)| changed(file, changes));
    insta::assert_snapshot!(lines.join("\n"));
}
