//! The files in the home's `run` folder by which a daemon is found, and by which there is only one.

use std::path::PathBuf;
use std::{fs, io};

use anyhow::Context;
use convoke_api::bodies::Daemon;
use convoke_core::id::NodeId;
use convoke_files::lock::Lock;
use convoke_files::{Error, atomic};
use convoke_server::Token;

use super::ServeError;
use crate::home::{Home, create_private};
use crate::random;

/// The lock of the only daemon of a home.
#[derive(Debug)]
pub(crate) struct Instance {
    _lock: Lock,
}

impl Instance {
    /// Takes the lock, unless a running daemon holds it. The file of a killed daemon is removed
    /// before anything listens at its address: a client must not send the old token to a new
    /// daemon.
    pub(crate) fn take(home: &Home) -> anyhow::Result<Self> {
        let folder = home.run();
        create_private(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        match Lock::try_acquire(&home.serve_lock()) {
            Ok(lock) => {
                let stale = home.daemon_file();
                match fs::remove_file(&stale) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        Err(error).with_context(|| format!("cannot remove {}", stale.display()))
                    }
                    Ok(()) | Err(_) => Ok(Self { _lock: lock }),
                }
            }
            Err(Error::Locked { holder, .. }) => Err(ServeError::Running { pid: holder }.into()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The file with the daemon's address; removed when this is dropped.
#[derive(Debug)]
pub(super) struct Announcement {
    path: PathBuf,
}

impl Announcement {
    /// Writes the file; that of a killed daemon is replaced.
    pub(super) fn make(home: &Home, daemon: &Daemon) -> anyhow::Result<Self> {
        let path = home.daemon_file();
        atomic::write(&path, &serde_json::to_vec_pretty(daemon)?)?;
        Ok(Self { path })
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// A new token for programs at each start, so that a leaked one soon expires.
pub(super) fn token(home: &Home) -> anyhow::Result<Token> {
    let path = home.run().join("token");
    let token = Token::from_random(random::key().context("cannot create a token")?);
    atomic::write(&path, token.as_str().as_bytes())?;
    Ok(token)
}

/// The id of this node: created once for a home, and stored in it.
pub(super) fn node_id(home: &Home) -> anyhow::Result<NodeId> {
    let path = home.path().join("node");
    match fs::read_to_string(&path) {
        Ok(text) => text
            .trim()
            .parse()
            .with_context(|| format!("{} does not hold the id of a node", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let id = NodeId::from_random(random::bytes());
            atomic::write(&path, format!("{id}\n").as_bytes())?;
            Ok(id)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}
