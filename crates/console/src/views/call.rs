//! One call: what was asked, how it was decided, when it left and what came back.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use switchboard_core::{OutcomeKind, ShownStep, Target};
use switchboard_store::{CallId, FullCall, LedgerError, Record};

use super::calls::{CallRow, milliseconds, row};
use crate::console::Console;
use crate::reply::ApiError;

/// As much of a result is shown.
const MAX_RESULT_BYTES: usize = 2 << 20;

/// One call with everything about it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallShown {
    #[serde(flatten)]
    pub(crate) row: CallRow,
    /// What its caller calls it, such as a step of a conversation.
    pub(crate) reference: Option<String>,
    /// The fingerprint of the definition by which it was checked.
    pub(crate) definition: Option<String>,
    /// The arguments as they came, with secrets left out.
    pub(crate) arguments: Option<Box<RawValue>>,
    /// What was sent instead, if a person or a rule changed them.
    pub(crate) sent_arguments: Option<Box<RawValue>>,
    /// When it left for the server.
    pub(crate) sent_at: Option<String>,
    /// When it ended.
    pub(crate) finished_at: Option<String>,
    /// Which instance of the server had it.
    pub(crate) instance: Option<String>,
    /// How often it was sent.
    pub(crate) attempts: u32,
    /// Why it was sent another way or to another instance than at first.
    pub(crate) fallback: Option<String>,
    /// What went wrong, in words.
    pub(crate) message: Option<String>,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// The result as the server sent it.
    pub(crate) result: Option<Box<RawValue>>,
    /// Whether the result is too long to be shown whole.
    pub(crate) result_cut: bool,
    /// What the server said after the call was given up.
    pub(crate) late_answer: Option<Box<RawValue>>,
    /// What happened in between, in order: decisions around hooks, hooks, questions, progress.
    pub(crate) steps: Vec<ShownStep>,
    /// How many reports of progress there were: not all of them are among the steps.
    pub(crate) progress_reports: u64,
    /// How many messages for its log the server sent meanwhile.
    pub(crate) messages_heard: u64,
}

/// A call that has just been made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ran {
    /// Its number in the record; none if it is not recorded.
    pub(crate) id: Option<String>,
    /// The server.
    pub(crate) server: String,
    /// `tool`, `resource` or `prompt`.
    pub(crate) kind: &'static str,
    /// The tool, the prompt, or the address of the resource.
    pub(crate) target: String,
    /// How it ended.
    #[schemars(with = "OutcomeKind")]
    pub(crate) outcome: &'static str,
    /// Why, in one word.
    pub(crate) reason: Option<String>,
    /// What went wrong, in words.
    pub(crate) message: Option<String>,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// How long it took.
    pub(crate) milliseconds: f64,
    /// Whether it is in the record.
    pub(crate) recorded: bool,
    /// The result as the server sent it.
    pub(crate) result: Option<Box<RawValue>>,
}

/// Everything about the call of that number.
pub(crate) async fn call(console: &Console, id: &str) -> Result<CallShown, ApiError> {
    let missing = || ApiError::not_found(format!("no call `{id}` is recorded"));
    let number: CallId = id.parse().map_err(|_| missing())?;
    let found = console.host.ledger().show(number).await.map_err(ledger_error)?;
    with_result(console, found.ok_or_else(missing)?).await
}

/// A call with its result, as far as that is shown.
pub(super) async fn with_result(console: &Console, full: FullCall) -> Result<CallShown, ApiError> {
    let whole = console.host.ledger().load_result(&full).await.map_err(ledger_error)?;
    let fits = whole.as_ref().filter(|bytes| bytes.len() <= MAX_RESULT_BYTES);
    let result = fits.and_then(|bytes| raw_json(bytes));
    let result_cut = full.result.is_some() && result.is_none();
    Ok(call_view(full, result, result_cut))
}

fn ledger_error(error: LedgerError) -> ApiError {
    ApiError::internal(error.to_string())
}

fn call_view(full: FullCall, result: Option<Box<RawValue>>, result_cut: bool) -> CallShown {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let timeline = full.timeline.unwrap_or_default();
    let steps = timeline.step_views(full.summary.created_at);
    CallShown {
        row: row(full.summary),
        reference: full.reference,
        definition: full.definition_digest,
        arguments: raw_json(&full.arguments),
        sent_arguments: full.sent_arguments.as_deref().and_then(raw_json),
        sent_at: time(full.intent_at),
        finished_at: time(full.finished_at),
        instance: full.instance,
        attempts: full.attempts,
        fallback: full.fallback,
        message: full.message,
        hint: full.hint,
        result,
        result_cut,
        late_answer: full.late.as_deref().and_then(raw_json),
        steps,
        progress_reports: timeline.progress_reports(),
        messages_heard: timeline.messages(),
    }
}

/// What came of a call that was made here.
pub(crate) fn finished_call(target: &Target, record: Record) -> Ran {
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
        result: outcome.result.as_deref().and_then(raw_json),
    }
}

/// The JSON as it is, or the text of what is none.
fn raw_json(bytes: &[u8]) -> Option<Box<RawValue>> {
    let text = String::from_utf8_lossy(bytes);
    RawValue::from_string(text.clone().into_owned()).or_else(|_| to_raw_value(&text)).ok()
}
