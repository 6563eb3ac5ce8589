//! What nobody can guess, for logins: states, verifiers, salts, keys; and the fingerprint of a verifier.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use switchboard_core::{long_random_token, random_bytes};

use crate::error::LoginError;

/// So many random bytes.
pub(crate) fn bytes<const COUNT: usize>() -> Result<[u8; COUNT], LoginError> {
    random_bytes().ok_or_else(no_randomness)
}

/// A word for an address that nobody can guess.
pub(crate) fn token() -> Result<String, LoginError> {
    long_random_token().ok_or_else(no_randomness)
}

/// The challenge of a verifier, by the method `S256`.
pub(crate) fn pkce_challenge(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

fn no_randomness() -> LoginError {
    LoginError::NoKey { why: "the system gives no random numbers".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_the_one_of_the_standard() {
        // The example of RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(pkce_challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
