//! Fingerprints: the SHA-256 of some bytes, as text.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The fingerprint of `parts`, each counted with its length so that borders matter.
#[must_use]
pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing to a `String` cannot fail.
        _ = write!(text, "{byte:02x}");
    }
    text
}
