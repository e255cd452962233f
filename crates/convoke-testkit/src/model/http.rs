//! As much of HTTP as agents need: one request on each connection, JSON in, JSON or a stream of events out.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    target: String,
    /// Its JSON; null when it has none.
    pub(super) body: Value,
}

impl Request {
    /// Reads a request; none when the client disconnects first.
    pub(super) async fn read(stream: &mut TcpStream) -> io::Result<Option<Self>> {
        let mut stream = BufReader::new(stream);
        let first = read_line(&mut stream).await?;
        let Some(target) = first.split(' ').nth(1).map(str::to_owned) else { return Ok(None) };
        let (mut bytes, mut is_chunked) = (0, false);
        loop {
            let line = read_line(&mut stream).await?.to_ascii_lowercase();
            let Some((name, value)) = line.split_once(':') else { break };
            match (name, value.trim()) {
                ("content-length", value) => bytes = value.parse().map_err(io::Error::other)?,
                ("transfer-encoding", "chunked") => is_chunked = true,
                _ => {}
            }
        }
        let mut body = Vec::new();
        if is_chunked {
            read_chunks(&mut stream, &mut body).await?;
        } else {
            body.resize(bytes, 0);
            stream.read_exact(&mut body).await?;
        }
        // An invalid body becomes an empty prompt, and is answered accordingly.
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Some(Self { target, body }))
    }

    /// The path without its query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// A line without its end, empty at the end of the stream.
async fn read_line(stream: &mut BufReader<&mut TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    Ok(line.trim_end().to_owned())
}

async fn read_chunks(stream: &mut BufReader<&mut TcpStream>, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let size = read_line(stream).await?;
        let bytes = u64::from_str_radix(&size, 16).map_err(io::Error::other)?;
        stream.take(bytes).read_to_end(body).await?;
        read_line(stream).await?;
        if bytes == 0 {
            return Ok(());
        }
    }
}

/// The connection to the client. The end of the connection is the end of the response.
#[derive(Debug)]
pub(super) struct Response {
    stream: TcpStream,
}

impl Response {
    pub(super) const fn new(stream: TcpStream) -> Self {
        Self { stream }
    }

    /// Answers with JSON.
    pub(super) async fn json(mut self, status: u16, body: &Value) -> io::Result<()> {
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        self.stream.write_all(head.as_bytes()).await?;
        self.stream.write_all(body.as_bytes()).await?;
        self.stream.shutdown().await
    }

    /// Answers with a stream of events.
    pub(super) async fn events(mut self) -> io::Result<Events> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                    cache-control: no-cache\r\nconnection: close\r\n\r\n";
        self.stream.write_all(head.as_bytes()).await?;
        Ok(Events { stream: self.stream })
    }
}

/// A stream of events that is being sent.
#[derive(Debug)]
pub(super) struct Events {
    stream: TcpStream,
}

impl Events {
    /// Sends an event with a name.
    pub(super) async fn send_named(&mut self, name: &str, event: &Value) -> io::Result<()> {
        self.stream.write_all(format!("event: {name}\ndata: {event}\n\n").as_bytes()).await
    }

    /// Sends an event without a name; it need not be JSON.
    pub(super) async fn send(&mut self, event: &str) -> io::Result<()> {
        self.stream.write_all(format!("data: {event}\n\n").as_bytes()).await
    }

    pub(super) async fn end(mut self) -> io::Result<()> {
        self.stream.shutdown().await
    }
}
