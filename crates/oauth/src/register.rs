//! Determines our client at an authorization server: configured, documented, or registered.

use serde::Deserialize;
use serde_json::json;
use switchboard_config::OauthSettings;

use crate::client::{AuthMethod, ClientOrigin, RegisteredClient};
use crate::error::LoginError;
use crate::fetch::{OauthFetcher, Post, parse_json};
use crate::metadata::AuthServer;
use crate::secret::Secret;

const ENDPOINT_LABEL: &str = "the registration endpoint";

/// Returns the configured client, or the one described by the configured metadata document.
pub(crate) fn configured_client(
    settings: &OauthSettings,
    server: &AuthServer,
) -> Option<RegisteredClient> {
    let listed = server.methods.as_deref();
    if let Some(id) = &settings.client_id {
        let secret = settings.client_secret.as_deref().map(Secret::new);
        let with_secret = [AuthMethod::ClientSecretBasic, AuthMethod::ClientSecretPost];
        let method = match &secret {
            // RFC 6749 requires every authorization server to support Basic.
            Some(_) => {
                AuthMethod::choose(&with_secret, listed).unwrap_or(AuthMethod::ClientSecretBasic)
            }
            None => AuthMethod::None,
        };
        return Some(RegisteredClient {
            id: id.clone(),
            secret,
            secret_ends: None,
            method,
            origin: ClientOrigin::Configured,
            redirect_uri: None,
        });
    }
    let document = settings.client_metadata_url.as_ref().filter(|_| server.takes_documents)?;
    Some(RegisteredClient {
        id: document.clone(),
        secret: None,
        secret_ends: None,
        method: AuthMethod::None,
        origin: ClientOrigin::Document,
        redirect_uri: None,
    })
}

#[derive(Deserialize)]
struct RegistrationResponse {
    client_id: String,
    client_secret: Option<Secret>,
    #[serde(default)]
    client_secret_expires_at: Option<i64>,
    token_endpoint_auth_method: Option<String>,
}

pub(crate) async fn register(
    fetcher: &OauthFetcher,
    server: &AuthServer,
    redirect_uri: &str,
) -> Result<RegisteredClient, LoginError> {
    let Some(url) = &server.registration else {
        return Err(LoginError::NoClient { issuer: server.issuer.clone() });
    };
    // A program on a user's machine cannot keep a secret, so a public client comes first.
    let preferred = [AuthMethod::None, AuthMethod::ClientSecretBasic, AuthMethod::ClientSecretPost];
    let wanted =
        AuthMethod::choose(&preferred, server.methods.as_deref()).unwrap_or(AuthMethod::None);
    let body = json!({
        "client_name": "Switchboard",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted.name(),
        "application_type": "native",
    });
    let post = Post { body: body.to_string(), kind: "application/json", authorization: None };
    let (status, body) = fetcher.post(ENDPOINT_LABEL, url, post).await?;
    if !matches!(status, 200 | 201) {
        let code = crate::grant::error_code(status, &body);
        return Err(LoginError::Refused { what: "the client registration", code });
    }
    let answer: RegistrationResponse = parse_json(ENDPOINT_LABEL, url, &body)?;
    // The server may register another method than the requested one (RFC 7591).
    let method = match answer.token_endpoint_auth_method.as_deref() {
        None => wanted,
        Some(name) => AuthMethod::from_name(name).ok_or_else(|| LoginError::Untrusted {
            what: "the registration",
            why: "it requires an unsupported authentication method".to_owned(),
        })?,
    };
    Ok(RegisteredClient {
        id: answer.client_id,
        secret: answer.client_secret,
        // 0 means that the secret never expires.
        secret_ends: answer.client_secret_expires_at.filter(|end| *end > 0),
        method,
        origin: ClientOrigin::Dynamic,
        redirect_uri: Some(redirect_uri.to_owned()),
    })
}
