//! Two daemons on one PostgreSQL: what it costs that a session is another node's.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};
use convoke_testkit::postgres::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const ROWS: [&str; 2] = [
    "nodes: prompt to a session on another node",
    "nodes: added latency of an update for a watcher on another node",
];

/// Prompts from each of the nodes.
const PROMPTS: (usize, usize) = (60, 3);
/// How long anything may take.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    let [prompt, update] = ROWS;
    if !bench.wants(&ROWS) {
        return Ok(());
    }
    bench.progress("two nodes on one PostgreSQL")?;
    let server = Server::start(&["fsync=on"])?;
    let database = server.database();
    let here = Node::start(program, "here", &database.url)?;
    let there = Node::start(program, "there", &database.url)?;
    let project = here.home.path().join("project");
    let added = here.call("POST", "/api/repos", &json!({"path": project}))?;
    let new = json!({"repoId": added.get("id"), "agent": "demo"});
    let begun = here.call("POST", "/api/sessions", &new)?;
    let session = begun.get("id").and_then(Value::as_str).ok_or("no session was begun")?;
    let (at_home, afar) = (here.follow(session)?, there.follow(session)?);
    let (mut local, mut remote) = (Vec::new(), Vec::new());
    let (mut seen, mut delays) = (HashMap::new(), Vec::new());
    let path = format!("/api/sessions/{session}/prompt");
    let rounds = bench.size(PROMPTS.0, PROMPTS.1);
    for round in 0..2 * (rounds + 1) {
        let (node, times) =
            if round % 2 == 0 { (&here, &mut local) } else { (&there, &mut remote) };
        let start = Instant::now();
        node.call("POST", &path, &json!({"text": format!("round {round} of words to say")}))?;
        times.push(start.elapsed().as_secs_f64());
        for update in until_end(&at_home)? {
            seen.insert(update.rev, update.at);
        }
        for update in until_end(&afar)? {
            // Updates that came together at home may come as one afar.
            if let Some(at) = seen.get(&update.rev) {
                delays.push(update.at.saturating_duration_since(*at).as_secs_f64());
            }
        }
    }
    // The first of each warms up.
    let median = |times: Vec<f64>| times.into_iter().skip(1).collect::<Samples>().median();
    bench.add(
        Row::new(prompt, Unit::Seconds, median(remote))
            .against("prompt to a session on the same node", median(local))
            .goal(Goal::ExcessAtMost(0.015)),
    )?;
    bench.add(Row::new(update, Unit::Seconds, median(delays)).goal(Goal::AtMost(0.025)))
}

/// An update as a watcher got it.
struct Arrived {
    rev: u64,
    at: Instant,
    ends_turn: bool,
}

/// All updates up to the end of the turn.
fn until_end(arrived: &Receiver<Arrived>) -> Result<Vec<Arrived>> {
    let mut updates = Vec::new();
    loop {
        let update = arrived.recv_timeout(TIMEOUT)?;
        let ends_turn = update.ends_turn;
        updates.push(update);
        if ends_turn {
            return Ok(updates);
        }
    }
}

/// A daemon, ended when it is dropped.
struct Node {
    child: Child,
    home: TempDir,
    address: String,
    token: String,
}

impl Node {
    fn start(program: &Path, name: &str, url: &str) -> Result<Self> {
        let home = crate::new_home()?;
        fs::create_dir(home.path().join("project"))?;
        let config = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nurl = \"{url}\"\n[node]\nname = \"{name}\"\n"
        );
        let state = home.path().join("state");
        fs::create_dir(&state)?;
        fs::write(state.join("config.toml"), config)?;
        fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        let mut command = Command::new(program);
        command.args(["serve", "--home"]).arg(&state).current_dir(home.path());
        // Projects are below it.
        command.env("HOME", home.path());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut node = Self { child, home, address: String::new(), token: String::new() };
        let deadline = Instant::now() + TIMEOUT;
        while node.address.is_empty() {
            let text = fs::read(state.join("run/daemon.json")).unwrap_or_default();
            let said: Value = serde_json::from_slice(&text).unwrap_or_default();
            let field = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default();
            let address = field("url").trim_start_matches("http://").trim_end_matches('/');
            (node.address, node.token) = (address.to_owned(), field("token").to_owned());
            if Instant::now() > deadline {
                return Err("a node does not serve".into());
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(node)
    }

    fn request(&self, head: &str, body: &str) -> Result<TcpStream> {
        let (address, token, length) = (&self.address, &self.token, body.len());
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        let head = format!(
            "{head}\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes())?;
        Ok(stream)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let mut stream = self.request(&format!("{method} {path} HTTP/1.0"), &body.to_string())?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let (head, body) = text.split_once("\r\n\r\n").ok_or("no answer")?;
        let status = head.split(' ').nth(1).unwrap_or_default();
        if !status.starts_with('2') {
            return Err(format!("{method} {path}: {status} {body}").into());
        }
        Ok(serde_json::from_str(body)?)
    }

    /// Follows a session from its beginning.
    fn follow(&self, session: &str) -> Result<Receiver<Arrived>> {
        let stream = self.request(&format!("GET /api/sessions/{session}/events HTTP/1.0"), "")?;
        let (sender, receiver) = channel();
        thread::spawn(move || read_events(stream, &sender));
        Ok(receiver)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // One that has ended already need not be ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Hands on every event, until the stream or its reader is gone.
fn read_events(stream: TcpStream, sender: &Sender<Arrived>) {
    for line in BufReader::new(stream).lines().map_while(std::result::Result::ok) {
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let at = Instant::now();
        let data: Value = serde_json::from_str(data).unwrap_or_default();
        let rev = data.get("rev").and_then(Value::as_u64).unwrap_or_default();
        let status = data.pointer("/turn/status").and_then(Value::as_str);
        let arrived = Arrived { rev, at, ends_turn: status == Some("ended") };
        if sender.send(arrived).is_err() {
            return;
        }
    }
}
