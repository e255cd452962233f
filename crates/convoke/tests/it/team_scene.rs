//! A machine with teams, whose agents follow scripts, and a `claude` that keeps its files as the real one does.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use convoke_testkit::agent::{CLAUDE_MANNERS, Script};
use convoke_testkit::host::example;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::Daemon;

/// A daemon with teams.
pub(crate) struct Teams {
    pub(crate) daemon: Daemon,
}

impl Teams {
    /// Teams whose agents all follow one script, in folders of their names.
    pub(crate) fn new(names: &[&str], script: &Script) -> Self {
        let teams = names.iter().map(|name| (*name, json!({"agent": "scripted"}))).collect();
        Self::with(teams, script, "")
    }

    /// Teams with these properties; each gets its folder.
    pub(crate) fn with(teams: Vec<(&str, Value)>, script: &Script, config: &str) -> Self {
        let machine = Convoke::new();
        let file = teams_json(&machine, teams);
        let machine = install_claude(machine.file("teams.json", file), script);
        let config = format!(
            "{config}\n[agents.claude-code]\ncommand = {:?}\nsandbox = \"off\"\n\
             [agents.asking]\ncommand = {:?}\nsandbox = \"off\"\n",
            machine.path().join("claude"),
            example("asking_agent"),
        );
        Self { daemon: Daemon::on(machine, script, &config) }
    }

    pub(crate) fn machine(&self) -> &Convoke {
        &self.daemon.machine
    }

    /// Runs a command line, split at blanks, and tells what happened, without ids.
    pub(crate) fn run(&self, line: &str) -> String {
        crate::daemon_scene::mask(&self.machine().run(line))
    }

    pub(crate) fn run_args(&self, args: &[&str]) -> String {
        crate::daemon_scene::mask(&self.machine().run_args(args))
    }

    /// Asks a team, and tells what came of it.
    pub(crate) fn ask(&self, team: &str, question: &str) -> Value {
        self.daemon.post(&format!("/api/teams/{team}/ask"), &json!({"question": question})).json()
    }
}

/// The text of a file of teams, whose folders are made along with it.
pub(crate) fn teams_json(machine: &Convoke, teams: Vec<(&str, Value)>) -> String {
    let mut all = serde_json::Map::new();
    for (name, mut properties) in teams {
        let folder = machine.path().join("root").join(name);
        fs::create_dir_all(&folder).unwrap();
        if properties["path"].is_null() {
            properties["path"] = json!(folder);
        }
        all.insert(name.to_owned(), properties);
    }
    json!({"teams": all}).to_string()
}

/// Puts a `claude` that follows a script on the machine.
pub(crate) fn install_claude(machine: Convoke, script: &Script) -> Convoke {
    let (file, claude) = (machine.path().join("claude.json"), machine.path().join("claude"));
    fs::write(&file, serde_json::to_vec(script).unwrap()).unwrap();
    let (agent, file) = (example("spawned_agent"), file.display());
    let start = format!("#!/bin/sh\nset -- '{}' '{file}' \"$@\"\n", agent.display());
    fs::write(&claude, start + CLAUDE_MANNERS).unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    machine
}

/// The keys of an object, sorted.
pub(crate) fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Replaces a file at once, as careful editors do.
pub(crate) fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}
