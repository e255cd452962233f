//! `convoke mcp` as the daemon's own agents have it: lines in and out, and the daemon's `/mcp` behind them.
//!
//! The daemon here is written by hand, byte by byte, so that it can be as odd as no real one is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::convoke::Convoke;

const TIMEOUT: Duration = Duration::from_secs(20);

/// What must be noticed within a second, on a machine that may be busy with other tests.
pub(crate) const SOON: Duration = Duration::from_secs(5);

/// An agent that talks to the program, and the program.
pub(crate) struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Agent {
    fn start(url: &str) -> Self {
        Self::on(&Convoke::new(), url, "a-secret")
    }

    /// On a machine, with a way to its daemon.
    pub(crate) fn on(machine: &Convoke, url: &str, token: &str) -> Self {
        let mut command = machine.command(&["mcp"]);
        command.env("CONVOKE_MCP_URL", url).env("CONVOKE_MCP_TOKEN", token);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (out, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                out.send(line.unwrap()).ok();
            }
        });
        Self { child, input, lines }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.say(&message.to_string());
    }

    pub(crate) fn receives(&self) -> Value {
        let line = self.lines.recv_timeout(TIMEOUT).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Goes away; tells the exit code, and what was still said.
    pub(crate) fn leaves(mut self) -> (i32, Vec<String>) {
        drop(self.input.take());
        let code = self.child.wait().unwrap().code().unwrap();
        (code, self.lines.iter().collect())
    }
}

/// A daemon in the hands of a test.
struct Daemon {
    url: String,
    happenings: Receiver<Happening>,
}

enum Happening {
    Request(Request),
    /// A connection was closed by the other side.
    Closed,
}

/// A request that wants to be answered.
struct Request {
    head: String,
    body: Value,
    stream: TcpStream,
}

impl Daemon {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (out, happenings) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let out = out.clone();
                std::thread::spawn(move || listen(&stream.unwrap(), &out));
            }
        });
        Self { url, happenings }
    }

    fn gets(&self) -> Request {
        match self.happenings.recv_timeout(TIMEOUT).unwrap() {
            Happening::Request(request) => request,
            Happening::Closed => panic!("a connection was closed"),
        }
    }

    fn sees_a_connection_close(&self) {
        match self.happenings.recv_timeout(TIMEOUT).unwrap() {
            Happening::Closed => {}
            Happening::Request(request) => panic!("a request instead: {}", request.body),
        }
    }
}

/// Reads requests from a connection until it is closed.
fn listen(stream: &TcpStream, out: &Sender<Happening>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                out.send(Happening::Closed).ok();
                return;
            }
        }
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        let body = serde_json::from_slice(&body).unwrap();
        let stream = stream.try_clone().unwrap();
        out.send(Happening::Request(Request { head, body, stream })).ok();
    }
}

impl Request {
    fn has(&self, header: &str) -> bool {
        self.head.lines().any(|line| line == header)
    }

    fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    fn answer(mut self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        self.write(&format!(
            "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}"
        ));
    }

    fn answer_json(self, body: &Value) {
        self.answer("200 OK", "content-type: application/json\r\n", &body.to_string());
    }

    fn begin_events(&mut self) {
        self.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    }

    fn chunk(&mut self, text: &str) {
        self.write(&format!("{:x}\r\n{text}\r\n", text.len()));
    }

    fn end_events(&mut self) {
        self.write("0\r\n\r\n");
    }
}

fn call(id: &Value, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

fn result(id: &Value, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}})
}

#[test]
fn q19_an_agent_of_the_daemon_reaches_it_through_its_own_standard_input() {
    let (daemon, machine) = (Daemon::start(), Convoke::new());
    let mut agent = Agent::on(&machine, &daemon.url, "a-secret");
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}});
    agent.send(&hello);
    let request = daemon.gets();
    assert_eq!(request.body, hello);
    assert!(request.head.starts_with("post /mcp http/1.1\r\n"), "{}", request.head);
    for header in [
        "accept: application/json, text/event-stream",
        "content-type: application/json",
        "authorization: bearer a-secret",
        "mcp-method: initialize",
    ] {
        assert!(request.has(header), "{header} in {}", request.head);
    }
    assert!(!request.head.contains("mcp-protocol-version"), "{}", request.head);
    let welcome = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-06-18", "capabilities": {}}});
    let headers = "content-type: application/json\r\nmcp-session-id: s-1\r\n";
    request.answer("200 OK", headers, &serde_json::to_string_pretty(&welcome).unwrap());
    assert_eq!(agent.receives(), welcome);
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let request = daemon.gets();
    assert!(request.has("mcp-protocol-version: 2025-06-18"), "{}", request.head);
    assert!(request.has("mcp-session-id: s-1"), "{}", request.head);
    request.answer("202 Accepted", "", "");
    agent.send(&call(&json!("one"), "ask_user_questions"));
    let request = daemon.gets();
    assert!(request.has("mcp-method: tools/call"), "{}", request.head);
    assert!(request.has("mcp-name: ask_user_questions"), "{}", request.head);
    request.answer_json(&result(&json!("one"), "→ Yes"));
    assert_eq!(agent.receives(), result(&json!("one"), "→ Yes"));
    assert!(!machine.home().exists(), "the home is out of reach for a confined agent");
    assert_eq!(agent.leaves(), (0, vec![]));
}

