//! Just enough HTTP to talk to the daemon; distinguishes answered requests, requests that may have been carried out,
//! and those that were not sent.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// The timeout of a call; a later response counts as none.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The daemon's address and token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    pub(super) token: String,
}

/// The result of a request.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The daemon answered.
    Answered(Answer),
    /// The request was sent, and no response came: it may have been executed.
    Unknown,
    /// The request never left.
    NotSent,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
}

/// Whether the caller waits for the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Until it has arrived.
    ForResponse,
    /// It cuts the connection once the request is sent.
    No,
}

impl Endpoint {
    /// Sends a request, and waits for the response.
    pub(super) fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Outcome {
        self.call_with(method, path, body, Wait::ForResponse)
    }

    /// Sends a request with these options.
    pub(super) fn call_with(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        wait: Wait,
    ) -> Outcome {
        let Ok(mut stream) = self.connect() else { return Outcome::NotSent };
        let mut request = self.head(method, path) + "connection: close\r\n";
        if let Some(body) = body {
            let body = body.to_string();
            request += &format!(
                "content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        } else {
            request += "\r\n";
        }
        if stream.write_all(request.as_bytes()).is_err() || wait == Wait::No {
            return Outcome::Unknown;
        }
        let mut bytes = Vec::new();
        match stream.read_to_end(&mut bytes) {
            Ok(_) => answer(&bytes).map_or(Outcome::Unknown, Outcome::Answered),
            Err(_) => Outcome::Unknown,
        }
    }

    /// Sends a GET, and returns the body of a successful response.
    pub(super) fn get(&self, path: &str) -> Option<Value> {
        match self.call("GET", path, None) {
            Outcome::Answered(Answer { status: 200, body }) => Some(body),
            Outcome::Answered(_) | Outcome::Unknown | Outcome::NotSent => None,
        }
    }

    /// Follows a session after a cursor, or from its beginning.
    pub(super) fn follow(&self, session: &str, cursor: Option<&str>) -> io::Result<Events> {
        let mut stream = self.connect()?;
        // The old version, which has no chunks that lines could be cut by.
        let head = self.head("GET", &format!("/api/sessions/{session}/events"));
        let head = head.replace("HTTP/1.1", "HTTP/1.0");
        let last = cursor.map(|cursor| format!("last-event-id: {cursor}\r\n")).unwrap_or_default();
        write!(stream, "{head}{last}\r\n")?;
        // The timeout lets the follower of a quiet session check for the end of the round.
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        Ok(Events { lines: BufReader::new(stream), line: Vec::new(), event: Event::default() })
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(stream)
    }

    fn head(&self, method: &str, path: &str) -> String {
        let Self { address, token } = self;
        format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n")
    }
}

/// Server-sent events as they arrive.
#[derive(Debug)]
pub(super) struct Events {
    lines: BufReader<TcpStream>,
    /// The received part of an incomplete line.
    line: Vec<u8>,
    /// The received part of an incomplete event.
    event: Event,
}

/// An event.
#[derive(Debug, Default)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) id: String,
    pub(super) data: Value,
}

/// An item that a follower receives.
#[derive(Debug)]
pub(super) enum StreamItem {
    /// An event.
    Event(Event),
    /// Nothing for a while.
    Quiet,
    /// The connection is over.
    Over,
}

impl Events {
    pub(super) fn next(&mut self) -> StreamItem {
        loop {
            match self.lines.read_until(b'\n', &mut self.line) {
                Ok(0) => return StreamItem::Over,
                Ok(_) if !self.line.ends_with(b"\n") => return StreamItem::Over,
                Ok(_) => {
                    let line = std::mem::take(&mut self.line);
                    if let Some(event) = self.event.read(&String::from_utf8_lossy(&line)) {
                        return StreamItem::Event(event);
                    }
                }
                Err(error) if is_timeout(&error) => return StreamItem::Quiet,
                Err(_) => return StreamItem::Over,
            }
        }
    }
}

impl Event {
    /// Adds a line; returns the event that it ends.
    fn read(&mut self, line: &str) -> Option<Self> {
        match line.trim_end().split_once(':') {
            Some(("event", name)) => name.trim().clone_into(&mut self.name),
            Some(("id", id)) => id.trim().clone_into(&mut self.id),
            Some(("data", data)) => self.data = serde_json::from_str(data).unwrap_or_default(),
            None if line.trim_end().is_empty() => {
                return Some(std::mem::take(self)).filter(|event| !event.name.is_empty());
            }
            // The head of the response, comments, and the reconnection delay.
            Some(_) | None => {}
        }
        None
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Parses a response, if it is complete.
fn answer(bytes: &[u8]) -> Option<Answer> {
    let split = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(bytes.get(..split)?).ok()?;
    let body = bytes.get(split + 4..)?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    if header("transfer-encoding").is_some_and(|it| it.eq_ignore_ascii_case("chunked")) {
        return Some(Answer { status, body: parse(&unchunked(body)?)? });
    }
    let length: usize = header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    (body.len() == length).then_some(())?;
    Some(Answer { status, body: parse(body)? })
}

fn parse(body: &[u8]) -> Option<Value> {
    if body.is_empty() { Some(Value::Null) } else { serde_json::from_slice(body).ok() }
}

/// Joins the chunks of a body, if the last one has arrived.
fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = std::str::from_utf8(rest.get(..end)?).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(end + 2..end + 2 + size)?);
        rest = rest.get(end + 2 + size + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_whole_is_none() {
        let whole = b"HTTP/1.1 202 Accepted\r\nContent-Length: 9\r\n\r\n{\"seq\":1}";
        let read = answer(whole).map(|answer| (answer.status, answer.body.to_string()));
        assert_eq!(read, Some((202, r#"{"seq":1}"#.to_owned())));
        for end in 0..whole.len() {
            assert!(answer(&whole[..end]).is_none(), "cut at {end}");
        }
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n";
        assert_eq!(answer(chunked).map(|answer| answer.body.to_string()).as_deref(), Some("[1,2]"));
        assert!(answer(&chunked[..chunked.len() - 6]).is_none());
    }
}
