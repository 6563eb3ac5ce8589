//! Relays the questions of a server during a call to the client that made the call.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use switchboard_core::Answer;
use switchboard_fleet::{AnswerFuture, Answers, ServerRequest};
use switchboard_host::{Question, ReviewFuture, Reviewer};
use switchboard_wire::{Json, RpcError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::client::{ClientCapabilities, McpClient, ReplyChannel};
use crate::reply::internal_error;

/// A request of a server, or a review question of the gateway, for a client.
pub(crate) struct RelayedAsk {
    /// The server's own key, which the client's answer repeats.
    pub(crate) key: Option<String>,
    pub(crate) method: String,
    pub(crate) params: Option<Json>,
    pub(crate) answer: oneshot::Sender<Result<Json, RpcError>>,
}

impl RelayedAsk {
    pub(crate) fn reply(self, answer: Result<Json, RpcError>) {
        // The server may have stopped waiting for the answer.
        _ = self.answer.send(answer);
    }

    /// Rejects the request of a server that exceeded the limit.
    pub(crate) fn reject_round(self, limit: usize) {
        let why = format!("the server exceeded the limit of {limit} rounds of questions per call");
        self.reply(Err(internal_error(why)));
    }
}

/// A request under the key that the client gets for it.
pub(crate) struct KeyedAsk {
    pub(crate) key: String,
    pub(crate) ask: RelayedAsk,
}

/// Writes the value of `inputRequests`.
pub(crate) fn input_requests(asks: &[KeyedAsk]) -> String {
    let member = |KeyedAsk { key, ask }: &KeyedAsk| {
        let params = ask.params.as_ref().map_or("{}", Json::as_str);
        format!(r#"{}:{{"method":"{}","params":{params}}}"#, json!(key), ask.method)
    };
    format!("{{{}}}", asks.iter().map(member).collect::<Vec<_>>().join(","))
}

#[derive(Clone)]
pub(crate) struct ClientRelay {
    abilities: ClientCapabilities,
    group: u64,
    /// `None` for a client without capabilities.
    asks: Option<mpsc::Sender<RelayedAsk>>,
    /// Answers requests that the client cannot.
    fallback: Arc<dyn Answers>,
}

impl ClientRelay {
    /// Creates a relay and the receiver of its questions.
    pub(crate) fn new(
        client: &McpClient,
        others: Arc<dyn Answers>,
    ) -> (Self, Option<mpsc::Receiver<RelayedAsk>>) {
        let can_be_asked = client.abilities != ClientCapabilities::default();
        let (asks, out) = can_be_asked.then(|| mpsc::channel(8)).unzip();
        (Self { abilities: client.abilities, group: client.number, asks, fallback: others }, out)
    }

    async fn send_ask(
        &self,
        key: Option<String>,
        method: &str,
        params: Option<Json>,
    ) -> Result<Json, RpcError> {
        let gone = || internal_error("the client has disconnected");
        let (answer, answered) = oneshot::channel();
        let ask = RelayedAsk { key, method: method.to_owned(), params, answer };
        let asks = self.asks.as_ref().ok_or_else(gone)?;
        asks.send(ask).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    async fn relay(&self, asking: ServerRequest<'_>) -> Result<String, RpcError> {
        if !self.abilities.can_answer(asking.method, asking.params) {
            return self.fallback.answer(asking).await;
        }
        let key = asking.key.map(str::to_owned);
        let answer = self.send_ask(key, asking.method, asking.params.cloned()).await?;
        Ok(answer.as_str().to_owned())
    }

    /// Asks the client whether a call may run. `None` if it cannot be asked or gives no decision.
    async fn ask_review(&self, question: &Question) -> Option<Answer> {
        #[derive(Deserialize)]
        struct ElicitationReply {
            action: String,
            content: Option<ReviewContent>,
        }
        #[derive(Default, Deserialize)]
        struct ReviewContent {
            answer: Option<String>,
            instead: Option<String>,
        }
        // Without forms the client would have to be sent to a page, and there is none.
        if !self.abilities.form {
            return None;
        }
        let params = Json::from(&review_form(question));
        let said = self.send_ask(None, "elicitation/create", Some(params)).await.ok()?;
        let said: ElicitationReply = said.read().ok()?;
        let content = said.content.unwrap_or_default();
        let instead = content.instead.unwrap_or_default();
        // A person who dismisses the form has not decided; anything but a known yes is a no.
        match (said.action.as_str(), content.answer.as_deref()) {
            ("accept", Some("run")) => Some(Answer::Run),
            ("accept", Some("session")) => Some(Answer::Session),
            ("accept", Some("skip")) => Some(Answer::Skip),
            ("accept" | "decline", _) => Some(Answer::Reject(instead)),
            _ => None,
        }
    }
}

/// Asks a legacy client. Stops waiting if the call is cancelled or the gateway is `over`; if the
/// question is answered elsewhere, the request to the client is cancelled.
pub(crate) async fn ask_client(
    out: ReplyChannel,
    cancel: CancellationToken,
    over: CancellationToken,
    mut ask: RelayedAsk,
) {
    let params = ask.params.as_ref().map_or("", Json::as_str);
    let answer = tokio::select! {
        answer = out.ask(&ask.method, params, ask.answer.closed()) => answer,
        () = cancel.cancelled() => Err(internal_error("the call was cancelled")),
        () = over.cancelled() => Err(internal_error("the gateway has stopped")),
    };
    ask.reply(answer);
}

/// Returns the review question as an elicitation form.
fn review_form(question: &Question) -> serde_json::Value {
    let call = question.call();
    let message = format!(
        "Allow `{}` of server `{}` to run with {}? ({})",
        call.target().name,
        call.target().server,
        call.arguments().as_str(),
        question.why()
    );
    json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "answer": {
                    "type": "string",
                    "title": "Answer",
                    "oneOf": [
                        {"const": "run", "title": "Run once"},
                        {"const": "session", "title": "Run, and do not ask again in this session"},
                        {"const": "skip", "title": "Skip this call"},
                        {"const": "reject", "title": "Reject"},
                    ],
                },
                "instead": {"type": "string", "title": "What to do instead"},
            },
            "required": ["answer"],
        },
    })
}

impl Answers for ClientRelay {
    fn capabilities(&self, server: &str) -> String {
        match self.fallback.fallback_capabilities(server) {
            Some(theirs) => {
                self.abilities.merge(ClientCapabilities::parse(Some(&theirs))).as_json()
            }
            None => self.abilities.as_json(),
        }
    }

    fn caller_group(&self) -> u64 {
        self.group
    }

    fn answer<'a>(&'a self, asking: ServerRequest<'a>) -> AnswerFuture<'a> {
        Box::pin(self.relay(asking))
    }
}

impl Reviewer for ClientRelay {
    fn ask<'a>(&'a self, question: &'a Question) -> ReviewFuture<'a> {
        Box::pin(async move {
            match self.ask_review(question).await {
                Some(answer) => Ok(answer),
                // Never resolves, so that another face can still answer.
                None => std::future::pending().await,
            }
        })
    }
}
