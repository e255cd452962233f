//! A daemon in the foreground, and programs that talk to it over HTTP.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use convoke_testkit::agent::Script;
use convoke_testkit::host::example;
use convoke_testkit::tools::search_path;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::{Value, json};

use crate::convoke::Convoke;

/// How long anything may take: more than the daemon waits for an agent to start.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The smallest picture.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n0000";

/// A machine with a daemon whose agent follows a script.
pub(crate) struct Daemon {
    pub(crate) machine: Convoke,
    child: Child,
    address: String,
    pub(crate) token: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Daemon {
    /// A daemon whose agent follows this script.
    pub(crate) fn new(script: &Script) -> Self {
        Self::with(script, "")
    }

    /// The same with more in the configuration.
    pub(crate) fn with(script: &Script, config: &str) -> Self {
        Self::on(Convoke::new(), script, config)
    }

    /// The same on a machine that is prepared.
    pub(crate) fn on(machine: Convoke, script: &Script, config: &str) -> Self {
        Self::on_path(machine, script, config, &search_path())
    }

    /// The same with another search path.
    pub(crate) fn on_path(machine: Convoke, script: &Script, config: &str, path: &str) -> Self {
        let script_file = machine.path().join("script.json");
        fs::write(&script_file, serde_json::to_vec(script).unwrap()).unwrap();
        fs::create_dir_all(machine.path().join("root/app")).unwrap();
        fs::create_dir_all(machine.path().join("root-evil")).unwrap();
        let config = format!(
            "[agents.scripted]\ncommand = {:?}\nargs = [\"--protocol\", \"acp\", {:?}]\nsandbox = \"off\"\n{config}",
            agent(),
            script_file,
        );
        let machine = machine
            .env("AGENT_WORKSPACE_ROOT", "~/root")
            .env("PATH", path)
            .file("config.toml", config);
        let (child, address, token) = start(&machine);
        Self { machine, child, address, token }
    }

    /// Kills the daemon without a warning, and starts another one.
    pub(crate) fn kill_and_start(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.start_again();
    }

    /// Starts the daemon again, after it ended.
    pub(crate) fn start_again(&mut self) {
        (self.child, self.address, self.token) = start(&self.machine);
    }

    /// Sends the daemon a signal, and tells how it ended and after how long.
    pub(crate) fn end(&mut self, signal: Signal) -> (Option<i32>, Duration) {
        let start = std::time::Instant::now();
        kill_process(self.pid(), signal).unwrap();
        (self.child.wait().unwrap().code(), start.elapsed())
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap()
    }

    /// Says how long files of the daemon's may be; `None` for as long as they like.
    pub(crate) fn limit(&self, bytes: Option<u64>) {
        let maximum = getrlimit(Resource::Fsize).maximum;
        prlimit(Some(self.pid()), Resource::Fsize, Rlimit { current: bytes, maximum }).unwrap();
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Says the head of a request with the token.
    pub(crate) fn head(&self, method: &str, path: &str) -> String {
        let (address, token) = (&self.address, &self.token);
        format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n")
    }

    /// Sends any request, and waits for the whole answer.
    pub(crate) fn send(&self, head: &str, body: &str) -> Answer {
        let mut stream = self.connect();
        let length = body.len();
        let request = format!("{head}connection: close\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Answer::of(&bytes)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    pub(crate) fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let head = self.head(method, path) + "content-type: application/json\r\n";
        self.send(&head, &body.to_string())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(&self.head("GET", path), "")
    }

    /// Adds the project, or finds it, and tells its id.
    pub(crate) fn project(&self) -> Value {
        let path = self.machine.path().join("root/app");
        self.post("/api/repos", &json!({"path": path}));
        self.get("/api/repos").json()["repos"][0]["id"].clone()
    }

    /// Begins a session, and tells its id.
    pub(crate) fn session(&self) -> String {
        self.session_with("scripted")
    }

    /// Begins a session with this agent, and tells its id.
    pub(crate) fn session_with(&self, agent: &str) -> String {
        let body = json!({"repoId": self.project(), "agent": agent});
        let begun = self.post("/api/sessions", &body);
        assert_eq!(begun.status, 201, "{begun:?}");
        begun.json()["id"].as_str().unwrap().to_owned()
    }

    /// Says something.
    pub(crate) fn prompt(&self, session: &str, text: &str) -> Prompt {
        self.prompt_with(session, &json!({"text": text}))
    }

    /// Says something with more than a text.
    fn prompt_with(&self, session: &str, body: &Value) -> Prompt {
        let prompted = self.post(&format!("/api/sessions/{session}/prompt"), body);
        assert_eq!(prompted.status, 202, "{prompted:?}");
        let prompted = prompted.json();
        let id = prompted["messageId"].as_str().unwrap().to_owned();
        Prompt { id, rev: prompted["rev"].as_u64().unwrap() }
    }

    /// Stores a file, to be attached to a prompt.
    pub(crate) fn upload(&self, name: &str, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        let head = self.head("POST", &format!("/api/blobs?name={name}"));
        let length = bytes.len();
        write!(stream, "{head}connection: close\r\ncontent-length: {length}\r\n\r\n").unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Answer::of(&answer)
    }

    /// Says something, waits for the end of the turn, and tells all messages.
    pub(crate) fn turn(&self, session: &str, text: &str) -> Vec<Value> {
        self.turn_with(session, &json!({"text": text}))
    }

    /// The same with more than a text.
    pub(crate) fn turn_with(&self, session: &str, body: &Value) -> Vec<Value> {
        let turn = self.prompt_with(session, body);
        let mut events = self.follow(session, 0);
        events.until(|message| is_end_of(message, &turn));
        self.messages(session)
    }

    pub(crate) fn messages(&self, session: &str) -> Vec<Value> {
        let messages = self.get(&format!("/api/sessions/{session}/messages")).json();
        messages.as_array().unwrap().clone()
    }

    /// Follows a session after a revision.
    pub(crate) fn follow(&self, session: &str, after: u64) -> Events {
        self.follow_with(session, after, BTreeMap::new())
    }

    /// Follows a session after a revision, with the messages that were known then.
    pub(crate) fn follow_with(&self, session: &str, rev: u64, known: Known) -> Events {
        let mut stream = self.connect();
        let head = self.head("GET", &format!("/api/sessions/{session}/events?after={rev}"));
        write!(stream, "{head}\r\n").unwrap();
        Events { lines: BufReader::new(stream), known, rev }
    }

    /// What the log says in lines that contain a text.
    pub(crate) fn logged(&self, text: &str) -> Vec<Value> {
        let mut lines = Vec::new();
        for entry in fs::read_dir(self.machine.home().join("logs")).unwrap() {
            let content = fs::read_to_string(entry.unwrap().path()).unwrap();
            let found = content.lines().filter(|line| line.contains(text));
            lines.extend(found.map(|line| serde_json::from_str(line).unwrap()));
        }
        lines
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Also if a test fails: no daemon may be left running.
        kill_process(self.pid(), Signal::TERM).ok();
        self.child.wait().ok();
    }
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) =
            text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { whole(body) } else { body.to_owned() };
        Self { status, head: head.to_owned(), body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Puts the chunks of a body together.
fn whole(body: &str) -> String {
    let mut whole = String::new();
    let mut rest = body;
    loop {
        let (size, after) = rest.split_once("\r\n").expect("a size");
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return whole;
        }
        whole.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
}

/// A prompt that was accepted.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) id: String,
    /// All that comes of it is newer.
    pub(crate) rev: u64,
}

/// Messages by their ids.
pub(crate) type Known = BTreeMap<String, Value>;

/// Messages as they come.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
    /// All messages that were sent, as they are now.
    pub(crate) known: Known,
    /// The revision of the last update.
    pub(crate) rev: u64,
}

impl Events {
    /// The next message that is new or has changed, as it is then; `None` when the daemon is gone.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.trim_end().to_owned();
            }
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let data: Value = serde_json::from_str(data).unwrap();
            self.rev = data["rev"].as_u64().unwrap_or(self.rev);
            let id = data["id"].as_str().unwrap_or_default().to_owned();
            match name.as_str() {
                "message" => {
                    self.known.insert(id, data.clone());
                    return Some(data);
                }
                "delta" => {
                    let message = self.known.get_mut(&id).expect("a delta of a known message");
                    let text = message["content"]["text"].as_str().unwrap();
                    let longer = format!("{text}{}", data["text"].as_str().unwrap());
                    message["content"]["text"] = json!(longer);
                    message["rev"] = data["rev"].clone();
                    return Some(message.clone());
                }
                _ => {}
            }
        }
    }

    /// All messages that were sent, by place.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let mut messages: Vec<Value> = self.known.values().cloned().collect();
        messages.sort_by_key(|message| message["seq"].as_u64());
        messages
    }

    /// Waits for a message, and gives it.
    pub(crate) fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().expect("the daemon is gone");
            if is_it(&message) {
                return message;
            }
        }
    }
}

