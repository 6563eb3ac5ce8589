//! The exchange of one call: the request, and the rounds in which the server asks for input.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use futures_util::future::try_join_all;
use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use switchboard_core::Outcome;
use switchboard_fleet::ServerRequest;
use switchboard_wire::{Era, Json, Peer, Request, RequestError, RpcError};
use tokio::time::{Instant, timeout_at};

use crate::call::execute::call_message::{CallMessage, ResultMembers};
use crate::call::execute::run::ExecContext;
use crate::call::execute::task::TaskSnapshot;
use crate::call::execute::task_mode::AsTask;
use crate::call::execute::url_required::UrlVisits;
use crate::call::execute::{task, url_required};

/// Maximum number of input rounds per call.
pub(super) const MAX_ROUNDS: usize = 10;

/// The deadlines of a call.
#[derive(Clone, Copy)]
pub(super) struct CallDeadlines {
    pub(super) idle: Duration,
    pub(super) total: Duration,
}

impl CallDeadlines {
    /// Caps the idle deadline at the time left.
    pub(super) fn within(self, left: Duration) -> Self {
        Self { idle: self.idle.min(left), total: self.total }
    }
}

/// The final answer of a server.
pub(super) enum ExchangeResult {
    Result(Json),
    /// The call continues as a task.
    Task(Box<TaskSnapshot>),
}

/// Why an exchange ended without an answer.
pub(super) enum ExchangeError {
    Request(RequestError),
    Over(Outcome),
}

impl From<RequestError> for ExchangeError {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

/// The connection, server and tool that a call goes to.
#[derive(Clone, Copy)]
pub(super) struct Destination<'a> {
    pub(super) peer: &'a Peer,
    pub(super) server: &'a str,
    pub(super) name: &'a str,
}

/// Sends a call, and answers the server's requests for input in between.
pub(super) async fn exchange(
    whom: Destination<'_>,
    message: &CallMessage,
    deadlines: CallDeadlines,
    reach: &ExecContext<'_>,
) -> Result<ExchangeResult, ExchangeError> {
    let mut params = Cow::Borrowed(message.params.as_str());
    let end = Instant::now() + deadlines.total;
    let meta = reach.meta(whom);
    let mut addresses = UrlVisits::default();
    let mut had_it = false;
    for _ in 0..=MAX_ROUNDS {
        let left = end.saturating_duration_since(Instant::now());
        let request = Request {
            method: message.method,
            params: &params,
            idle: deadlines.idle.min(left),
            total: left,
            progress: reach.progress.clone(),
            tag: reach.tag,
            name: Some(whom.name),
            headers: &message.headers,
            meta: &meta,
            further_meta: reach.further_meta.unwrap_or_default(),
        };
        let result = match whom.peer.request(request).await {
            Err(RequestError::Rpc(error)) if url_required::is_url_required(&error, whom.peer) => {
                // Boxed: the future is large, and most calls do not need it.
                let visiting = Box::pin(addresses.visit(&error, whom, reach));
                match timeout_at(end, visiting).await {
                    Ok(Ok(())) => continue,
                    Ok(Err(outcome)) => return Err(ExchangeError::Over(outcome)),
                    Err(_) => return Err(RequestError::TimedOut(deadlines.total).into()),
                }
            }
            Err(error) if had_it => return Err(after_input_round(error).into()),
            result => result?,
        };
        if message.as_task == AsTask::Yes
            && let Some(seen) =
                task::parse_created_task(&result, Era::Legacy).map_err(RequestError::Protocol)?
        {
            return Ok(ExchangeResult::Task(Box::new(seen)));
        }
        match timeout_at(end, next_round(whom, &result, message, reach)).await {
            Ok(Ok(NextStep::Round(next))) => params = Cow::Owned(next),
            Ok(Ok(NextStep::Done)) => return Ok(ExchangeResult::Result(result)),
            Ok(Ok(NextStep::Task(seen))) => return Ok(ExchangeResult::Task(seen)),
            Ok(Err(stop)) => return Err(stop),
            Err(_) => return Err(RequestError::TimedOut(deadlines.total).into()),
        }
        had_it = true;
    }
    let why = format!("the server asked for input more than {MAX_ROUNDS} times");
    Err(RequestError::Protocol(why).into())
}

/// Maps errors after the first input round to `Unknown`: the server has seen the call, so they do
/// not prove that it did not run.
fn after_input_round(error: RequestError) -> RequestError {
    match error {
        RequestError::NotSent(_)
        | RequestError::Untrusted(_)
        | RequestError::Http { .. }
        | RequestError::Rpc(_) => {
            RequestError::Unknown(format!("after the server had asked for input: {error}"))
        }
        RequestError::Unknown(_) | RequestError::TimedOut(_) | RequestError::Protocol(_) => error,
    }
}

