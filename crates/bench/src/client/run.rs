//! `client <contestant> ...`: connects, then measures as often as it is told to.

use std::fmt::Write as _;

use serde_json::json;
use switchboard_host::Recording;

use super::engine_client::{EngineClient, EngineServer};
use super::rmcp_client::RmcpClient;
use super::server_process::start_stdio;
use super::wire_client::WireClient;
use super::{floor_http, floor_stdio};
use crate::command_words::CommandWords;
use crate::error::Result;
use crate::load::{CallLoad, serve_load};

/// The parameters of the handshake that the floor sends.
pub(super) const INITIALIZE: &str = concat!(
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"#,
    r#""clientInfo":{"name":"floor","version":"1"}}"#
);

/// Connects one client and obeys.
pub(crate) async fn run(mut words: CommandWords) -> Result<()> {
    let load = CallLoad::from_words(&mut words)?;
    let url: Option<String> = words.option("--url")?;
    let contestant = words.next().unwrap_or_default();
    words.end()?;
    // The HTTP clients of both SDKs in this program need one; the choice is the same for all.
    switchboard_wire::http::prepare_tls();
    serve_as(&contestant, url.as_deref(), load).await
}

async fn serve_as(contestant: &str, url: Option<&str>, load: CallLoad) -> Result<()> {
    let text = "x".repeat(load.bytes);
    let arguments = format!(r#"{{"text":"{text}"}}"#);
    let params = format!(r#"{{"name":"echo","arguments":{arguments}}}"#);
    match (contestant, url) {
        ("floor", None) => {
            serve_load(&floor_stdio::FloorStdio::start(start_stdio(&[])?, params).await?, load)
                .await
        }
        ("floor", Some(url)) => {
            serve_load(&floor_http::FloorHttp::start(url, params).await?, load).await
        }
        ("wire", None) => {
            serve_load(&WireClient::over_stdio(start_stdio(&[])?, params).await?, load).await
        }
        ("wire", Some(url)) => serve_load(&WireClient::over_http(url, params).await?, load).await,
        ("rmcp", None) => {
            let arguments = serde_json::from_value(json!({ "text": text }))?;
            serve_load(&RmcpClient::over_stdio(start_stdio(&[])?, arguments).await?, load).await
        }
        ("rmcp", Some(url)) => {
            let arguments = serde_json::from_value(json!({ "text": text }))?;
            serve_load(&RmcpClient::over_http(url, arguments).await?, load).await
        }
        ("line" | "ledger", url) => {
            let recording = if contestant == "ledger" { Recording::On } else { Recording::Off };
            let server = url.map_or_else(|| EngineServer::Stdio(Vec::new()), EngineServer::Http);
            let line = EngineClient::start(server, recording, arguments).await?;
            let obeyed = serve_load(&line, load).await;
            line.stop().await;
            obeyed
        }
        (other, _) => Err(format!("there is no contestant `{other}`").into()),
    }
}

/// Starts servers with these words each and waits until all have listed their tools, as the floor
/// would do it.
pub(crate) async fn start_bare(servers: Vec<Vec<String>>) -> Result<()> {
    let starts: Vec<_> = servers
        .into_iter()
        .map(|words| {
            tokio::spawn(async move {
                let floor =
                    floor_stdio::FloorStdio::start(start_stdio(&words)?, String::new()).await?;
                floor.list_tools().await
            })
        })
        .collect();
    for start in starts {
        start.await??;
    }
    Ok(())
}

/// The text of a request.
pub(super) fn request(id: u64, method: &str, params: &str) -> Vec<u8> {
    let mut text = String::with_capacity(params.len() + 96);
    // Writing to a `String` cannot fail.
    _ = write!(text, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
    text.into_bytes()
}
