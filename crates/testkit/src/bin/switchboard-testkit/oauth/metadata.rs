//! The metadata documents of the login, including deliberately wrong ones.

use axum::http::Method;
use serde_json::{Value, json};

use super::settings::DiscoveryMode;
use super::site::OauthSite;
use crate::http::{FixtureReply, FixtureRequest};

const PROTECTED: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";
const HUGE_BYTES: usize = 8 * 1024 * 1024;

/// A text that must not appear in any message of Switchboard.
const BAIT: &str = "bait-that-nobody-repeats";

/// Returns the URL of the resource's metadata: the well-known path, then the resource's path.
pub(crate) fn resource_metadata(site: &OauthSite) -> String {
    format!("{}{PROTECTED}/mcp", site.origin)
}

/// Returns the document at this path, or `None` if there is none.
pub(crate) fn answer(site: &OauthSite, asked: &FixtureRequest) -> Option<FixtureReply> {
    if asked.verb != Method::GET {
        return None;
    }
    let path = asked.path.as_str();
    let discovery = site.settings.discovery;
    let issuer_path = &site.settings.issuer_path;
    if site.misbehaves("echo-bait") && path.starts_with("/.well-known/") {
        return Some(FixtureReply::json(200, format!("{{\"{BAIT}\": <{BAIT}>")));
    }
    if !site.settings.is_old() && path == format!("{PROTECTED}/mcp") {
        return Some(site.redirect_if("prm-redirect").unwrap_or_else(|| protected_resource(site)));
    }
    let at = match discovery {
        DiscoveryMode::Oauth => format!("{OAUTH}{issuer_path}"),
        // The last of the locations that a client has to try.
        DiscoveryMode::OpenId => format!("{issuer_path}{OPENID}"),
        DiscoveryMode::Origin => OAUTH.to_owned(),
        DiscoveryMode::Nowhere => return None,
    };
    (path == at).then(|| {
        site.redirect_if("as-redirect")
            .or_else(|| site.silence_if("slow-metadata"))
            .unwrap_or_else(|| authorization_server(site))
    })
}

fn protected_resource(site: &OauthSite) -> FixtureReply {
    let mut document = json!({
        "resource": site.resource(),
        "authorization_servers": [site.issuer()],
        "bearer_methods_supported": ["header"],
    });
    if let Some(scopes) = &site.settings.scopes {
        document["scopes_supported"] = json!(scopes);
    }
    if site.misbehaves("links") {
        for key in ["jwks_uri", "resource_documentation", "resource_policy_uri", "resource_tos_uri"]
        {
            document[key] = json!(format!("{}/{key}", site.sink.origin));
        }
    }
    if site.misbehaves("huge-metadata") {
        document["padding"] = json!("x".repeat(HUGE_BYTES));
    }
    document_reply(site, document, site.settings.resource_metadata.as_ref())
}

fn authorization_server(site: &OauthSite) -> FixtureReply {
    let issuer = site.issuer();
    let settings = &site.settings;
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [settings.client_auth.method()],
        "revocation_endpoint_auth_methods_supported": [settings.client_auth.method()],
        "authorization_response_iss_parameter_supported": true,
    });
    if !settings.no_registration {
        document["registration_endpoint"] = json!(format!("{issuer}/register"));
    }
    if settings.client_documents {
        document["client_id_metadata_document_supported"] = json!(true);
    }
    if let Some(scopes) = &settings.scopes {
        document["scopes_supported"] = json!(scopes);
    }
    if settings.discovery == DiscoveryMode::OpenId {
        document["jwks_uri"] = json!(format!("{}/jwks", site.sink.origin));
        document["subject_types_supported"] = json!(["public"]);
        document["id_token_signing_alg_values_supported"] = json!(["RS256"]);
    }
    if site.misbehaves("links") {
        for key in ["jwks_uri", "service_documentation", "op_policy_uri", "op_tos_uri"] {
            document[key] = json!(format!("{}/{key}", site.sink.origin));
        }
    }
    document_reply(site, document, settings.server_metadata.as_ref())
}

/// Returns the document with the command line's replacements, in which null removes a member.
fn document_reply(site: &OauthSite, mut document: Value, replaced: Option<&Value>) -> FixtureReply {
    let replaced = replaced.map(|members| site.fill_in(&members.to_string())).unwrap_or_default();
    let replaced: Value = serde_json::from_str(&replaced).unwrap_or_default();
    let members = document.as_object_mut().expect("metadata is an object");
    for (name, value) in replaced.as_object().into_iter().flatten() {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    FixtureReply::json(200, document.to_string())
}
