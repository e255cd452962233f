//! `convoke serve` as its users meet it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use convoke_testkit::agent::{Ignored, Script, Step};
use convoke_testkit::wait;
use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::Daemon;

#[test]
fn it_says_where_it_is_in_a_private_file() {
    let daemon = Daemon::new(&Script::new());
    let file = daemon.machine.home().join("run/daemon.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let said: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(
        said,
        json!({
            "pid": daemon.pid().as_raw_nonzero().get(),
            "control": daemon.machine.home().join("run/control.sock"),
            "url": format!("http://{}", daemon.address()),
            "token": daemon.token(),
            "version": env!("CARGO_PKG_VERSION"),
        })
    );
    assert_eq!(daemon.token().len(), 64, "256 bits");
}

#[test]
fn a_second_daemon_on_the_same_home_names_the_process_of_the_first() {
    let daemon = Daemon::new(&Script::new());
    let pid = daemon.pid().as_raw_nonzero().to_string();
    for line in ["serve", "serve --listen 127.0.0.1:0", "serve --detached"] {
        let told = daemon.machine.run(line).replace(&pid, "[pid]");
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @r"
            exit 1
            --- stderr
            error: the daemon of this home is already running, as process [pid]
            hint: use it, or stop it with `convoke stop`
            ");
        }
    }
    assert_eq!(daemon.get("/healthz").status, 200);
}

#[test]
fn every_polite_signal_ends_it_within_seconds_and_its_agents_and_their_children() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let script = Script::new()
            .ignoring(Ignored::Terminate)
            .ignoring(Ignored::EndOfInput)
            .turn([Step::Spawn("child".to_owned()), Step::say("started"), Step::Hang]);
        let mut daemon = Daemon::new(&script);
        let session = daemon.session();
        daemon.prompt(&session, "go");
        daemon.follow(&session, 0).until(|message| message["content"]["text"] == "started");
        let child = fs::read_to_string(daemon.machine.path().join("root/app/child")).unwrap();
        let child = Pid::from_raw(child.trim().parse().unwrap()).unwrap();
        assert!(test_kill_process(child).is_ok());
        let (code, took) = daemon.end(signal);
        assert_eq!(code, Some(0));
        assert!(took < Duration::from_secs(5), "{signal:?} took {took:?}");
        let is_gone = || test_kill_process(child).is_err() || is_zombie(child);
        wait::within(Duration::from_secs(2), "the agent's child is gone", is_gone);
        assert!(!daemon.machine.home().join("run/daemon.json").exists());
        daemon.start_again();
        assert_eq!(daemon.get(&format!("/api/sessions/{session}")).status, 200);
    }
}

fn is_zombie(pid: Pid) -> bool {
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

#[test]
fn other_machines_are_let_in_only_on_purpose() {
    let machine = Convoke::new();
    insta::assert_snapshot!(machine.run("serve --listen 0.0.0.0:0"), @r"
    exit 2
    --- stderr
    error: the configuration has an error
      flag --listen: `server.listen`: other machines could reach 0.0.0.0:0
        hint: use 127.0.0.1, or set `allow_remote = true` in [server]
    ");
    insta::assert_snapshot!(machine.run("serve --listen 7717"), @r#"
    exit 2
    --- stderr
    error: the configuration has an error
      flag --listen: `server.listen`: expected an IP address and a port, found `7717`
        hint: where the daemon listens; port 0 picks a free one; by default `listen = "127.0.0.1:7717"`
    "#);
}

#[test]
fn k6_a_daemon_that_starts_has_a_new_token_and_tells_it_to_files_of_its_own_only() {
    let mut daemon = Daemon::new(&Script::new());
    let before = daemon.token().to_owned();
    daemon.kill_and_start();
    assert_ne!(daemon.token(), before);
    let head = format!(
        "GET /api/status HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {before}\r\n",
        daemon.address()
    );
    assert_eq!(daemon.send(&head, "").status, 401);
    assert_eq!(daemon.get("/api/status").status, 200);
    let told = daemon.logged("");
    assert!(!told.is_empty());
    assert!(daemon.logged(daemon.token()).is_empty(), "the token is in the log");
}
