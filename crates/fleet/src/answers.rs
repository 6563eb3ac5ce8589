//! What servers ask of us, and who answers.

use std::pin::Pin;

use serde::Deserialize;
use switchboard_config::Config;
use switchboard_core::{CallTimeline, Published};
use switchboard_wire::{Json, RpcError};

/// An answer on its way: the text of a JSON result, or an error.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Result<String, RpcError>> + Send + 'a>>;

/// One request of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerRequest<'a> {
    /// The server that asks.
    pub server: &'a str,
    /// What is being called, where that is known: in the modern era, and not before.
    pub target: Option<&'a str>,
    /// The number of that call.
    pub call: Option<u64>,
    /// The server's own name for the question, where the era has one.
    pub key: Option<&'a str>,
    /// What is asked for.
    pub method: &'a str,
    pub params: Option<&'a Json>,
}

/// Answers what servers ask: elicitation, sampling, roots.
pub trait Answers: Send + Sync {
    /// Gets the configuration, before any server is met.
    fn set_config(&self, config: &Published<Config>) {
        let _ = config;
    }

    /// What we tell a server that we can answer: the text of a JSON object.
    fn capabilities(&self, server: &str) -> String;

    /// What it can answer for a caller who cannot: the text of a JSON object; nothing where nobody
    /// is there.
    fn fallback_capabilities(&self, server: &str) -> Option<String> {
        let _ = server;
        None
    }

    /// Hears that what a server asked a person to do at an address is done.
    fn on_elicitation_complete(&self, server: &str, elicitation: &str) {
        let _ = (server, elicitation);
    }

    /// Tells callers apart that answer for themselves; calls of one caller have one number.
    fn caller_group(&self) -> u64 {
        0
    }

    /// Answers one request. Whoever no longer wants the answer drops the future.
    fn answer<'a>(&'a self, asking: ServerRequest<'a>) -> AnswerFuture<'a>;
}

/// Has a request answered, and notes for the call that it is for what was asked and answered.
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
            // What was filled in is nobody's business but the server's.
            let action = |text: &str| serde_json::from_str::<ElicitationAction>(text).ok()?.action;
            open.set_answer(match &answer {
                Ok(text) => action(text).unwrap_or_else(|| "answered".to_owned()),
                Err(error) => format!("refused: {error}"),
            });
        }
        answer
    })
}

/// Answers nothing, and tells servers so.
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
