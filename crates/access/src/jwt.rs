//! Parsing and validation of JWTs: signature, audience, lifetime and scopes.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::jwks::{PublicKey, SigningAlgorithm};

/// Tolerated clock skew.
const MAX_CLOCK_SKEW_SECONDS: f64 = 60.0;
const MAX_TOKEN_BYTES: usize = 16 << 10;
/// Maximum number of keys that are tried for a token without a key id.
const MAX_KEY_ATTEMPTS: usize = 8;

/// A parsed token, not verified yet.
pub(crate) struct UnverifiedToken<'a> {
    pub(crate) key_id: Option<String>,
    algorithm: SigningAlgorithm,
    signed_text: &'a str,
    claims: Vec<u8>,
    signature: Vec<u8>,
}

/// The claims that a token needs to be accepted.
#[derive(Clone, Copy)]
pub(crate) struct ExpectedClaims<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) audience: &'a str,
    pub(crate) now: u64,
}

/// The claims of an accepted token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claims {
    /// The user; `None` for a client that acts on its own behalf.
    pub(crate) subject: Option<String>,
    pub(crate) client: Option<String>,
    pub(crate) scopes: Vec<String>,
    /// In seconds since 1970, including the tolerated skew.
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
            Self::Algorithm => "the token is signed in a way that is not accepted",
            Self::Signature => "the token is not signed with a key of the issuer",
            Self::Issuer => "the token is of another issuer",
            Self::Audience => "the token is not meant for this place",
            Self::Expired => "the token is too old",
            Self::NotYetValid => "the token does not count yet",
            Self::NoSubject => "the token does not say whose it is",
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
    // No critical extension is supported, and tokens of other types have other purposes.
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
        if !body.aud.is_some_and(|audience| audience.contains(expected.audience)) {
            return Err(TokenError::Audience);
        }
        #[expect(clippy::cast_precision_loss, reason = "seconds of this millennium fit")]
        let now = expected.now as f64;
        let until = body.exp.map(|end| end + MAX_CLOCK_SKEW_SECONDS).filter(|until| now < *until);
        let until = until.ok_or(TokenError::Expired)?;
        if [body.nbf, body.iat]
            .into_iter()
            .flatten()
            .any(|start| now < start - MAX_CLOCK_SKEW_SECONDS)
        {
            return Err(TokenError::NotYetValid);
        }
        let given = |name: &String| !name.is_empty();
        let subject = body.sub;
        let client = body.client_id.or(body.azp);
        if !subject.as_ref().or(client.as_ref()).is_some_and(given) {
            return Err(TokenError::NoSubject);
        }
        let mut scopes = body.scope.map(OneOrMany::into_words).unwrap_or_default();
        scopes.extend(body.scp.map(OneOrMany::into_words).unwrap_or_default());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is later than now, and the cast saturates"
        )]
        let until = until as u64;
        Ok(Claims { subject, client, scopes, expires_at: until })
    }
}

#[cfg(test)]
#[path = "jwt_tests.rs"]
mod tests;
