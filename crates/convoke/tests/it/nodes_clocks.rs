//! Several daemons whose clocks differ, on one PostgreSQL database.

use std::fs;
use std::path::{Path, PathBuf};

use convoke_testkit::postgres::{self, Database};
use serde_json::Value;

use crate::convoke::Convoke;
use crate::daemon_scene::Scene;

/// Debian's `libfaketime`, installed or unpacked by `./test`: it changes the time of day that a
/// program reads.
fn library() -> PathBuf {
    let name = format!("usr/lib/{}-linux-gnu/faketime/libfaketimeMT.so.1", std::env::consts::ARCH);
    let tools = convoke_testkit::tools::unpacked().map(PathBuf::from);
    let unpacked = tools.as_deref().and_then(Path::parent).map(|tools| tools.join("root"));
    let places = [Some(PathBuf::from("/")), unpacked];
    let found = places.into_iter().flatten().map(|root| root.join(&name)).find(|it| it.exists());
    found.expect("libfaketime is missing: apt-get install libfaketime, or run ./test")
}

/// A machine whose clock is off by some seconds, also for its commands and agents.
fn node(database: &Database, name: &str, offset: &str) -> Scene {
    let machine = Convoke::new()
        .env("LD_PRELOAD", library().to_str().unwrap())
        .env("FAKETIME", offset)
        .env("DONT_FAKE_MONOTONIC", "1");
    let scene = Scene::on(machine);
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = {:?}\n[node]\nname = {name:?}\n",
        database.url
    );
    fs::write(scene.machine.home().join("config.toml"), config).unwrap();
    scene
}

fn number(database: &Database, sql: &str) -> i64 {
    database.value(sql).unwrap().parse().unwrap()
}

#[test]
fn n9_clocks_that_differ_by_two_minutes_change_nothing() {
    let database = postgres::database();
    let clocks = [("ahead", "+60s"), ("right", "+0s"), ("behind", "-60s")];
    let nodes = clocks.map(|(name, offset)| node(&database, name, offset));
    let sessions: Vec<String> = nodes
        .iter()
        .map(|node| {
            assert!(node.run("project add web").starts_with("exit 0"), "the daemon starts");
            // Each machine has a project of this name.
            let folder = node.web().to_str().unwrap().to_owned();
            let new = ["session", "new", "--project", &folder, "--agent", "demo", "--json"];
            let output = node.machine.command(&new).output().unwrap();
            let session: Value = serde_json::from_slice(&output.stdout).unwrap();
            session["id"].as_str().unwrap().to_owned()
        })
        .collect();
    // Every node prompts the sessions of all nodes.
    for (round, node) in nodes.iter().enumerate() {
        for (at, session) in sessions.iter().enumerate() {
            let word = format!("round {round} to {at}");
            let told = node.say(session, &word);
            assert!(told.contains(&format!("You said: **{word}**")), "{told}");
        }
    }
    // The clocks really differ.
    let said_at = |session: &str| {
        let last = format!(
            "SELECT max(created_at) FROM messages WHERE session =
                            (SELECT n FROM agent_sessions WHERE id = '{session}')"
        );
        number(&database, &last)
    };
    assert!(said_at(&sessions[0]) - said_at(&sessions[2]) > 60_000, "they are two minutes apart");
    // Leases are given and judged by the server's clock: all hold, and each was taken once.
    for node in &nodes {
        let listed = node.machine.json("node list --json");
        let listed = listed["nodes"].as_array().unwrap();
        assert_eq!(listed.len(), 3);
        assert!(listed.iter().all(|node| node["away"] == Value::Bool(false)), "{listed:?}");
    }
    assert_eq!(number(&database, "SELECT max(epoch) FROM nodes"), 1);
    // Everything is there once, in order, for every node, and no command is left.
    for session in &sessions {
        let of = format!(
            "FROM messages WHERE session = (SELECT n FROM agent_sessions WHERE id = '{session}')"
        );
        assert_eq!(number(&database, &format!("SELECT count(*) {of} AND role = 'user'")), 3);
        assert_eq!(number(&database, &format!("SELECT max(seq) - count(*) {of}")), 0, "no gaps");
        let back = format!(
            "SELECT count(*) FROM (SELECT created_at - lag(created_at) OVER (ORDER BY seq) AS step {of}) AS s
             WHERE step < 0"
        );
        assert_eq!(number(&database, &back), 0, "times never go back");
        let shown: Vec<Value> = nodes
            .iter()
            .map(|node| node.machine.json(&format!("session show {session} --json")))
            .collect();
        assert!(shown.iter().all(|one| one["messageCount"] == shown[0]["messageCount"]));
    }
    let open = "SELECT count(*) FROM node_commands WHERE finished_at IS NULL";
    assert_eq!(number(&database, open), 0);
}
