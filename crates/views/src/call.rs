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

/// One call with everything about it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallShown {
    /// Its row in the list.
    #[serde(flatten)]
    pub row: CallRow,
    /// What its caller calls it, such as a step of a conversation.
    pub reference: Option<String>,
    /// The fingerprint of the definition by which it was checked.
    pub definition: Option<String>,
    /// The arguments as they came, with secrets left out.
    pub arguments: Option<Box<RawValue>>,
    /// What was sent instead, if a person or a rule changed them.
    pub sent_arguments: Option<Box<RawValue>>,
    /// When it left for the server.
    pub sent_at: Option<String>,
    /// When it ended.
    pub finished_at: Option<String>,
    /// Which instance of the server had it.
    pub instance: Option<String>,
    /// How often it was sent.
    pub attempts: u32,
    /// Why it was sent another way or to another instance than at first.
    pub fallback: Option<String>,
    /// What went wrong, in words.
    pub message: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The result as the server sent it.
    pub result: Option<Box<RawValue>>,
    /// Whether the result is too long to be shown whole.
    pub result_cut: bool,
    /// What the server said after the call was given up.
    pub late_answer: Option<Box<RawValue>>,
    /// What happened in between, in order: decisions around hooks, hooks, questions, progress.
    pub steps: Vec<ShownStep>,
    /// How many reports of progress there were: not all of them are among the steps.
    pub progress_reports: u64,
    /// How many messages for its log the server sent meanwhile.
    pub messages_heard: u64,
}

/// A call that has just been made.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ran")]
pub struct CompletedCall {
    /// Its number in the record; none if it is not recorded.
    pub id: Option<String>,
    /// The server.
    pub server: String,
    /// `tool`, `resource` or `prompt`.
    pub kind: &'static str,
    /// The tool, the prompt, or the address of the resource.
    pub target: String,
    /// How it ended.
    #[schemars(with = "OutcomeKind")]
    pub outcome: &'static str,
    /// Why, in one word.
    pub reason: Option<String>,
    /// What went wrong, in words.
    pub message: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// How long it took.
    pub milliseconds: f64,
    /// Whether it is in the record.
    pub recorded: bool,
    /// The result as the server sent it.
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
