//! Makes us known to an authorization server: configured, by a document, or by registering.

use serde::Deserialize;
use serde_json::json;
use switchboard_config::OauthSettings;

use crate::client::{Method, Origin, Registered};
use crate::error::LoginError;
use crate::fetch::{Fetcher, Post, read};
use crate::metadata::Server;
use crate::secret::Secret;

const WHAT: &str = "the registration endpoint";

/// The client that the configuration names, or that its document describes, if there is one.
pub(crate) fn configured(settings: &OauthSettings, server: &Server) -> Option<Registered> {
    let listed = server.methods.as_deref();
    if let Some(id) = &settings.client_id {
        let secret = settings.client_secret.as_deref().map(Secret::new);
        let with_secret = [Method::ClientSecretBasic, Method::ClientSecretPost];
        let method = match &secret {
            Some(_) => Method::choose(&with_secret, listed).unwrap_or(Method::ClientSecretBasic),
            None => Method::None,
        };
        return Some(Registered {
            id: id.clone(),
            secret,
            secret_ends: None,
            method,
            origin: Origin::Configured,
            redirect_uri: None,
        });
    }
    let document = settings.client_metadata_url.as_ref().filter(|_| server.takes_documents)?;
    Some(Registered {
        id: document.clone(),
        secret: None,
        secret_ends: None,
        method: Method::None,
        origin: Origin::Document,
        redirect_uri: None,
    })
}

#[derive(Deserialize)]
struct Answer {
    client_id: String,
    client_secret: Option<Secret>,
    #[serde(default)]
    client_secret_expires_at: Option<i64>,
    token_endpoint_auth_method: Option<String>,
}

/// Registers us.
pub(crate) async fn register(
    fetcher: &Fetcher,
    server: &Server,
    redirect_uri: &str,
) -> Result<Registered, LoginError> {
    let Some(url) = &server.registration else {
        return Err(LoginError::NoClient { issuer: server.issuer.clone() });
    };
    // What runs on a person's machine cannot keep a secret, so it asks for none if it may.
    let preferred = [Method::None, Method::ClientSecretBasic, Method::ClientSecretPost];
    let wanted = Method::choose(&preferred, server.methods.as_deref()).unwrap_or(Method::None);
    let body = json!({
        "client_name": "Switchboard",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted.name(),
        "application_type": "native",
    });
    let post = Post { body: body.to_string(), kind: "application/json", authorization: None };
    let (status, body) = fetcher.post(WHAT, url, post).await?;
    if !matches!(status, 200 | 201) {
        let code = crate::grant::code_of(status, &body);
        return Err(LoginError::Refused { what: "to register us", code });
    }
    let answer: Answer = read(WHAT, url, &body)?;
    let method = match answer.token_endpoint_auth_method.as_deref() {
        None => wanted,
        Some(name) => Method::of(name).ok_or_else(|| LoginError::Untrusted {
            what: "the registration",
            why: "it wants a proof that is not known here".to_owned(),
        })?,
    };
    Ok(Registered {
        id: answer.client_id,
        secret: answer.client_secret,
        // 0 means that it never ends.
        secret_ends: answer.client_secret_expires_at.filter(|end| *end > 0),
        method,
        origin: Origin::Dynamic,
        redirect_uri: Some(redirect_uri.to_owned()),
    })
}
