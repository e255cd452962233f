//! How long an answer takes to the agent that asked: both programs are MCP servers on standard input and output.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use convoke_testkit::bench::Result;
use convoke_testkit::bench::measure::{Samples, in_turn};
use serde_json::{Value, json};

use crate::start::run;

/// How long a program may take to ask.
const ASKED_MAX: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The times from the answer to the result of the tool, here and there.
pub(super) fn measure(rounds: usize, convoke: &Path, other: &Path) -> Result<(Samples, Samples)> {
    let (ours, theirs) = (crate::new_home()?, crate::new_home()?);
    in_turn(rounds, || answer_ours(convoke, ours.path()), || answer_theirs(other, theirs.path()))
}

/// The answer comes from the command line, whose start is part of the time.
fn answer_ours(program: &Path, home: &Path) -> Result<f64> {
    let mut server = Server::start(Command::new(program).args(["mcp", "--home"]).arg(home))?;
    server.call(
        "ask_user_questions",
        &json!({"questions": [{
            "prompt": "Ship it?", "title": "Ship", "multiSelect": false,
            "options": [{"label": "Yes"}, {"label": "No"}],
        }]}),
    )?;
    let id = until(|| pending(&home.join("questions")))?;
    let began = Instant::now();
    run(Command::new(program)
        .args(["questions", "answer", &id, "--answers", r#"{"0":{"selectedOption":"Yes"}}"#])
        .arg("--home")
        .arg(home))?;
    server.result("Yes")?;
    Ok(began.elapsed().as_secs_f64())
}

/// The set of questions that has no answer.
fn pending(folder: &Path) -> Option<String> {
    let sets = fs::read_dir(folder).ok()?.flatten();
    let mut open = sets.filter(|set| {
        set.path().join("status.json").exists() && !set.path().join("answers.json").exists()
    });
    open.next()?.file_name().into_string().ok()
}

/// The answer comes over the WebSocket of the other program's page.
fn answer_theirs(program: &Path, home: &Path) -> Result<f64> {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let mut command = Command::new(program);
    command.env("MCP_WEB_HOST", "127.0.0.1").env("MCP_WEB_PORT", port.to_string());
    let mut server = Server::start(command.env("HOME", home).env("BROWSER", "true"))?;
    server.call("interactive_feedback", &json!({"summary": "Ship it?", "timeout": 60}))?;
    let mut page = until(|| connect(port).ok())?;
    let answer = json!({"type": "submit_feedback", "feedback": "Yes", "images": []}).to_string();
    let began = Instant::now();
    page.write_all(&text_frame(&answer)?)?;
    server.result("Yes")?;
    Ok(began.elapsed().as_secs_f64())
}

/// Opens the WebSocket; refused while nothing is asked.
fn connect(port: u16) -> Result<TcpStream> {
    let mut page = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    page.set_read_timeout(Some(ASKED_MAX))?;
    let host = format!("127.0.0.1:{port}");
    write!(
        page,
        "GET /ws HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )?;
    let mut status = [0; 12];
    page.read_exact(&mut status)?;
    if status == *b"HTTP/1.1 101" { Ok(page) } else { Err("the WebSocket is refused".into()) }
}

/// A text frame of a client, with a mask of zeros.
fn text_frame(text: &str) -> Result<Vec<u8>> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126);
    let length = length.ok_or("the frame is too long")?;
    Ok([&[0x81, 0x80 | length, 0, 0, 0, 0][..], text.as_bytes()].concat())
}

/// Tries until there is a result.
fn until<T>(mut attempt: impl FnMut() -> Option<T>) -> Result<T> {
    let deadline = Instant::now() + ASKED_MAX;
    loop {
        if let Some(found) = attempt() {
            return Ok(found);
        }
        if Instant::now() > deadline {
            return Err("the question is not asked in time".into());
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// An MCP server with one client, killed when this is dropped.
struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (input, output) = pipes.ok_or("the MCP server has no pipes")?;
        let mut server = Self { process, input, output: BufReader::new(output) };
        let client = json!({
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        server.request(1, "initialize", &client)?;
        server.response(1)?;
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<()> {
        self.request(2, "tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Waits for the result of the call, which must have this in it.
    fn result(&mut self, expected: &str) -> Result<()> {
        let response = self.response(2)?.to_string();
        if response.contains(expected) { Ok(()) } else { Err(response.into()) }
    }

    fn request(&mut self, id: u8, method: &str, params: &Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.input, "{message}")?;
        Ok(self.input.flush()?)
    }

    /// The response to a request; notifications are skipped.
    fn response(&mut self, id: u8) -> Result<Value> {
        let mut line = String::new();
        while self.output.read_line(&mut line)? > 0 {
            let message: Value = serde_json::from_str(&line)?;
            if message.get("id") == Some(&json!(id)) {
                return Ok(message);
            }
            line.clear();
        }
        Err("the MCP server has ended".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended cannot be killed.
        self.process.kill().and_then(|()| self.process.wait()).ok();
    }
}
