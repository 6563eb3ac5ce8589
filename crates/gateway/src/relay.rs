//! Hands what a server asks in the middle of a call to the client that made the call.

use switchboard_host::connect::{Answering, Answers, Asking};
use switchboard_wire::{Json, RpcError};
use tokio::sync::{mpsc, oneshot};

use crate::client::{Abilities, Client};

/// One thing that a server asks.
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) params: Option<Json>,
    pub(crate) answer: oneshot::Sender<Result<Json, RpcError>>,
}

/// The way from a call to its client.
pub(crate) struct Relay {
    abilities: Abilities,
    group: u64,
    asks: mpsc::Sender<Ask>,
}

impl Relay {
    /// A relay, and where its questions come out.
    pub(crate) fn new(client: &Client) -> (Self, mpsc::Receiver<Ask>) {
        let (asks, out) = mpsc::channel(8);
        (Self { abilities: client.abilities, group: client.number, asks }, out)
    }

    async fn relay(&self, asking: Asking<'_>) -> Result<String, RpcError> {
        let gone = || RpcError::new(RpcError::INTERNAL_ERROR, "the client is gone");
        if !self.abilities.answers(asking.method, asking.params) {
            let why = format!("the client does not answer `{}`", asking.method);
            return Err(RpcError::new(RpcError::METHOD_NOT_FOUND, why));
        }
        let (answer, answered) = oneshot::channel();
        let method = asking.method.to_owned();
        let ask = Ask { method, params: asking.params.cloned(), answer };
        self.asks.send(ask).await.map_err(|_| gone())?;
        let answer = answered.await.map_err(|_| gone())??;
        Ok(answer.as_str().to_owned())
    }
}

impl Answers for Relay {
    fn capabilities(&self, _server: &str) -> String {
        self.abilities.as_json()
    }

    fn group(&self) -> u64 {
        self.group
    }

    fn answer<'a>(&'a self, asking: Asking<'a>) -> Answering<'a> {
        Box::pin(self.relay(asking))
    }
}
