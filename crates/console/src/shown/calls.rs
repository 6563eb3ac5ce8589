//! Recorded calls: a page of them, by what is wanted.

use serde::{Deserialize, Serialize};
use switchboard_host::OutcomeKind;
use switchboard_host::record::{CallId, Filter, Summary};

use crate::console::Console;
use crate::reply::Problem;

/// So many are listed unless told otherwise.
const USUAL: u32 = 50;
const MOST: u32 = 500;

/// Which calls are wanted. A form sends what is not filled in as an empty text.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct CallQuery {
    pub(crate) server: Option<String>,
    pub(crate) outcome: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) before: Option<String>,
    pub(crate) limit: Option<u32>,
}

/// A call in a list.
#[derive(Debug, Serialize)]
pub(crate) struct CallRow {
    pub(crate) id: String,
    pub(crate) created_at: String,
    pub(crate) face: String,
    pub(crate) caller: String,
    pub(crate) server: String,
    pub(crate) kind: &'static str,
    pub(crate) target: String,
    pub(crate) verdict: Option<&'static str>,
    pub(crate) verdict_by: Option<String>,
    /// How it ended; `running` or `under way` before.
    pub(crate) state: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) milliseconds: Option<f64>,
    pub(crate) result_bytes: Option<u64>,
}

/// A page of calls.
#[derive(Debug, Serialize)]
pub(crate) struct CallsShown {
    pub(crate) calls: Vec<CallRow>,
    /// What `before` has to be for the next page, if there may be one.
    pub(crate) next: Option<String>,
}

/// Calls that match, the newest first.
pub(crate) async fn calls(console: &Console, query: &CallQuery) -> Result<CallsShown, Problem> {
    let limit = query.limit.unwrap_or(USUAL).clamp(1, MOST);
    let filter = filter(query, limit)?;
    let listed = console.host.ledger().list(filter).await;
    let listed = listed.map_err(|error| Problem::trouble(error.to_string()))?;
    let full = u32::try_from(listed.len()).is_ok_and(|count| count == limit);
    let next = listed.last().filter(|_| full).map(|last| last.id.to_string());
    Ok(CallsShown { calls: listed.into_iter().map(row).collect(), next })
}

fn filter(query: &CallQuery, limit: u32) -> Result<Filter, Problem> {
    let given = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let outcome = match given(&query.outcome) {
        Some(word) => Some(word.parse::<OutcomeKind>().map_err(|_| {
            let known: Vec<&str> = OutcomeKind::ALL.iter().map(|kind| kind.as_str()).collect();
            Problem::unusable(format!("there is no outcome `{word}`"))
                .with_hint(format!("one of {}", known.join(", ")))
        })?),
        None => None,
    };
    let before_id = match given(&query.before) {
        Some(word) => Some(word.parse::<CallId>().map_err(|error| {
            Problem::unusable(format!("`before` is not the number of a call: {error}"))
        })?),
        None => None,
    };
    let (server, text) = (given(&query.server), given(&query.text));
    Ok(Filter { server, outcome, text, before_id, limit, ..Filter::default() })
}

pub(super) fn row(call: Summary) -> CallRow {
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
pub(super) fn milliseconds(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}
