//! The public keys of an issuer, and what they signed.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// As many keys of an issuer are looked at.
const MOST: usize = 100;

/// How a token may be signed. Nothing that needs a shared secret, and never nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// A key that signatures are checked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    id: Option<String>,
    material: Material,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct Set<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// Reads a set of keys; those of other kinds are left out.
pub(super) fn read(text: &str) -> Option<Vec<Key>> {
    let set: Set<'_> = serde_json::from_str(text).ok()?;
    let key = |raw: &RawValue| Key::of(serde_json::from_str(raw.get()).ok()?);
    Some(set.keys.into_iter().take(MOST).filter_map(key).collect())
}

impl Key {
    fn of(jwk: Jwk) -> Option<Self> {
        if jwk.usage.is_some_and(|usage| usage != "sig") {
            return None;
        }
        let part = |text: Option<String>| BASE64_URL_SAFE_NO_PAD.decode(text?).ok();
        let material = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => Material::Rsa { n: part(jwk.n)?, e: part(jwk.e)? },
            ("EC", Some("P-256")) => {
                let (x, y) = (part(jwk.x)?, part(jwk.y)?);
                // An uncompressed point, as ring reads it.
                Material::P256([&[4], x.as_slice(), y.as_slice()].concat())
            }
            ("OKP", Some("Ed25519")) => Material::Ed25519(part(jwk.x)?),
            _ => return None,
        };
        let key = Self { id: jwk.kid, material };
        let fits = jwk.alg.is_none_or(|alg| Algorithm::parse(&alg) == Some(key.algorithm()));
        fits.then_some(key)
    }

    const fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Rsa { .. } => Algorithm::Rs256,
            Material::P256(_) => Algorithm::Es256,
            Material::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    /// Whether a token that names this key, or none, may be signed with it.
    pub(super) fn may_have_signed(&self, algorithm: Algorithm, id: Option<&str>) -> bool {
        self.algorithm() == algorithm && (id.is_none() || self.id.as_deref() == id)
    }

    /// Whether it signed the message.
    pub(super) fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let checked = match &self.material {
            Material::Rsa { n, e } => {
                let key = RsaPublicKeyComponents { n: trimmed(n), e: trimmed(e) };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            Material::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            Material::Ed25519(point) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
        };
        checked.is_ok()
    }
}

/// Some issuers write leading zeros, which ring refuses.
fn trimmed(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.get(zeros..).unwrap_or_default()
}
