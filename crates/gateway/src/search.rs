//! Tool search: three meta tools (find, describe, call) replace a long list, next to the tools that
//! the caller uses most.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_catalog::definition;
use switchboard_core::{ProposedCall, TargetKind};
use switchboard_wire::{Json, RpcError};

use crate::catalog_view::CatalogView;
use crate::client::McpClient;
use crate::client_request::{ClientRequest, ClientRequestParams};
use crate::gateway::{Gateway, ToolMode};
use crate::late_servers::{LateLookup, did_you_mean};
use crate::lists::ListKind;
use crate::notices::{ClientNotice, ListChange};
use crate::parked_calls::RunningCall;
use crate::reply::{CachePolicy, ClientReply, into_reply};

/// Above this number of tools, or this much text, `ToolMode::Auto` switches to search.
const MAX_LISTED_TOOLS: usize = 500;
const MAX_LISTED_BYTES: usize = 1 << 20;
/// Maximum number of frequently used tools listed next to the meta tools.
const MAX_HOT_TOOLS: usize = 8;
const MAX_RESULTS: usize = 50;

const FIND_TOOLS: &str = "find_tools";
const DESCRIBE_TOOL: &str = "describe_tool";
const CALL_TOOL: &str = "call_tool";

/// A tool of the gateway itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetaTool {
    Find,
    Describe,
    Call,
}

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object")]
struct MetaToolArguments<'a> {
    query: Option<String>,
    limit: Option<i64>,
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Gateway {
    /// Counts a tool call. Announces a list change if the caller's short list is now different.
    pub(crate) fn count_tool_call(&self, client: &McpClient, listing: &CatalogView, name: &str) {
        if self.inner.options.tools == ToolMode::All || !listing.has_tool(name) {
            return;
        }
        let is_there = |name: &str| listing.has_tool(name);
        let is_another =
            self.inner.tool_usage.count(&client.identity, name, MAX_HOT_TOOLS, is_there);
        if is_another && self.uses_search(listing) {
            let changed = ListChange::ForCaller(Arc::clone(&client.identity));
            self.announce(ClientNotice::ListChanged(TargetKind::Tool, changed));
        }
    }

    /// Returns the meta tools and the caller's most used tools.
    pub(crate) fn short_tool_list(
        &self,
        client: &McpClient,
        listing: &CatalogView,
    ) -> Arc<[String]> {
        let hot = self.inner.tool_usage.hot_tools(&client.identity);
        let hot = hot.iter().filter_map(|name| listing.tool_text(name)).map(str::to_owned);
        meta_tools(listing).into_iter().chain(hot).collect()
    }

    /// Returns the meta tool that a client calls, if the client's list is replaced by search.
    pub(crate) async fn meta_tool(
        &self,
        asked: &ClientRequest,
        params: &ClientRequestParams,
    ) -> Option<MetaTool> {
        if self.inner.options.tools == ToolMode::All {
            return None;
        }
        let own = match params.name.as_deref() {
            Some(FIND_TOOLS) => MetaTool::Find,
            Some(DESCRIBE_TOOL) => MetaTool::Describe,
            Some(CALL_TOOL) => MetaTool::Call,
            _ => return None,
        };
        // The number of tools is known only after the servers have had time to start.
        self.wait_until_ready().await;
        self.uses_search(&self.catalog_view(&asked.client.view)).then_some(own)
    }

    pub(crate) async fn call_meta_tool(
        &self,
        asked: &ClientRequest,
        own: MetaTool,
    ) -> Result<ClientReply, RpcError> {
        let params = asked.params()?;
        let given: MetaToolArguments<'_> = match params.arguments.as_ref().map(Json::read) {
            Some(Ok(given)) => given,
            Some(Err(error)) => {
                return Ok(text_reply(asked, &format!("invalid arguments: {error}"), true));
            }
            None => MetaToolArguments::default(),
        };
        let listing = self.catalog_view(&asked.client.view);
        let (needed, value) = match own {
            MetaTool::Find => ("query", given.query.as_deref().map(str::trim)),
            MetaTool::Describe | MetaTool::Call => ("name", given.name.as_deref()),
        };
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            let why = format!("invalid arguments: `/{needed}` is required but missing");
            return Ok(text_reply(asked, &why, true));
        };
        match own {
            MetaTool::Find => {
                Ok(text_reply(asked, &search_tools(&listing, value, given.limit), false))
            }
            MetaTool::Describe => Ok(match listing.tool_text(value) {
                Some(text) => text_reply(asked, text, false),
                None => text_reply(asked, &unknown_tool(&listing, value, None), true),
            }),
            // The parked call knows its tool, and the digest of the request covers the name.
            MetaTool::Call if params.request_state.is_some() => {
                self.call(asked, TargetKind::Tool).await
            }
            MetaTool::Call => self.call_by_name(asked, &listing, value, given.arguments).await,
        }
    }

    /// Calls a tool by the name that `find_tools` returned.
    async fn call_by_name(
        &self,
        asked: &ClientRequest,
        listing: &Arc<CatalogView>,
        name: &str,
        arguments: Option<&RawValue>,
    ) -> Result<ClientReply, RpcError> {
        let kind = TargetKind::Tool;
        let held = || self.find_quarantined(&asked.client.view, kind, name);
        let (lease, target) = match listing.tool(name).or_else(held) {
            Some(target) => (listing.lease.clone(), target),
            None => match Box::pin(self.wait_for_name(asked, kind, name)).await {
                // Started over, because the view is of the catalog without the tool.
                LateLookup::Found => {
                    return Box::pin(self.call_meta_tool(asked, MetaTool::Call)).await;
                }
                LateLookup::NotReady(lease, target) => (lease, target),
                LateLookup::NotFound(why) => {
                    return Ok(text_reply(asked, &unknown_tool(listing, name, why), true));
                }
            },
        };
        self.count_tool_call(&asked.client, listing, name);
        let empty = || Json::from_trusted("{}".to_owned());
        let proposed = ProposedCall { target, arguments: arguments.map_or_else(empty, Json::from) };
        let params = asked.params()?;
        let running = self.run_call(asked, &lease, proposed, params);
        let running = RunningCall { uri_view: listing.for_result_rewriting(), ..running };
        let token = params.meta.as_ref().and_then(|meta| meta.progress_token.as_ref());
        self.follow_call(asked, running, token).await
    }

    pub(crate) fn uses_search(&self, listing: &CatalogView) -> bool {
        match self.inner.options.tools {
            ToolMode::All => false,
            ToolMode::Search => true,
            ToolMode::Auto => {
                listing.tool_count() > MAX_LISTED_TOOLS
                    || listing.texts(ListKind::Tools).iter().map(String::len).sum::<usize>()
                        > MAX_LISTED_BYTES
            }
        }
    }
}

