//! The built-in server at the other end of a pipe inside this process.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard_wire::{Inbound, Json, Limits, Peer, RpcError, stream};
use tokio::sync::mpsc;

use crate::builtin::Builtin;
use crate::tasks::Tasks;

/// Starts the built-in server and gives our end of the pipe.
pub(super) fn start(roots: Vec<PathBuf>, tasks: &Tasks) -> (Peer, mpsc::Receiver<Inbound>) {
    let [ours, (server, mut asked)] = stream::pipe(Limits::default());
    let builtin = Arc::new(Builtin::new(roots, jiff::Zoned::now));
    let answering = tasks.clone();
    tasks.spawn(async move {
        loop {
            let inbound = tokio::select! {
                inbound = asked.recv() => inbound,
                _ = server.closed() => return,
            };
            let Some(Inbound::Request { id, method, params, .. }) = inbound else { continue };
            let (server, builtin) = (server.clone(), Arc::clone(&builtin));
            answering.spawn(async move {
                let params = params.as_ref().map(Json::as_str);
                let answer = builtin.answer(&method, params).await;
                let answer = answer.as_deref().map_err(|error| RpcError {
                    code: error.code,
                    message: error.message.clone(),
                    data: error.data.as_ref().map(Json::from),
                });
                // The pipe is closed when we stop; then nobody waits for the answer.
                server.reply(&id, answer).await.ok();
            });
        }
    });
    ours
}
