//! Results and errors, in the form that each era expects.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_core::{Outcome, OutcomeKind, Target, TargetKind};
use switchboard_wire::{Era, Json, RpcError, notification_text, request_text, response_text};

use crate::members::{with_leading_members, with_raw_member};

/// Cache lifetime of lists at the client; subscribers learn of changes earlier.
const LIST_TTL_MS: u64 = 10_000;
/// Maximum cache lifetime of a result, whatever the server says.
const MAX_TTL_MS: u64 = 24 * 60 * 60 * 1_000;

/// Error code of the legacy era for an unknown resource; the modern era uses `INVALID_PARAMS`.
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32_002;

/// The result type of an ordinary result, which the modern era requires.
const RESULT_TYPE_COMPLETE: &str = r#""resultType":"complete""#;

/// The cache hints of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachePolicy {
    /// No cache hints are added.
    Unspecified,
    /// Cacheable for a while by the requesting client only: the list depends on its view.
    Private,
    /// Not cacheable, unless the server's hints say otherwise.
    Fresh,
    /// Like `Fresh`, but never shared, whatever the server says: views differ between callers.
    AlwaysPrivate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recipient {
    pub(crate) era: Era,
    /// Whether the caller is authenticated; authenticated callers may have different views.
    pub(crate) is_proven: bool,
}

/// A result for a client, not copied until it is written.
#[derive(Debug)]
pub(crate) struct ClientReply {
    /// Members to insert before those of the result.
    leading_members: Cow<'static, str>,
    result: Json,
}

impl From<String> for ClientReply {
    fn from(result: String) -> Self {
        Self { leading_members: "".into(), result: Json::from_trusted(result) }
    }
}

impl ClientReply {
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let result = self.result.as_str();
        if self.leading_members.is_empty() {
            return result.into();
        }
        with_leading_members(&self.leading_members, result)
            .map_or(Cow::Borrowed(result), Cow::Owned)
    }

    /// Returns the whole JSON-RPC response.
    pub(crate) fn answer(&self, id: &Json) -> String {
        let id = id.as_str();
        let result = self.result.as_str();
        let front = &*self.leading_members;
        let members = result.trim_start().strip_prefix('{').filter(|_| !front.is_empty());
        // Allocated once, with 40 bytes for the envelope: results can have megabytes.
        let mut out = String::with_capacity(result.len() + front.len() + id.len() + 40);
        for part in [r#"{"jsonrpc":"2.0","id":"#, id, r#","result":"#] {
            out.push_str(part);
        }
        match members {
            None => out.push_str(result),
            Some(members) => {
                let comma = if members.trim_start().starts_with('}') { "" } else { "," };
                for part in ["{", front, comma, members] {
                    out.push_str(part);
                }
            }
        }
        out.push('}');
        out
    }
}