enum NextStep {
    /// Another round, with these parameters.
    Round(String),
    Done,
    Task(Box<TaskSnapshot>),
}

/// Built once: every result of a modern server is searched.
static RESULT_TYPE_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("resultType"));

async fn next_round(
    whom: Destination<'_>,
    result: &Json,
    message: &CallMessage,
    reach: &ExecContext<'_>,
) -> Result<NextStep, ExchangeError> {
    // Only a modern server asks for input; a byte search avoids decoding final results.
    let modern = whom.peer.protocol().revision.era() == Era::Modern;
    if !modern || RESULT_TYPE_FINDER.find(result.bytes()).is_none() {
        return Ok(NextStep::Done);
    }
    let Some(shape) = ResultMembers::parse(result) else { return Ok(NextStep::Done) };
    match shape.result_type {
        None | Some(r#""complete""#) => return Ok(NextStep::Done),
        Some(r#""input_required""#) => {}
        Some(r#""task""#) => {
            let seen = TaskSnapshot::parse(result, Era::Modern).map_err(RequestError::Protocol)?;
            return Ok(NextStep::Task(Box::new(seen)));
        }
        Some(other) => {
            let why = format!("unknown result type {other}");
            return Err(RequestError::Protocol(why).into());
        }
    }
    let mut members = Vec::new();
    if let Some(asked) = shape.input_requests {
        let responses = answer_all(asked, whom.server, whom.name, reach).await;
        let responses = responses.map_err(|error| error.into_exchange_error(whom.server))?;
        members.push(format!(r#""inputResponses":{}"#, Value::Object(responses)));
    }
    if let Some(state) = shape.request_state {
        // Returned byte for byte: the state is opaque.
        members.push(format!(r#""requestState":{state}"#));
    }
    if members.is_empty() {
        let why = "the server requires input, but requests none";
        return Err(RequestError::Protocol(why.to_owned()).into());
    }
    Ok(NextStep::Round(message.with_members(&members.join(","))))
}

#[derive(Deserialize)]
struct InputRequest<'a> {
    #[serde(default)]
    method: String,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// Why a server's request for input has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    /// The request cannot be parsed, or its method is not supported.
    #[error("{0}")]
    Invalid(String),
    #[error("its request `{method}` was not answered: {why}")]
    Unanswered { method: String, why: RpcError },
}

impl InputError {
    fn into_exchange_error(self, server: &str) -> ExchangeError {
        match self {
            Self::Invalid(why) => RequestError::Protocol(why).into(),
            // A failure and not unknown: the server has returned and does not wait for an answer.
            Self::Unanswered { .. } => {
                let message = format!("server `{server}` cannot continue: {self}");
                ExchangeError::Over(Outcome::failed("unanswered", message))
            }
        }
    }
}

/// The reply to an elicitation that was not answered.
const CANCELLED_ANSWER: &str = r#"{"action":"cancel"}"#;

pub(super) async fn answer_all(
    asked: &str,
    server: &str,
    name: &str,
    reach: &ExecContext<'_>,
) -> Result<Map<String, Value>, InputError> {
    let unreadable =
        |error| InputError::Invalid(format!("the server's input request cannot be read: {error}"));
    // Borrowed, not parsed to `Value`: only the raw bytes keep the order of a form's fields.
    let asked: BTreeMap<String, InputRequest<'_>> =
        serde_json::from_str(asked).map_err(unreadable)?;
    // Concurrent, so that a relay can batch the requests for its own client.
    let answering = asked.into_iter().map(async |(key, InputRequest { method, params })| {
        let params = params.map(Json::from);
        let asking = ServerRequest {
            server,
            target: Some(name),
            call: Some(reach.tag),
            key: Some(key.as_str()),
            method: &method,
            params: params.as_ref(),
        };
        let answer = match reach.answer(asking).await {
            Ok(answer) => answer,
            Err(error) if error.code == RpcError::METHOD_NOT_FOUND => {
                let why = format!("the server asked for `{method}`: {error}");
                return Err(InputError::Invalid(why));
            }
            // Only elicitation has a reply that means "cancelled".
            Err(_) if method == "elicitation/create" => CANCELLED_ANSWER.to_owned(),
            Err(why) => return Err(InputError::Unanswered { method, why }),
        };
        Ok((key, serde_json::from_str(&answer).map_err(unreadable)?))
    });
    try_join_all(answering).await.map(Map::from_iter)
}
