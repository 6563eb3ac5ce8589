//! What the server has seen, for tests to read, and what they may tell it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::site::{OauthSite, OauthState};
use crate::http::{FixtureReply, FixtureRequest};

/// Everything that arrived, as a test wants to see it.
#[derive(Debug, Default)]
pub(crate) struct OauthObservations {
    /// How often each verb and path was asked.
    pub(crate) requests: BTreeMap<String, u64>,
    /// How often the MCP endpoint got each `Authorization` header; `none` stands for none.
    pub(crate) authorization: BTreeMap<String, u64>,
    pub(crate) authorizations: Vec<BTreeMap<String, String>>,
    pub(crate) token_requests: Vec<BTreeMap<String, String>>,
    pub(crate) registrations: Vec<Value>,
    pub(crate) tokens_revoked: u64,
    /// What a strict server had to refuse, in words.
    pub(crate) problems: Vec<String>,
}

impl OauthObservations {
    pub(crate) fn request(&mut self, asked: &FixtureRequest) {
        *self.requests.entry(format!("{} {}", asked.verb, asked.path)).or_default() += 1;
    }
}

/// `GET` gives everything; `POST` takes `{"expire": true}`, `{"revoke": true}` or
/// `{"token_seconds": N}`.
pub(crate) fn control(site: &OauthSite, asked: &FixtureRequest) -> FixtureReply {
    let mut state = site.state();
    if asked.verb == axum::http::Method::POST {
        let told: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        if told["expire"] == true {
            state.grants.expire_all();
        }
        if told["revoke"] == true {
            state.grants.revoke_all();
        }
        if let Some(seconds) = told["token_seconds"].as_u64() {
            state.token_life = Duration::from_secs(seconds);
        }
    }
    FixtureReply::json(200, snapshot(site, &state).to_string())
}

fn snapshot(site: &OauthSite, state: &OauthState) -> Value {
    let seen = &state.seen;
    json!({
        "requests": seen.requests,
        "authorization": seen.authorization,
        "authorizations": seen.authorizations,
        "token_requests": seen.token_requests,
        "registrations": seen.registrations,
        "tokens_revoked": seen.tokens_revoked,
        "problems": seen.problems,
        "refreshes": state.grants.refreshes,
        "reuses": state.grants.reuses,
        "families_revoked": state.grants.families_revoked,
        "sink": site.sink.origin,
        "sink_connections": site.sink.connections(),
    })
}