/// Adds the members that `era` requires. Hints of the server are kept if they are valid.
pub(crate) fn into_reply(result: Json, era: Era, cache: CachePolicy) -> ClientReply {
    if era == Era::Legacy {
        return ClientReply { leading_members: "".into(), result };
    }
    let said = ResultHints::read(result.as_str(), cache);
    if cache == CachePolicy::Unspecified {
        let front = if said.result_type { "" } else { RESULT_TYPE_COMPLETE };
        return ClientReply { leading_members: front.into(), result };
    }
    let result = match said.ttl {
        Some(Ttl::Invalid(instead)) => {
            with_raw_member(result.as_str(), "ttlMs", &instead.to_string())
                .map_or(result, Json::from_trusted)
        }
        Some(Ttl::Valid) | None => result,
    };
    let result = match said.scope {
        Some(CacheScope::Others) if cache == CachePolicy::AlwaysPrivate => {
            with_raw_member(result.as_str(), "cacheScope", PRIVATE_SCOPE)
                .map_or(result, Json::from_trusted)
        }
        Some(CacheScope::Others | CacheScope::Private) | None => result,
    };
    let mut members = Vec::new();
    if !said.result_type {
        members.push(RESULT_TYPE_COMPLETE.to_owned());
    }
    if said.ttl.is_none() {
        let milliseconds = if cache == CachePolicy::Private { LIST_TTL_MS } else { 0 };
        members.push(format!(r#""ttlMs":{milliseconds}"#));
    }
    if said.scope.is_none() {
        members.push(format!(r#""cacheScope":{PRIVATE_SCOPE}"#));
    }
    ClientReply { leading_members: members.join(",").into(), result }
}

/// The hints that a result already contains.
#[derive(Default)]
struct ResultHints {
    result_type: bool,
    ttl: Option<Ttl>,
    scope: Option<CacheScope>,
}

const PRIVATE_SCOPE: &str = r#""private""#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CacheScope {
    Private,
    /// Public, or an unknown scope.
    Others,
}

impl CacheScope {
    fn from_raw(raw: &RawValue) -> Self {
        if raw.get() == PRIVATE_SCOPE { Self::Private } else { Self::Others }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ttl {
    Valid,
    /// Not a number or too large; contains the replacement.
    Invalid(u64),
}

impl Ttl {
    fn from_raw(raw: &RawValue) -> Self {
        match raw.get().parse::<u128>() {
            Ok(milliseconds) if milliseconds <= u128::from(MAX_TTL_MS) => Self::Valid,
            Ok(_) => Self::Invalid(MAX_TTL_MS),
            Err(_) => Self::Invalid(0),
        }
    }
}

/// Built once, because every result is searched.
static RESULT_TYPE_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("resultType"));

impl ResultHints {
    /// Reads the hints. A byte search avoids parsing the many results that contain none.
    fn read(result: &str, cache: CachePolicy) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct HintMembers<'a> {
            #[serde(borrow)]
            result_type: Option<&'a RawValue>,
            #[serde(borrow)]
            ttl_ms: Option<&'a RawValue>,
            #[serde(borrow)]
            cache_scope: Option<&'a RawValue>,
        }
        // A word that occurs elsewhere in the result only costs a parse, it changes nothing.
        let bytes = result.as_bytes();
        let mentions = |word: &str| memmem::find(bytes, word.as_bytes()).is_some();
        let is_kept = cache != CachePolicy::Unspecified;
        if RESULT_TYPE_FINDER.find(bytes).is_none()
            && !(is_kept && (mentions("ttlMs") || mentions("cacheScope")))
        {
            return Self::default();
        }
        serde_json::from_str::<HintMembers<'_>>(result).map_or_else(
            |_| Self::default(),
            |shape| Self {
                result_type: shape.result_type.is_some(),
                ttl: shape.ttl_ms.map(Ttl::from_raw),
                scope: shape.cache_scope.map(CacheScope::from_raw),
            },
        )
    }
}

/// Converts the outcome of a call into a reply or an error.
pub(crate) fn reply_for_outcome(
    outcome: Outcome,
    target: &Target,
    reader: Recipient,
) -> Result<ClientReply, RpcError> {
    let era = reader.era;
    if let Some(error) = outcome.error {
        return Err(translate_server_error(*error, target, era));
    }
    let cache = match (target.kind, reader.is_proven) {
        (TargetKind::Resource, true) => CachePolicy::AlwaysPrivate,
        (TargetKind::Resource, false) => CachePolicy::Fresh,
        (TargetKind::Tool | TargetKind::Prompt, _) => CachePolicy::Unspecified,
    };
    match (outcome.kind, &outcome.result) {
        (OutcomeKind::Ok | OutcomeKind::ToolError, Some(result)) => {
            Ok(into_reply(Json::from_trusted_bytes(result.clone()), era, cache))
        }
        // A model sees the results of its tools, but rarely the errors of the protocol.
        _ if target.kind == TargetKind::Tool => {
            Ok(into_reply(Json::from_trusted(tool_error_result(&outcome)), era, cache))
        }
        _ => Err(error_without_result(&outcome, era)),
    }
}

/// Translates the code of a server's error for the client's era.
fn translate_server_error(error: RpcError, target: &Target, era: Era) -> RpcError {
    match (target.kind, era, error.code) {
        (TargetKind::Resource, Era::Modern, RESOURCE_NOT_FOUND) => {
            RpcError { code: RpcError::INVALID_PARAMS, ..error }
        }
        // Refers to the capabilities of the client, which the server received.
        (_, Era::Modern, RpcError::MISSING_CAPABILITY) => error,
        // Reserved codes apply to one hop, and the client's request to the gateway was valid.
        _ if error.is_modern() => RpcError { code: RpcError::INTERNAL_ERROR, ..error },
        _ => error,
    }
}

/// Makes a result with `isError` for a tool call that has none, so that the model can react.
fn tool_error_result(outcome: &Outcome) -> String {
    let message = outcome.message.clone().unwrap_or_else(|| outcome.kind.as_str().to_owned());
    let text = match &outcome.hint {
        Some(hint) => format!("{message}\nhint: {hint}"),
        None => message,
    };
    let about = json!({"outcome": outcome.kind.as_str(), "reason": outcome.reason});
    json!({
        "content": [{"type": "text", "text": text}],
        "isError": true,
        "_meta": {"switchboard/outcome": about},
    })
    .to_string()
}

fn error_without_result(outcome: &Outcome, era: Era) -> RpcError {
    let code = match (outcome.reason.as_deref(), era) {
        (Some("not_listed"), Era::Legacy) => RESOURCE_NOT_FOUND,
        (Some("not_listed" | "bad_arguments" | "unknown_server"), _) => RpcError::INVALID_PARAMS,
        _ => RpcError::INTERNAL_ERROR,
    };
    let message = outcome.message.clone().unwrap_or_else(|| outcome.kind.as_str().to_owned());
    let about =
        json!({"outcome": outcome.kind.as_str(), "reason": outcome.reason, "hint": outcome.hint});
    RpcError { data: Some(Json::from(&about)), ..RpcError::new(code, message) }
}

pub(crate) fn invalid_params(why: impl Into<String>) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, why)
}

