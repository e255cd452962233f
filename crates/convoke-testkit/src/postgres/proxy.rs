//! A proxy to PostgreSQL that can lose notifications, and that counts the statements that pass
//! through it.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Whether notifications arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notifications {
    /// They do.
    Arrive,
    /// They are lost, and the connection stays.
    AreLost,
}

/// Passes connections on to a server. Its threads end with the program.
#[derive(Debug)]
pub struct Proxy {
    /// The server's URL, through this.
    pub url: String,
    executed: Arc<Mutex<HashMap<String, usize>>>,
}

impl Proxy {
    /// Listens on a free port. The URL has `sslmode=disable`.
    pub fn start(url: &str, notifications: Notifications) -> io::Result<Self> {
        let wrong = || io::Error::other("the URL has no user or database");
        let (before, rest) = url.split_once('@').ok_or_else(wrong)?;
        let (server, after) = rest.split_once('/').ok_or_else(wrong)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("{before}@{}/{after}", listener.local_addr()?);
        let (server, executed) = (server.to_owned(), Arc::default());
        let counted = Arc::clone(&executed);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A connection that cannot be forwarded is closed, which its client sees.
                pass(client, &server, notifications, &counted).ok();
            }
        });
        Ok(Self { url, executed })
    }

    /// How often statements were executed that contain this text.
    pub fn executed(&self, part: &str) -> usize {
        let executed = self.executed.lock().unwrap_or_else(PoisonError::into_inner);
        executed.iter().filter(|(sql, _)| sql.contains(part)).map(|(_, count)| count).sum()
    }
}

fn pass(
    client: TcpStream,
    server: &str,
    notifications: Notifications,
    executed: &Arc<Mutex<HashMap<String, usize>>>,
) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    let executed = Arc::clone(executed);
    thread::spawn(move || {
        let mut statements = HashMap::new();
        let mut count = |kind: u8, body: &[u8]| note(&mut statements, &executed, kind, body);
        // The result does not matter.
        requests(&mut from, &mut to, &mut count).ok();
        to.shutdown(Shutdown::Both).ok();
    });
    let (mut from, mut to) = (server, client);
    thread::spawn(move || {
        while let Ok((kind, body)) = message(&mut from) {
            let is_lost = kind == b'A' && notifications == Notifications::AreLost;
            if !is_lost && send(&mut to, kind, &body).is_err() {
                break;
            }
        }
        to.shutdown(Shutdown::Both).ok();
        from.shutdown(Shutdown::Both).ok();
    });
    Ok(())
}

/// Forwards the messages of a client: a first one without a type, and then others.
fn requests(
    from: &mut TcpStream,
    to: &mut TcpStream,
    count: &mut impl FnMut(u8, &[u8]),
) -> io::Result<()> {
    let start = body(from)?;
    to.write_all(&length(&start)?)?;
    to.write_all(&start)?;
    loop {
        let (kind, body) = message(from)?;
        count(kind, &body);
        send(to, kind, &body)?;
    }
}

/// Remembers a statement that is prepared, and counts one that is executed.
fn note(
    statements: &mut HashMap<Vec<u8>, String>,
    executed: &Mutex<HashMap<String, usize>>,
    kind: u8,
    body: &[u8],
) {
    let mut words = body.split(|byte| *byte == 0);
    match (kind, words.next(), words.next()) {
        (b'P', Some(name), Some(sql)) => {
            statements.insert(name.to_vec(), String::from_utf8_lossy(sql).into_owned());
        }
        (b'B', Some(_), Some(name)) => {
            let sql = statements.get(name).cloned().unwrap_or_default();
            *executed.lock().unwrap_or_else(PoisonError::into_inner).entry(sql).or_default() += 1;
        }
        _ => {}
    }
}

fn message(from: &mut TcpStream) -> io::Result<(u8, Vec<u8>)> {
    let mut kind = [0];
    from.read_exact(&mut kind)?;
    Ok((kind[0], body(from)?))
}

/// The bytes after a length, which includes itself.
fn body(from: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    let mut body = vec![0; length.saturating_sub(4)];
    from.read_exact(&mut body)?;
    Ok(body)
}

fn send(to: &mut TcpStream, kind: u8, body: &[u8]) -> io::Result<()> {
    let mut whole = vec![kind];
    whole.extend(length(body)?);
    whole.extend(body);
    to.write_all(&whole)
}

fn length(body: &[u8]) -> io::Result<[u8; 4]> {
    u32::try_from(body.len() + 4).map(u32::to_be_bytes).map_err(io::Error::other)
}
