//! The secrets of one companion: each dialect has its own, so that a token says which agent
//! presents it (C3.1).

use std::io;

use pillion_protocol::{Dialect, Token};

use crate::private_file::random_name;

/// A companion's tokens, one for every dialect, in their order.
#[derive(Debug, Clone)]
pub struct Tokens(Vec<Token>);

/// The system has no randomness to give.
#[derive(Debug, thiserror::Error)]
#[error("cannot get random bytes from the system for a token")]
pub struct RandomError(#[source] io::Error);

impl Tokens {
    /// Fresh tokens that nobody can guess.
    ///
    /// # Errors
    /// When the system's random source fails.
    pub fn generate() -> Result<Self, RandomError> {
        let tokens = Dialect::ALL.map(|_| random_token()).into_iter();
        tokens.collect::<Result<_, _>>().map(Self)
    }

    /// The same, but with another token for one dialect.
    #[must_use]
    pub fn with(mut self, dialect: Dialect, token: Token) -> Self {
        self.0[dialect as usize] = token;
        self
    }

    /// The token that agents of `dialect` present.
    pub fn get(&self, dialect: Dialect) -> &Token {
        &self.0[dialect as usize]
    }

    /// The agent that presents `presented`, if any of ours does (C3.3). Every token is compared, each
    /// in constant time.
    pub fn dialect_of(&self, presented: &[u8]) -> Option<Dialect> {
        Dialect::ALL.into_iter().fold(None, |found, dialect| {
            let matches = self.get(dialect).matches(presented);
            if matches { Some(dialect) } else { found }
        })
    }
}

/// A fresh token that nobody can guess.
///
/// # Errors
/// When the system's random source fails.
pub fn random_token() -> Result<Token, RandomError> {
    let token = random_name::<32>("").map(Token::from);
    token.map_err(RandomError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_agent_and_shows_nothing() {
        let tokens = Tokens::generate().unwrap();
        for (at, dialect) in Dialect::ALL.into_iter().enumerate() {
            assert_eq!(dialect as usize, at);
            let secret = tokens.get(dialect).expose();
            assert_eq!(tokens.dialect_of(secret.as_bytes()), Some(dialect));
            assert!(!format!("{tokens:?}").contains(secret));
        }
        assert_eq!(tokens.dialect_of(b""), None);
    }

    #[test]
    fn a_token_of_a_predecessor_replaces_one_and_no_other() {
        let fresh = Tokens::generate().unwrap();
        let old = Token::from("old".to_owned());
        let tokens = fresh.clone().with(Dialect::ClaudeCode, old);
        assert_eq!(tokens.dialect_of(b"old"), Some(Dialect::ClaudeCode));
        for dialect in Dialect::ALL {
            let is_kept = tokens
                .get(dialect)
                .matches(fresh.get(dialect).expose().as_bytes());
            assert_eq!(is_kept, dialect != Dialect::ClaudeCode, "{dialect}");
        }
    }

    #[test]
    fn no_two_tokens_are_equal() {
        let (one, other) = (Tokens::generate().unwrap(), Tokens::generate().unwrap());
        assert!(one.get(Dialect::GeminiCli).is_random());
        let secrets =
            |tokens: &Tokens| Dialect::ALL.map(|dialect| tokens.get(dialect).expose().to_owned());
        let mut all = [secrets(&one), secrets(&other)].concat();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 2 * Dialect::ALL.len());
    }
}
