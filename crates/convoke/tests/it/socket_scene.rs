//! A WebSocket client, without a library.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::serve_scene::Daemon;

/// The longest frame of a socket: 512 KiB of entries, and one entry more.
const FRAME_MAX: u64 = 2 << 20;

/// A socket that speaks just enough of RFC 6455.
pub(crate) struct Socket(pub(crate) TcpStream);

impl Socket {
    pub(crate) fn open(daemon: &Daemon) -> Self {
        let mut stream = daemon.connect();
        let head = daemon.head("GET", "/ws");
        write!(
            stream,
            "{head}connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
        Self(stream)
    }

    pub(crate) fn say(&mut self, frame: &Value) {
        let text = frame.to_string();
        // Final, text, masked with zeros.
        let mut bytes = vec![0x81, 0xfe];
        bytes.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(text.as_bytes());
        self.0.write_all(&bytes).unwrap();
    }

    /// The next text frame, and how long it is.
    pub(crate) fn hear(&mut self) -> (Value, u64) {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).unwrap();
            let length = match head[1] & 0x7f {
                126 => {
                    let mut bytes = [0; 2];
                    self.0.read_exact(&mut bytes).unwrap();
                    u64::from(u16::from_be_bytes(bytes))
                }
                127 => {
                    let mut bytes = [0; 8];
                    self.0.read_exact(&mut bytes).unwrap();
                    u64::from_be_bytes(bytes)
                }
                short => u64::from(short),
            };
            assert!(length <= FRAME_MAX, "a frame of {length} bytes");
            let mut text = vec![0; usize::try_from(length).unwrap()];
            self.0.read_exact(&mut text).unwrap();
            if head[0] == 0x81 {
                return (serde_json::from_slice(&text).unwrap(), length);
            }
        }
    }

    /// Waits for a frame of a type, and gives it.
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        self.until_frame(|frame| frame["type"] == kind)
    }

    /// Waits for a frame, and gives it.
    pub(crate) fn until_frame(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (frame, _) = self.hear();
            if is_it(&frame) {
                return frame;
            }
        }
    }

    /// Says something, and waits for the answer, which may be an error.
    pub(crate) fn ask(&mut self, mut frame: Value) -> Value {
        static ASKED: AtomicU64 = AtomicU64::new(1);
        // Some requests have several answers, so that each request needs an id of its own.
        let id = json!(ASKED.fetch_add(1, Ordering::Relaxed).to_string());
        frame["requestId"] = id.clone();
        self.say(&frame);
        self.until_frame(|frame| frame["requestId"] == id)
    }

    /// Waits until a session is shown so, and gives it.
    pub(crate) fn until_session(&mut self, uid: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let is_it = |frame: &Value| {
            frame["type"] == "session:changed"
                && frame["session"]["uid"] == uid
                && is_so(&frame["session"])
        };
        self.until_frame(is_it)["session"].clone()
    }
}
