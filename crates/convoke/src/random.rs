//! The one place that makes randomness.

use std::fs::File;
use std::io::Read;

use convoke_core::id::RequestId;

/// A new id for a request to a human.
pub(crate) fn request_id() -> RequestId {
    RequestId::from_random(bytes())
}

/// A new UUID.
pub(crate) fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// A secret of 256 random bits.
pub(crate) fn key() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Sixteen random bytes.
pub(crate) fn bytes() -> [u8; 16] {
    // The fixed bits of a UUID v4 do no harm: callers make UUIDs of it.
    uuid::Uuid::new_v4().into_bytes()
}
