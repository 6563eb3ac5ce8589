//! Fingerprints: SHA-256 over an unambiguous encoding of a list of texts.

use sha2::{Digest as _, Sha256};

/// A fingerprint being computed.
#[derive(Clone, Debug, Default)]
pub struct Digest(Sha256);

/// Returns the fingerprint of `parts`.
#[must_use]
pub fn hex_digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    parts.into_iter().fold(Digest::default(), Digest::with_bytes).hex()
}

impl Digest {
    /// Starts a fingerprint for one purpose.
    pub fn new(purpose: &str) -> Self {
        // Hashed first, so that fingerprints for different purposes never collide.
        Self::default().with(purpose)
    }

    /// Adds a text, as UTF-8.
    pub fn with(self, text: &str) -> Self {
        self.with_bytes(text.as_bytes())
    }

    /// Adds bytes as one part of the list.
    pub fn with_bytes(mut self, bytes: &[u8]) -> Self {
        // Prefixed with the length: without it, `ab`, `c` and `a`, `bc` would collide.
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
        self
    }

    /// Returns the fingerprint as hexadecimal digits.
    pub fn hex(self) -> String {
        let halves = self.0.finalize().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        halves.filter_map(|half| char::from_digit(u32::from(half), 16)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_characters_cut_differently_give_another_digest() {
        let digests = [
            Digest::new("test").with("ab").with("c").hex(),
            Digest::new("test").with("a").with("bc").hex(),
            Digest::new("test").with("abc").hex(),
            Digest::new("other").with("abc").hex(),
        ];
        for (index, digest) in digests.iter().enumerate() {
            assert_eq!(digest.len(), 64);
            assert!(!digests[..index].contains(digest));
        }
        assert_eq!(hex_digest([b"test".as_slice(), b"abc"]), digests[2]);
    }
}
