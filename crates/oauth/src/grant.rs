//! Requests and revokes tokens at the endpoints of an authorization server.

use jiff::Timestamp;
use reqwest::Url;
use serde::Deserialize;

use crate::client::RegisteredClient;
use crate::error::LoginError;
use crate::fetch::{OauthFetcher, Post, parse_json};
use crate::form::encode;
use crate::secret::Secret;

const ENDPOINT_LABEL: &str = "the token endpoint";
const FORM_TYPE: &str = "application/x-www-form-urlencoded";

#[derive(Clone, Debug)]
pub(crate) struct TokenSet {
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    /// Expiry of the access token, in Unix seconds.
    pub(crate) ends: Option<i64>,
    /// Granted scopes, if the response lists them.
    pub(crate) scopes: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: Secret,
    token_type: Option<String>,
    expires_in: Option<serde_json::Value>,
    refresh_token: Option<Secret>,
    scope: Option<String>,
}

/// Requests tokens with the grant in `form`.
pub(crate) async fn request_tokens(
    fetcher: &OauthFetcher,
    endpoint: &Url,
    client: &RegisteredClient,
    form: &[(&str, &str)],
) -> Result<TokenSet, LoginError> {
    let mut form = form.to_vec();
    let authorization = client.authenticate(&mut form);
    let post = Post { body: encode(&form), kind: FORM_TYPE, authorization };
    let (status, answer) = fetcher.post(ENDPOINT_LABEL, endpoint, post).await?;
    if status != 200 && status != 201 {
        let code = error_code(status, &answer);
        return Err(LoginError::Refused { what: "the token request", code });
    }
    let answer: TokenResponse = parse_json(ENDPOINT_LABEL, endpoint, &answer)?;
    // RFC 6749 requires `token_type`, but some servers omit it.
    let kind = answer.token_type.as_deref().unwrap_or("bearer");
    if !kind.eq_ignore_ascii_case("bearer") {
        let why = "it issued a token of an unsupported type".to_owned();
        return Err(LoginError::Untrusted { what: ENDPOINT_LABEL, why });
    }
    // The token becomes a header value, so it must not contain spaces or control characters.
    let token = answer.access_token.reveal();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let why = "its token is not a valid header value".to_owned();
        return Err(LoginError::Untrusted { what: ENDPOINT_LABEL, why });
    }
    // Some servers send the number as a string. The cap keeps a bogus lifetime from overflowing.
    let lasts = match &answer.expires_in {
        Some(serde_json::Value::Number(number)) => number.as_f64(),
        Some(serde_json::Value::String(text)) => text.parse::<f64>().ok(),
        _ => None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "the seconds are clamped to a year first")]
    let ends = lasts.map(|seconds| unix_now() + seconds.clamp(0.0, 31_536_000.0) as i64);
    let scopes = answer.scope.map(|scope| scope.split_whitespace().map(str::to_owned).collect());
    Ok(TokenSet { access: answer.access_token, refresh: answer.refresh_token, ends, scopes })
}

pub(crate) async fn revoke(
    fetcher: &OauthFetcher,
    endpoint: &Url,
    client: &RegisteredClient,
    token: &Secret,
    kind: &str,
) -> Result<(), LoginError> {
    let mut form = vec![("token", token.reveal()), ("token_type_hint", kind)];
    let authorization = client.authenticate(&mut form);
    let post = Post { body: encode(&form), kind: FORM_TYPE, authorization };
    let (status, answer) = fetcher.post("the revocation endpoint", endpoint, post).await?;
    if (200..300).contains(&status) {
        return Ok(());
    }
    Err(LoginError::Refused { what: "the revocation", code: error_code(status, &answer) })
}

/// Returns the error code of a response, if it is well formed; never other text from the response.
pub(crate) fn error_code(status: u16, answer: &[u8]) -> String {
    #[derive(Deserialize)]
    struct TokenErrorResponse {
        error: String,
    }
    // A body without a code may be an error page of a proxy; the status is reported instead.
    let response = serde_json::from_slice::<TokenErrorResponse>(answer).ok();
    let word = response.map(|response| response.error);
    word.filter(|word| is_error_code(word)).unwrap_or_else(|| format!("status {status}"))
}

pub(crate) fn is_error_code(word: &str) -> bool {
    // The code is shown in a terminal: only plain characters, so no escape sequences.
    (1..=64).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-')
}

pub(crate) fn unix_now() -> i64 {
    Timestamp::now().as_second()
}
