//! Checks that the headers of a modern request agree with its body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::reply::{FixtureReply, FixtureRequest};
use crate::message::{
    HEADER_MISMATCH, IncomingMessage, LEGACY, METHOD_NOT_FOUND, RpcAnswer, UNSUPPORTED_VERSION,
};
use crate::options::FixtureEra;
use crate::server;

/// Whether the request belongs to the modern era.
pub(crate) fn is_modern(
    era: FixtureEra,
    asked: &FixtureRequest,
    incoming: &IncomingMessage,
) -> bool {
    let header = asked.header("mcp-protocol-version");
    let named = header.is_some_and(|version| !LEGACY.contains(&version));
    match era {
        FixtureEra::Legacy => false,
        FixtureEra::Modern => true,
        FixtureEra::Dual => {
            incoming.method != "initialize" && (named || incoming.version().is_some())
        }
    }
}

/// Returns the refusal of a request with wrong headers or a wrong `_meta`.
pub(crate) fn complaint(
    asked: &FixtureRequest,
    incoming: &IncomingMessage,
) -> Option<FixtureReply> {
    // `initialize` passes, so that its answer tells a legacy client the supported versions.
    if incoming.method == "initialize" {
        return None;
    }
    let answer = header_complaint(asked, incoming).or_else(|| server::meta_complaint(incoming))?;
    Some(FixtureReply::json(400, answer.render(incoming.id())))
}

fn header_complaint(asked: &FixtureRequest, incoming: &IncomingMessage) -> Option<RpcAnswer> {
    let name = match incoming.method.as_str() {
        "tools/call" | "prompts/get" => incoming.text("name"),
        "resources/read" => incoming.text("uri"),
        method if method.starts_with("tasks/") => incoming.text("taskId"),
        _ => None,
    };
    let version = incoming.version();
    let pairs = [
        ("mcp-protocol-version", version),
        ("mcp-method", Some(incoming.method.as_str())),
        ("mcp-name", name),
    ];
    for (header, body) in pairs {
        let Some(body) = body else { continue };
        let said = asked.header(header).map(decode);
        if said.as_deref() != Some(body) {
            let said = said.as_deref().unwrap_or("nothing");
            return Some({
                let message = format!("`{header}` says `{said}`, the body says `{body}`");
                RpcAnswer::refuse(HEADER_MISMATCH, message)
            });
        }
    }
    None
}

/// Decodes a header value. Names that a header cannot carry are sent as `=?base64?...?=`.
fn decode(value: &str) -> String {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    inner
        .and_then(|inner| STANDARD.decode(inner).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_else(|| value.to_owned())
}

/// Returns the HTTP status of a JSON-RPC answer with this error code.
pub(crate) fn status(code: Option<i64>) -> u16 {
    match code {
        Some(METHOD_NOT_FOUND) => 404,
        Some(UNSUPPORTED_VERSION..=HEADER_MISMATCH) => 400,
        _ => 200,
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, status};

    #[test]
    fn encoded_names_are_decoded_and_plain_ones_left_alone() {
        let cases = [
            ("echo", "echo"),
            ("=?base64?ZWNobw==?=", "echo"),
            ("=?base64?not base64?=", "=?base64?not base64?="),
        ];
        for (header, name) in cases {
            assert_eq!(decode(header), name);
        }
    }

    #[test]
    fn modern_refusals_have_their_status() {
        let cases = [
            (None, 200),
            (Some(-32601), 404),
            (Some(-32020), 400),
            (Some(-32022), 400),
            (Some(-32602), 200),
        ];
        for (code, expected) in cases {
            assert_eq!(status(code), expected, "{code:?}");
        }
    }
}
