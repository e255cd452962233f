//! `compose.yaml`: its nodes have settings that the program knows, and Docker understands the rest where it is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::convoke::Convoke;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The texts under `content: |`, without their indentation.
fn contents(yaml: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut indent = None;
    for line in yaml.lines() {
        let depth = line.len() - line.trim_start().len();
        match indent {
            Some(at) if depth > at => {
                let last = found.last_mut().unwrap();
                last.push_str(line.trim_start());
                last.push('\n');
            }
            Some(_) | None => {
                indent = (line.trim() == "content: |").then_some(depth);
                found.extend(indent.map(|_| String::new()));
            }
        }
    }
    found
}

#[test]
fn the_nodes_of_compose_yaml_have_settings_that_convoke_knows() {
    let yaml = fs::read_to_string(root().join("compose.yaml")).unwrap();
    let configs = contents(&yaml);
    assert_eq!(configs.len(), 2, "two nodes");
    for (number, config) in configs.iter().enumerate() {
        let machine = Convoke::new().file("config.toml", config);
        let shown = machine.json("config show --json").to_string();
        for part in [
            format!("node-{}", number + 1),
            "postgres://convoke@database/convoke".to_owned(),
            "/run/secrets/database_password".to_owned(),
            format!("0.0.0.0:{}", 7717 + number),
        ] {
            assert!(shown.contains(&part), "“{part}” is missing in {shown}");
        }
        // Only the folder of the secret is not on this machine.
        let told = machine.run("db status");
        assert!(told.contains("/run/secrets/database_password"), "{told}");
    }
    // Every name that is used is defined.
    for name in ["database_password", "database", "node-1", "node-2"] {
        let defined = yaml.lines().filter(|line| *line == format!("  {name}:")).count();
        assert!(defined >= 1, "{name} is not defined");
    }
}

#[test]
fn docker_understands_compose_yaml_where_it_is_installed() {
    let mut docker = Command::new("docker");
    docker.args(["compose", "--file"]).arg(root().join("compose.yaml")).args(["config", "--quiet"]);
    // Without Docker, or without its plug-in, there is nothing to ask.
    let Ok(version) = Command::new("docker").args(["compose", "version"]).output() else { return };
    if version.status.success() {
        let output = docker.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
