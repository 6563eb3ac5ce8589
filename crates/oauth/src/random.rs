//! Random values for logins (states, verifiers, salts, keys), and the PKCE challenge.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use switchboard_core::{long_random_token, random_bytes};

use crate::error::LoginError;

pub(crate) fn bytes<const COUNT: usize>() -> Result<[u8; COUNT], LoginError> {
    random_bytes().ok_or_else(no_randomness)
}

/// Returns an unguessable token that is safe in URLs.
pub(crate) fn token() -> Result<String, LoginError> {
    long_random_token().ok_or_else(no_randomness)
}

/// Returns the PKCE challenge of a verifier (`S256`).
pub(crate) fn pkce_challenge(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

fn no_randomness() -> LoginError {
    LoginError::NoKey { why: "the operating system returned no random bytes".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_the_one_of_the_standard() {
        // The example in RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(pkce_challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
