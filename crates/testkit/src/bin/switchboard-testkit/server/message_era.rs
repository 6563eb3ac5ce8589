//! Determines the era of a request, and adapts answers to each era.

use serde_json::{Value, json};

use super::{Exchange, examples};
use crate::message::{
    INVALID_PARAMS, INVALID_REQUEST, IncomingMessage, LEGACY, META_CAPABILITIES, META_SERVER,
    METHOD_NOT_FOUND, MODERN, RpcAnswer,
};
use crate::options::{FixtureEra, FixtureOptions, ServerKind};

/// The era of one request, with the negotiated revision in the legacy era.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageEra {
    Modern,
    Legacy(String),
}

impl MessageEra {
    /// Whether the era has the features of a revision. Revisions are dates and compare as text.
    pub(crate) fn has(&self, revision: &str) -> bool {
        match self {
            Self::Modern => true,
            Self::Legacy(agreed) => agreed.as_str() >= revision,
        }
    }
}

/// Returns the era of a request other than `initialize`, or its refusal.
pub(crate) fn message_era(
    exchange: &Exchange,
    incoming: &IncomingMessage,
) -> Result<MessageEra, RpcAnswer> {
    let era = exchange.server.era;
    if era != FixtureEra::Legacy
        && (incoming.version().is_some() || incoming.method == "server/discover")
    {
        return match meta_complaint(incoming) {
            Some(complaint) => Err(complaint),
            None => Ok(MessageEra::Modern),
        };
    }
    match (era, exchange.conversation.revision()) {
        (FixtureEra::Modern, _) => Err(meta_complaint(incoming).unwrap_or_else(|| {
            RpcAnswer::refuse(INVALID_REQUEST, "a modern request was expected")
        })),
        (_, Some(revision)) => Ok(MessageEra::Legacy(revision)),
        (_, None) if incoming.method == "ping" => Ok(MessageEra::Legacy(LEGACY[0].to_owned())),
        (_, None) if incoming.method == "server/discover" => {
            Err(RpcAnswer::refuse(METHOD_NOT_FOUND, "Method not found"))
        }
        (_, None) => Err(RpcAnswer::refuse(INVALID_REQUEST, "`initialize` comes first")),
    }
}

/// Returns the refusal of a modern request whose `_meta` is wrong.
pub(crate) fn meta_complaint(incoming: &IncomingMessage) -> Option<RpcAnswer> {
    let Some(version) = incoming.version() else {
        return Some(RpcAnswer::refuse(INVALID_PARAMS, "`_meta` lacks the protocol version"));
    };
    if version != MODERN {
        return Some(RpcAnswer::unsupported_version(version));
    }
    if !incoming.meta(META_CAPABILITIES).is_some_and(Value::is_object) {
        return Some(RpcAnswer::refuse(INVALID_PARAMS, "`_meta` lacks the client capabilities"));
    }
    None
}

pub(crate) fn initialize(exchange: &Exchange, incoming: &IncomingMessage) -> RpcAnswer {
    let options = &exchange.server.options;
    let Some(asked) = incoming.text("protocolVersion") else {
        return RpcAnswer::refuse(INVALID_PARAMS, "`protocolVersion` is missing");
    };
    if exchange.server.era == FixtureEra::Modern {
        return RpcAnswer::unsupported_version(asked);
    }
    let newest = LEGACY.last().copied().unwrap_or_default();
    let spoken = if LEGACY.contains(&asked) { asked } else { newest };
    let revision = options.revision.as_deref().unwrap_or(spoken);
    exchange.conversation.agree(revision);
    RpcAnswer::Result(json!({
        "protocolVersion": revision,
        "capabilities": with_tasks(options, revision, capabilities(options.kind, &json!({
            "tools": {"listChanged": true}, "resources": {}, "prompts": {}, "logging": {},
            "completions": {},
        }))),
        "serverInfo": identity(options.kind),
        "instructions": "A fixture for tests.",
    }))
}

pub(crate) fn discover(options: &FixtureOptions) -> Value {
    json!({
        "supportedVersions": [MODERN],
        "capabilities": with_tasks(options, MODERN, capabilities(options.kind, &json!({
            "tools": {"listChanged": true}, "resources": {}, "prompts": {}, "completions": {},
        }))),
        "instructions": "A fixture for tests.",
    })
}

/// Adds the capability for tasks, in the form of the revision.
fn with_tasks(options: &FixtureOptions, revision: &str, mut capabilities: Value) -> Value {
    if options.tasks && revision == MODERN {
        capabilities["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    } else if options.tasks && revision >= "2025-11-25" {
        capabilities["tasks"] =
            json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
    }
    capabilities
}

/// Returns the capabilities of a server. Example servers have only tools; `asker` has more.
fn capabilities(kind: ServerKind, usual: &Value) -> Value {
    let mut known = examples::offer(kind).map_or_else(|| usual.clone(), |_| json!({"tools": {}}));
    if kind == ServerKind::Asker {
        known["resources"] = json!({"subscribe": true});
        known["logging"] = json!({});
    }
    known
}

fn identity(kind: ServerKind) -> Value {
    let name = examples::offer(kind).map_or("switchboard-testkit", |(name, _)| name);
    json!({"name": name, "version": env!("CARGO_PKG_VERSION")})
}

/// Adds the members that the modern era requires in every result.
pub(crate) fn stamp(
    speech: &MessageEra,
    kind: ServerKind,
    method: &str,
    mut result: Value,
) -> Value {
    if *speech != MessageEra::Modern {
        return result;
    }
    let Some(object) = result.as_object_mut() else { return result };
    object.entry("resultType").or_insert_with(|| json!("complete"));
    let meta = object.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.entry(META_SERVER).or_insert_with(|| identity(kind));
    }
    let cacheable =
        method == "server/discover" || method == "resources/read" || method.ends_with("/list");
    if cacheable && object["resultType"] == "complete" {
        object.insert("ttlMs".to_owned(), json!(0));
        object.insert("cacheScope".to_owned(), json!("private"));
    }
    result
}
