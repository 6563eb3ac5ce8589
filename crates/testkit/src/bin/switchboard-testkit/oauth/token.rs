//! The token endpoint: codes, refresh tokens and client credentials against tokens; revocation.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::clients::{Credentials, OauthClient};
use super::form;
use super::grants::{OauthGrant, Refreshable, TokenPair};
use super::settings::{ClientAuth, DiscoveryMode};
use super::site::{OauthSite, OauthState};
use crate::http::{FixtureReply, FixtureRequest};

type FormFields = BTreeMap<String, String>;
/// The status, the error and what is wrong in words.
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

/// An error as the token and registration endpoints give it; the problem is kept for the test.
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

/// The client that sent a form, and the form.
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
    let old = matches!(site.settings.discovery, DiscoveryMode::Origin | DiscoveryMode::Nowhere);
    match form.get("resource") {
        None if old => {}
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
                if site.settings.refresh_tokens { Refreshable::Yes } else { Refreshable::No };
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
            let asked_for = form.get("scope").or(site.settings.base_scope.as_ref());
            let scopes = asked_for.map(|all| all.split(' ').map(str::to_owned).collect());
            let grant =
                OauthGrant { client: client.id.clone(), scopes: scopes.unwrap_or_default() };
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
