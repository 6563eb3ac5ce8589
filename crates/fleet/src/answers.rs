//! Requests from servers (elicitation, sampling, roots) and the trait that answers them.

use std::pin::Pin;

use serde::Deserialize;
use switchboard_config::Config;
use switchboard_core::{CallTimeline, Published};
use switchboard_wire::{Json, RpcError};

/// The future of an answer: the text of a JSON result, or an error.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<String, RpcError>> + Send + 'a>>;

/// A request from a server, with the call that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct ServerRequest<'a> {
    pub server: &'a str,
    /// The target of the call that the request belongs to; known only in the modern era.
    pub target: Option<&'a str>,
    pub call: Option<u64>,
    /// The server's key for the question, in the modern era.
    pub key: Option<&'a str>,
    pub method: &'a str,
    pub params: Option<&'a Json>,
}

/// Answers requests from servers: elicitation, sampling, roots.
pub trait Answers: Send + Sync {
    /// Receives the configuration before any server is connected.
    fn set_config(&self, config: &Published<Config>) {
        let _ = config;
    }

    /// Returns the capabilities to declare to a server, as the text of a JSON object.
    fn capabilities(&self, server: &str) -> String;

    /// Returns the capabilities offered on behalf of callers that lack them, as the text of a JSON
    /// object; `None` without such a fallback.
    fn fallback_capabilities(&self, server: &str) -> Option<String> {
        let _ = server;
        None
    }

    /// Handles the completion of a URL elicitation.
    fn on_elicitation_complete(&self, server: &str, elicitation: &str) {
        let _ = (server, elicitation);
    }

    /// Returns a number shared by all calls of one caller that answers for itself.
    fn caller_group(&self) -> u64 {
        0
    }

    /// Answers one request. Dropping the future cancels it.
    fn answer<'a>(&'a self, asking: ServerRequest<'a>) -> AnswerFuture<'a>;
}

/// Wraps an answer so that the question and its answer are added to the call's timeline.
pub fn record_on_timeline<'a>(
    timeline: Option<&'a CallTimeline>,
    asking: ServerRequest<'a>,
    answering: AnswerFuture<'a>,
) -> AnswerFuture<'a> {
    #[derive(Deserialize)]
    struct ElicitationMessage {
        message: Option<String>,
    }
    #[derive(Deserialize)]
    struct ElicitationAction {
        action: Option<String>,
    }
    let Some(timeline) = timeline else { return answering };
    Box::pin(async move {
        let question = asking.params.and_then(|params| params.read::<ElicitationMessage>().ok());
        let message = question.and_then(|question| question.message);
        let open = timeline.add_question(asking.method, message);
        let answer = answering.await;
        if let Some(open) = open {
            // Only the action: the content that a person entered is meant for the server alone.
            let action = |text: &str| serde_json::from_str::<ElicitationAction>(text).ok()?.action;
            open.set_answer(match &answer {
                Ok(text) => action(text).unwrap_or_else(|| "answered".to_owned()),
                Err(error) => format!("refused: {error}"),
            });
        }
        answer
    })
}

/// Declines all requests, and declares no capabilities.
#[derive(Clone, Copy, Debug)]
pub struct DeclineAll;

impl Answers for DeclineAll {
    fn capabilities(&self, _server: &str) -> String {
        "{}".to_owned()
    }

    fn answer<'a>(&'a self, asking: ServerRequest<'a>) -> AnswerFuture<'a> {
        let refusal = format!("this client does not answer `{}`", asking.method);
        Box::pin(async { Err(RpcError::new(RpcError::METHOD_NOT_FOUND, refusal)) })
    }
}