pub(crate) fn invalid_json(error: serde_json::Error) -> RpcError {
    invalid_params(format!("invalid parameters: {error}"))
}

pub(crate) fn internal_error(why: impl Into<String>) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, why)
}

/// Returns a notification; `params` is an object as text, or empty.
pub(crate) fn notification(method: &str, params: &str) -> String {
    notification_text(method, params, "")
}

pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    request_text(id, method, params, "")
}

pub(crate) fn response(id: &Json, answer: Result<&ClientReply, &RpcError>) -> String {
    match answer {
        Ok(reply) => reply.answer(id),
        Err(error) => response_text(id, Err(error)),
    }
}

/// Returns the response to a message whose id could not be read.
pub(crate) fn error_without_id(error: &RpcError) -> String {
    response_text(&Json::NULL, Err(error))
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Era;

    use super::{CachePolicy, Json, into_reply};

    #[test]
    fn a_result_gets_what_its_reader_needs_and_keeps_what_it_says() {
        for (result, era, cache, expected) in [
            (r#"{"a":1}"#, Era::Legacy, CachePolicy::Private, r#"{"a":1}"#),
            (
                r#"{"a":1}"#,
                Era::Modern,
                CachePolicy::Unspecified,
                r#"{"resultType":"complete","a":1}"#,
            ),
            (
                r#"{"resultType":"task","a":1}"#,
                Era::Modern,
                CachePolicy::Unspecified,
                r#"{"resultType":"task","a":1}"#,
            ),
            (
                r#"{"content":[{"resultType":1}]}"#,
                Era::Modern,
                CachePolicy::Unspecified,
                r#"{"resultType":"complete","content":[{"resultType":1}]}"#,
            ),
            (
                r#"{"ttlMs":7,"x":2}"#,
                Era::Modern,
                CachePolicy::Fresh,
                r#"{"resultType":"complete","cacheScope":"private","ttlMs":7,"x":2}"#,
            ),
        ] {
            let reply = into_reply(Json::from_trusted(result.to_owned()), era, cache);
            assert_eq!(reply.text(), expected);
            let whole = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{expected}}}"#);
            assert_eq!(reply.answer(&Json::from_trusted("7".to_owned())), whole);
        }
    }

    #[test]
    fn se_05_what_a_server_calls_public_is_private_where_callers_prove_who_they_are() {
        for (said, cache, expected) in [
            (r#""public""#, CachePolicy::Fresh, r#""public""#),
            (r#""public""#, CachePolicy::AlwaysPrivate, r#""private""#),
            (r#""PUBLIC""#, CachePolicy::AlwaysPrivate, r#""private""#),
            ("7", CachePolicy::AlwaysPrivate, r#""private""#),
            (r#""private""#, CachePolicy::AlwaysPrivate, r#""private""#),
        ] {
            let result = |scope: &str| {
                format!(r#"{{"ttlMs":1,"resultType":"complete","cacheScope":{scope},"x":1e400}}"#)
            };
            let reply = into_reply(Json::from_trusted(result(said)), Era::Modern, cache);
            assert_eq!(reply.text(), result(expected), "{said}");
        }
    }

    #[test]
    fn hd_07_nothing_is_kept_for_longer_than_a_day() {
        for (said, expected) in [
            ("86400000", "86400000"),
            ("86400001", "86400000"),
            ("1000000000000000", "86400000"),
            ("0", "0"),
            ("-1", "0"),
            ("1.5", "0"),
            (r#""60000""#, "0"),
        ] {
            let result = |ttl: &str| {
                format!(
                    r#"{{"resultType":"complete","cacheScope":"public","ttlMs":{ttl},"x":1e400}}"#
                )
            };
            let reply =
                into_reply(Json::from_trusted(result(said)), Era::Modern, CachePolicy::Fresh);
            assert_eq!(reply.text(), result(expected));
        }
    }
}