#[test]
fn events_come_back_as_lines_while_the_call_goes_on() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    agent.send(&call(&json!(1), "ask_user_questions"));
    let mut request = daemon.gets();
    request.begin_events();
    let progress =
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 5}});
    request.chunk(&format!(
        ": hello\r\n\r\nid: 0\r\nretry: 3000\r\ndata:\r\n\r\ndata: {progress}\n\n"
    ));
    assert_eq!(agent.receives(), progress);
    // An answer on many lines, cut in the middle of a letter's bytes.
    let text = serde_json::to_string_pretty(&result(&json!(1), "ä")).unwrap();
    let event = text.lines().map(|line| format!("data: {line}\n")).collect::<String>() + "\n";
    let middle = event.find('ä').unwrap() + 1;
    request.write(&format!("{middle:x}\r\n"));
    request.stream.write_all(&event.as_bytes()[..middle]).unwrap();
    request.write("\r\n");
    request.write(&format!("{:x}\r\n", event.len() - middle));
    request.stream.write_all(&event.as_bytes()[middle..]).unwrap();
    request.write("\r\n");
    assert_eq!(agent.receives(), result(&json!(1), "ä"));
    request.end_events();
    assert_eq!(agent.leaves().0, 0);
}

#[test]
fn many_calls_run_at_once_and_each_gets_its_own_answer() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    for id in 0..20 {
        agent.send(&call(&json!(id), "get_answered_questions"));
    }
    let mut requests: Vec<Request> = (0..20).map(|_| daemon.gets()).collect();
    requests.sort_by_key(|request| std::cmp::Reverse(request.body["id"].as_i64()));
    for request in requests {
        let id = request.body["id"].clone();
        request.answer_json(&result(&id, "done"));
        assert_eq!(agent.receives(), result(&id, "done"));
    }
}

#[test]
fn q4_a_cancelled_call_closes_its_connection_at_once() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    for (id, answers) in [(json!("a"), false), (json!(7), true)] {
        agent.send(&call(&id, "ask_user_questions"));
        let mut request = daemon.gets();
        if answers {
            request.begin_events();
            request.chunk("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n");
            agent.receives();
        }
        let start = Instant::now();
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
        let mut told = Vec::new();
        for _ in 0..2 {
            match daemon.happenings.recv_timeout(TIMEOUT).unwrap() {
                Happening::Closed => told.push("closed".to_owned()),
                Happening::Request(request) => {
                    told.push(request.body["method"].as_str().unwrap().to_owned());
                    request.answer("202 Accepted", "connection: keep-alive\r\n", "");
                }
            }
        }
        told.sort();
        assert_eq!(told, ["closed", "notifications/cancelled"]);
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    }
    // The next call is none the worse for it, and the cancelled ones are not answered.
    agent.send(&call(&json!(8), "get_answered_questions"));
    daemon.gets().answer_json(&result(&json!(8), "done"));
    assert_eq!(agent.receives(), result(&json!(8), "done"));
}

#[test]
fn q4_a_client_that_goes_away_closes_every_connection() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    agent.send(&call(&json!(1), "ask_user_questions"));
    let mut waiting = daemon.gets();
    waiting.begin_events();
    agent.send(&call(&json!(2), "ask_user_questions"));
    let silent = daemon.gets();
    let start = Instant::now();
    assert_eq!(agent.leaves(), (0, vec![]));
    daemon.sees_a_connection_close();
    daemon.sees_a_connection_close();
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    drop((waiting, silent));
}

#[test]
fn q4_a_killed_agent_closes_its_connections() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    agent.send(&call(&json!(1), "ask_user_questions"));
    let _request = daemon.gets();
    std::process::Command::new("kill").arg(agent.child.id().to_string()).status().unwrap();
    daemon.sees_a_connection_close();
    assert_eq!(agent.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_call_that_was_about_to_be_answered_is_answered_after_the_last_word() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    agent.send(&call(&json!(1), "get_answered_questions"));
    drop(agent.input.take());
    daemon.gets().answer_json(&result(&json!(1), "done"));
    assert_eq!(agent.receives(), result(&json!(1), "done"));
    assert_eq!(agent.leaves().0, 0);
}

#[test]
fn an_unreachable_daemon_is_an_error_for_each_request_with_its_id_and_a_way_out() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut agent = Agent::start(&format!("http://{closed}/mcp"));
    for id in [json!(1), json!("two"), json!(3)] {
        agent.send(&call(&id, "ask_user_questions"));
        let said = format!(
            "cannot reach the daemon: cannot connect to http://{closed}/mcp: Connection refused (os error 111) \
             (check whether it is running: `convoke status`)"
        );
        let expected =
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": said}});
        assert_eq!(agent.receives(), expected);
    }
    // What wants no answer gets none.
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(agent.leaves(), (0, vec![]));
}

