//! The text of a file that was shown beside a change, as a fingerprint: the review names it in an
//! acceptance, and `pillion diff --write` writes over no other text.

use sha2::{Digest, Sha256};

const HASH: &str = "sha256:";

/// The fingerprint of a text; `None` is a file that is not there.
pub fn of(text: Option<&[u8]>) -> String {
    let Some(text) = text else {
        return "absent".to_owned();
    };
    of_hash(&hash(text))
}

/// The fingerprint of the text that has this hash.
pub fn of_hash(hash: &str) -> String {
    format!("{HASH}{hash}")
}

/// The hash in a fingerprint; none if it is that of a file that is not there.
pub fn hash_in(fingerprint: &str) -> Option<&str> {
    fingerprint.strip_prefix(HASH)
}

/// SHA-256 in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    let mut sum = Sum::default();
    sum.add(bytes);
    sum.hash()
}

/// The hash of a text that comes in pieces.
#[derive(Debug, Default)]
pub struct Sum(Sha256);

impl Sum {
    /// The next piece.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// That of all pieces, as [`hash`] has it.
    pub fn hash(self) -> String {
        let digest = self.0.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_its_own_and_a_missing_file_is_not_an_empty_one() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(of(Some(b"")), empty);
        assert_eq!(of(None), "absent");
        assert_ne!(of(Some(b"a\n")), of(Some(b"a\r\n")));
    }
}
