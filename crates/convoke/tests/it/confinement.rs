//! Agents of a running daemon that want out, or want to stay.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use convoke_testkit::agent::{Script, Step};
use convoke_testkit::tools::search_path;
use convoke_testkit::wait;
use rustix::process::Signal;
use serde_json::json;

use crate::convoke::Convoke;
use crate::sandbox_scene::{Machine, User};
use crate::serve_scene::{Daemon, agent};

/// A library that reads a file and writes two as soon as it is loaded.
const LIBRARY: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void attack(void) {
    char buffer[4096];
    FILE *in = fopen(getenv("EVIL_READS"), "r");
    FILE *out = fopen(getenv("EVIL_WRITES"), "w");
    size_t bytes = in ? fread(buffer, 1, sizeof buffer, in) : 0;
    if (out) { fwrite(buffer, 1, bytes, out); fclose(out); }
    FILE *planted = fopen(getenv("EVIL_PLANTS"), "w");
    if (planted) { fputs("planted", planted); fclose(planted); }
}
"#;

/// A machine outside of `/tmp`, of which a confined agent has its own.
fn machine() -> Convoke {
    Convoke::in_folder(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// An agent beside the scripted one, confined by these layers.
fn confined(machine: &Convoke, before: &str, layers: &str) -> String {
    let script = machine.path().join("script.json");
    let line = format!("{before} exec {} --protocol acp {}", agent().display(), script.display());
    format!(
        "[agents.confined]\ncommand = \"/bin/sh\"\nargs = [\"-c\", {line:?}]\nreadable = [{script:?}]\n\
         [sandbox]\nlayers = [{layers}]\n"
    )
}

const ALL: &str = "\"bwrap\", \"landlock\", \"seccomp\"";

#[test]
fn k1_no_environment_that_an_agent_chooses_reaches_what_confines_it() {
    for layers in [ALL, "\"landlock\"", "\"bwrap\""] {
        let machine = machine();
        let root = machine.path().canonicalize().unwrap();
        let workspace = root.join("root/app");
        fs::create_dir_all(&workspace).unwrap();
        let library = workspace.join("evil.so");
        fs::write(workspace.join("evil.c"), LIBRARY).unwrap();
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &workspace.join("evil.c")])
            .status();
        assert!(compiled.unwrap().success());
        let token = machine.home().join("run/token");
        let (stolen, planted) = (workspace.join("stolen"), root.join("planted"));
        let variables = [
            ("LD_PRELOAD", library.clone()),
            ("EVIL_READS", token.clone()),
            ("EVIL_WRITES", stolen.clone()),
            ("EVIL_PLANTS", planted.clone()),
        ];
        let env: Vec<_> =
            variables.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        let params =
            json!({"sessionId": "s", "command": "/bin/sh", "args": ["-c", "true"], "env": env});
        let wait = json!({"sessionId": "s", "terminalId": "terminal-1"});
        let steps = [
            Step::Request { method: "terminal/create".to_owned(), params },
            Step::Request { method: "terminal/wait_for_exit".to_owned(), params: wait },
        ];
        let config = confined(&machine, "", layers);
        let daemon = Daemon::on(machine, &Script::new().when("attack", steps), &config);
        let session = daemon.session_with("confined");
        let told = format!("{:?}", daemon.turn(&session, "attack"));
        assert!(told.contains("exitCode"), "the attack was not carried out: {told}");
        let stolen_token = fs::read_to_string(&stolen).expect("the library was loaded");
        assert_eq!(stolen_token, "", "{layers}: the library read the token");
        assert!(!planted.exists(), "{layers}: the library wrote outside");

        let free = Command::new("/bin/true").envs(variables).status().unwrap();
        assert!(free.success());
        assert_eq!(fs::read_to_string(&stolen).unwrap().trim().len(), 64, "unconfined, it works");
        assert!(planted.exists());
    }
}

/// A pipe whose end is the end of every process that holds it open for writing.
struct Held {
    reader: JoinHandle<()>,
    path: PathBuf,
}

impl Held {
    fn new(path: PathBuf) -> Self {
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let place = path.clone();
        let reader = std::thread::spawn(move || {
            let mut pipe = fs::File::open(place).unwrap();
            std::io::copy(&mut pipe, &mut std::io::sink()).unwrap();
        });
        Self { reader, path }
    }

    fn released(self, how: &str) {
        wait::until(&format!("all are gone after: {how}"), || self.reader.is_finished());
        fs::remove_file(self.path).unwrap();
    }
}

