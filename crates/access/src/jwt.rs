//! Parsing and validation of JWTs: signature, audience, lifetime and scopes.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::jwks::{PublicKey, SigningAlgorithm};

const MAX_CLOCK_SKEW_SECONDS: f64 = 60.0;
const MAX_TOKEN_BYTES: usize = 16 << 10;
/// Maximum number of keys that are tried for a token without a key id. Anyone can send such a
/// token, and each check of a signature costs CPU time.
const MAX_KEY_ATTEMPTS: usize = 8;

/// A parsed token with an unchecked signature.
pub(crate) struct UnverifiedToken<'a> {
    pub(crate) key_id: Option<String>,
    algorithm: SigningAlgorithm,
    signed_text: &'a str,
    claims: Vec<u8>,
    signature: Vec<u8>,
}

#[derive(Clone, Copy)]
pub(crate) struct ExpectedClaims<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) audience: &'a str,
    pub(crate) now: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claims {
    /// The user; `None` for a client that acts on its own behalf.
    pub(crate) subject: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) scopes: Vec<String>,
    /// Seconds since the Unix epoch, including the tolerated clock skew.
    pub(crate) expires_at: u64,
}

impl Claims {
    /// Returns the user, or the client if there is no user.
    pub(crate) fn principal(&self) -> &str {
        self.subject.as_deref().or(self.client.as_deref()).unwrap_or_default()
    }
}

/// Why a token is rejected. The messages do not help an attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenError {
    Malformed,
    Algorithm,
    Signature,
    Issuer,
    Audience,
    Expired,
    NotYetValid,
    NoSubject,
}

impl TokenError {
    pub(crate) const fn message(self) -> &'static str {
        match self {
            Self::Malformed => "the token is not a signed JWT",
            Self::Algorithm => "the token's signature algorithm is not accepted",
            Self::Signature => "the token is not signed with a key of the issuer",
            Self::Issuer => "the token comes from another issuer",
            Self::Audience => "the token is for another audience",
            Self::Expired => "the token has expired",
            Self::NotYetValid => "the token is not valid yet",
            Self::NoSubject => "the token names neither a subject nor a client",
        }
    }
}

#[derive(Deserialize)]
struct JwtHeader {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct JwtClaims {
    iss: Option<String>,
    aud: Option<OneOrMany>,
    exp: Option<f64>,
    nbf: Option<f64>,
    iat: Option<f64>,
    sub: Option<String>,
    client_id: Option<String>,
    azp: Option<String>,
    scope: Option<OneOrMany>,
    scp: Option<OneOrMany>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn contains(&self, text: &str) -> bool {
        match self {
            Self::One(one) => one == text,
            Self::Many(many) => many.iter().any(|one| one == text),
        }
    }

    fn into_words(self) -> Vec<String> {
        match self {
            Self::One(one) => one.split_ascii_whitespace().map(str::to_owned).collect(),
            Self::Many(many) => many,
        }
    }
}

pub(crate) fn parse_token(token: &str) -> Result<UnverifiedToken<'_>, TokenError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(TokenError::Malformed);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
    let (header, claims) = signed.split_once('.').ok_or(TokenError::Malformed)?;
    let bytes = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Malformed);
    let header: JwtHeader =
        serde_json::from_slice(&bytes(header)?).map_err(|_| TokenError::Malformed)?;
    let kind = header.typ.unwrap_or_default().to_ascii_lowercase();
    // RFC 7515 requires rejecting unsupported critical extensions. Other types, such as logout
    // tokens, have other purposes and must not grant access.
    if header.crit.is_some() || !["", "jwt", "at+jwt", "application/at+jwt"].contains(&&*kind) {
        return Err(TokenError::Malformed);
    }
    let algorithm = SigningAlgorithm::parse(&header.alg).ok_or(TokenError::Algorithm)?;
    Ok(UnverifiedToken {
        key_id: header.kid,
        algorithm,
        signed_text: signed,
        claims: bytes(claims)?,
        signature: bytes(signature)?,
    })
}

impl UnverifiedToken<'_> {
    pub(crate) fn is_signed_with(&self, keys: &[PublicKey]) -> bool {
        let mut candidates = keys
            .iter()
            .filter(|key| key.may_have_signed(self.algorithm, self.key_id.as_deref()))
            .take(MAX_KEY_ATTEMPTS);
        candidates.any(|key| key.verifies(self.signed_text.as_bytes(), &self.signature))
    }

    /// Returns the claims if issuer, audience and lifetime are as expected. They are trustworthy
    /// only if [`Self::is_signed_with`] returns true.
    pub(crate) fn claims(&self, expected: ExpectedClaims<'_>) -> Result<Claims, TokenError> {
        let body: JwtClaims =
            serde_json::from_slice(&self.claims).map_err(|_| TokenError::Malformed)?;
        if body.iss.as_deref() != Some(expected.issuer) {
            return Err(TokenError::Issuer);
        }
        // Without this check, a server that got a token of its own could replay it here.
        if !body.aud.is_some_and(|audience| audience.contains(expected.audience)) {
            return Err(TokenError::Audience);
        }
        #[expect(clippy::cast_precision_loss, reason = "seconds of this millennium fit")]
        let now = expected.now as f64;
        // A token without `exp` counts as expired: it could never be taken back.
        let until = body.exp.map(|end| end + MAX_CLOCK_SKEW_SECONDS).filter(|until| now < *until);
        let until = until.ok_or(TokenError::Expired)?;
        let is_early = |start: f64| now < start - MAX_CLOCK_SKEW_SECONDS;
        if body.nbf.is_some_and(is_early) || body.iat.is_some_and(is_early) {
            return Err(TokenError::NotYetValid);
        }
        let subject = body.sub;
        let client = body.client_id.or(body.azp);
        if subject.as_ref().or(client.as_ref()).is_none_or(String::is_empty) {
            return Err(TokenError::NoSubject);
        }
        // Keycloak and Auth0 send `scope`, Microsoft Entra and Okta send `scp`.
        let mut scopes = body.scope.map(OneOrMany::into_words).unwrap_or_default();
        scopes.extend(body.scp.map(OneOrMany::into_words).unwrap_or_default());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is later than now, and the cast saturates"
        )]
        let expires_at = until as u64;
        Ok(Claims { subject, client, scopes, expires_at })
    }
}

#[cfg(test)]
#[path = "jwt_tests.rs"]
mod tests;
