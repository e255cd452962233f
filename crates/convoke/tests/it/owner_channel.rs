//! K5: the owner's commands reach the daemon while agents flood it, take its descriptors, or try the same way in.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use convoke_testkit::wait;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use serde_json::Value;

use crate::convoke::Convoke;
use crate::daemon_scene::Scene;

/// How long a command may take: a second is the aim, and the machine may be busy with other tests.
const LIMIT: Duration = Duration::from_secs(5);
/// How long a request over TCP may take: it stands in one queue with all that the attackers open meanwhile.
const TCP_LIMIT: Duration = Duration::from_secs(30);
/// Connections that each of the attackers opens.
const CONNECTIONS: usize = 2000;

/// What the daemon of a machine says about itself.
fn daemon_file(machine: &Convoke) -> Value {
    let text = fs::read(machine.home().join("run/daemon.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Where the daemon listens, as a Host.
fn host(daemon: &Value) -> String {
    text(&daemon["url"]).strip_prefix("http://").unwrap().to_owned()
}

/// Runs a command, which must succeed in time, and gives what it printed.
#[expect(clippy::print_stdout, reason = "what was measured is shown with a failure")]
fn in_time(machine: &Convoke, args: &[&str]) -> String {
    let start = Instant::now();
    let output = machine.command(args).output().unwrap();
    let took = start.elapsed();
    println!("{args:?} took {} ms", took.as_millis());
    assert!(output.status.success(), "{args:?}: {output:?}");
    assert!(took < LIMIT, "{args:?} took {took:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Asks through a stream that is open, and gives status and answer.
fn ask(mut stream: impl std::io::Read + std::io::Write, host: &str, token: Option<&str>) -> String {
    let token = token.map_or(String::new(), |it| format!("authorization: Bearer {it}\r\n"));
    let head =
        format!("GET /api/status HTTP/1.1\r\nhost: {host}\r\n{token}connection: close\r\n\r\n");
    let mut answer = Vec::new();
    // One that is closed to make room says nothing.
    stream.write_all(head.as_bytes()).and_then(|()| stream.read_to_end(&mut answer)).ok();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn k5_the_control_socket_is_private_and_asks_for_the_token() {
    let scene = Scene::new();
    scene.session();
    let daemon = daemon_file(&scene.machine);
    let socket = scene.machine.home().join("run/control.sock");
    assert_eq!(text(&daemon["control"]), socket.to_str().unwrap());
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let call = |token| ask(UnixStream::connect(&socket).unwrap(), &host(&daemon), token);
    let served = call(Some(text(&daemon["token"])));
    assert!(served.starts_with("HTTP/1.1 200 "), "{served}");
    let refused = call(None);
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    scene.run("stop");
    assert!(!socket.exists());
}

#[test]
fn k5_a_process_that_is_confined_more_than_the_daemon_is_refused_even_with_the_token() {
    let scene = Scene::new();
    scene.session();
    let run = |wrapper: &[&str]| {
        let output = scene.machine.command_under(wrapper, &["inbox", "list"]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = run(&["/usr/bin/setpriv", "--no-new-privs"]);
    assert_eq!(code, Some(3), "{told}");
    for words in ["refuses this command", "is confined more than the daemon is", "NoNewPrivs"] {
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(run(&["/usr/bin/setpriv"]), (Some(0), String::new()), "the same, not confined");
}

#[test]
fn k5_a_confined_command_is_served_by_a_daemon_that_is_confined_likewise() {
    let scene = Scene::on(Convoke::new().under(&["/usr/bin/setpriv", "--no-new-privs"]));
    scene.session();
    let told = scene.run("inbox list");
    assert!(told.starts_with("exit 0\n"), "{told}");
}

/// Attackers that open connections without a token, and keep as many as they can.
struct Flood {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Flood {
    /// Begins, and returns when each attacker has opened its number of connections.
    fn start(host: &str) -> Self {
        let limit = getrlimit(Resource::Nofile);
        let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
        setrlimit(Resource::Nofile, wanted).unwrap();
        let upgrade = "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n\
                       sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        let heads = [
            format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n"),
            format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\nx-slow: "),
            format!("GET /ws HTTP/1.1\r\nhost: {host}\r\n{upgrade}"),
        ];
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        let mut opened = Vec::new();
        for head in heads {
            let count = Arc::new(AtomicUsize::new(0));
            let (stop, host) = (Arc::clone(&stop), host.to_owned());
            opened.push(Arc::clone(&count));
            threads.push(std::thread::spawn(move || attack(&host, &head, &stop, &count)));
        }
        wait::until("every attacker has its connections", || {
            opened.iter().all(|count| count.load(Ordering::Relaxed) >= CONNECTIONS)
        });
        Self { stop, threads }
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

/// Opens connections and keeps the newest; begins again with those that were closed.
fn attack(host: &str, head: &str, stop: &AtomicBool, count: &AtomicUsize) {
    let mut kept = VecDeque::new();
    while !stop.load(Ordering::Relaxed) {
        // No descriptor of ours may be left, or the daemon's queue may be full.
        if let Ok(mut stream) = TcpStream::connect(host) {
            stream.write_all(head.as_bytes()).ok();
            kept.push_back(stream);
            count.fetch_add(1, Ordering::Relaxed);
        }
        if kept.len() >= CONNECTIONS {
            kept.pop_front();
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "what was measured is shown with a failure")]
fn k5_commands_and_the_page_get_in_while_strangers_hold_thousands_of_connections() {
    let scene = Scene::new();
    let session = scene.session();
    let daemon = daemon_file(&scene.machine);
    let host = host(&daemon);
    let flood = Flood::start(&host);
    let status = in_time(&scene.machine, &["status"]);
    assert!(status.contains("1 active"), "{status}");
    in_time(&scene.machine, &["inbox", "list"]);
    let rules = in_time(&scene.machine, &["rule", "list"]);
    assert!(rules.contains("No rules"), "{rules}");
    in_time(&scene.machine, &["session", "show", &session]);
    in_time(&scene.machine, &["stop", "--agents"]);

    let start = Instant::now();
    let mut tries = 0;
    let mut answer = String::new();
    while !answer.starts_with("HTTP/1.1 200 ") {
        tries += 1;
        assert!(start.elapsed() < TCP_LIMIT, "{tries} tries over TCP, the last: {answer}");
        if let Ok(stream) = TcpStream::connect(&host) {
            stream.set_read_timeout(Some(TCP_LIMIT)).unwrap();
            answer = ask(stream, &host, Some(text(&daemon["token"])));
        }
    }
    println!("over TCP after {} ms and {tries} tries", start.elapsed().as_millis());
    let pid = daemon["pid"].as_u64().unwrap();
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    assert!(open < 1000, "the daemon holds {open} descriptors");
    in_time(&scene.machine, &["stop"]);
    drop(flood);
}

/// A daemon that may have this many descriptors, and no more.
fn start_with_descriptors(machine: &Convoke, count: u32) -> Child {
    let script = format!("ulimit -n {count}; exec \"$0\" \"$@\"");
    let args = ["serve", "--listen", "127.0.0.1:0"];
    let mut command = machine.command_under(&["/bin/sh", "-c", &script], &args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("http://"), "{line}");
    child
}

/// How many TCP sockets a process has open; its sockets to agents, which start and end meanwhile, are others.
fn open_connections(pid: u32) -> usize {
    let tables =
        ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("/proc/net/{name}")).unwrap());
    let inodes: HashSet<&str> = tables
        .iter()
        .flat_map(|table| table.lines().skip(1))
        .filter_map(|line| line.split_whitespace().nth(9))
        .collect();
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let links = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let is_tcp = |link: &PathBuf| {
        let inode = link.to_str().and_then(|link| link.strip_prefix("socket:["));
        inode.is_some_and(|inode| inodes.contains(inode.trim_end_matches(']')))
    };
    links.filter(is_tcp).count()
}

/// Lets a process open nothing more: its limit becomes the first descriptor that is free.
fn take_all_descriptors(pid: u32) {
    let open: HashSet<u64> = fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap())
        .collect();
    let first_free = (0..).find(|number| !open.contains(number)).unwrap();
    let process = Pid::from_raw(i32::try_from(pid).unwrap());
    let limit = Rlimit { current: Some(first_free), maximum: Some(256) };
    prlimit(process, Resource::Nofile, limit).unwrap();
}

#[test]
fn k5_commands_get_in_when_every_descriptor_of_the_daemon_is_taken() {
    let scene = Scene::new();
    let mut child = start_with_descriptors(&scene.machine, 256);
    scene.session();
    let daemon = daemon_file(&scene.machine);
    let host = host(&daemon);
    let connections = || open_connections(child.id());
    let before = connections();
    let held: Vec<TcpStream> = (0..1000).filter_map(|_| TcpStream::connect(&host).ok()).collect();
    in_time(&scene.machine, &["status"]);
    drop(held);
    wait::within(LIMIT, "the closed connections are closed", || connections() <= before);
    take_all_descriptors(child.id());
    let refused = TcpStream::connect(&host).map(|mut stream| {
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        stream.write_all(format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).ok();
        stream.read(&mut [0; 16]).unwrap_or(0)
    });
    assert_eq!(refused.unwrap_or(0), 0, "TCP has no descriptor left");
    for line in ["status", "inbox list", "rule list", "session list", "stop --agents"] {
        in_time(&scene.machine, &line.split(' ').collect::<Vec<_>>());
    }
    in_time(&scene.machine, &["stop"]);
    assert!(child.wait().unwrap().success());
}

#[test]
fn k6_both_loopback_addresses_belong_to_the_daemon() {
    let scene = Scene::new();
    scene.session();
    let daemon = daemon_file(&scene.machine);
    let (_, port) = text(&daemon["url"]).rsplit_once(':').unwrap();
    let other = format!("[::1]:{port}");
    if TcpListener::bind("[::1]:0").is_err() {
        // A machine without IPv6 has no second address to share an origin with.
        return;
    }
    let answer = ask(TcpStream::connect(&other).unwrap(), &other, Some(text(&daemon["token"])));
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(TcpListener::bind(&other).is_err(), "an agent must not get this address");
}

#[test]
fn k6_a_daemon_does_not_start_beside_a_program_on_the_other_loopback() {
    let Ok(other) = TcpListener::bind("[::1]:0") else {
        // A machine without IPv6 has no such program.
        return;
    };
    let port = other.local_addr().unwrap().port();
    let told = Convoke::new().run(&format!("serve --listen 127.0.0.1:{port}"));
    let told = told.replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(told, @"
    exit 1
    --- stderr
    error: cannot listen on [::1]:PORT
      Address already in use (os error 98)
    hint: let it pick a free port: `--listen 127.0.0.1:0`
    ");
}

#[test]
fn k5_stop_ends_a_daemon_that_does_not_answer() {
    let scene = Scene::new();
    scene.session();
    let pid = daemon_file(&scene.machine)["pid"].as_u64().unwrap().to_string();
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    };
    signal("-STOP");
    let mut stop = scene.machine.command(&["stop"]).stdout(Stdio::piped()).spawn().unwrap();
    let pending = |status: &str| {
        status.lines().any(|line| {
            let (name, mask) = line.split_once(':').unwrap_or_default();
            // SIGTERM is signal 15.
            name == "ShdPnd" && u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << 14) != 0
        })
    };
    wait::within(LIMIT, "it is told to end", || {
        pending(&fs::read_to_string(format!("/proc/{pid}/status")).unwrap())
    });
    signal("-CONT");
    assert!(stop.wait().unwrap().success());
}