/// Whatever ends a session's process ends all that it started, also what moved to a session of its own.
#[test]
fn k3_nothing_that_an_agent_started_outlives_it() {
    // The agent itself starts something that leaves its group, and waits until it is up.
    let escape = "setsid sh -c 'exec 3>held; echo > up; exec sleep 1000' & \
                  while [ ! -e up ]; do sleep 0.01; done; rm up;";
    for layers in [ALL, "\"landlock\"", ""] {
        let machine = machine();
        let workspace = machine.path().join("root/app");
        fs::create_dir_all(&workspace).unwrap();
        let config = confined(&machine, escape, layers) + "[pool]\nspare = false\n";
        let mut daemon = Daemon::on(machine, &Script::new(), &config);
        for ending in ["deleted", "agents stopped", "daemon killed", "daemon stopped"] {
            let held = Held::new(workspace.join("held"));
            let session = daemon.session_with("confined");
            daemon.turn(&session, "hello");
            assert!(!held.reader.is_finished(), "it is there");
            match ending {
                "deleted" => {
                    let path = format!("/api/sessions/{session}");
                    assert_eq!(daemon.call("DELETE", &path, &json!({})).status, 200);
                }
                "agents stopped" => {
                    let told = daemon.machine.run("stop --agents");
                    assert!(told.starts_with("exit 0"), "{told}");
                }
                "daemon killed" => drop(daemon.end(Signal::KILL)),
                _ => drop(daemon.end(Signal::TERM)),
            }
            held.released(&format!("{ending} with layers {layers}"));
            if ending == "daemon killed" {
                daemon.start_again();
            }
        }
    }
}

/// Finding out costs nothing: the daemon's folders for temporary files go with it, also after a kill.
#[test]
fn k4_temporary_files_lie_outside_of_the_home_and_go_with_the_process() {
    let machine = machine().env("TMPDIR", "/tmp");
    fs::create_dir_all(machine.path().join("root/app")).unwrap();
    let config = confined(&machine, "echo x > $TMPDIR/file; echo $TMPDIR > temp;", ALL)
        + "[pool]\nspare = false\n";
    let mut daemon = Daemon::on(machine, &Script::new(), &config);
    let session = daemon.session_with("confined");
    let temp = fs::read_to_string(daemon.machine.path().join("root/app/temp")).unwrap();
    let temp = PathBuf::from(temp.trim());
    assert!(temp.join("file").exists() && !temp.starts_with(daemon.machine.home()));
    daemon.call("DELETE", &format!("/api/sessions/{session}"), &json!({}));
    wait::until(&format!("{} is gone", temp.display()), || !temp.exists());
    let around = temp.parent().unwrap().to_owned();
    assert!(around.exists());
    daemon.kill_and_start();
    assert!(!around.exists(), "what a killed daemon left is removed by the next");
}

/// Bubblewrap covers the sockets of other programs, and ends when one of them is removed meanwhile.
#[test]
fn k2_bubblewrap_that_ends_before_the_agent_runs_is_started_again() {
    let machine = Machine::new(User::Me);
    let real = search_path()
        .split(':')
        .map(|folder| Path::new(folder).join("bwrap"))
        .find(|it| it.exists());
    let (real, spent) = (real.unwrap(), machine.path("spent"));
    let script = |failures: u32| {
        format!(
            "#!/bin/sh\ncase \"$*\" in *--enter*) echo x >> {spent}; [ $(/usr/bin/wc -l < {spent}) -gt {failures} ] || exit 1;; esac\nexec {} \"$@\"\n",
            real.display(),
            spent = spent.display(),
        )
    };
    let run = |failures: u32| {
        machine.write("bin/bwrap", &script(failures));
        let bwrap = machine.path("bin/bwrap");
        fs::set_permissions(&bwrap, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(&spent, "").unwrap();
        let mut command = machine.command(env!("CARGO_BIN_EXE_convoke"));
        command.env("PATH", format!("{}:{}", machine.path("bin").display(), search_path()));
        command
            .args(["sandbox-exec", "--layers", "bwrap", "--write"])
            .arg(machine.path("workspace"));
        command.args(["--", "/bin/echo", "runs"]).output().unwrap()
    };
    for failures in [1, 2] {
        assert_eq!(
            String::from_utf8(run(failures).stdout).unwrap(),
            "runs\n",
            "{failures} failures"
        );
    }
    let output = run(3);
    assert_eq!(
        (output.status.code(), output.stdout),
        (Some(1), Vec::new()),
        "it is not tried for ever"
    );
}
