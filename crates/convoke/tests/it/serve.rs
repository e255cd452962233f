//! `convoke serve` as its users meet it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use convoke_testkit::agent::{Ignored, Script, Step};
use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::Daemon;

#[test]
fn it_says_where_it_is_and_lets_in_who_has_the_link() {
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
    let head = format!("GET /?token={} HTTP/1.1\r\nhost: {}\r\n", daemon.token(), daemon.address());
    let welcomed = daemon.send(&head, "");
    assert_eq!((welcomed.status, welcomed.header("location")), (303, Some("/")));
    let cookie = welcomed.header("set-cookie").unwrap().split(';').next().unwrap();
    let head = format!("GET / HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\n", daemon.address());
    assert_eq!(daemon.send(&head, "").status, 200);
}

#[test]
fn a_second_daemon_on_the_same_home_is_told_of_the_first() {
    let daemon = Daemon::new(&Script::new());
    let pid = daemon.pid().as_raw_nonzero().to_string();
    for line in ["serve", "serve --listen 127.0.0.1:0", "serve --detached"] {
        let told = daemon.machine.run(line).replace(&pid, "[pid]");
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @r"
            exit 1
            --- stderr
            error: the daemon of this home is running already, as process [pid]
            hint: use it as it is, or end it with `convoke stop`
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
        let start = std::time::Instant::now();
        while !is_gone() && start.elapsed() < Duration::from_secs(2) {
            std::thread::yield_now();
        }
        assert!(is_gone(), "a child of an agent is left");
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
    error: there is a mistake in the configuration
      flag --listen: `server.listen`: other machines could reach 0.0.0.0:0
        hint: use 127.0.0.1, or set `allow_remote = true` in [server]
    ");
    insta::assert_snapshot!(machine.run("serve --listen 7717"), @r#"
    exit 2
    --- stderr
    error: there is a mistake in the configuration
      flag --listen: `server.listen`: expected an IP address and a port, found `7717`
        hint: where the daemon listens; port 0 picks a free one; by default `listen = "127.0.0.1:7717"`
    "#);
}

#[test]
fn a_browser_keeps_its_cookie_when_the_daemon_comes_back() {
    let mut daemon = Daemon::new(&Script::new());
    let token = daemon.token().to_owned();
    daemon.kill_and_start();
    assert_eq!(daemon.token(), token);
}

#[test]
fn it_opens_the_browser_with_a_link_that_works_once() {
    let machine = Convoke::new().file("config.toml", "[server]\nlisten = \"127.0.0.1:0\"\n");
    let opened = machine.path().join("opened");
    fs::create_dir(machine.path().join("bin")).unwrap();
    let browser = machine.path().join("bin/xdg-open");
    fs::write(
        &browser,
        format!("#!/bin/sh\necho \"$1\" > {0}.new && mv {0}.new {0}\n", opened.display()),
    )
    .unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", machine.path().join("bin").display());
    let mut command = machine.command(&["serve", "--open"]);
    let mut child = command.env("PATH", path).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let start = std::time::Instant::now();
    while !opened.exists() && start.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    let link = fs::read_to_string(&opened).unwrap();
    let (address, token) =
        link.trim().strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
    let ask = || {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        write!(
            stream,
            "GET /?token={token} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        (ask(), ask()),
        ("HTTP/1.1 303 See Other".to_owned(), "HTTP/1.1 401 Unauthorized".to_owned())
    );
    child.kill().unwrap();
    child.wait().unwrap();
}
