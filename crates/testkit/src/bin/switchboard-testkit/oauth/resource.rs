//! The MCP endpoint behind the login: checks of tokens and scopes, and challenges.

use axum::http::Method;
use bytes::Bytes;
use serde_json::{Value, json};

use super::grants::OauthGrant;
use super::metadata;
use super::site::OauthSite;
use crate::http::{FixtureReply, FixtureRequest, ReplyBody};
use crate::message::META_CALLER;

/// The scope that the tool `write_file` needs.
const WRITE_SCOPE: &str = "files:write";

pub(crate) async fn answer(site: &OauthSite, mut asked: FixtureRequest) -> FixtureReply {
    let header = asked.header("authorization").map(str::to_owned);
    let seen = header.clone().unwrap_or_else(|| "none".to_owned());
    *site.state().seen.authorization.entry(seen).or_default() += 1;
    let token = header.as_deref().and_then(|header| header.strip_prefix("Bearer "));
    let grant = token.and_then(|token| site.state().grants.look_up(token).cloned());
    let Some(grant) = grant.filter(|_| !site.misbehaves("always-401")) else {
        return unauthorized_reply(site, header.as_deref());
    };
    if let Some(scope) = &site.settings.base_scope
        && !grant.scopes.contains(scope)
    {
        return forbidden_reply(site, scope);
    }
    let mut body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    let method = body["method"].as_str().unwrap_or_default().to_owned();
    if asked.verb == Method::POST
        && let Some(reply) = site.redirect_if("mcp-redirect")
    {
        return reply;
    }
    let writes = method == "tools/call" && body["params"]["name"] == "write_file";
    if writes && (site.misbehaves("always-403") || !grant.scopes.contains(WRITE_SCOPE)) {
        return forbidden_reply(site, WRITE_SCOPE);
    }
    if method == "tools/call" {
        body["params"]["_meta"][META_CALLER] = json!(caller_name(&grant));
        asked.body = Bytes::from(body.to_string());
    }
    let reply = site.endpoint.handle(asked).await;
    if method == "tools/list" && site.misbehaves("links") {
        with_sink_links(site, reply)
    } else {
        reply
    }
}

fn caller_name(grant: &OauthGrant) -> String {
    let scopes: Vec<&str> = grant.scopes.iter().map(String::as_str).collect();
    let scopes = if scopes.is_empty() { "no scopes".to_owned() } else { scopes.join(" ") };
    format!("{} with {scopes}", grant.client.split('-').next().unwrap_or_default())
}

fn unauthorized_reply(site: &OauthSite, given: Option<&str>) -> FixtureReply {
    if site.misbehaves("challenge-junk") {
        return FixtureReply::empty(401).with("www-authenticate", site.value());
    }
    let mut parts = Vec::new();
    if given.is_some() {
        parts.push("error=\"invalid_token\"".to_owned());
    }
    if let Some(scope) = &site.settings.base_scope {
        parts.push(format!("scope=\"{scope}\""));
    }
    if !site.settings.is_old() {
        let at = if site.misbehaves("challenge-metadata") {
            site.value()
        } else {
            metadata::resource_metadata(site)
        };
        parts.push(format!("resource_metadata=\"{at}\""));
    }
    FixtureReply::empty(401).with("www-authenticate", challenge(&parts))
}

fn forbidden_reply(site: &OauthSite, scope: &str) -> FixtureReply {
    let at = metadata::resource_metadata(site);
    let parts = [
        "error=\"insufficient_scope\"".to_owned(),
        format!("scope=\"{scope}\""),
        format!("resource_metadata=\"{at}\""),
    ];
    FixtureReply::empty(403).with("www-authenticate", challenge(&parts))
}

fn challenge(parts: &[String]) -> String {
    format!("Bearer {}", parts.join(", ")).trim_end().to_owned()
}

/// Adds to each tool an icon at the sink, and to the list a tool whose schema refers to the sink.
fn with_sink_links(site: &OauthSite, mut reply: FixtureReply) -> FixtureReply {
    let ReplyBody::Full(text) = &reply.body else { return reply };
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
    reply.body = ReplyBody::Full(list.to_string());
    reply
}
