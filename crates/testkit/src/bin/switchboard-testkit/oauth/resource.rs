//! The MCP endpoint behind the login: who may do what, and what others are told.

use axum::http::Method;
use bytes::Bytes;
use serde_json::{Value, json};

use super::grants::Grant;
use super::metadata;
use super::settings::Discovery;
use super::site::OauthSite;
use crate::http::{Asked, Body, Reply};
use crate::message::META_CALLER;

/// The scope that the tool `write_file` needs.
const WRITE: &str = "files:write";

pub(crate) async fn answer(site: &OauthSite, mut asked: Asked) -> Reply {
    let header = asked.header("authorization").map(str::to_owned);
    let seen = header.clone().unwrap_or_else(|| "none".to_owned());
    *site.state().seen.authorization.entry(seen).or_default() += 1;
    let token = header.as_deref().and_then(|header| header.strip_prefix("Bearer "));
    let grant = token.and_then(|token| site.state().grants.look_up(token).cloned());
    let Some(grant) = grant.filter(|_| !site.misbehaves("always-401")) else {
        return unauthorized(site, header.as_deref());
    };
    if let Some(scope) = &site.settings.base_scope
        && !grant.scopes.contains(scope)
    {
        return forbidden(site, scope);
    }
    let mut body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    let method = body["method"].as_str().unwrap_or_default().to_owned();
    if asked.verb == Method::POST
        && let Some(reply) = site.redirect_if("mcp-redirect")
    {
        return reply;
    }
    let writes = method == "tools/call" && body["params"]["name"] == "write_file";
    if writes && (site.misbehaves("always-403") || !grant.scopes.contains(WRITE)) {
        return forbidden(site, WRITE);
    }
    if method == "tools/call" {
        body["params"]["_meta"][META_CALLER] = json!(named(&grant));
        asked.body = Bytes::from(body.to_string());
    }
    let reply = site.endpoint.handle(asked).await;
    if method == "tools/list" && site.misbehaves("links") { linked(site, reply) } else { reply }
}

fn named(grant: &Grant) -> String {
    let scopes: Vec<&str> = grant.scopes.iter().map(String::as_str).collect();
    let scopes = if scopes.is_empty() { "no scopes".to_owned() } else { scopes.join(" ") };
    format!("{} with {scopes}", grant.client.split('-').next().unwrap_or_default())
}

fn unauthorized(site: &OauthSite, given: Option<&str>) -> Reply {
    if site.misbehaves("challenge-junk") {
        return Reply::empty(401).with("www-authenticate", site.value());
    }
    let mut parts = Vec::new();
    if given.is_some() {
        parts.push("error=\"invalid_token\"".to_owned());
    }
    if let Some(scope) = &site.settings.base_scope {
        parts.push(format!("scope=\"{scope}\""));
    }
    if matches!(site.settings.discovery, Discovery::Oauth | Discovery::OpenId) {
        let at = if site.misbehaves("challenge-metadata") {
            site.value()
        } else {
            metadata::resource_metadata(site)
        };
        parts.push(format!("resource_metadata=\"{at}\""));
    }
    Reply::empty(401).with("www-authenticate", challenge(&parts))
}

fn forbidden(site: &OauthSite, scope: &str) -> Reply {
    let at = metadata::resource_metadata(site);
    let parts = [
        "error=\"insufficient_scope\"".to_owned(),
        format!("scope=\"{scope}\""),
        format!("resource_metadata=\"{at}\""),
    ];
    Reply::empty(403).with("www-authenticate", challenge(&parts))
}

fn challenge(parts: &[String]) -> String {
    format!("Bearer {}", parts.join(", ")).trim_end().to_owned()
}

/// The same list of tools, each with an icon at the sink, and one whose schema refers there.
fn linked(site: &OauthSite, mut reply: Reply) -> Reply {
    let Body::Full(text) = &reply.body else { return reply };
    let mut list: Value = serde_json::from_str(text).unwrap_or_default();
    let sink = &site.sink.origin;
    if let Some(tools) = list["result"]["tools"].as_array_mut() {
        for tool in tools.iter_mut() {
            tool["icons"] = json!([{"src": format!("{sink}/icon.png"), "mimeType": "image/png"}]);
            tool["inputSchema"]["$schema"] = json!(format!("{sink}/schema"));
        }
        tools.push(json!({
            "name": "linked",
            "description": "Has a schema that lies elsewhere.",
            "inputSchema": {
                "type": "object", "properties": {"x": {"$ref": format!("{sink}/definition")}},
            },
        }));
    }
    reply.body = Body::Full(list.to_string());
    reply
}
