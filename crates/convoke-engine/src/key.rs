//! The keys by which an agent's tools prove for which session they speak.

use convoke_core::id::SessionId;
use sha2::{Digest, Sha256};

/// A secret of this run of the daemon. What it signs is worth nothing after the next start.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// A key of random bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The token that speaks for a session, and for nothing else.
    pub fn token(&self, session: SessionId) -> String {
        format!("{session}.{}", hex(&self.sign(session)))
    }

    /// The session that a token speaks for.
    pub fn session(&self, token: &str) -> Option<SessionId> {
        let (session, signature) = token.split_once('.')?;
        let session: SessionId = session.parse().ok()?;
        is_same(hex(&self.sign(session)).as_bytes(), signature.as_bytes()).then_some(session)
    }

    /// HMAC as RFC 2104 has it, since a bare hash of key and text can be continued by others.
    fn sign(&self, session: SessionId) -> [u8; 32] {
        let mut inner = Sha256::new();
        inner.update(padded(&self.0, 0x36));
        inner.update(session.as_bytes());
        let mut outer = Sha256::new();
        outer.update(padded(&self.0, 0x5c));
        outer.update(inner.finalize());
        outer.finalize().into()
    }
}

fn padded(key: &[u8; 32], with: u8) -> [u8; 64] {
    let mut block = [with; 64];
    for (byte, key) in block.iter_mut().zip(key) {
        *byte ^= key;
    }
    block
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares without telling by its duration where the first difference is.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_speaks_for_one_session_of_one_run() {
        let (key, other) = (Key::new([1; 32]), Key::new([2; 32]));
        let session = SessionId::from_random([7; 16]);
        let token = key.token(session);
        assert_eq!(key.session(&token), Some(session));
        assert_eq!(other.session(&token), None);
        let stolen =
            token.replace(&session.to_string(), &SessionId::from_random([8; 16]).to_string());
        assert_eq!(key.session(&stolen), None);
        assert_eq!(key.session(&token[..token.len() - 1]), None);
        assert_eq!(key.session(""), None);
    }
}
