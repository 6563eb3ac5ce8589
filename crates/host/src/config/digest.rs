//! `Digest`: a SHA-256 over a list of texts, such that two different lists never share one.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

pub(super) struct Digest(Sha256);

impl Digest {
    /// Starts a digest for one purpose; digests of different purposes never meet.
    pub(super) fn of(purpose: &str) -> Self {
        Self(Sha256::new()).with(purpose)
    }

    /// Adds one text, with its length, so that `ab`, `c` differs from `a`, `bc`.
    pub(super) fn with(mut self, text: &str) -> Self {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text);
        self
    }

    pub(super) fn hex(self) -> String {
        self.0.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a `String` cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_characters_cut_differently_give_another_digest() {
        let digests = [
            Digest::of("test").with("ab").with("c").hex(),
            Digest::of("test").with("a").with("bc").hex(),
            Digest::of("test").with("abc").hex(),
            Digest::of("other").with("abc").hex(),
        ];
        for (index, digest) in digests.iter().enumerate() {
            assert_eq!(digest.len(), 64);
            assert!(!digests[..index].contains(digest));
        }
    }
}