#[test]
fn a_daemon_that_refuses_or_breaks_off_is_an_error_with_the_id() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    let mut told = Vec::new();
    let mut ask = |answer: &dyn Fn(Request)| {
        agent.send(&call(&json!(5), "ask_user_questions"));
        answer(daemon.gets());
        let heard = agent.receives();
        assert_eq!(heard["id"], 5);
        told.push(heard["error"]["message"].as_str().unwrap().replace(&daemon.url, "[url]"));
    };
    let problem = json!({"type": "about:blank", "title": "Unauthorized", "status": 401, "detail": "this token opens nothing", "code": "unauthorized"});
    ask(&|request| {
        request.answer(
            "401 Unauthorized",
            "content-type: application/problem+json\r\n",
            &problem.to_string(),
        );
    });
    ask(&|request| request.answer("502 Bad Gateway", "", "<html>oops</html>"));
    ask(&|request| request.answer("202 Accepted", "", ""));
    ask(&|mut request| {
        request.begin_events();
        request.chunk(": nothing\n\n");
        request.end_events();
    });
    ask(&|mut request| {
        request.begin_events();
        request.stream.shutdown(std::net::Shutdown::Both).unwrap();
    });
    insta::assert_snapshot!(told.join("\n"), @"
    cannot reach the daemon: this token opens nothing (if another program restarted the daemon, run `convoke stop` and try again)
    cannot reach the daemon: unexpected response from [url]: status 502, <html>oops</html> (if that daemon is of another version, run `convoke stop` and try again)
    the daemon ended the call without an answer
    the daemon ended the call without an answer
    cannot reach the daemon: the connection to [url] was lost: error reading a body from connection: unexpected EOF during chunk size line (check whether it is running: `convoke status`)
    ");
}

#[test]
fn a_refusal_in_the_words_of_the_protocol_is_passed_on() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    agent.send(&call(&json!(5), "sing"));
    let refusal = json!({"jsonrpc": "2.0", "id": 5, "error": {"code": -32602, "message": "unknown tool: sing"}});
    let json = "content-type: application/json\r\n";
    daemon.gets().answer("400 Bad Request", json, &refusal.to_string());
    assert_eq!(agent.receives(), refusal);
}

#[test]
fn lines_that_are_no_messages_are_told_so_and_the_rest_goes_on() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    for (line, code) in
        [("{\"jsonrpc\":", -32700), ("hello", -32700), ("5", -32600), ("{\"method\": 5}", -32600)]
    {
        agent.say("");
        agent.say(line);
        let heard = agent.receives();
        assert_eq!(
            (&heard["id"], heard["error"]["code"].as_i64()),
            (&Value::Null, Some(code)),
            "{line}: {heard}"
        );
    }
    agent.say(&"x".repeat(9 << 20));
    assert_eq!(
        agent.receives()["error"]["message"],
        "Parse error: a line of more than 8388608 bytes"
    );
    agent.say(&format!("[{}, {}]", call(&json!(1), "a"), call(&json!(2), "b")));
    for _ in 0..2 {
        let request = daemon.gets();
        let id = request.body["id"].clone();
        request.answer_json(&result(&id, "done"));
    }
    let mut ids = [agent.receives(), agent.receives()].map(|heard| heard["id"].as_i64());
    ids.sort_unstable();
    assert_eq!(ids, [Some(1), Some(2)]);
}

#[test]
fn a_client_of_the_newest_protocol_says_its_version_with_every_message() {
    let daemon = Daemon::start();
    let mut agent = Agent::start(&daemon.url);
    let mut message = call(&json!(1), "ask_user_questions");
    message["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    agent.send(&message);
    let request = daemon.gets();
    assert!(request.has("mcp-protocol-version: 2026-07-28"), "{}", request.head);
    request.answer_json(&result(&json!(1), "done"));
    agent.receives();
}

#[test]
fn half_a_way_to_the_daemon_is_asked_wrongly() {
    let machine = Convoke::new().env("CONVOKE_MCP_URL", "http://127.0.0.1:1/mcp");
    insta::assert_snapshot!(machine.run("mcp"), @"
    exit 2
    --- stderr
    error: CONVOKE_MCP_TOKEN is not set, though the other of CONVOKE_MCP_URL and CONVOKE_MCP_TOKEN is
    hint: set both of them, or none
    ");
    let machine = Convoke::new().env("CONVOKE_MCP_URL", "not a url").env("CONVOKE_MCP_TOKEN", "x");
    insta::assert_snapshot!(machine.run("mcp"), @"
    exit 3
    --- stderr
    error: not the address of a daemon: not a url
    hint: check whether it is running: `convoke status`
    ");
}
