//! View model of one call: its arguments, verdict, timing, timeline and result.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use switchboard_core::{OutcomeKind, ShownStep, Target};
use switchboard_host::Host;
use switchboard_store::{CallId, FullCall, Record};

use crate::calls::{CallRow, milliseconds};
use crate::error::ViewError;

/// Maximum size of a result in the view; a longer one is left out and marked as cut.
const MAX_RESULT_BYTES: usize = 2 << 20;

/// A call with its arguments, timing, steps and result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallShown {
    #[serde(flatten)]
    pub row: CallRow,
    /// Reference of the caller, such as a step of a conversation.
    pub reference: Option<String>,
    /// Fingerprint of the definition that the arguments were checked against.
    pub definition: Option<String>,
    /// Arguments as proposed, redacted.
    pub arguments: Option<Box<RawValue>>,
    /// Arguments that were sent, if a reviewer or a hook changed them.
    pub sent_arguments: Option<Box<RawValue>>,
    /// Time at which the call was sent to the server.
    pub sent_at: Option<String>,
    /// Time at which the call ended.
    pub finished_at: Option<String>,
    /// Instance of the server that ran the call.
    pub instance: Option<String>,
    /// Number of times the call was sent.
    pub attempts: u32,
    /// Reason for a fallback to another transport or instance.
    pub fallback: Option<String>,
    /// Error message for a person.
    pub message: Option<String>,
    /// Suggested next step, if there is one.
    pub hint: Option<String>,
    /// Result exactly as the server sent it.
    pub result: Option<Box<RawValue>>,
    /// Whether the result is left out because it is too long.
    pub result_cut: bool,
    /// Response that arrived after the call was cancelled.
    pub late_answer: Option<Box<RawValue>>,
    /// Steps in order: verdicts, hooks, reviews, elicitations and progress.
    pub steps: Vec<ShownStep>,
    /// Number of progress notifications, including those left out of the steps.
    pub progress_reports: u64,
    /// Number of log messages that the server sent during the call.
    pub messages_heard: u64,
}

/// The outcome of a call that this request made.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ran")]
pub struct CompletedCall {
    /// Id of the call in the record; absent if it is not recorded.
    pub id: Option<String>,
    /// Name of the server.
    pub server: String,
    /// Kind of the target: `tool`, `resource` or `prompt`.
    pub kind: &'static str,
    /// Name of the tool or prompt, or URI of the resource.
    pub target: String,
    /// Outcome in one word.
    #[schemars(with = "OutcomeKind")]
    pub outcome: &'static str,
    /// Reason for the outcome, in one word.
    pub reason: Option<String>,
    /// Error message for a person.
    pub message: Option<String>,
    /// Suggested next step, if there is one.
    pub hint: Option<String>,
    /// Duration of the call in milliseconds.
    pub milliseconds: f64,
    /// Whether the call is recorded.
    pub recorded: bool,
    /// Result exactly as the server sent it.
    pub result: Option<Box<RawValue>>,
}

/// Returns the view of the recorded call `id`.
pub async fn call(host: &Host, id: &str) -> Result<CallShown, ViewError> {
    let missing = || ViewError::NotFound(format!("no call `{id}` is recorded"));
    let number: CallId = id.parse().map_err(|_| missing())?;
    let found = host.ledger().show(number).await?;
    call_with_result(host, found.ok_or_else(missing)?).await
}

/// Returns the view of a recorded call, and loads its result if that is not too long.
pub async fn call_with_result(host: &Host, full: FullCall) -> Result<CallShown, ViewError> {
    let whole = host.ledger().load_result(&full).await?;
    // The page builds a tree of every value, so a huge result is offered as a download instead.
    let fits = whole.as_ref().filter(|bytes| bytes.len() <= MAX_RESULT_BYTES);
    let result = fits.and_then(|bytes| raw_json(bytes));
    let result_cut = full.result.is_some() && result.is_none();
    Ok(CallShown { result, result_cut, ..CallShown::from(full) })
}

impl From<FullCall> for CallShown {
    /// Leaves the result out: it may be in a body file and has to be loaded asynchronously.
    fn from(full: FullCall) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let timeline = full.timeline.unwrap_or_default();
        let steps = timeline.step_views(full.summary.created_at);
        Self {
            row: full.summary.into(),
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
            result: None,
            result_cut: false,
            late_answer: full.late.as_deref().and_then(raw_json),
            steps,
            progress_reports: timeline.progress_reports(),
            messages_heard: timeline.messages(),
        }
    }
}

/// Returns the view of a call that this process has just finished.
pub fn finished_call(target: &Target, record: Record) -> CompletedCall {
    let outcome = record.outcome;
    CompletedCall {
        // The id leads to the call's page, which only recorded calls have.
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

/// Returns the bytes unchanged if they are JSON, and as a JSON string otherwise.
fn raw_json(bytes: &[u8]) -> Option<Box<RawValue>> {
    let text = String::from_utf8_lossy(bytes);
    RawValue::from_string(text.clone().into_owned()).or_else(|_| to_raw_value(&text)).ok()
}
