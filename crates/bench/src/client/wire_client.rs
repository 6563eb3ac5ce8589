//! Clients without a host: a peer of our own wire, and the client of rmcp.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, ContentBlock, JsonObject};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use switchboard_wire::{
    HttpEndpoint, Inbound, Introduction, Peer, Request, WireLimits, initialize, new_http_client,
    start_http, start_stream,
};
use tokio::process::Child;
use tokio::sync::mpsc;

use super::run::PipedProcess;
use crate::error::Result;
use crate::load::LoadClient;

/// Timeout of a call, the same as the host's default.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(super) struct WireClient {
    peer: Peer,
    params: Arc<str>,
    _server: Option<Arc<Child>>,
}

impl WireClient {
    pub(super) async fn over_stdio(server: PipedProcess, params: String) -> Result<Self> {
        let (peer, inbound) = start_stream(server.output, server.input, WireLimits::default());
        let server = Some(Arc::new(server.process));
        Self::handshake(peer, inbound, params, server).await
    }

    pub(super) async fn over_http(url: &str, params: String) -> Result<Self> {
        let limits = WireLimits::default();
        let client = new_http_client(&limits)?;
        let (peer, inbound) = start_http(client, HttpEndpoint::new(url, [])?, limits);
        Self::handshake(peer, inbound, params, None).await
    }

    async fn handshake(
        peer: Peer,
        mut inbound: mpsc::Receiver<Inbound>,
        params: String,
        server: Option<Arc<Child>>,
    ) -> Result<Self> {
        // The server sends no requests. Drained anyway, so that the queue stays open.
        tokio::spawn(async move { while inbound.recv().await.is_some() {} });
        let us = Introduction {
            name: "bench".to_owned(),
            version: "1".to_owned(),
            capabilities: "{}".to_owned(),
            extensions: &[],
        };
        initialize(&peer, &us, CALL_TIMEOUT).await?;
        Ok(Self { peer, params: params.into(), _server: server })
    }
}

impl LoadClient for WireClient {
    async fn call(&self) -> Result<usize> {
        let request = Request::new("tools/call", &self.params, CALL_TIMEOUT);
        Ok(self.peer.request(request).await?.bytes().len())
    }
}

#[derive(Clone)]
pub(super) struct RmcpClient {
    service: Arc<RunningService<RoleClient, ()>>,
    arguments: JsonObject,
    _server: Option<Arc<Child>>,
}

impl RmcpClient {
    pub(super) async fn over_stdio(server: PipedProcess, arguments: JsonObject) -> Result<Self> {
        let service = ().serve((server.output, server.input)).await?;
        let server = Some(Arc::new(server.process));
        Ok(Self { service: Arc::new(service), arguments, _server: server })
    }

    pub(super) async fn over_http(url: &str, arguments: JsonObject) -> Result<Self> {
        let transport = StreamableHttpClientTransport::from_uri(url);
        let service = ().serve(transport).await?;
        Ok(Self { service: Arc::new(service), arguments, _server: None })
    }
}

impl LoadClient for RmcpClient {
    async fn call(&self) -> Result<usize> {
        let params = CallToolRequestParams::new("echo").with_arguments(self.arguments.clone());
        let result = self.service.call_tool(params).await?;
        match result.content.first() {
            Some(ContentBlock::Text(text)) => Ok(text.text.len()),
            _ => Err("the result is not the text that was sent".into()),
        }
    }
}
