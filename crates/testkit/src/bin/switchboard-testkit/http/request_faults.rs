//! Faults in the reception of an HTTP request: redirects, lost sessions, missing permission.

use super::endpoint::FixtureEndpoint;
use super::reply::{FixtureReply, FixtureRequest};
use crate::faults::Fault;
use crate::message::IncomingMessage;

/// Applies the faults that do not depend on the request's body.
pub(crate) fn before_parsing(
    endpoint: &FixtureEndpoint,
    asked: &FixtureRequest,
) -> Option<FixtureReply> {
    let fault = endpoint.server.fault()?;
    match fault.name.as_str() {
        "unauthorized" => {
            let expected = fault.options.token.as_ref().map(|token| format!("Bearer {token}"));
            if expected.is_some() && asked.header("authorization") == expected.as_deref() {
                return None;
            }
            let metadata = format!("{}/.well-known/oauth-protected-resource", origin(asked));
            let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"tools\"");
            Some(FixtureReply::empty(401).with("www-authenticate", challenge))
        }
        "refuse-get" if asked.verb == axum::http::Method::GET => {
            Some(FixtureReply::empty(405).with("allow", "POST, DELETE"))
        }
        _ => None,
    }
}

/// Applies the faults that depend on the JSON-RPC method.
pub(crate) fn on_method(
    endpoint: &FixtureEndpoint,
    asked: &FixtureRequest,
    method: &str,
) -> Option<FixtureReply> {
    let fault = endpoint.server.fault()?;
    match fault.name.as_str() {
        "redirect-loop" | "redirect-same-origin" | "redirect-cross-origin" => {
            redirect(fault, asked, method)
        }
        "session-lost" | "session-always-lost" => {
            let id = asked.header("mcp-session-id")?;
            if !fault.strikes(method) {
                return None;
            }
            endpoint.end_session(id);
            Some(FixtureReply::refuse(404, -32001, "Session not found"))
        }
        "insufficient-scope" if fault.strikes(method) => {
            let challenge = "Bearer error=\"insufficient_scope\", scope=\"tools tools:write\"";
            Some(FixtureReply::empty(403).with("www-authenticate", challenge))
        }
        _ => None,
    }
}

fn redirect(fault: &Fault, asked: &FixtureRequest, method: &str) -> Option<FixtureReply> {
    let hop = asked.query("hop").and_then(|hop| hop.parse::<u32>().ok());
    let goes_on = match (fault.name.as_str(), hop) {
        ("redirect-same-origin", Some(hop)) => hop < fault.options.hops,
        _ => fault.strikes(method),
    };
    if !goes_on {
        return None;
    }
    let next = hop.unwrap_or(0) + 1;
    let to = match (fault.name.as_str(), &fault.options.to) {
        ("redirect-cross-origin", Some(to)) => to.clone(),
        ("redirect-cross-origin", None) => panic!("`redirect-cross-origin` needs `--to`"),
        _ => format!("{}?hop={next}", asked.path),
    };
    Some(FixtureReply::empty(fault.options.status.unwrap_or(307)).with("location", to))
}

/// Whether the answer to this call is sent only to a client that resumes the stream.
pub(crate) fn replays(endpoint: &FixtureEndpoint, incoming: &IncomingMessage) -> bool {
    let fault = endpoint.server.fault().filter(|fault| fault.name == "sse-replay");
    fault.is_some_and(|fault| incoming.id.is_some() && fault.strikes(&incoming.method))
}

fn origin(asked: &FixtureRequest) -> String {
    format!("http://{}", asked.header("host").unwrap_or("127.0.0.1"))
}
