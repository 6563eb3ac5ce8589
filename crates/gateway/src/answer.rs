//! Results and errors as a client of either era reads them.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_core::{Outcome, OutcomeKind, Target, TargetKind};
use switchboard_wire::{Era, Json, RpcError};

use crate::members::{with_front, with_value};

/// How long a list may be kept by whoever asked: changes are announced to those who listen.
const LIST_MS: u64 = 10_000;
/// Nothing is kept for longer than a day, whatever a server says.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1_000;

/// What a result of the modern era says that is no other kind.
const COMPLETE: &str = r#""resultType":"complete""#;

/// Whether a result may be kept, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    /// It says nothing of that.
    Silent,
    /// For a while, by whoever asked: what is shown depends on who asks.
    Private,
    /// Not at all, unless it says otherwise.
    Fresh,
    /// The same, and never by others, whatever it says: they may not be shown it.
    Guarded,
}

/// Who reads a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reader {
    pub(crate) era: Era,
    /// Callers prove who they are, and are not all shown the same.
    pub(crate) is_proven: bool,
}

/// A result on its way to a client: not copied before it is written.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Members that come before those of the result.
    front: Cow<'static, str>,
    result: Json,
}

impl From<String> for Reply {
    fn from(result: String) -> Self {
        Self { front: "".into(), result: Json::trusted(result) }
    }
}

impl Reply {
    /// The text of the result.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let result = self.result.as_str();
        if self.front.is_empty() {
            return result.into();
        }
        with_front(&self.front, result).map_or(Cow::Borrowed(result), Cow::Owned)
    }

    /// The whole answer to a request.
    pub(crate) fn answer(&self, id: &Json) -> String {
        let (id, result, front) = (id.as_str(), self.result.as_str(), &*self.front);
        let members = result.trim_start().strip_prefix('{').filter(|_| !front.is_empty());
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

/// A result for a client of `era`; what it says of itself already stays, within reason.
pub(crate) fn dressed(result: Json, era: Era, cache: Cache) -> Reply {
    if era == Era::Legacy {
        return Reply { front: "".into(), result };
    }
    let said = Said::of(result.as_str(), cache);
    let result = match said.ttl {
        Some(Ttl::Odd(instead)) if cache != Cache::Silent => {
            with_value(result.as_str(), "ttlMs", &instead.to_string()).map_or(result, Json::trusted)
        }
        Some(Ttl::Odd(_) | Ttl::Sound) | None => result,
    };
    let result = match said.scope {
        Some(Scope::Others) if cache == Cache::Guarded => {
            with_value(result.as_str(), "cacheScope", PRIVATE).map_or(result, Json::trusted)
        }
        Some(Scope::Others | Scope::Private) | None => result,
    };
    if cache == Cache::Silent {
        let front = if said.result_type { "" } else { COMPLETE };
        return Reply { front: front.into(), result };
    }
    let mut members = Vec::new();
    if !said.result_type {
        members.push(COMPLETE.to_owned());
    }
    if let Some((milliseconds, scope)) = match cache {
        Cache::Silent => None,
        Cache::Private => Some((LIST_MS, "private")),
        Cache::Fresh | Cache::Guarded => Some((0, "private")),
    } {
        if said.ttl.is_none() {
            members.push(format!(r#""ttlMs":{milliseconds}"#));
        }
        if said.scope.is_none() {
            members.push(format!(r#""cacheScope":"{scope}""#));
        }
    }
    Reply { front: members.join(",").into(), result }
}

/// What a result says of itself.
#[derive(Default)]
struct Said {
    result_type: bool,
    ttl: Option<Ttl>,
    scope: Option<Scope>,
}

/// What a result says of who may keep it if only who asked may.
const PRIVATE: &str = r#""private""#;

/// Who may keep a result, as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Private,
    /// Everybody, or nobody knows who.
    Others,
}

impl Scope {
    fn of(raw: &RawValue) -> Self {
        if raw.get() == PRIVATE { Self::Private } else { Self::Others }
    }
}

/// For how long a result says that it may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ttl {
    /// A number that makes sense.
    Sound,
    /// Something else, and what is said in its place.
    Odd(u64),
}

impl Ttl {
    fn of(raw: &RawValue) -> Self {
        match raw.get().parse::<u128>() {
            Ok(milliseconds) if milliseconds <= u128::from(LONGEST_MS) => Self::Sound,
            Ok(_) => Self::Odd(LONGEST_MS),
            Err(_) => Self::Odd(0),
        }
    }
}

/// Made once: it is looked for in every result.
static RESULT_TYPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("resultType"));

impl Said {
    /// A look at the bytes saves decoding results that say nothing, which are most.
    fn of(result: &str, cache: Cache) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Shape<'a> {
            #[serde(borrow)]
            result_type: Option<&'a RawValue>,
            #[serde(borrow)]
            ttl_ms: Option<&'a RawValue>,
            #[serde(borrow)]
            cache_scope: Option<&'a RawValue>,
        }
        let bytes = result.as_bytes();
        let mentions = |word: &str| memmem::find(bytes, word.as_bytes()).is_some();
        let is_kept = cache != Cache::Silent;
        if RESULT_TYPE.find(bytes).is_none()
            && !(is_kept && (mentions("ttlMs") || mentions("cacheScope")))
        {
            return Self::default();
        }
        serde_json::from_str::<Shape<'_>>(result).map_or_else(
            |_| Self::default(),
            |shape| Self {
                result_type: shape.result_type.is_some(),
                ttl: shape.ttl_ms.map(Ttl::of),
                scope: shape.cache_scope.map(Scope::of),
            },
        )
    }
}

