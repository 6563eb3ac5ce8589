//! The token endpoint (for codes, refresh tokens and client credentials), revocation, registration.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::clients::{Credentials, OauthClient};
use super::form::{self, FormFields};
use super::grants::{Refreshable, TokenPair};
use super::settings::ClientAuth;
use super::site::{OauthSite, OauthState};
use crate::http::{FixtureReply, FixtureRequest};

/// The HTTP status, the error code and the description.
type TokenRefusal = (u16, &'static str, String);

const HUGE_BYTES: usize = 8 * 1024 * 1024;

pub(crate) fn answer(site: &OauthSite, asked: &FixtureRequest) -> FixtureReply {
    let instead = site.redirect_if("token-redirect").or_else(|| site.silence_if("slow-token"));
    if let Some(reply) = instead {
        return reply;
    }
    let mut state = site.state();
    let given = identify_client(&mut state, asked)
        .and_then(|(client, form)| tokens(site, &mut state, &client, &form));
    match given {
        Ok(pair) => {
            FixtureReply::json(200, body(site, &state, &pair)).with("cache-control", "no-store")
        }
        Err((status, error, problem)) => refusal(&mut state, status, error, problem),
    }
}

pub(crate) fn revoke(site: &OauthSite, asked: &FixtureRequest) -> FixtureReply {
    let mut state = site.state();
    match identify_client(&mut state, asked) {
        Ok((_, form)) => {
            let token = form.get("token").map_or("", String::as_str);
            if state.grants.revoke(token) {
                state.seen.tokens_revoked += 1;
            }
            FixtureReply::empty(200)
        }
        Err((status, error, problem)) => refusal(&mut state, status, error, problem),
    }
}

/// Returns an error of the token or registration endpoint, and records the problem for the test.
pub(crate) fn refusal(
    state: &mut OauthState,
    status: u16,
    error: &str,
    problem: String,
) -> FixtureReply {
    state.seen.problems.push(format!("{error}: {problem}"));
    let body = json!({"error": error, "error_description": problem});
    let reply = FixtureReply::json(status, body.to_string()).with("cache-control", "no-store");
    if status == 401 { reply.with("www-authenticate", "Basic") } else { reply }
}

/// Authenticates the client that sent a form; returns the client and the form.
fn identify_client(
    state: &mut OauthState,
    asked: &FixtureRequest,
) -> Result<(OauthClient, FormFields), TokenRefusal> {
    let wrong = |problem: String| (400, "invalid_request", problem);
    let of_type = asked.header("content-type").unwrap_or_default();
    if !of_type.starts_with("application/x-www-form-urlencoded") {
        return Err(wrong(format!("the content type is `{of_type}`")));
    }
    let form = form::read(&String::from_utf8_lossy(&asked.body)).map_err(wrong)?;
    state.seen.token_requests.push(form.clone());
    let unproven = |problem: String| (401, "invalid_client", problem);
    let credentials = Credentials::read(asked, &form).map_err(unproven)?;
    let client = state.clients.get(&credentials.id);
    let client = client.ok_or_else(|| unproven("the client is unknown".to_owned()))?.clone();
    match credentials.complaint(&client) {
        Some(complaint) => Err(unproven(complaint)),
        None => Ok((client, form)),
    }
}

fn tokens(
    site: &OauthSite,
    state: &mut OauthState,
    client: &OauthClient,
    form: &FormFields,
) -> Result<TokenPair, TokenRefusal> {
    match form.get("resource") {
        None if site.settings.is_old() => {}
        Some(resource) if *resource == site.resource() => {}
        given => {
            return Err((400, "invalid_target", format!("`resource` is {given:?}")));
        }
    }
    let invalid = |problem: String| (400, "invalid_grant", problem);
    let life = state.token_life;
    match form.get("grant_type").map_or("", String::as_str) {
        "authorization_code" => {
            let code = form.get("code").map_or("", String::as_str);
            let taken = state.grants.take_code(code).map_err(invalid)?;
            if taken.grant.client != client.id {
                return Err(invalid("the code belongs to another client".to_owned()));
            }
            if form.get("redirect_uri") != Some(&taken.redirect) {
                return Err(invalid("`redirect_uri` is not the one of the code".to_owned()));
            }
            let verifier = form.get("code_verifier").map_or("", String::as_str);
            let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
            if !(43..=128).contains(&verifier.len()) || hash != taken.challenge {
                return Err(invalid("`code_verifier` does not fit the challenge".to_owned()));
            }
            let refreshable =
                if site.settings.no_refresh { Refreshable::No } else { Refreshable::Yes };
            let pair = state.grants.begin(taken.grant, life, refreshable);
            state.grants.remember(code);
            Ok(pair)
        }
        "refresh_token" if site.misbehaves("refresh-broken") => {
            Err((500, "server_error", "told to".to_owned()))
        }
        "refresh_token" if site.misbehaves("refresh-refused") => Err(invalid("told to".to_owned())),
        "refresh_token" => {
            let token = form.get("refresh_token").map_or("", String::as_str);
            state.grants.refresh(token, &client.id, life).map_err(invalid)
        }
        "client_credentials" if client.auth != ClientAuth::None => {
            let grant = site.grant(client.id.clone(), form);
            Ok(state.grants.begin(grant, life, Refreshable::No))
        }
        other => Err((400, "unsupported_grant_type", format!("`{other}` is not supported"))),
    }
}

fn body(site: &OauthSite, state: &OauthState, pair: &TokenPair) -> String {
    let of_type = if site.misbehaves("strange-token-type") { "mac" } else { "Bearer" };
    let scopes: Vec<&str> = pair.scopes.iter().map(String::as_str).collect();
    let mut body = json!({
        "access_token": pair.access,
        "token_type": of_type,
        "expires_in": state.token_life.as_secs(),
        "scope": scopes.join(" "),
    });
    if let Some(refresh) = &pair.refresh {
        body["refresh_token"] = json!(refresh);
    }
    if site.misbehaves("huge-token") {
        body["padding"] = json!("x".repeat(HUGE_BYTES));
    }
    body.to_string()
}

pub(crate) fn register(site: &OauthSite, asked: &FixtureRequest) -> FixtureReply {
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

/// Validates a registration and returns its callback addresses.
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
