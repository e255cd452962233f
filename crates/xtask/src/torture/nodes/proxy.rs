//! A proxy to PostgreSQL that can be cut.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context as _, Result};

/// Passes connections on to a server, until it is cut.
#[derive(Debug)]
pub(super) struct Proxy {
    /// The server's URL, through this.
    pub(super) url: String,
    passage: Arc<Passage>,
}

#[derive(Debug)]
struct Passage {
    server: String,
    is_cut: AtomicBool,
    admitted: AtomicU64,
    /// Both ends of every connection, by its number, until it is closed.
    open: Mutex<HashMap<u64, [TcpStream; 2]>>,
}

impl Proxy {
    /// Listens on a free port; its thread ends with the program.
    pub(super) fn start(url: &str) -> Result<Self> {
        let (before, rest) = url.split_once('@').context("the URL has no user")?;
        let (server, after) = rest.split_once('/').context("the URL has no database")?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("{before}@{}/{after}", listener.local_addr()?);
        let server = server.to_owned();
        let passage = Arc::new(Passage {
            server,
            is_cut: AtomicBool::new(false),
            admitted: AtomicU64::new(0),
            open: Mutex::default(),
        });
        let shared = Arc::clone(&passage);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A connection that cannot be forwarded is closed, which its client sees.
                shared.admit(client).ok();
            }
        });
        Ok(Self { url, passage })
    }

    /// Closes all connections, and every new one.
    pub(super) fn cut(&self) {
        self.passage.is_cut.store(true, Ordering::SeqCst);
        for (_, ends) in self.passage.open().drain() {
            for end in ends {
                // One that has ended needs no cut.
                end.shutdown(Shutdown::Both).ok();
            }
        }
    }

    /// Passes connections on again.
    pub(super) fn reconnect(&self) {
        self.passage.is_cut.store(false, Ordering::SeqCst);
    }
}

impl Passage {
    fn admit(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect(&self.server)?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
        }
        let number = self.admitted.fetch_add(1, Ordering::Relaxed);
        let there = (client.try_clone()?, server.try_clone()?);
        let back = (server.try_clone()?, client.try_clone()?);
        {
            let mut open = self.open();
            // Under the lock, so that a cut misses none.
            if self.is_cut.load(Ordering::SeqCst) {
                return Ok(());
            }
            open.insert(number, [client, server]);
        }
        for (from, to) in [there, back] {
            self.pass(number, from, to);
        }
        Ok(())
    }

    /// Copies in one direction until either end is closed, then closes both.
    fn pass(self: &Arc<Self>, number: u64, mut from: TcpStream, mut to: TcpStream) {
        let passage = Arc::clone(self);
        thread::spawn(move || {
            // The result does not matter.
            io::copy(&mut from, &mut to).ok();
            from.shutdown(Shutdown::Both).ok();
            to.shutdown(Shutdown::Both).ok();
            passage.open().remove(&number);
        });
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, [TcpStream; 2]>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn connections_that_have_ended_are_forgotten() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://me@{}/x", server.local_addr().unwrap());
        let proxy = Proxy::start(&url).unwrap();
        let address = proxy.url["postgres://me@".len()..].trim_end_matches("/x").to_owned();
        let client = TcpStream::connect(&address).unwrap();
        let (mut there, _) = server.accept().unwrap();
        drop(client);
        assert_eq!(there.read(&mut [0]).unwrap_or(0), 0, "the server sees the end");
        convoke_testkit::wait::until("the connection is forgotten", || {
            proxy.passage.open().is_empty()
        });
    }

    #[test]
    fn n9_a_proxy_passes_on_until_it_is_cut() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://me@{}/x", server.local_addr().unwrap());
        let proxy = Proxy::start(&url).unwrap();
        let address = proxy.url["postgres://me@".len()..].trim_end_matches("/x").to_owned();
        let mut client = TcpStream::connect(&address).unwrap();
        let (mut there, _) = server.accept().unwrap();
        client.write_all(b"hello").unwrap();
        let mut heard = [0; 5];
        there.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"hello");
        proxy.cut();
        assert_eq!(client.read(&mut heard).unwrap_or(0), 0, "it is closed");
        let mut refused = TcpStream::connect(&address).unwrap();
        assert_eq!(refused.read(&mut heard).unwrap_or(0), 0, "a new one, too");
    }
}