/// What a client gets for a call that ended.
pub(crate) fn of_outcome(
    outcome: Outcome,
    target: &Target,
    reader: Reader,
) -> Result<Reply, RpcError> {
    let era = reader.era;
    if let Some(error) = outcome.error {
        return Err(of_server(*error, target, era));
    }
    let cache = match (target.kind, reader.is_proven) {
        (TargetKind::Resource, true) => Cache::Guarded,
        (TargetKind::Resource, false) => Cache::Fresh,
        (TargetKind::Tool | TargetKind::Prompt, _) => Cache::Silent,
    };
    match (outcome.kind, &outcome.result) {
        (OutcomeKind::Ok | OutcomeKind::ToolError, Some(result)) => {
            Ok(dressed(Json::known(result.clone()), era, cache))
        }
        _ if target.kind == TargetKind::Tool => {
            Ok(dressed(Json::trusted(failure(&outcome)), era, cache))
        }
        _ => Err(no_result(&outcome, era)),
    }
}

/// The error of a server; only what a resource that is not there is called depends on the era.
fn of_server(error: RpcError, target: &Target, era: Era) -> RpcError {
    const NOT_FOUND: i64 = -32_002;
    match (target.kind, era, error.code) {
        (TargetKind::Resource, Era::Modern, NOT_FOUND) => {
            RpcError { code: RpcError::INVALID_PARAMS, ..error }
        }
        // It is about what the client can do, which the server was told.
        (_, Era::Modern, RpcError::MISSING_CAPABILITY) => error,
        // Reserved codes are between two neighbours: the client has done nothing wrong to us.
        _ if error.is_modern() => RpcError { code: RpcError::INTERNAL_ERROR, ..error },
        _ => error,
    }
}

/// A call that has no result is a result that says so: a model can read that and do better.
fn failure(outcome: &Outcome) -> String {
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

fn no_result(outcome: &Outcome, era: Era) -> RpcError {
    let code = match (outcome.reason.as_deref(), era) {
        (Some("not_listed"), Era::Legacy) => -32_002,
        (Some("not_listed" | "bad_arguments" | "unknown_server"), _) => RpcError::INVALID_PARAMS,
        _ => RpcError::INTERNAL_ERROR,
    };
    let message = outcome.message.clone().unwrap_or_else(|| outcome.kind.as_str().to_owned());
    let about =
        json!({"outcome": outcome.kind.as_str(), "reason": outcome.reason, "hint": outcome.hint});
    RpcError { data: Some(Json::from(&about)), ..RpcError::new(code, message) }
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Era;

    use super::{Cache, Json, dressed};

    #[test]
    fn a_result_gets_what_its_reader_needs_and_keeps_what_it_says() {
        for (result, era, cache, expected) in [
            (r#"{"a":1}"#, Era::Legacy, Cache::Private, r#"{"a":1}"#),
            (r#"{"a":1}"#, Era::Modern, Cache::Silent, r#"{"resultType":"complete","a":1}"#),
            (
                r#"{"resultType":"task","a":1}"#,
                Era::Modern,
                Cache::Silent,
                r#"{"resultType":"task","a":1}"#,
            ),
            (
                r#"{"content":[{"resultType":1}]}"#,
                Era::Modern,
                Cache::Silent,
                r#"{"resultType":"complete","content":[{"resultType":1}]}"#,
            ),
            (
                r#"{"ttlMs":7,"x":2}"#,
                Era::Modern,
                Cache::Fresh,
                r#"{"resultType":"complete","cacheScope":"private","ttlMs":7,"x":2}"#,
            ),
        ] {
            let reply = dressed(Json::trusted(result.to_owned()), era, cache);
            assert_eq!(reply.text(), expected);
            let whole = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{expected}}}"#);
            assert_eq!(reply.answer(&Json::trusted("7".to_owned())), whole);
        }
    }

    #[test]
    fn se_05_what_a_server_calls_public_is_private_where_callers_prove_who_they_are() {
        for (said, cache, expected) in [
            (r#""public""#, Cache::Fresh, r#""public""#),
            (r#""public""#, Cache::Guarded, r#""private""#),
            (r#""PUBLIC""#, Cache::Guarded, r#""private""#),
            ("7", Cache::Guarded, r#""private""#),
            (r#""private""#, Cache::Guarded, r#""private""#),
        ] {
            let result = |scope: &str| {
                format!(r#"{{"ttlMs":1,"resultType":"complete","cacheScope":{scope},"x":1e400}}"#)
            };
            let reply = dressed(Json::trusted(result(said)), Era::Modern, cache);
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
            let reply = dressed(Json::trusted(result(said)), Era::Modern, Cache::Fresh);
            assert_eq!(reply.text(), result(expected));
        }
    }
}
