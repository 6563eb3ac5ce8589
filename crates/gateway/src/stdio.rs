//! One client of either era over a pipe.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_access::Access;
use switchboard_wire::{
    Inbound, Json, Peer, ProtocolState, Revision, RpcError, UnreadableLines, WireLimits,
    start_stream,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::{ClientCapabilities, McpClient, ReplyChannel};
use crate::client_request::{self, ClientRequest, ClientRequestParams, client_name};
use crate::gateway::Gateway;
use crate::notices::next_notices;
use crate::reply::{ClientReply, invalid_params};

/// Requests in flight, by the JSON text of their id.
type RunningRequests = Arc<Mutex<HashMap<String, CancellationToken>>>;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct InitializeParams<'a> {
    pub(crate) protocol_version: String,
    #[serde(borrow)]
    pub(crate) capabilities: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) client_info: Option<&'a RawValue>,
}

impl<'a> InitializeParams<'a> {
    /// Parses the parameters of `initialize`; all of them are optional.
    pub(crate) fn parse(params: Option<&'a Json>) -> Result<Self, RpcError> {
        let Some(params) = params else { return Ok(Self::default()) };
        let why = |error| invalid_params(format!("invalid parameters of `initialize`: {error}"));
        params.read().map_err(why)
    }

    /// Returns the client with the requested revision, or with the newest of the legacy era.
    pub(crate) fn client(&self, access: &Access) -> McpClient {
        let asked = Revision::parse(&self.protocol_version);
        let revision = asked
            .filter(|revision| *revision <= Revision::NEWEST_LEGACY)
            .unwrap_or(Revision::NEWEST_LEGACY);
        let abilities = ClientCapabilities::parse(self.capabilities.map(RawValue::get));
        let name = client_name(self.client_info.map(RawValue::get));
        McpClient::new(access, name, revision, abilities)
    }
}

impl Gateway {
    /// Serves one client until the pipe closes, or the gateway stops and its requests are done.
    pub async fn serve_pipe<R, W>(&self, from: R, to: W)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let usual = WireLimits::default();
        let limits = WireLimits {
            // A message that fits into an HTTP body must fit on a line too.
            line_bytes: usual.line_bytes.max(self.inner.options.body_limit_bytes),
            unreadable: UnreadableLines::Answered,
            ..usual
        };
        let (peer, mut inbound) = start_stream(from, to, limits);
        let pipe = Arc::new(PipeConnection {
            gateway: self.clone(),
            peer: peer.clone(),
            // The client started this process, so it acts for the same user.
            access: Access::local(),
            client: Mutex::default(),
            running: Arc::default(),
            tasks: TaskTracker::new(),
        });
        let mut notices = self.inner.notices.subscribe();
        let mut ending = false;
        loop {
            tokio::select! {
                // The loop continues: requests in flight may still need answers of their client.
                () = self.inner.stop.cancelled(), if !ending => {
                    pipe.tasks.close();
                    ending = true;
                }
                () = pipe.tasks.wait(), if ending => break,
                _ = peer.wait_until_closed() => break,
                received = inbound.recv() => match received {
                    Some(received) => pipe.ingest(received),
                    None => break,
                },
                notice = next_notices(&mut notices) => {
                    let client = pipe.client.lock().clone();
                    let told = client.iter().flat_map(|client| {
                        notice.iter().filter_map(|notice| self.legacy_notification(client, notice))
                    });
                    for (method, params) in told.collect::<Vec<_>>() {
                        // A failed send means that the client has disconnected.
                        _ = peer.notify(method, &params).await;
                    }
                }
            }
        }
        for (_, cancel) in pipe.running.lock().drain() {
            cancel.cancel();
        }
        pipe.tasks.close();
        pipe.tasks.wait().await;
        peer.shutdown("the gateway stops").await;
    }
}

struct PipeConnection {
    gateway: Gateway,
    peer: Peer,
    access: Access,
    /// Set after the handshake.
    client: Mutex<Option<Arc<McpClient>>>,
    running: RunningRequests,
    tasks: TaskTracker,
}

