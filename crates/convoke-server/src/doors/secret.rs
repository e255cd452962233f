//! The token, and comparing it without telling how much of a guess was right.

use sha2::{Digest, Sha256};

/// Bytes of randomness in a token.
const BYTES: usize = 32;

/// What opens the daemon to programs: 256 random bits, written as hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token of random bytes.
    pub fn from_random(bytes: [u8; BYTES]) -> Self {
        Self(hex(&bytes))
    }

    /// A token that was written down before, or `None` when the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let is_token = text.len() == 2 * BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_token.then(|| Self(text.to_owned()))
    }

    /// The token as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a browser is given in place of the token.
    pub(super) fn cookie(&self) -> String {
        hex(&Sha256::new().chain_update("convoke cookie\0").chain_update(&self.0).finalize())
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// A text that others must know.
pub(super) struct Secret([u8; 32]);

impl Secret {
    pub(super) fn new(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Whether a text is the secret. Takes as long for a good guess as for a bad one.
    pub(super) fn is(&self, text: &str) -> bool {
        let digest = Sha256::digest(text);
        self.0.iter().zip(&digest).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_anything_else_is_refused() {
        let token = Token::from_random([0xab; 32]);
        assert_eq!(token.as_str(), "ab".repeat(32));
        assert_eq!(Token::parse(token.as_str()), Some(token));
        for text in ["", "ab", &"ab".repeat(33), &"xy".repeat(32)] {
            assert_eq!(Token::parse(text), None);
        }
    }

    #[test]
    fn nothing_prints_a_token() {
        assert_eq!(format!("{:?}", Token::from_random([1; 32])), "Token(…)");
    }
}
