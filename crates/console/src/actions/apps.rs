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
use crate::reply::{self, ApiError};

const MAX_PAGE_BYTES: usize = 8 << 20;

pub(crate) async fn open_app(
    State(console): ConsoleState,
    Path((server, tool)): Path<(String, String)>,
    headers: HeaderMap,
) -> ApiResult {
    let definition = console.tool_definition(&server, &tool)?;
    let uri = app_uri(&definition)
        .ok_or_else(|| ApiError::not_found(format!("tool `{tool}` of `{server}` has no app")))?;
    // The person opened the app, so reading its page needs no approval.
    let person = Caller { face: Face::Console, ..Caller::person() };
    let text = console.run_call(ProposedCall::resource(&server, &uri), &person).await?;
    let (html, declared) = parse_page(&text)?;
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let not_here = || ApiError::unprocessable("apps need a console at 127.0.0.1 or localhost");
    let src = console.frames.insert(html, &declared, host).ok_or_else(not_here)?;
    let tool: Value = serde_json::from_str(&definition).unwrap_or_default();
    Ok(reply::json(&AppOpened { src, tool, csp: approved_origins(&declared) }))
}

/// Extracts the HTML and the declared content security policy from the result of a read.
fn parse_page(text: &str) -> Result<(String, Value), ApiError> {
    let read: Value = serde_json::from_str(text).unwrap_or_default();
    let nothing = Value::Null;
    let content = read.pointer("/contents/0").unwrap_or(&nothing);
    // Spaces around the parameter are legal: `text/html; profile=mcp-app`.
    let kind: String = content["mimeType"].as_str().unwrap_or_default().split(' ').collect();
    if !kind.starts_with("text/html;profile=mcp-app") {
        return Err(ApiError::unprocessable("the resource is not an app page"));
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
    let invalid = || ApiError::unprocessable("the app page is empty, too long or not text");
    let html = html.ok_or_else(invalid)?;
    Ok((html, content.pointer("/_meta/ui/csp").cloned().unwrap_or_default()))
}

/// A tool call that an app requests.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CallForApp {
    /// Name of the tool to call.
    name: String,
    /// Arguments of the call.
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Calls a tool of the app's own server on behalf of the app.
pub(crate) async fn call_for_app(
    State(console): ConsoleState,
    Path((server, tool)): Path<(String, String)>,
    body: Bytes,
) -> ApiResult {
    let CallForApp { name, arguments } = parse_body(&body)?;
    if !is_for_apps(&console.tool_definition(&server, &name)?) {
        let why = format!("tool `{name}` is not available to apps");
        return Err(ApiError::new(StatusCode::FORBIDDEN, why));
    }
    let arguments = Value::Object(arguments);
    let proposed = ProposedCall::tool(&server, &name, (&arguments).into());
    let text = console.run_call(proposed, &app_caller(&tool)).await?;
    Ok(reply::json_text(text))
}

/// A resource that an app requests.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ReadForApp {
    /// URI of the resource.
    uri: String,
}

pub(crate) async fn read_for_app(
    State(console): ConsoleState,
    Path((server, tool)): Path<(String, String)>,
    body: Bytes,
) -> ApiResult {
    let ReadForApp { uri } = parse_body(&body)?;
    let text = console.run_call(ProposedCall::resource(&server, &uri), &app_caller(&tool)).await?;
    Ok(reply::json_text(text))
}

fn app_caller(tool: &str) -> Caller {
    // Not a person: the page is untrusted, and a click in it does not approve a call.
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
        let missing = || format!("no tool named `{tool}` on server `{server}`");
        found.ok_or_else(|| ApiError::not_found(missing()))
    }

    async fn run_call(&self, proposed: ProposedCall, caller: &Caller) -> Result<String, ApiError> {
        let record = self.host.call(&self.host.lease(), proposed, caller).await;
        let outcome = record.outcome;
        match (outcome.kind, outcome.result) {
            // A tool error is a result of the protocol, which the app handles itself.
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
