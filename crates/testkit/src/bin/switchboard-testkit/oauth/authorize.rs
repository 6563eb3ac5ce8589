//! The authorization endpoint: consent is granted or denied at once, without a page.

use super::clients::OauthClient;
use super::form::{self, FormFields};
use super::settings::{ClientAuth, DiscoveryMode};
use super::site::{OauthSite, OauthState};
use crate::http::{FixtureReply, FixtureRequest};

pub(crate) fn answer(site: &OauthSite, asked: &FixtureRequest) -> FixtureReply {
    let mut state = site.state();
    let (query, redirect) = match redirect_target(site, &mut state, asked) {
        Ok(addressed) => addressed,
        // No redirect to an address that the client did not register: it may be an attacker's.
        Err(problem) => {
            state.seen.problems.push(format!("authorize: {problem}"));
            return FixtureReply::json(400, serde_json::json!({ "error": problem }).to_string());
        }
    };
    let mut members = match issue_code(site, &mut state, &query, &redirect) {
        Ok(code) => vec![("code", code)],
        Err((error, description)) => {
            vec![("error", error.to_owned()), ("error_description", description)]
        }
    };
    match query.get("state") {
        _ if site.misbehaves("no-state") => {}
        Some(_) if site.misbehaves("wrong-state") => members.push(("state", "other".to_owned())),
        Some(given) => members.push(("state", given.clone())),
        None => {}
    }
    if site.misbehaves("wrong-iss") {
        let wrong = site.settings.value.as_deref().unwrap_or("https://evil.example");
        members.push(("iss", site.fill_in(wrong)));
    } else if !site.misbehaves("no-iss") && site.settings.discovery != DiscoveryMode::Nowhere {
        members.push(("iss", site.issuer()));
    }
    FixtureReply::empty(302).with("location", form::extend(&redirect, &members))
}

/// Returns the request's fields and the address to which its answer is redirected.
fn redirect_target(
    site: &OauthSite,
    state: &mut OauthState,
    asked: &FixtureRequest,
) -> Result<(FormFields, String), String> {
    let query = form::read(&asked.query)?;
    state.seen.authorizations.push(query.clone());
    let id = query.get("client_id").ok_or("`client_id` is missing")?;
    // The id of a client with a metadata document is the URL of that document.
    if site.settings.client_documents && id.starts_with("https://") {
        let client =
            OauthClient { id: id.clone(), secret: None, auth: ClientAuth::None, redirects: None };
        state.clients.entry(id.clone()).or_insert(client);
    }
    let client = state.clients.get(id).ok_or("the client is unknown")?;
    let redirect = query.get("redirect_uri").ok_or("`redirect_uri` is missing")?.clone();
    if !client.may_redirect_to(&redirect) {
        return Err(format!("`{redirect}` is not an address of `{}`", client.id));
    }
    Ok((query, redirect))
}

/// Issues a code, or returns the error for the callback.
fn issue_code(
    site: &OauthSite,
    state: &mut OauthState,
    query: &FormFields,
    redirect: &str,
) -> Result<String, (&'static str, String)> {
    let complaint = complaint(site, query);
    if let Some(complaint) = complaint {
        state.seen.problems.push(format!("authorize: {complaint}"));
        return Err(("invalid_request", complaint));
    }
    if site.misbehaves("script-in-error") {
        return Err(("access_denied", "<script>alert('x')</script>\u{1b}[2J".to_owned()));
    }
    if site.settings.deny {
        return Err(("access_denied", "the person said no".to_owned()));
    }
    let client = query.get("client_id").cloned().unwrap_or_default();
    let grant = site.grant(client, query);
    let challenge = query.get("code_challenge").map_or("", String::as_str);
    Ok(state.grants.code(grant, redirect, challenge))
}

fn complaint(site: &OauthSite, query: &FormFields) -> Option<String> {
    let resource = site.resource();
    let text = |name: &str| query.get(name).map(String::as_str);
    if text("response_type") != Some("code") {
        return Some("`response_type` is not `code`".to_owned());
    }
    if text("code_challenge_method") != Some("S256") {
        return Some("`code_challenge_method` is not `S256`".to_owned());
    }
    if text("code_challenge").is_none_or(|challenge| challenge.len() != 43) {
        return Some("`code_challenge` is not a SHA-256".to_owned());
    }
    match text("resource") {
        None if site.settings.is_old() => None,
        Some(given) if given == resource => None,
        given => Some(format!("`resource` is {given:?} where it has to be `{resource}`")),
    }
}
