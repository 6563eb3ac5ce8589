//! View models of recorded calls: filters, rows and pages.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_core::OutcomeKind;
use switchboard_host::Host;
use switchboard_store::{CallId, CallSummary, Filter};

use crate::error::ViewError;

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 500;

/// Filters and paging of recorded calls. An empty text means that a filter is not set.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct CallQuery {
    /// Only calls to this server.
    pub server: Option<String>,
    /// Only calls of this tool, prompt or resource.
    pub tool: Option<String>,
    /// Only calls by this caller: `client:name`, or the name alone.
    pub caller: Option<String>,
    /// Only calls with this outcome, such as `ok` or `tool_error`.
    pub outcome: Option<String>,
    /// Only calls after this time, or since this long ago: `30m`, `24h`, `7d`.
    pub since: Option<String>,
    /// Only calls before this time.
    pub until: Option<String>,
    /// Only calls whose target, caller or message contains this text.
    pub text: Option<String>,
    /// Only calls before the call with this id, for the next page.
    pub before: Option<String>,
    /// Page size: 50 by default, 500 at most. An export has no pages.
    pub limit: Option<u32>,
}

impl CallQuery {
    /// Returns the filters that are set, by parameter name, without the cursor and the limit.
    pub fn filters(&self) -> Vec<(&'static str, &str)> {
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

    /// Converts the query to a filter of the ledger.
    pub fn filter(&self, limit: u32) -> Result<Filter, ViewError> {
        // A form sends an empty field as an empty text, which must not filter anything out.
        let given = |text: &Option<String>| {
            text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let outcome = given(&self.outcome).map(|word| {
            word.parse::<OutcomeKind>().map_err(|_| {
                let known: Vec<&str> = OutcomeKind::ALL.iter().map(|kind| kind.as_str()).collect();
                let hint = format!("one of {}", known.join(", "));
                ViewError::query(format!("unknown outcome `{word}`"), Some(hint))
            })
        });
        let before_id = given(&self.before).map(|word| {
            word.parse::<CallId>().map_err(|error| {
                ViewError::query(format!("`before` is not a call id: {error}"), None)
            })
        });
        let time = |text: &Option<String>| given(text).map(|word| parse_time(&word)).transpose();
        Ok(Filter {
            server: given(&self.server),
            target: given(&self.tool),
            caller: given(&self.caller),
            outcome: outcome.transpose()?,
            since: time(&self.since)?,
            until: time(&self.until)?,
            text: given(&self.text),
            before_id: before_id.transpose()?,
            limit,
        })
    }
}

/// A call in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallRow {
    /// Id of the call in the record.
    pub id: String,
    /// Time at which the call was proposed.
    pub created_at: String,
    /// Face that the call came through: `cli`, `chat`, `gateway` or `console`.
    pub face: String,
    /// Caller of the call, as `kind:name`.
    pub caller: String,
    /// Name of the server.
    pub server: String,
    /// Kind of the target: `tool`, `resource` or `prompt`.
    pub kind: &'static str,
    /// Name of the tool or prompt, or URI of the resource.
    pub target: String,
    /// Policy verdict: `allow`, `ask` or `deny`.
    pub verdict: Option<&'static str>,
    /// Rule or person behind the verdict.
    pub verdict_by: Option<String>,
    /// Outcome of the call; `running` or `under way` until it ends.
    pub state: &'static str,
    /// Reason for the outcome, in one word.
    pub reason: Option<String>,
    /// Duration of the call in milliseconds.
    pub milliseconds: Option<f64>,
    /// Length of the result in bytes.
    pub result_bytes: Option<u64>,
}

/// A page of recorded calls.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallsShown {
    /// Calls on this page, newest first.
    pub calls: Vec<CallRow>,
    /// Value of `before` for the next page, if there may be one.
    pub next: Option<String>,
    /// Time at which the search stopped; set `until` to search further back.
    pub looked_back_to: Option<String>,
}

/// Returns a page of the calls that match the query, newest first.
pub async fn calls(host: &Host, query: &CallQuery) -> Result<CallsShown, ViewError> {
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let filter = query.filter(limit)?;
    let page = host.ledger().page(filter).await?;
    // A full page ends where `next` continues; only a short one may have hit the search window.
    let full = u32::try_from(page.calls.len()).is_ok_and(|count| count == limit);
    let next = page.calls.last().filter(|_| full).map(|last| last.id.to_string());
    let looked_back_to = page.looked_back_to.filter(|_| !full).map(|time| time.to_string());
    let calls = page.calls.into_iter().map(CallRow::from).collect();
    Ok(CallsShown { calls, next, looked_back_to })
}

/// Parses a point in time, or an age such as `24h`.
fn parse_time(word: &str) -> Result<Timestamp, ViewError> {
    let wrong = || {
        let hint = "write `24h`, or `2026-07-28T12:00:00Z`".to_owned();
        ViewError::query(format!("invalid time `{word}`"), Some(hint))
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

impl From<CallSummary> for CallRow {
    fn from(call: CallSummary) -> Self {
        let state = call_state(&call);
        let (verdict, verdict_by) = call.verdict.map(|(word, by)| (word.as_str(), by)).unzip();
        Self {
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
}

/// Returns the outcome of a call, or `running` (a task) or `under way` if it has not ended.
pub fn call_state(call: &CallSummary) -> &'static str {
    match (call.outcome, &call.task) {
        (Some(outcome), _) => outcome.as_str(),
        (None, Some(_)) => "running",
        (None, None) => "under way",
    }
}

/// Converts a duration to milliseconds, rounded to the microsecond.
pub fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
