//! The daemon as commands meet it: found, started, told about, stopped.

use std::fs;
use std::net::TcpListener;
use std::process::Stdio;

use crate::convoke::Convoke;
use crate::daemon_scene::Scene;

#[test]
fn without_the_daemon_commands_end_with_3() {
    let machine = Convoke::new();
    insta::assert_snapshot!(machine.run("status"), @"
    exit 3
    --- stderr
    error: the daemon is not running
    hint: start it with `convoke serve`
    ");
    for line in ["project list", "session list", "inbox list"] {
        let told = machine.run(&format!("{line} --no-autostart --json"));
        assert_eq!(
            told,
            "exit 3\n--- stderr\n{\"error\":\"the daemon is not running\",\"causes\":[],\
             \"hint\":\"start it with `convoke serve`\",\"exitCode\":3}\n"
        );
    }
    insta::assert_snapshot!(machine.run("stop"), @"
    exit 0
    --- stdout
    the daemon is not running
    ");
    assert_eq!(machine.json("stop --json"), serde_json::json!({"stopped": false}));
}

#[test]
fn a_command_starts_the_daemon_and_stop_ends_it() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.run("project list"), @"
    exit 0
    --- stdout
    No projects. Add one with `convoke project add PATH`
    ");
    let file = scene.machine.home().join("run/daemon.json");
    let daemon: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let (pid, url) = (scene.pid(), daemon["url"].as_str().unwrap());
    assert_eq!(daemon["pid"].as_u64(), Some(pid));
    let told = scene.run("status");
    assert!(!told.contains(daemon["token"].as_str().unwrap()), "{told}");
    let told = told.replace(url, "[url]").replace(&pid.to_string(), "[pid]");
    // However slow the machine is.
    let (head, tail) = told.split_once("running for ").unwrap();
    let told = format!("{head}running for [while]\n{}", tail.split_once('\n').unwrap().1);
    insta::assert_snapshot!(told, @"
    exit 0
    --- stdout
    daemon    convoke 0.1.0, process [pid], running for [while]
    page      [url], open it with `convoke open`
    home      [tmp]/.convoke
    sessions  0 active
    agents    0 running, 0 busy
    inbox     nothing needs you
    backup    none yet; make one with `convoke backup`
    ");
    let stopped = scene.run("stop").replace(&pid.to_string(), "[pid]");
    insta::assert_snapshot!(stopped, @r"
    exit 0
    --- stdout
    stopped the daemon, process [pid]
    ");
    assert!(!file.exists());
    assert!(scene.run("status").starts_with("exit 3\n"));
}

#[test]
fn commands_that_come_at_once_start_one_daemon() {
    let scene = Scene::new();
    let command = |line: &[&str]| {
        let mut command = scene.machine.command(line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| command(&["project", "list"])).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let daemons = scene.machine.run("stop --json");
    assert!(daemons.contains("\"stopped\": true"), "{daemons}");
    assert!(scene.run("status").starts_with("exit 3\n"), "a second daemon was left");
}

#[test]
fn a_daemon_that_cannot_start_says_why() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let config = format!("[server]\nlisten = \"{address}\"\n");
    let machine = Convoke::new().file("config.toml", config);
    let told = machine.run("project list").replace(&address, "[address]");
    insta::assert_snapshot!(told, @"
    exit 3
    --- stderr
    error: the daemon did not start
      error: cannot listen on [address]
        Address already in use (os error 98)
      hint: let it pick a free port: `--listen 127.0.0.1:0`
    hint: run it in the foreground: `convoke serve`; its output is in [tmp]/.convoke/logs/daemon.stderr
    ");
}

#[test]
fn a_daemon_takes_one_of_the_next_ports_when_another_program_has_the_default_one() {
    // It fails where another daemon has the port, which is as good.
    let taken = TcpListener::bind("127.0.0.1:7717");
    let machine = Convoke::new();
    let told = machine.run("project list");
    let status = machine.json("status --json");
    machine.run("stop");
    drop(taken);
    assert!(told.starts_with("exit 0\n"), "{told}");
    let url = status["url"].as_str().unwrap();
    let port: u16 = url.rsplit_once(':').unwrap().1.parse().unwrap();
    assert!((7718..=7726).contains(&port), "{url}");
}

#[test]
fn what_a_dead_daemon_left_is_no_obstacle() {
    let mut dead = std::process::Command::new("true").spawn().unwrap();
    let pid = dead.id();
    dead.wait().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    // One whose process has ended, and one whose process is another program by now.
    for pid in [pid, std::process::id()] {
        let left = format!(r#"{{"pid":{pid},"url":"{url}","token":"x","version":"0.0.0"}}"#);
        let scene = Scene::on(Convoke::new().file("run/daemon.json", left));
        assert!(scene.run("status").starts_with("exit 3\n"));
        assert!(scene.run("project list").starts_with("exit 0\n"));
        assert_ne!(scene.pid(), u64::from(pid));
    }
    let scene = Scene::on(Convoke::new().file("run/daemon.json", "garbage"));
    assert!(scene.run("project list").starts_with("exit 0\n"));
}

#[test]
fn the_daemon_outlives_the_terminal_that_started_it() {
    let scene = Scene::on(Convoke::new().env("NO_COLOR", "1"));
    let (screen, code) = scene.machine.run_on_terminal("project list", "");
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Starting the daemon; `convoke stop` stops it."), "{screen}");
    let pid = scene.pid();
    let (screen, _) = scene.machine.run_on_terminal("project list", "");
    assert!(!screen.contains("Starting"), "{screen}");
    assert_eq!(scene.pid(), pid);
}

#[test]
fn a_killed_daemon_that_is_still_a_zombie_is_replaced_without_an_error() {
    let scene = Scene::new();
    let mut killed = Vec::new();
    for _ in 0..5 {
        let mut daemon = scene.start(&["serve"]);
        daemon.until(|line| line.contains("http://"));
        daemon.child.kill().unwrap();
        // It is not waited for, so its process id stays taken.
        killed.push(daemon);
        let listed = scene.run("session list");
        assert!(listed.starts_with("exit 0\n--- stdout\nNo sessions."), "{listed}");
        scene.run("stop");
    }
}

#[test]
fn an_option_of_commands_may_stand_before_the_command_and_others_refuse_it() {
    let machine = Convoke::new();
    let told = machine.run("--no-autostart session list");
    assert!(told.contains("error: the daemon is not running\n"), "{told}");
    let told = machine.run("--no-autostart doctor");
    assert!(told.contains("unexpected argument '--no-autostart' found"), "{told}");
}
