//! One call: what was asked, how it was decided, when it left and what came back.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use switchboard_host::record::{CallId, Full};
use switchboard_host::{Record, Target};

use super::calls::{CallRow, milliseconds, row};
use crate::console::Console;
use crate::reply::Problem;

/// As much of a result is shown.
const SHOWN_BYTES: usize = 2 << 20;

/// One call with everything about it.
#[derive(Debug, Serialize)]
pub(crate) struct CallShown {
    #[serde(flatten)]
    pub(crate) row: CallRow,
    pub(crate) reference: Option<String>,
    pub(crate) definition: Option<String>,
    pub(crate) arguments: Option<Box<RawValue>>,
    /// What was sent instead, if a person or a rule changed them.
    pub(crate) sent_arguments: Option<Box<RawValue>>,
    pub(crate) sent_at: Option<String>,
    pub(crate) finished_at: Option<String>,
    pub(crate) instance: Option<String>,
    pub(crate) attempts: u32,
    pub(crate) fallback: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) result: Option<Box<RawValue>>,
    /// Whether the result is too long to be shown whole.
    pub(crate) result_cut: bool,
    pub(crate) late_answer: Option<Box<RawValue>>,
}

/// A call that has just been made.
#[derive(Debug, Serialize)]
pub(crate) struct Ran {
    pub(crate) id: Option<String>,
    pub(crate) server: String,
    pub(crate) kind: &'static str,
    pub(crate) target: String,
    pub(crate) outcome: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) milliseconds: f64,
    pub(crate) recorded: bool,
    pub(crate) result: Option<Box<RawValue>>,
}

/// Everything about the call of that number.
pub(crate) async fn call(console: &Console, id: &str) -> Result<CallShown, Problem> {
    let missing = || Problem::missing(format!("no call `{id}` is recorded"));
    let number: CallId = id.parse().map_err(|_| missing())?;
    call_of(console, number).await?.ok_or_else(missing)
}

/// Everything about a call; nothing if it is not recorded.
pub(super) async fn call_of(console: &Console, id: CallId) -> Result<Option<CallShown>, Problem> {
    let ledger = console.host.ledger();
    let trouble =
        |error: switchboard_host::record::LedgerError| Problem::trouble(error.to_string());
    let Some(full) = ledger.show(id).await.map_err(trouble)? else { return Ok(None) };
    let whole = ledger.result_of(&full).await.map_err(trouble)?;
    let fits = whole.as_ref().filter(|bytes| bytes.len() <= SHOWN_BYTES);
    let result = fits.and_then(|bytes| value(bytes));
    let result_cut = full.result.is_some() && result.is_none();
    Ok(Some(shown(full, result, result_cut)))
}

fn shown(full: Full, result: Option<Box<RawValue>>, result_cut: bool) -> CallShown {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    CallShown {
        row: row(full.summary),
        reference: full.reference,
        definition: full.definition_digest,
        arguments: value(&full.arguments),
        sent_arguments: full.sent_arguments.as_deref().and_then(value),
        sent_at: time(full.intent_at),
        finished_at: time(full.finished_at),
        instance: full.instance,
        attempts: full.attempts,
        fallback: full.fallback,
        message: full.message,
        hint: full.hint,
        result,
        result_cut,
        late_answer: full.late.as_deref().and_then(value),
    }
}

/// What came of a call that was made here.
pub(crate) fn ran(target: &Target, record: Record) -> Ran {
    let outcome = record.outcome;
    Ran {
        id: record.id.filter(|_| record.recorded).map(|id| id.to_string()),
        server: target.server.clone(),
        kind: target.kind.as_str(),
        target: target.name.clone(),
        outcome: outcome.kind.as_str(),
        reason: outcome.reason,
        message: outcome.message,
        hint: outcome.hint,
        milliseconds: milliseconds(record.duration),
        recorded: record.recorded,
        result: outcome.result.as_deref().and_then(value),
    }
}

/// The JSON as it is, or the text of what is none.
fn value(bytes: &[u8]) -> Option<Box<RawValue>> {
    let text = String::from_utf8_lossy(bytes);
    RawValue::from_string(text.clone().into_owned()).or_else(|_| to_raw_value(&text)).ok()
}
