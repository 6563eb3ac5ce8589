//! Completion of argument values by a server.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use switchboard_catalog::Server;
use switchboard_wire::{Request, RequestError, Revision};

/// Maximum number of values per answer, as in the specification.
const MAX_VALUES: usize = 100;
/// How long a server may take. Short, since a person is typing.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(5);

/// The prompt or template that an argument belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionTarget<'a> {
    Prompt(&'a str),
    /// A resource template, by its URI template.
    Template(&'a str),
}

/// An argument value to complete.
#[derive(Clone, Copy, Debug)]
pub struct CompletionRequest<'a> {
    pub target: CompletionTarget<'a>,
    pub argument: &'a str,
    pub value: &'a str,
    /// Values of other arguments, which may narrow the suggestions.
    pub context: &'a BTreeMap<String, String>,
}

/// Suggested values for an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    /// Values that complete the given text.
    pub values: Vec<String>,
    /// Total number of matching values, if the server reports it.
    pub total: Option<u64>,
    /// Whether the server has further values.
    pub has_more: bool,
}

/// The reason why a value cannot be completed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CompletionError {
    #[error("server `{0}` is not ready")]
    NotReady(String),
    #[error("server `{0}` does not support completion")]
    NotOffered(String),
    #[error("server `{0}` cannot complete this value: {1}")]
    Failed(String, RequestError),
    #[error("server `{0}` sent an invalid completion: {1}")]
    Unreadable(String, String),
    #[error("not allowed: {0}")]
    NotAllowed(String),
}

#[derive(Deserialize)]
struct CompletionAnswer {
    completion: CompletionMembers,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CompletionMembers {
    #[serde(default)]
    values: Vec<String>,
    // Not an integer: a fraction or a negative number must not fail the whole answer.
    total: Option<f64>,
    has_more: Option<bool>,
}

/// Requests completions of an argument value from a server.
///
/// # Errors
/// Fails if the server is not connected, does not offer completions or does not answer in time.
pub async fn complete(
    server: &Server,
    completing: &CompletionRequest<'_>,
) -> Result<Completion, CompletionError> {
    let name = || server.id.to_string();
    let (instance, peer) = server.least_busy().ok_or_else(|| CompletionError::NotReady(name()))?;
    let agreement = server.agreement.as_ref().ok_or_else(|| CompletionError::NotReady(name()))?;
    // The first revision has completions but no capability for them.
    if agreement.revision > Revision::V2024_11_05 && !agreement.has_capability("completions") {
        return Err(CompletionError::NotOffered(name()));
    }
    let reference = match completing.target {
        CompletionTarget::Prompt(prompt) => json!({"type": "ref/prompt", "name": prompt}),
        CompletionTarget::Template(template) => json!({"type": "ref/resource", "uri": template}),
    };
    let argument = json!({"name": completing.argument, "value": completing.value});
    let mut params = json!({"ref": reference, "argument": argument});
    // This revision added the member, which an older server may reject.
    if agreement.revision >= Revision::V2025_06_18
        && !completing.context.is_empty()
        && let Some(members) = params.as_object_mut()
    {
        members.insert("context".to_owned(), json!({"arguments": completing.context}));
    }
    let _in_use = instance.health.enter();
    let params = params.to_string();
    let answer =
        peer.request(Request::new("completion/complete", &params, COMPLETION_TIMEOUT)).await;
    let answer = answer.map_err(|error| CompletionError::Failed(name(), error))?;
    let CompletionAnswer { completion } =
        answer.read().map_err(|error| CompletionError::Unreadable(name(), error.to_string()))?;
    let given = completion.values.len();
    let values: Vec<String> = completion.values.into_iter().take(MAX_VALUES).collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number that is out of range becomes the nearest one"
    )]
    let total = completion.total.map(|total| total as u64);
    let more = total.is_some_and(|total| total > values.len() as u64) || given > values.len();
    Ok(Completion { values, total, has_more: completion.has_more.unwrap_or(more) })
}
