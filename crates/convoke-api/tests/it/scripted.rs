//! A server that answers with bytes from a script, and keeps what it was asked.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a server does with a connection.
pub(crate) enum Line {
    /// Sends this.
    Send(String),
    /// Waits until the client goes away.
    Wait,
}

/// A server for one connection.
pub(crate) struct Scripted {
    pub(crate) url: String,
    asked: JoinHandle<String>,
}

impl Scripted {
    /// Answers one request with these lines and closes the connection.
    pub(crate) async fn start(script: Vec<Line>) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = read_request(&mut stream).await;
            for line in script {
                match line {
                    Line::Send(text) => stream.write_all(text.as_bytes()).await.unwrap(),
                    Line::Wait => {
                        stream.read_to_end(&mut Vec::new()).await.ok();
                    }
                }
            }
            request
        });
        Self { url, asked }
    }

    /// Answers one request with this status, type and body.
    pub(crate) async fn answering(status: u16, kind: &str, body: &str) -> Self {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}");
        Self::start(vec![Line::Send(format!("{head}\r\nConnection: close\r\n\r\n{body}"))]).await
    }

    /// What was asked, once it was answered.
    pub(crate) async fn asked(self) -> String {
        self.asked.await.unwrap()
    }
}

/// The head of a chunked answer.
pub(crate) fn chunked() -> Line {
    Line::Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned())
}

/// A chunk of an answer; an empty one is its end.
pub(crate) fn chunk(text: &str) -> Line {
    Line::Send(format!("{:x}\r\n{text}\r\n", text.len()))
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = String::new();
    loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.unwrap();
        request.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if count == 0 || body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            return request;
        }
    }
}
