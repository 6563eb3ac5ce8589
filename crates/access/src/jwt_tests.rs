//! Tests of accepted and rejected tokens.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use proptest::prelude::proptest;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use serde_json::{Value, json};

use super::{Claims, ExpectedClaims, TokenError, parse_token};
use crate::jwks;

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "https://gateway.example/mcp";
const NOW: u64 = 1_000;

// An RSA public key, and a token signed with its private key, which has been discarded.
const RSA_MODULUS: &str = "\
sousVTs1nf2Oqhy_CY8msCH-OEq48ADWNyqmtIFikiEYBd6THUOlI2H2e_eJu3RTT1ZLtE9Lnn532yZbB8Vm5sfq6Va4\
cGm4_FaieyOhTU_7Ebq-j7gHjOn03agPZVxOrLqA5zfWWPZ91yZAN2qEPr5xurzSW6uvOoobNpGylyjNP5232HA4tBKQ\
PXxX79APvSQF7iTxzyAPaXu8mUL9RI0hQsRmz3odPgVE-s8g07QJuaQqzYeH2JbVLt8_Yo1DeufSLKyrIPFyWuU1ZRDK\
J0ns9KL3uJrLGkJT-Ri96PwngMoORAJQbni-UYEPfKxnNkOL36IiSGRphvn0LLHHBw";
const RSA_TOKEN: &str = "\
eyJhbGciOiJSUzI1NiIsImtpZCI6InIxIiwidHlwIjoiYXQrand0In0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFt\
cGxlIiwiYXVkIjpbImh0dHBzOi8vZ2F0ZXdheS5leGFtcGxlL21jcCJdLCJleHAiOjIwMDAsInN1YiI6ImFkYSIsInNj\
b3BlIjoidG9vbHMgcmVhZCJ9.BKcwBAEyY6IOiKX-9K1ZxONrTob0pVBHo77QEEgJpHE2ynGb8up5pQyM8HDMHo6kc80\
cyojKr7ek9_WDHCy_RelduKQFOlKGzkM3KV7kgSSbaMa_V5aXhFvlA8XMMiofLGTn6N_o8ivdMu1KfnHvQMeNOfcJI3G\
OoY8JvzQFIZzT496AE5DtypDQeFgekRQwFJVIrOYifdLuQx_yXqfhEZYF2uFKoFHGs7WDNMM6Wuwk_gfRbb83p9kG6gq\
YTYcb_gzGukJGJVdXzeQ_1JlXT8nrD86d6asKJR0EALgxx8nuNgH_PrfhZKm1aOPkZN24tZYBmPT68nWFSPVWR5J-Ig";

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()))
}

/// An issuer with its own key.
struct Signer {
    pair: Ed25519KeyPair,
}

impl Signer {
    fn new() -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self { pair: Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap() }
    }

    fn jwk(&self, id: &str) -> Value {
        let x = encoded(self.pair.public_key());
        json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": x, "use": "sig"})
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let signed = unsigned(header, claims);
        let signature = encoded(self.pair.sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }
}

fn good_claims() -> Value {
    json!({"iss": ISSUER, "aud": AUDIENCE, "exp": NOW + 100, "sub": "ada", "scope": "tools"})
}

fn ada(scopes: &[&str]) -> Claims {
    let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    Claims { subject: Some("ada".to_owned()), client: None, scopes, expires_at: 0 }
}

fn check(keys: &Value, token: &str) -> Result<Claims, TokenError> {
    let keys = jwks::parse_jwks(&json!({"keys": keys}).to_string()).unwrap();
    let token = parse_token(token)?;
    if !token.is_signed_with(&keys) {
        return Err(TokenError::Signature);
    }
    let claims = token.claims(ExpectedClaims { issuer: ISSUER, audience: AUDIENCE, now: NOW })?;
    assert!(claims.expires_at > NOW);
    Ok(Claims { expires_at: 0, ..claims })
}

