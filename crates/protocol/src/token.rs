//! Secrets (C3): compared in constant time, never shown.

use std::fmt;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// A bearer token. `Debug` shows `…`; only [`Token::expose`] and serialisation give the secret away.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// Returns true if `presented` is this token, in time that does not depend on where they
    /// differ.
    pub fn matches(&self, presented: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(presented).into()
    }

    /// Returns true if it has the form of those that Pillion makes: 32 bytes in lowercase
    /// hexadecimal.
    pub fn is_random(&self) -> bool {
        let is_hexadecimal = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        self.0.len() == 64 && self.0.bytes().all(is_hexadecimal)
    }

    /// The secret itself, for a discovery file, an environment or an `Authorization` header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Token {
    fn from(secret: String) -> Self {
        Self(secret)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_the_secret() {
        let token = Token::from("secret".to_owned());
        assert_eq!(format!("{token:?}"), "…");
        assert_eq!(token.expose(), "secret");
    }

    #[test]
    fn only_long_random_tokens_count_as_such() {
        assert!(Token::from("0123456789abcdef".repeat(4)).is_random());
        for other in [
            "",
            "secret",
            &"a".repeat(63),
            &"A".repeat(64),
            &"é".repeat(32),
        ] {
            assert!(!Token::from((*other).to_owned()).is_random(), "{other:?}");
        }
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::from("secret".to_owned());
        assert!(token.matches(b"secret"));
        for wrong in ["", "secre", "secrets", "Secret"] {
            assert!(!token.matches(wrong.as_bytes()), "{wrong:?}");
        }
    }
}
