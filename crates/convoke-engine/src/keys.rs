//! The keys with which agent processes authenticate their tool calls.
//!
//! Every agent process gets its own key, which names its session. The key is valid until the pool stops the process
//! or the process ends; copies that children of the agent hold are then refused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use convoke_core::id::SessionId;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// The SHA-256 of a key, by which it is looked up, so that the timing of a lookup reveals nothing about a key.
type Fingerprint = [u8; 32];
type Live = HashMap<Fingerprint, SessionId>;

/// The keys of all agent processes. Cheap to clone; clones share the set.
#[derive(Clone)]
pub struct Keys {
    random: fn() -> [u8; 16],
    /// One entry for each running or starting process, so the pool's limit bounds it.
    live: Arc<Mutex<Live>>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

impl Keys {
    /// An empty set. `random` is the source of new keys.
    pub fn new(random: fn() -> [u8; 16]) -> Self {
        Self { random, live: Arc::default() }
    }

    /// Issues a key for a session, valid until it is dropped.
    pub fn issue(&self, session: SessionId) -> IssuedKey {
        let token = HEXLOWER.encode(&[(self.random)(), (self.random)()].concat());
        let fingerprint = Sha256::digest(&token).into();
        lock(&self.live).insert(fingerprint, session);
        IssuedKey { token, fingerprint, live: Arc::clone(&self.live) }
    }

    /// The session of a valid key.
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
    /// The key as text.
    pub fn token(&self) -> &str {
        &self.token
    }
}

impl Drop for IssuedKey {
    fn drop(&mut self) {
        lock(&self.live).remove(&self.fingerprint);
    }
}

/// Each change is one call, so the map is consistent after a panic.
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
