//! Tokens, and their comparison in constant time.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Bytes of randomness in a token.
const BYTES: usize = 32;

/// A token for programs: 256 random bits as hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token of random bytes.
    pub fn from_random(bytes: [u8; BYTES]) -> Self {
        Self(HEXLOWER.encode(&bytes))
    }

    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The SHA-256 of a secret in hexadecimal digits.
pub(crate) fn digest(text: &str) -> String {
    HEXLOWER.encode(&Digest::of(text).0)
}

/// The SHA-256 of a secret, which is stored and compared instead of the secret.
#[derive(Debug, Clone, Copy, Eq)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    /// The digest of a text.
    pub(super) fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }
}

impl PartialEq for Digest {
    /// Compares in constant time.
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| D::Error::custom("expected 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_prints_a_token() {
        assert_eq!(format!("{:?}", Token::from_random([1; 32])), "Token(…)");
    }

    #[test]
    fn a_digest_is_read_back_from_64_hexadecimal_digits_and_from_nothing_else() {
        let read = |text: &str| serde_json::from_value::<Digest>(text.into()).ok();
        let written = serde_json::to_value(Digest::of("secret")).unwrap();
        let text = written.as_str().unwrap();
        assert_eq!(read(text), Some(Digest::of("secret")));
        assert_eq!(read(&text.to_uppercase()), Some(Digest::of("secret")));
        assert_ne!(read(text), Some(Digest::of("another")));
        let signed = text.replacen(&text[..2], "+1", 1);
        for other in ["", &text[..62], &text[..63], &format!("{text}00"), &signed, &"é".repeat(32)]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
