//! K4: however much an agent says, the daemon holds little of it, and so does every way of reading it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use convoke_testkit::agent::{Script, Step};
use serde_json::json;

use crate::serve_scene::Daemon;
use crate::socket_scene::Socket;

const MIB: u64 = 1 << 20;
/// What one turn says.
const FLOOD: usize = 200 << 20;
/// What the daemon may take, also when it is built for debugging.
const RESIDENT_MAX: u64 = 150 * MIB;
/// What a watcher that does not read may cost.
const WATCHER_MAX: u64 = MIB;

/// What the daemon takes now, and what it took at most.
fn memory(daemon: &Daemon) -> (u64, u64) {
    let path = format!("/proc/{}/status", daemon.pid().as_raw_nonzero());
    let status = fs::read_to_string(path).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    };
    (field("VmRSS:"), field("VmHWM:"))
}

fn assert_small(daemon: &Daemon, when: &str) {
    let (now, most) = memory(daemon);
    assert!(most < RESIDENT_MAX, "{when}: {} MiB, {} MiB at most", now / MIB, most / MIB);
}

/// Reads events until the turn has ended, and tells how many bytes that were.
fn read_events(daemon: &Daemon, session: &str) -> u64 {
    let mut stream = daemon.connect();
    let head = daemon.head("GET", &format!("/api/sessions/{session}/events"));
    write!(stream, "{head}\r\n").unwrap();
    let (mut lines, mut line, mut bytes) = (BufReader::new(stream), Vec::new(), 0);
    while !String::from_utf8_lossy(&line).contains("\"status\":\"ended\"") {
        line.clear();
        let read = lines.read_until(b'\n', &mut line).unwrap();
        assert!(read > 0, "the stream broke off");
        assert!(line.len() as u64 <= MIB, "a line of {} bytes", line.len());
        bytes += read as u64;
    }
    bytes
}

/// Reads an answer to its end, and tells how many bytes that were.
fn read_answer(daemon: &Daemon, path: &str) -> u64 {
    let mut stream = daemon.connect();
    write!(stream, "{}connection: close\r\n\r\n", daemon.head("GET", path)).unwrap();
    let (mut buffer, mut bytes) = (vec![0; 1 << 20], 0);
    loop {
        match stream.read(&mut buffer).unwrap() {
            0 => return bytes,
            read => bytes += read as u64,
        }
    }
}

/// Opens the session over a socket and pages backwards some of the way.
fn read_frames(daemon: &Daemon, session: &str, render: bool) {
    let mut socket = Socket::open(daemon);
    socket.say(&json!({"type": "session:open", "sessionId": session, "render": render}));
    let mut page = socket.until("session:history");
    for _ in 0..20 {
        let entries = page["entries"].as_array().unwrap();
        assert!(!entries.is_empty() && page["more"] == true, "{} entries", entries.len());
        let before = &entries[0]["seq"];
        let ask = json!({"type": "session:page", "sessionId": session, "before": before, "render": render});
        socket.say(&ask);
        page = socket.until("session:page");
    }
}

#[test]
fn k4_a_turn_of_200_mb_leaves_the_daemon_small_however_it_is_read() {
    let script = Script::new().turn([Step::Flood(FLOOD)]);
    let daemon = Daemon::with(&script, "[limits]\nturn_bytes = 1073741824\n");
    let session = daemon.session();
    daemon.prompt(&session, "flood");
    assert!(read_events(&daemon, &session) > FLOOD as u64, "all of it is followed");
    assert_small(&daemon, "after the turn, which was followed");
    read_frames(&daemon, &session, false);
    read_frames(&daemon, &session, true);
    assert_small(&daemon, "after the session was opened");
    let shown = daemon.machine.command(&["session", "show", &session]).output().unwrap();
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    assert_small(&daemon, "after the command line has shown it");
    // Those who do not read.
    let (before, _) = memory(&daemon);
    let mut watchers: Vec<TcpStream> = Vec::new();
    for _ in 0..20 {
        let mut stream = daemon.connect();
        let head = daemon.head("GET", &format!("/api/sessions/{session}/events"));
        write!(stream, "{head}\r\n").unwrap();
        watchers.push(stream);
        let mut socket = Socket::open(&daemon);
        socket.say(&json!({"type": "session:open", "sessionId": session, "after": 1}));
        watchers.push(socket.0);
    }
    // A client that reads meanwhile gets everything, and by then the watchers have got stuck.
    let messages = format!("/api/sessions/{session}/messages");
    assert!(read_answer(&daemon, &messages) > FLOOD as u64, "all of it is listed");
    let (after, _) = memory(&daemon);
    let cost = after.saturating_sub(before) / watchers.len() as u64;
    assert!(cost <= WATCHER_MAX, "{cost} bytes for each of {} watchers", watchers.len());
    assert_small(&daemon, "with watchers that do not read");
}

#[test]
fn k4_by_default_a_turn_of_200_mb_is_cancelled_and_the_notice_names_the_setting() {
    let script = Script::new().when("flood", [Step::Flood(FLOOD)]);
    let daemon = Daemon::new(&script);
    let session = daemon.session();
    daemon.prompt(&session, "flood");
    read_events(&daemon, &session);
    // A follower that falls behind is sent growing messages again, so what is stored is counted.
    let bytes = read_answer(&daemon, &format!("/api/sessions/{session}/messages"));
    assert!(bytes < 100 * MIB, "{bytes} bytes were stored");
    assert_small(&daemon, "after the turn");
    let mut socket = Socket::open(&daemon);
    socket.say(&json!({"type": "session:open", "sessionId": session}));
    let history = socket.until("session:history").to_string();
    assert!(history.contains("limits.turn_bytes"), "the notice is at the end");
    // The session goes on.
    daemon.prompt(&session, "hello");
    socket.until("session:complete");
}