/// Whether a message is a prompt whose turn has ended.
pub(crate) fn is_end_of(message: &Value, prompt: &Prompt) -> bool {
    message["id"] == prompt.id.as_str() && has_ended(message)
}

/// Whether a message is any prompt whose turn has ended.
pub(crate) fn has_ended(message: &Value) -> bool {
    message["turn"]["status"] == "ended"
}

/// Starts a daemon, and waits until it is ready.
fn start(machine: &Convoke) -> (Child, String, String) {
    let mut command = machine.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("Convoke is ready at http://").expect(&line);
    let file = fs::read(machine.home().join("run/daemon.json")).unwrap();
    let daemon: Value = serde_json::from_slice(&file).unwrap();
    (child, address.to_owned(), daemon["token"].as_str().unwrap().to_owned())
}

/// What the agent said in messages.
pub(crate) fn said(messages: &[Value]) -> String {
    let words = messages.iter().filter(|message| message["role"] == "agent");
    words.filter_map(|message| message["content"]["text"].as_str()).collect()
}

/// The script of an agent that takes images.
pub(crate) fn takes_images() -> Script {
    Script::new().capabilities(
        json!({"loadSession": true, "promptCapabilities": {"image": true, "embeddedContext": true}}),
    )
}

/// An agent that follows scripts.
pub(crate) fn agent() -> PathBuf {
    example("spawned_agent")
}