fn search_tools(listing: &CatalogView, query: &str, limit: Option<i64>) -> String {
    let limit = limit.map_or(8, |limit| usize::try_from(limit).unwrap_or(0)).clamp(1, MAX_RESULTS);
    // A restricted view may hide the best matches, so all of them are considered.
    let catalog = listing.lease.catalog();
    let looked_at = if listing.is_unfiltered() { limit * 4 } else { catalog.names().len() };
    let hits = catalog.search(query, looked_at);
    let tools: Vec<_> = hits
        .iter()
        .filter_map(|(entry, _)| Some((listing.tool_name(entry.place)?, entry)))
        .take(limit)
        .map(|(name, entry)| {
            let about = definition(&entry.tool.item).description.unwrap_or_default();
            // Enough to choose by; `describe_tool` returns the rest.
            let about: String = about.chars().take(300).collect();
            json!({"name": name, "server": entry.server.id.as_str(), "description": about})
        })
        .collect();
    json!({"tools": tools}).to_string()
}

fn unknown_tool(listing: &CatalogView, name: &str, why: Option<String>) -> String {
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    let near = did_you_mean(listing.tool_names(), name).unwrap_or_default();
    format!("unknown tool `{name}`{why}{near}\nhint: look up tool names with `{FIND_TOOLS}`")
}

fn text_reply(asked: &ClientRequest, text: &str, is_error: bool) -> ClientReply {
    let result = json!({"content": [{"type": "text", "text": text}], "isError": is_error});
    into_reply(Json::from(&result), asked.client.era(), CachePolicy::Unspecified)
}

fn meta_tools(listing: &CatalogView) -> [String; 3] {
    let count = listing.tool_count();
    // The description of a tool is sent with every prompt, so it stays short.
    let mut servers = listing.tool_servers();
    servers.truncate(50);
    let tools = if count == 1 { "tool" } else { "tools" };
    let of = if servers.len() == 1 { "server" } else { "servers" };
    let find = format!(
        "Searches {count} {tools} of the {of} {} and returns the best matches first.",
        servers.join(", ")
    );
    let own = |name: &str, description: &str, properties: serde_json::Value, required: &[&str]| {
        json!({
            "name": name,
            "description": description,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "annotations": {"readOnlyHint": name != CALL_TOOL},
        })
        .to_string()
    };
    let name =
        json!({"type": "string", "description": "The tool's name, as returned by find_tools."});
    [
        own(
            FIND_TOOLS,
            &find,
            json!({
                "query": {"type": "string", "description": "What the tool should do, in a few words."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "default": 8},
            }),
            &["query"],
        ),
        own(
            DESCRIBE_TOOL,
            "Returns the full definition of a tool. Read it before the first call.",
            json!({"name": name}),
            &["name"],
        ),
        own(
            CALL_TOOL,
            "Calls a tool by its name, with arguments that match the schema from describe_tool.",
            json!({"name": name, "arguments": {"type": "object"}}),
            &["name", "arguments"],
        ),
    ]
}