fn header() -> Value {
    json!({"alg": "EdDSA", "kid": "e1", "typ": "at+jwt"})
}

#[test]
fn signatures_of_all_three_kinds_are_believed() {
    let random = SystemRandom::new();
    let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let pair = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(kind, pair.as_ref(), &random).unwrap();
    let signed = unsigned(&json!({"alg": "ES256", "kid": "p1"}), &good_claims());
    let signature = pair.sign(&random, signed.as_bytes()).unwrap();
    let elliptic = format!("{signed}.{}", encoded(signature));
    let point = pair.public_key().as_ref();
    let signer = Signer::new();
    let keys = json!([
        {"kty": "RSA", "kid": "r1", "n": RSA_MODULUS, "e": "AQAB", "alg": "RS256"},
        {"kty": "EC", "crv": "P-256", "kid": "p1", "x": encoded(&point[1..33]), "y": encoded(&point[33..])},
        signer.jwk("e1"),
        {"kty": "oct", "kid": "secret", "k": "c2VjcmV0"},
        {"nonsense": true},
    ]);
    assert_eq!(check(&keys, RSA_TOKEN), Ok(ada(&["tools", "read"])));
    assert_eq!(check(&keys, &elliptic), Ok(ada(&["tools"])));
    assert_eq!(check(&keys, &signer.sign(&header(), &good_claims())), Ok(ada(&["tools"])));
}

#[test]
fn nothing_but_a_signature_of_the_issuer_is_believed() {
    let signer = Signer::new();
    let other = Signer::new();
    let keys = json!([signer.jwk("e1")]);
    let good = signer.sign(&header(), &good_claims());
    let (front, signature) = good.rsplit_once('.').unwrap();
    let with = |header: Value| signer.sign(&header, &good_claims());
    let changed = unsigned(&header(), &json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "eve"}));
    for (token, expected) in [
        (other.sign(&header(), &good_claims()), TokenError::Signature),
        (format!("{changed}.{signature}"), TokenError::Signature),
        (format!("{front}."), TokenError::Signature),
        (with(json!({"alg": "EdDSA", "kid": "e2"})), TokenError::Signature),
        (with(json!({"alg": "ES256", "kid": "e1"})), TokenError::Signature),
        (with(json!({"alg": "none", "kid": "e1"})), TokenError::Algorithm),
        (with(json!({"alg": "HS256", "kid": "e1"})), TokenError::Algorithm),
        (with(json!({"alg": "RS512", "kid": "e1"})), TokenError::Algorithm),
        (with(json!({"alg": "eddsa", "kid": "e1"})), TokenError::Algorithm),
        // The header embeds a key, links to one, or has a malicious or malformed key id.
        (
            other.sign(
                &json!({"alg": "EdDSA", "kid": "e1", "jwk": other.jwk("e1")}),
                &good_claims(),
            ),
            TokenError::Signature,
        ),
        (
            other.sign(
                &json!({"alg": "EdDSA", "kid": "e1", "jku": "https://evil.example/keys"}),
                &good_claims(),
            ),
            TokenError::Signature,
        ),
        (with(json!({"alg": "EdDSA", "kid": "../../../dev/null"})), TokenError::Signature),
        (with(json!({"alg": "EdDSA", "kid": "e1' OR '1'='1"})), TokenError::Signature),
        (with(json!({"alg": "EdDSA", "kid": ""})), TokenError::Signature),
        (with(json!({"alg": "EdDSA", "kid": 1})), TokenError::Malformed),
        (with(json!({"alg": "EdDSA", "kid": ["e1"]})), TokenError::Malformed),
        (with(json!({"alg": ["EdDSA"], "kid": "e1"})), TokenError::Malformed),
        (with(json!({"alg": "NONE", "kid": "e1"})), TokenError::Algorithm),
        (with(json!({"alg": "", "kid": "e1"})), TokenError::Algorithm),
        (with(json!({"kid": "e1"})), TokenError::Malformed),
        (with(json!({"alg": "EdDSA", "kid": "e1", "crit": ["x"]})), TokenError::Malformed),
        (with(json!({"alg": "EdDSA", "kid": "e1", "typ": "logout+jwt"})), TokenError::Malformed),
        (front.to_owned(), TokenError::Malformed),
        (format!("{good}.x"), TokenError::Malformed),
        (format!("{good}="), TokenError::Malformed),
        (String::new(), TokenError::Malformed),
        ("..".to_owned(), TokenError::Malformed),
        ("x".repeat(20_000), TokenError::Malformed),
    ] {
        assert_eq!(check(&keys, &token), Err(expected), "{token}");
    }
    // Without a key id, every key of the algorithm is tried.
    assert_eq!(check(&keys, &with(json!({"alg": "EdDSA"}))), Ok(ada(&["tools"])));
}

