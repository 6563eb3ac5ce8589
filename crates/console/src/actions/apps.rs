//! Apps of tools (MCP Apps): their pages in frames, and the calls and reads that they make.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::HOST;
use axum::http::{HeaderMap, StatusCode};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use switchboard_core::{Caller, Face, Origin, OutcomeKind, ProposedCall};
use switchboard_views::{app_uri, is_for_apps};

use super::body::{ApiResult, parse_body};
use super::responses::AppOpened;
use crate::apps::approved_origins;
use crate::console::{Console, ConsoleState};
use crate::reply;
use crate::reply::ApiError;

/// Maximum size of an app's page.
const MAX_PAGE_BYTES: usize = 8 << 20;

/// Reads the page of a tool's app and returns the URL of a frame for it.
pub(crate) async fn open_app(
    State(console): ConsoleState,
    Path((server, tool)): Path<(String, String)>,
    headers: HeaderMap,
) -> ApiResult {
    let definition = console.tool_definition(&server, &tool)?;
    let uri = app_uri(&definition)
        .ok_or_else(|| ApiError::not_found(format!("`{tool}` of `{server}` has no app")))?;
    let person = Caller { face: Face::Console, ..Caller::person() };
    let text = console.run_call(ProposedCall::resource(&server, &uri), &person).await?;
    let (html, declared) = parse_page(&text)?;
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let src = console.frames.insert(html, &declared, host).ok_or_else(|| {
        ApiError::unprocessable("an app is shown only on this machine, as 127.0.0.1 or localhost")
    })?;
    let tool: Value = serde_json::from_str(&definition).unwrap_or_default();
    Ok(reply::json(&AppOpened { src, tool, csp: approved_origins(&declared) }))
}

/// Extracts the HTML and the declared content security policy from the result of a read.
fn parse_page(text: &str) -> Result<(String, Value), ApiError> {
    let read: Value = serde_json::from_str(text).unwrap_or_default();
    let nothing = Value::Null;
    let content = read.pointer("/contents/0").unwrap_or(&nothing);
    let kind: String = content["mimeType"].as_str().unwrap_or_default().split(' ').collect();
    if !kind.starts_with("text/html;profile=mcp-app") {
        return Err(ApiError::unprocessable("its resource is no page of an app"));
    }
    let whole = match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), _) => Some(text.to_owned()),
        (None, Some(blob)) => {
            let bytes = BASE64_STANDARD.decode(blob).ok();
            bytes.and_then(|bytes| String::from_utf8(bytes).ok())
        }
        (None, None) => None,
    };
    let html = whole.filter(|html| html.len() <= MAX_PAGE_BYTES);
    let html =
        html.ok_or_else(|| ApiError::unprocessable("its page is empty, too long or no text"))?;
    Ok((html, content.pointer("/_meta/ui/csp").cloned().unwrap_or_default()))
}

/// What an app wants to call.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CallForApp {
    /// The tool.
    name: String,
    /// Its arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Calls a tool on behalf of an app. Only tools of the app's own server, under the rules for
/// clients.
pub(crate) async fn call_for_app(
    State(console): ConsoleState,
    Path((server, tool)): Path<(String, String)>,
    body: Bytes,
) -> ApiResult {
    let CallForApp { name, arguments } = parse_body(&body)?;
    if !is_for_apps(&console.tool_definition(&server, &name)?) {
        let why = format!("`{name}` is not for apps");
        return Err(ApiError::new(StatusCode::FORBIDDEN, why));
    }
    let arguments = Value::Object(arguments);
    let proposed = ProposedCall::tool(&server, &name, (&arguments).into());
    let text = console.run_call(proposed, &app_caller(&tool)).await?;
    Ok(reply::json_text(text))
}

/// What an app wants to read.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReadForApp {
    /// The address of the resource.
    uri: String,
}

/// Reads a resource on behalf of an app.
pub(crate) async fn read_for_app(
    State(console): ConsoleState,
    Path((server, tool)): Path<(String, String)>,
    body: Bytes,
) -> ApiResult {
    let ReadForApp { uri } = parse_body(&body)?;
    let text = console.run_call(ProposedCall::resource(&server, &uri), &app_caller(&tool)).await?;
    Ok(reply::json_text(text))
}

/// Returns the caller for an app. An app is a client: policy decides its calls.
fn app_caller(tool: &str) -> Caller {
    let name = format!("app-{tool}");
    Caller { face: Face::Console, origin: Origin::Client, name, reference: None }
}

impl Console {
    /// Returns the definition of a tool in the catalog, which excludes quarantined ones.
    fn tool_definition(&self, server: &str, tool: &str) -> Result<String, ApiError> {
        let lease = self.host.lease();
        let mut tools = lease.catalog().tools();
        let found =
            tools.find(|entry| entry.server.id.as_str() == server && entry.tool.name() == tool);
        let found = found.map(|entry| entry.tool.item.raw.get().to_owned());
        found.ok_or_else(|| ApiError::not_found(format!("there is no tool `{tool}` on `{server}`")))
    }

    /// Runs a call through the pipeline and returns the result as the server sent it.
    async fn run_call(&self, proposed: ProposedCall, caller: &Caller) -> Result<String, ApiError> {
        let record = self.host.call(&self.host.lease(), proposed, caller).await;
        let outcome = record.outcome;
        match (outcome.kind, outcome.result) {
            (OutcomeKind::Ok | OutcomeKind::ToolError, Some(result)) => {
                Ok(String::from_utf8_lossy(&result).into_owned())
            }
            (kind, _) => {
                let why = outcome.message.unwrap_or_else(|| kind.as_str().to_owned());
                Err(ApiError::new(StatusCode::BAD_GATEWAY, why))
            }
        }
    }
}
