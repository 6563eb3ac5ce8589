//! Dynamic registration: a client says who it is and gets an id, and a secret where one is wanted.

use serde_json::{Value, json};

use super::clients::OauthClient;
use super::settings::ClientAuth;
use super::site::OauthSite;
use super::token::refusal;
use crate::http::{FixtureReply, FixtureRequest};

pub(crate) fn answer(site: &OauthSite, asked: &FixtureRequest) -> FixtureReply {
    if let Some(reply) = site.redirect_if("register-redirect") {
        return reply;
    }
    let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    let mut state = site.state();
    state.seen.registrations.push(body.clone());
    let redirects = match redirects(site, asked, &body) {
        Ok(redirects) => redirects,
        Err(problem) => return refusal(&mut state, 400, "invalid_client_metadata", problem),
    };
    let auth = site.settings.client_auth;
    let id = state.grants.secret("client");
    let secret = (auth != ClientAuth::None).then(|| state.grants.secret("client-secret"));
    let mut answer = body;
    answer["client_id"] = json!(id);
    answer["client_id_issued_at"] = json!(0);
    answer["token_endpoint_auth_method"] = json!(auth.method());
    if let Some(secret) = &secret {
        answer["client_secret"] = json!(secret);
        answer["client_secret_expires_at"] = json!(0);
    }
    if site.misbehaves("links") {
        for key in ["client_uri", "logo_uri", "tos_uri", "policy_uri", "registration_client_uri"] {
            answer[key] = json!(format!("{}/{key}", site.sink.origin));
        }
    }
    state.clients.insert(id.clone(), OauthClient { id, secret, auth, redirects: Some(redirects) });
    FixtureReply::json(201, answer.to_string())
}

/// Where callbacks may go, when all that was said is acceptable.
fn redirects(
    site: &OauthSite,
    asked: &FixtureRequest,
    body: &Value,
) -> Result<Vec<String>, String> {
    if !asked.header("content-type").unwrap_or_default().starts_with("application/json") {
        return Err("a registration is JSON".to_owned());
    }
    let wanted = body["token_endpoint_auth_method"].as_str().unwrap_or("client_secret_basic");
    let has = site.settings.client_auth.method();
    if wanted != has {
        return Err(format!("`{wanted}` was asked for where there is only `{has}`"));
    }
    let grants = body["grant_types"].as_array();
    if grants.is_some_and(|grants| !grants.contains(&json!("authorization_code"))) {
        return Err("`grant_types` lacks `authorization_code`".to_owned());
    }
    let redirects = body["redirect_uris"].as_array().filter(|all| !all.is_empty());
    let redirects = redirects.ok_or("`redirect_uris` is missing")?;
    redirects
        .iter()
        .map(|redirect| {
            let redirect = redirect.as_str().unwrap_or_default();
            let local = ["http://127.0.0.1", "http://localhost", "http://[::1]", "https://"];
            let good = local.iter().any(|start| redirect.starts_with(start));
            good.then(|| redirect.to_owned()).ok_or_else(|| format!("`{redirect}` is not allowed"))
        })
        .collect()
}
