//! The public keys of an issuer (JWKS), and the verification of signatures.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Maximum number of keys that are kept per issuer.
const MAX_KEYS: usize = 100;

/// Accepted signature algorithms. Shared secrets and `none` are never accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SigningAlgorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl SigningAlgorithm {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicKey {
    id: Option<String>,
    material: KeyMaterial,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum KeyMaterial {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct JwkSet<'a> {
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

/// Parses a key set. Keys of unsupported kinds are skipped.
pub(crate) fn parse_jwks(text: &str) -> Option<Vec<PublicKey>> {
    let set: JwkSet<'_> = serde_json::from_str(text).ok()?;
    let key = |raw: &RawValue| PublicKey::from_jwk(serde_json::from_str(raw.get()).ok()?);
    Some(set.keys.into_iter().take(MAX_KEYS).filter_map(key).collect())
}

impl PublicKey {
    fn from_jwk(jwk: Jwk) -> Option<Self> {
        // An encryption key must not vouch for a signature.
        if jwk.usage.is_some_and(|usage| usage != "sig") {
            return None;
        }
        let part = |text: Option<String>| BASE64_URL_SAFE_NO_PAD.decode(text?).ok();
        let material = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => KeyMaterial::Rsa { n: part(jwk.n)?, e: part(jwk.e)? },
            ("EC", Some("P-256")) => {
                // The SEC 1 encoding of an uncompressed point, as ring expects it.
                KeyMaterial::P256([&[4], &*part(jwk.x)?, &*part(jwk.y)?].concat())
            }
            ("OKP", Some("Ed25519")) => KeyMaterial::Ed25519(part(jwk.x)?),
            _ => return None,
        };
        let key = Self { id: jwk.kid, material };
        let fits = jwk.alg.is_none_or(|alg| SigningAlgorithm::parse(&alg) == Some(key.algorithm()));
        fits.then_some(key)
    }

    const fn algorithm(&self) -> SigningAlgorithm {
        match self.material {
            KeyMaterial::Rsa { .. } => SigningAlgorithm::Rs256,
            KeyMaterial::P256(_) => SigningAlgorithm::Es256,
            KeyMaterial::Ed25519(_) => SigningAlgorithm::EdDsa,
        }
    }

    pub(crate) fn may_have_signed(&self, algorithm: SigningAlgorithm, id: Option<&str>) -> bool {
        // The key decides the algorithm. Trusting the token's header alone would let it pick one.
        self.algorithm() == algorithm && (id.is_none() || self.id.as_deref() == id)
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let checked = match &self.material {
            KeyMaterial::Rsa { n, e } => {
                // Some issuers write leading zeros, which ring rejects.
                let key =
                    RsaPublicKeyComponents { n: trim_leading_zeros(n), e: trim_leading_zeros(e) };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            KeyMaterial::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            KeyMaterial::Ed25519(point) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
        };
        checked.is_ok()
    }
}

fn trim_leading_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.get(zeros..).unwrap_or_default()
}
