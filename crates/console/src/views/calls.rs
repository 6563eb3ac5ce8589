//! Recorded calls: a page of them, by what is wanted.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_core::OutcomeKind;
use switchboard_store::{CallId, CallSummary, Filter};

use crate::console::Console;
use crate::reply::ApiError;

/// So many are listed unless told otherwise.
const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 500;

/// Which calls are wanted. A form sends what is not filled in as an empty text.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct CallQuery {
    /// Only of this server.
    pub(crate) server: Option<String>,
    /// Only of this tool, prompt or resource.
    pub(crate) tool: Option<String>,
    /// Only of this caller: `client:name`, or the name alone.
    pub(crate) caller: Option<String>,
    /// Only those that ended so, such as `ok` or `tool_error`.
    pub(crate) outcome: Option<String>,
    /// Only since this time, or so long ago: `30m`, `24h`, `7d`.
    pub(crate) since: Option<String>,
    /// Only before this time.
    pub(crate) until: Option<String>,
    /// Only those whose target, caller or message has this in it.
    pub(crate) text: Option<String>,
    /// Only those before this call, for the next page.
    pub(crate) before: Option<String>,
    /// At most so many on a page; 50 unless told, 500 at most. An export has no pages.
    pub(crate) limit: Option<u32>,
}

impl CallQuery {
    /// What is filled in, by name, without where a page begins.
    pub(crate) fn filters(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("server", &self.server),
            ("tool", &self.tool),
            ("caller", &self.caller),
            ("outcome", &self.outcome),
            ("since", &self.since),
            ("text", &self.text),
        ];
        let given = all.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        given.filter(|(_, value)| !value.trim().is_empty()).collect()
    }
}

/// A call in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallRow {
    /// Its number in the record.
    pub(crate) id: String,
    /// When it was asked for.
    pub(crate) created_at: String,
    /// Through which face it came: `cli`, `chat`, `gateway`, `console`.
    pub(crate) face: String,
    /// Who called, as `kind:name`.
    pub(crate) caller: String,
    /// The server.
    pub(crate) server: String,
    /// `tool`, `resource` or `prompt`.
    pub(crate) kind: &'static str,
    /// The tool, the prompt, or the address of the resource.
    pub(crate) target: String,
    /// What was decided: `allow`, `ask` or `deny`.
    pub(crate) verdict: Option<&'static str>,
    /// By which rule or by whom.
    pub(crate) verdict_by: Option<String>,
    /// How it ended; `running` or `under way` before.
    pub(crate) state: &'static str,
    /// Why it ended so, in one word.
    pub(crate) reason: Option<String>,
    /// How long it took.
    pub(crate) milliseconds: Option<f64>,
    /// How long its result is.
    pub(crate) result_bytes: Option<u64>,
}

/// A page of calls.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallsShown {
    /// The calls, the newest first.
    pub(crate) calls: Vec<CallRow>,
    /// What `before` has to be for the next page, if there may be one.
    pub(crate) next: Option<String>,
    /// Nothing before this time was looked at; with `until` it is.
    pub(crate) looked_back_to: Option<String>,
}

/// Calls that match, the newest first.
pub(crate) async fn calls(console: &Console, query: &CallQuery) -> Result<CallsShown, ApiError> {
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let filter = filter(query, limit)?;
    let page = console.host.ledger().page(filter).await;
    let page = page.map_err(|error| ApiError::internal(error.to_string()))?;
    let full = u32::try_from(page.calls.len()).is_ok_and(|count| count == limit);
    let next = page.calls.last().filter(|_| full).map(|last| last.id.to_string());
    let looked_back_to = page.looked_back_to.filter(|_| !full).map(|time| time.to_string());
    Ok(CallsShown { calls: page.calls.into_iter().map(row).collect(), next, looked_back_to })
}

/// What is wanted, as the record understands it.
pub(crate) fn filter(query: &CallQuery, limit: u32) -> Result<Filter, ApiError> {
    let given = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let outcome = match given(&query.outcome) {
        Some(word) => Some(word.parse::<OutcomeKind>().map_err(|_| {
            let known: Vec<&str> = OutcomeKind::ALL.iter().map(|kind| kind.as_str()).collect();
            ApiError::unprocessable(format!("there is no outcome `{word}`"))
                .with_hint(format!("one of {}", known.join(", ")))
        })?),
        None => None,
    };
    let before_id = match given(&query.before) {
        Some(word) => Some(word.parse::<CallId>().map_err(|error| {
            ApiError::unprocessable(format!("`before` is not the number of a call: {error}"))
        })?),
        None => None,
    };
    let time = |text: &Option<String>| given(text).map(|word| parse_time(&word)).transpose();
    Ok(Filter {
        server: given(&query.server),
        target: given(&query.tool),
        caller: given(&query.caller),
        outcome,
        since: time(&query.since)?,
        until: time(&query.until)?,
        text: given(&query.text),
        before_id,
        limit,
    })
}

/// A time, or how long ago it was.
fn parse_time(word: &str) -> Result<Timestamp, ApiError> {
    let wrong = || {
        ApiError::unprocessable(format!("`{word}` is no time"))
            .with_hint("write `24h`, or `2026-07-28T12:00:00Z`")
    };
    if let Ok(time) = word.parse::<Timestamp>() {
        return Ok(time);
    }
    let unit = word.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let count: u64 = word.trim_end_matches(unit).parse().map_err(|_| wrong())?;
    let age = Duration::from_secs(count.saturating_mul(seconds));
    Timestamp::now().checked_sub(age).map_err(|_| wrong())
}

pub(super) fn row(call: CallSummary) -> CallRow {
    let state = match (call.outcome, &call.task) {
        (Some(outcome), _) => outcome.as_str(),
        (None, Some(_)) => "running",
        (None, None) => "under way",
    };
    let (verdict, verdict_by) = call.verdict.map(|(word, by)| (word.as_str(), by)).unzip();
    CallRow {
        id: call.id.to_string(),
        created_at: call.created_at.to_string(),
        face: call.face,
        caller: call.caller,
        server: call.server,
        kind: call.kind.as_str(),
        target: call.target,
        verdict,
        verdict_by,
        state,
        reason: call.reason,
        milliseconds: call.duration.map(milliseconds),
        result_bytes: call.result_bytes,
    }
}

/// A duration in milliseconds, to the microsecond.
pub(super) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
