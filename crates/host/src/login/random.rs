//! What nobody can guess: states, verifiers, salts, keys; and the fingerprint of a verifier.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use sha2::{Digest as _, Sha256};

use crate::login::LoginError;

/// So many random bytes.
pub(super) fn bytes<const COUNT: usize>() -> Result<[u8; COUNT], LoginError> {
    let mut bytes = [0; COUNT];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| LoginError::NoKey { why: "the system gives no random numbers".to_owned() })?;
    Ok(bytes)
}

/// 256 random bits as text for an address.
pub(super) fn word() -> Result<String, LoginError> {
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes::<32>()?))
}

/// The challenge of a verifier, by the method `S256`.
pub(super) fn challenge_of(verifier: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_the_one_of_the_standard() {
        // The example of RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge_of(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn words_are_long_and_never_the_same() {
        let (one, other) = (word().unwrap(), word().unwrap());
        assert_eq!(one.len(), 43);
        assert_ne!(one, other);
    }
}
