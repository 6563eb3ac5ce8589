//! The floor over HTTP: one pooled request per call, one look at the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client as HttpClient, Url};

use super::floor_stdio::ResultLine;
use super::run::{INITIALIZE, request};
use crate::error::Result;
use crate::load::LoadClient;

/// The client.
#[derive(Clone)]
pub(super) struct FloorHttp {
    client: HttpClient,
    url: Url,
    params: Arc<str>,
    next_id: Arc<AtomicU64>,
}

impl FloorHttp {
    /// Shakes hands with the server.
    pub(super) async fn start(url: &str, params: String) -> Result<Self> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accepted = "application/json, text/event-stream";
        headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
        let client =
            HttpClient::builder().default_headers(headers).tcp_nodelay(true).no_proxy().build()?;
        let url = url.parse()?;
        let next_id = Arc::default();
        let floor = Self { client, url, params: params.into(), next_id };
        floor.post("initialize", INITIALIZE).await?;
        Ok(floor)
    }

    async fn post(&self, method: &str, params: &str) -> Result<usize> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let sent = self.client.post(self.url.clone()).body(request(id, method, params)).send();
        let body = sent.await?.bytes().await?;
        let answer: ResultLine<'_> = serde_json::from_slice(&body)?;
        if answer.id != id {
            return Err("the answer is for another request".into());
        }
        Ok(answer.result.get().len())
    }
}

impl LoadClient for FloorHttp {
    async fn call(&self) -> Result<usize> {
        self.post("tools/call", &self.params).await
    }
}
