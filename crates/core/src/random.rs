//! Cryptographically random bytes, and tokens that are safe in headers, URLs and HTML.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};

/// Returns `COUNT` random bytes; `None` if the system provides no randomness.
#[must_use]
pub fn random_bytes<const COUNT: usize>() -> Option<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    // There is no fallback to a weaker generator: tokens and nonces must not be guessable.
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns a token of 192 random bits, for values that end with the process.
#[must_use]
pub fn random_token() -> Option<String> {
    random_bytes::<24>().map(|bytes| BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns a token of 256 random bits, for values that are stored or sent to others.
#[must_use]
pub fn long_random_token() -> Option<String> {
    random_bytes::<32>().map(|bytes| BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_long_and_never_the_same() {
        for (make, length) in
            [(random_token as fn() -> Option<String>, 32), (long_random_token, 43)]
        {
            let one = make().unwrap();
            let other = make().unwrap();
            assert_eq!((one.len(), other.len()), (length, length));
            assert_ne!(one, other);
        }
    }
}
