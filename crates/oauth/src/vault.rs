//! Authenticated encryption of text with a derived key.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::pbkdf2;
use serde::{Deserialize, Serialize};

use crate::error::LoginError;
use crate::random;
use crate::secret::Secret;

/// PBKDF2 iterations for a key chosen by a person, which an attacker with the file could guess. The
/// number is OWASP's recommendation for HMAC-SHA-256.
const KDF_ROUNDS: NonZeroU32 = match NonZeroU32::new(600_000) {
    Some(rounds) => rounds,
    None => NonZeroU32::MAX,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyKind {
    Supplied,
    Keyring,
}

/// An encrypted text as stored in a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SealedText {
    version: u32,
    pub(crate) key: KeyKind,
    pub(crate) salt: String,
    nonce: String,
    sealed: String,
}

#[derive(Clone)]
pub(crate) struct SealingKey {
    bytes: [u8; 32],
    pub(crate) kind: KeyKind,
    pub(crate) salt: String,
}

impl SealingKey {
    /// Derives the key from the secret. This is slow for a supplied key.
    pub(crate) fn derive(secret: &Secret, kind: KeyKind, salt: &str) -> Self {
        let rounds = match kind {
            KeyKind::Supplied => KDF_ROUNDS,
            // The keyring's key is random already; a slow derivation would not protect it further.
            KeyKind::Keyring => NonZeroU32::MIN,
        };
        let mut bytes = [0; 32];
        let salt_bytes = salt.as_bytes();
        let secret = secret.reveal().as_bytes();
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, salt_bytes, secret, &mut bytes);
        Self { bytes, kind, salt: salt.to_owned() }
    }

    pub(crate) fn new_salt() -> Result<String, LoginError> {
        Ok(BASE64_STANDARD.encode(random::bytes::<16>()?))
    }

    pub(crate) fn seal(&self, plain: &str) -> Result<SealedText, LoginError> {
        // Random 96-bit nonces are safe for about 2³² writes under one key.
        let nonce = random::bytes::<12>()?;
        let mut text = plain.as_bytes().to_vec();
        let failed = || LoginError::NoKey { why: "the key cannot be used".to_owned() };
        self.cipher()
            .ok_or_else(failed)?
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                // The salt is stored in plain text; authenticating it makes tampering evident.
                Aad::from(self.salt.as_bytes()),
                &mut text,
            )
            .map_err(|_| failed())?;
        Ok(SealedText {
            version: 1,
            key: self.kind,
            salt: self.salt.clone(),
            nonce: BASE64_STANDARD.encode(nonce),
            sealed: BASE64_STANDARD.encode(text),
        })
    }

    /// Decrypts a sealed text; `None` if the key is wrong or the text was modified.
    pub(crate) fn open(&self, sealed: &SealedText) -> Option<String> {
        let nonce: [u8; 12] = BASE64_STANDARD.decode(&sealed.nonce).ok()?.try_into().ok()?;
        let mut text = BASE64_STANDARD.decode(&sealed.sealed).ok()?;
        let opened = self
            .cipher()?
            .open_in_place(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(sealed.salt.as_bytes()),
                &mut text,
            )
            .ok()?;
        String::from_utf8(opened.to_vec()).ok()
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&CHACHA20_POLY1305, &self.bytes).ok().map(LessSafeKey::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_opens_and_only_what_was_not_changed() {
        let key = |secret: &str| SealingKey::derive(&Secret::new(secret), KeyKind::Keyring, "salt");
        let sealed = key("right").seal("hunter2").unwrap();
        assert!(!serde_json::to_string(&sealed).unwrap().contains("hunter2"));
        assert_eq!(key("right").open(&sealed).as_deref(), Some("hunter2"));
        assert_eq!(key("wrong").open(&sealed), None);
        let other_salt = SealedText { salt: "pepper".to_owned(), ..sealed };
        assert_eq!(key("right").open(&other_salt), None);
        let mut changed = key("right").seal("hunter2").unwrap();
        changed.sealed = BASE64_STANDARD.encode([0; 23]);
        assert_eq!(key("right").open(&changed), None);
    }

    #[test]
    fn the_same_text_is_never_sealed_the_same_way() {
        let key = SealingKey::derive(&Secret::new("k"), KeyKind::Keyring, "salt");
        let one = key.seal("x").unwrap();
        let other = key.seal("x").unwrap();
        assert_ne!(one.sealed, other.sealed);
    }
}
