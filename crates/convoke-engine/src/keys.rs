//! The keys by which an agent's tools prove for which session they speak.
//!
//! Every start of an agent process gets a key of its own. The key works until the pool stops that process or it is gone;
//! copies of it are refused from then on, whatever child of the agent still holds one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use convoke_core::id::SessionId;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// What a key is looked up by: its digest. The time of a lookup tells an attacker nothing about a key.
type Fingerprint = [u8; 32];
type Live = HashMap<Fingerprint, SessionId>;

/// The keys of all agent processes. Cheap to clone; all clones are the same set.
#[derive(Clone)]
pub struct Keys {
    random: fn() -> [u8; 16],
    /// One entry a process that runs or waits to be started, so the pool's limit is the bound.
    live: Arc<Mutex<Live>>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

impl Keys {
    /// An empty set; keys are made of this randomness.
    pub fn new(random: fn() -> [u8; 16]) -> Self {
        Self { random, live: Arc::default() }
    }

    /// Issues a key that speaks for a session until it is dropped.
    pub fn issue(&self, session: SessionId) -> IssuedKey {
        let token = HEXLOWER.encode(&[(self.random)(), (self.random)()].concat());
        let fingerprint = Sha256::digest(&token).into();
        lock(&self.live).insert(fingerprint, session);
        IssuedKey { token, fingerprint, live: Arc::clone(&self.live) }
    }

    /// The session that a key speaks for, if the key is still valid.
    pub fn session(&self, token: &str) -> Option<SessionId> {
        let fingerprint: Fingerprint = Sha256::digest(token).into();
        lock(&self.live).get(&fingerprint).copied()
    }
}

/// A key of one agent process. Dropping it revokes it.
pub struct IssuedKey {
    token: String,
    fingerprint: Fingerprint,
    live: Arc<Mutex<Live>>,
}

impl IssuedKey {
    /// The key as it is sent.
    pub fn token(&self) -> &str {
        &self.token
    }
}

impl Drop for IssuedKey {
    fn drop(&mut self) {
        lock(&self.live).remove(&self.fingerprint);
    }
}

/// Inserting and removing leave the map whole, also when a thread panicked with the lock.
fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    fn random() -> [u8; 16] {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        [NEXT.fetch_add(1, Ordering::Relaxed); 16]
    }

    #[test]
    fn k3_a_key_speaks_for_its_session_until_it_is_dropped() {
        let (keys, other) = (Keys::new(random), Keys::new(random));
        let session = SessionId::from_random([7; 16]);
        let (first, second) = (keys.issue(session), keys.issue(session));
        assert_ne!(first.token(), second.token());
        assert_eq!(first.token().len(), 64, "32 bytes");
        let token = first.token().to_owned();
        assert_eq!(keys.session(&token), Some(session));
        assert_eq!(other.session(&token), None);
        assert_eq!(keys.session(&token[..63]), None);
        assert_eq!(keys.session(""), None);
        drop(first);
        assert_eq!(keys.session(&token), None);
        assert_eq!(keys.session(second.token()), Some(session));
    }
}
