//! The Rust SDK's client, as its documentation shows it.

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, ContentBlock, JsonObject};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use tokio::process::Child;

use super::server_process::StdioServer;
use crate::error::Result;
use crate::load::LoadClient;

/// The client.
#[derive(Clone)]
pub(super) struct RmcpClient {
    service: Arc<RunningService<RoleClient, ()>>,
    arguments: JsonObject,
    _server: Option<Arc<Child>>,
}

impl RmcpClient {
    pub(super) async fn over_stdio(server: StdioServer, arguments: JsonObject) -> Result<Self> {
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