impl PipeConnection {
    fn ingest(self: &Arc<Self>, inbound: Inbound) {
        match inbound {
            Inbound::Request { id, method, params, .. } => {
                let pass = match self.gateway.admit_request(&self.access.identity) {
                    Ok(pass) => pass,
                    Err(full) => {
                        let peer = self.peer.clone();
                        // Spawned, because a client that does not read must not stop this loop,
                        // which also takes its cancellations. A closed pipe needs no reply.
                        self.tasks.spawn(async move {
                            _ = peer.reply(&id, Err(full.into_rpc_error())).await;
                        });
                        return;
                    }
                };
                let cancel = CancellationToken::new();
                // Here and not in the task: the next message may already cancel this request.
                self.running.lock().insert(id.as_str().to_owned(), cancel.clone());
                let pipe = Arc::clone(self);
                self.tasks.spawn(async move {
                    pipe.reply(id, method, params, cancel).await;
                    drop(pass);
                });
            }
            Inbound::Notification { method, params, .. } if method == "notifications/cancelled" => {
                if let Some(id) = cancelled_id(params.as_ref())
                    && let Some(cancel) = self.running.lock().get(&id)
                {
                    cancel.cancel();
                }
            }
            Inbound::Notification { .. } | Inbound::IdentityChanged | Inbound::Late { .. } => {}
        }
    }

    async fn reply(
        &self,
        id: Json,
        method: String,
        params: Option<Json>,
        cancel: CancellationToken,
    ) {
        let answer = self.answer(&id, method, params, cancel.clone()).await;
        self.running.lock().remove(id.as_str());
        // A cancelled request gets no answer.
        if !cancel.is_cancelled() {
            let text = answer.as_ref().map(ClientReply::text);
            let text = text.as_ref().map(AsRef::as_ref).map_err(|error| (*error).clone());
            // The client may have closed the pipe.
            _ = self.peer.reply(&id, text).await;
        }
    }

    async fn answer(
        &self,
        id: &Json,
        method: String,
        params: Option<Json>,
        cancel: CancellationToken,
    ) -> Result<ClientReply, RpcError> {
        let is_greeting = method == "initialize";
        let read = OnceLock::new();
        let client = if is_greeting {
            let client = Arc::new(InitializeParams::parse(params.as_ref())?.client(&self.access));
            self.peer
                .set_protocol(ProtocolState { revision: client.revision, meta: String::new() });
            *self.client.lock() = Some(Arc::clone(&client));
            client
        } else {
            self.resolve_client(read.get_or_init(|| client_request::parse_params(params.as_ref())))?
        };
        let asked = ClientRequest {
            client,
            out: ReplyChannel::Pipe(self.peer.clone()),
            id: id.clone(),
            method,
            params,
            parsed_params: read,
            cancel,
        };
        if is_greeting {
            Ok(self.gateway.initialize_result(&asked).await.into())
        } else {
            self.gateway.answer(&asked).await
        }
    }

    /// Returns the client of a request: described by the request itself in the modern era, known
    /// from the handshake in the legacy era.
    fn resolve_client(
        &self,
        read: &Result<ClientRequestParams, RpcError>,
    ) -> Result<Arc<McpClient>, RpcError> {
        let read = read.as_ref().map_err(Clone::clone)?;
        match read.meta.as_ref().filter(|meta| meta.protocol_version.is_some()) {
            Some(meta) => client_request::modern_client(meta, &self.access).map(Arc::new),
            None => self.client.lock().clone().ok_or_else(|| {
                let why = "not initialized: send `initialize` first, or `_meta` with every request";
                RpcError::new(-32_600, why)
            }),
        }
    }
}

/// Returns the `requestId` of a cancellation, as JSON text.
pub(crate) fn cancelled_id(params: Option<&Json>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct CancelledParams<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    params.and_then(|params| {
        Some(params.read::<CancelledParams<'_>>().ok()?.request_id.get().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use switchboard_access::Access;
    use switchboard_wire::{Json, Revision};

    use super::InitializeParams;

    #[test]
    fn a_client_gets_the_revision_it_asks_for_and_one_that_cannot_be_read_an_error() {
        let greeting = |text: &str| {
            let params = Json::from_trusted(text.to_owned());
            let read = InitializeParams::parse(Some(&params));
            read.map(|greeting| greeting.client(&Access::local()).revision).map_err(|it| it.code)
        };
        for (text, expected) in [
            (r#"{"protocolVersion":"2024-11-05"}"#, Ok(Revision::V2024_11_05)),
            (r#"{"protocolVersion":"2099-01-01"}"#, Ok(Revision::NEWEST_LEGACY)),
            (r#"{"protocolVersion":"2026-07-28"}"#, Ok(Revision::NEWEST_LEGACY)),
            ("{}", Ok(Revision::NEWEST_LEGACY)),
            (r#"{"protocolVersion":7}"#, Err(-32_602)),
            ("7", Err(-32_602)),
        ] {
            assert_eq!(greeting(text), expected, "{text}");
        }
    }
}
