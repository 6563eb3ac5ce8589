//! Words that nobody can guess.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};

/// A word of 192 random bits, safe in addresses, headers and pages; none if the system gives no
/// randomness.
pub(crate) fn word() -> Option<String> {
    let mut bytes = [0_u8; 24];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
