//! In-process servers: the built-in one and those of the embedding program, over an in-memory pipe.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_builtin::{Builtin, BuiltinRpcError as Refused, InProcess};
use switchboard_core::Tasks;
use switchboard_wire::{Inbound, Json, Peer, RpcError, WireLimits, stream_pair};
use tokio::sync::mpsc;

#[derive(Clone)]
pub(crate) enum InProcessServer {
    Builtin(Arc<Builtin>),
    Own(Arc<InProcess>),
}

impl InProcessServer {
    pub(crate) fn builtin(roots: Vec<PathBuf>) -> Self {
        Self::Builtin(Arc::new(Builtin::new(roots, jiff::Zoned::now)))
    }

    async fn answer(&self, method: &str, params: Option<&str>) -> Result<String, Refused> {
        match self {
            Self::Builtin(builtin) => builtin.answer(method, params).await,
            Self::Own(own) => own.answer(method, params).await,
        }
    }
}

/// Starts an in-process server and returns our end of the pipe.
pub(crate) fn start(inside: InProcessServer, tasks: &Tasks) -> (Peer, mpsc::Receiver<Inbound>) {
    let [ours, (server, mut asked)] = stream_pair(WireLimits::default());
    let answering = tasks.clone();
    tasks.spawn(async move {
        loop {
            let inbound = tokio::select! {
                inbound = asked.recv() => inbound,
                _ = server.wait_until_closed() => return,
            };
            let Some(Inbound::Request { id, method, params, .. }) = inbound else { continue };
            let server = server.clone();
            let inside = inside.clone();
            // On its own task: a slow search must not delay the answers to other requests.
            answering.spawn(async move {
                let params = params.as_ref().map(Json::as_str);
                let answer = inside.answer(&method, params).await;
                let answer = answer.as_deref().map_err(|error| RpcError {
                    code: error.code,
                    message: error.message.clone(),
                    data: error.data.as_ref().map(Json::from),
                });
                // The pipe is closed when the host stops; no request waits for the answer then.
                _ = server.reply(&id, answer).await;
            });
        }
    });
    ours
}