#[test]
fn oa_08_a_token_counts_only_here_and_now() {
    let signer = Signer::new();
    let keys = json!([signer.jwk("e1")]);
    let with = |name: &str, value: Value| {
        let mut claims = good_claims();
        claims[name] = value;
        check(&keys, &signer.sign(&header(), &claims))
    };
    for (name, value, expected) in [
        ("aud", json!("https://other.example"), Err(TokenError::Audience)),
        ("aud", json!([]), Err(TokenError::Audience)),
        ("aud", json!(null), Err(TokenError::Audience)),
        ("aud", json!("https://gateway.example/mcp/"), Err(TokenError::Audience)),
        ("aud", json!(["https://other.example", AUDIENCE]), Ok(())),
        ("iss", json!("https://issuer.example/"), Err(TokenError::Issuer)),
        ("iss", json!(null), Err(TokenError::Issuer)),
        ("exp", json!(NOW - 61), Err(TokenError::Expired)),
        ("exp", json!(NOW - 59), Ok(())),
        ("exp", json!(null), Err(TokenError::Expired)),
        ("exp", json!("never"), Err(TokenError::Malformed)),
        ("nbf", json!(NOW + 61), Err(TokenError::NotYetValid)),
        ("nbf", json!(NOW + 59), Ok(())),
        ("iat", json!(NOW + 61), Err(TokenError::NotYetValid)),
        ("iat", json!(NOW + 59), Ok(())),
        ("iat", json!(1), Ok(())),
        ("exp", json!(1e300), Ok(())),
        ("sub", json!(null), Err(TokenError::NoSubject)),
        ("sub", json!(""), Err(TokenError::NoSubject)),
    ] {
        let got = with(name, value.clone()).map(|_| ());
        assert_eq!(got, expected, "{name} {value}");
    }
}

#[test]
fn scopes_are_read_in_every_form_that_issuers_use() {
    let signer = Signer::new();
    let keys = json!([signer.jwk("e1")]);
    for (name, value, expected) in [
        ("scope", json!("a b"), &["a", "b"][..]),
        ("scope", json!(["a", "b"]), &["a", "b"]),
        ("scp", json!("a b"), &["a", "b"]),
        ("scp", json!(["a", "b"]), &["a", "b"]),
        ("scope", json!(null), &[]),
    ] {
        let mut claims = good_claims();
        claims.as_object_mut().unwrap().remove("scope");
        claims[name] = value;
        let token = signer.sign(&header(), &claims);
        assert_eq!(check(&keys, &token), Ok(ada(expected)), "{claims}");
    }
}

proptest! {
    #[test]
    fn whatever_comes_nothing_unsigned_is_believed(
        header in ".{0,60}", claims in ".{0,60}", signature in ".{0,60}", token in ".{0,120}",
    ) {
        let keys = json!([Signer::new().jwk("e1")]);
        let parts = [header, claims, signature].map(encoded).join(".");
        let signed_by_nobody = unsigned(&json!({"alg": "EdDSA"}), &good_claims());
        for token in [token.clone(), parts, format!("{signed_by_nobody}.{token}")] {
            assert!(check(&keys, &token).is_err());
        }
    }
}
