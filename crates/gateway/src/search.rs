//! Three tools in place of thousands: find, describe and call, beside those that are used most.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_catalog::definition;
use switchboard_core::{ProposedCall, TargetKind};
use switchboard_wire::{Json, RpcError};

use crate::answer::{Cache, Reply, dressed};
use crate::arriving::{Arrival, near};
use crate::asked::{Asked, Params};
use crate::client::Client;
use crate::gateway::{Gateway, ToolMode};
use crate::listing::Listing;
use crate::lists::Kind;
use crate::notices::{Changed, Notice};
use crate::parked::Running;

/// More tools than this, or more text than that, are not listed unless all are wanted.
const MOST_TOOLS: usize = 500;
const MOST_BYTES: usize = 1 << 20;
/// As many of the tools that are used most are listed beside the three.
const HOT: usize = 8;
/// The most tools that are found at once.
const MOST_FOUND: usize = 50;

const FIND: &str = "find_tools";
const DESCRIBE: &str = "describe_tool";
const CALL: &str = "call_tool";

/// One of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnTool {
    Find,
    Describe,
    Call,
}

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object")]
struct Given<'a> {
    query: Option<String>,
    limit: Option<i64>,
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Gateway {
    /// Counts a call of a tool. The list of a caller who is shown few of them may be another then,
    /// which is told.
    pub(crate) fn count(&self, client: &Client, listing: &Listing, name: &str) {
        if self.options().tools == ToolMode::All || !listing.has_tool(name) {
            return;
        }
        let is_there = |name: &str| listing.has_tool(name);
        let is_another = self.used().count((&client.identity, name), HOT, is_there);
        if is_another && self.is_searched(listing) {
            let changed = Changed::Of(Arc::clone(&client.identity));
            self.announce(Notice::Changed(TargetKind::Tool, changed));
        }
    }

    /// The tools that are listed where there are too many.
    pub(crate) fn few_tools(&self, client: &Client, listing: &Listing) -> Arc<[String]> {
        let hot = self.used().most(&client.identity);
        let hot = hot.iter().filter_map(|name| listing.tool_text(name)).map(str::to_owned);
        own_tools(listing).into_iter().chain(hot).collect()
    }

    /// Which of the three a client calls, where they stand in for the others.
    pub(crate) async fn own_tool(&self, asked: &Asked, params: &Params) -> Option<OwnTool> {
        if self.options().tools == ToolMode::All {
            return None;
        }
        let own = match params.name.as_deref() {
            Some(FIND) => OwnTool::Find,
            Some(DESCRIBE) => OwnTool::Describe,
            Some(CALL) => OwnTool::Call,
            _ => return None,
        };
        // Whether there are many tools is known when all have had their time to come.
        self.ready().await;
        self.is_searched(&self.listing(&asked.client.view)).then_some(own)
    }

    /// Answers a call of one of the three.
    pub(crate) async fn call_own(&self, asked: &Asked, own: OwnTool) -> Result<Reply, RpcError> {
        let params = asked.params()?;
        let given: Given<'_> = match &params.arguments {
            Some(given) => match given.read() {
                Ok(given) => given,
                Err(error) => {
                    return Ok(said(asked, &format!("the arguments do not fit: {error}"), true));
                }
            },
            None => Given::default(),
        };
        let listing = self.listing(&asked.client.view);
        let (needed, value) = match own {
            OwnTool::Find => ("query", given.query.as_deref().map(str::trim)),
            OwnTool::Describe | OwnTool::Call => ("name", given.name.as_deref()),
        };
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            let why = format!("the arguments do not fit: `/{needed}` is required but missing");
            return Ok(said(asked, &why, true));
        };
        match own {
            OwnTool::Find => Ok(said(asked, &found(&listing, value, given.limit), false)),
            OwnTool::Describe => Ok(match listing.tool_text(value) {
                Some(text) => said(asked, text, false),
                None => said(asked, &unknown(&listing, value, None), true),
            }),
            OwnTool::Call if params.request_state.is_some() => {
                self.call(asked, TargetKind::Tool).await
            }
            OwnTool::Call => {
                let kind = TargetKind::Tool;
                let held = || self.held(&asked.client.view, kind, value);
                let known = listing.tool(value).or_else(held);
                let (lease, target) = match known {
                    Some(target) => (listing.lease.clone(), target),
                    None => match Box::pin(self.arrival(asked, kind, value)).await {
                        Arrival::There => return Box::pin(self.call_own(asked, own)).await,
                        Arrival::NotReady(lease, target) => (lease, target),
                        Arrival::Nobody(why) => {
                            return Ok(said(asked, &unknown(&listing, value, why), true));
                        }
                    },
                };
                self.count(&asked.client, &listing, value);
                let empty = || Json::trusted("{}".to_owned());
                let arguments = given.arguments.map_or_else(empty, Json::from);
                let proposed = ProposedCall { target, arguments };
                let running = self.run(asked, &lease, proposed, params);
                let running = Running { renamed: listing.for_results(), ..running };
                let token = params.meta.as_ref().and_then(|meta| meta.progress_token.as_ref());
                self.follow(asked, running, token).await
            }
        }
    }

    pub(crate) fn is_searched(&self, listing: &Listing) -> bool {
        match self.options().tools {
            ToolMode::All => false,
            ToolMode::Search => true,
            ToolMode::Auto => {
                listing.tool_count() > MOST_TOOLS
                    || listing.texts(Kind::Tools).iter().map(String::len).sum::<usize>()
                        > MOST_BYTES
            }
        }
    }
}

fn found(listing: &Listing, query: &str, limit: Option<i64>) -> String {
    let limit = limit.map_or(8, |limit| usize::try_from(limit).unwrap_or(0)).clamp(1, MOST_FOUND);
    // What others see may fit better than all that this caller sees.
    let catalog = listing.lease.catalog();
    let looked_at = if listing.shows_all() { limit * 4 } else { catalog.names().len() };
    let hits = catalog.search(query, looked_at);
    let tools: Vec<_> = hits
        .iter()
        .filter_map(|(entry, _)| Some((listing.tool_name(entry.place)?, entry)))
        .take(limit)
        .map(|(name, entry)| {
            let about = definition(&entry.tool.item).description.unwrap_or_default();
            let about: String = about.chars().take(300).collect();
            json!({"name": name, "server": entry.server.id.as_str(), "description": about})
        })
        .collect();
    json!({"tools": tools}).to_string()
}

fn unknown(listing: &Listing, name: &str, why: Option<String>) -> String {
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    let near = near(listing.tool_names(), name).unwrap_or_default();
    format!("there is no tool `{name}`{why}{near}: `{FIND}` finds the names")
}

fn said(asked: &Asked, text: &str, is_error: bool) -> Reply {
    let result = json!({"content": [{"type": "text", "text": text}], "isError": is_error});
    dressed(Json::from(&result), asked.client.era(), Cache::Silent)
}

fn own_tools(listing: &Listing) -> [String; 3] {
    let count = listing.tool_count();
    let mut servers = listing.tool_servers();
    servers.truncate(50);
    let tools = if count == 1 { "tool" } else { "tools" };
    let of = if servers.len() == 1 { "server" } else { "servers" };
    let find = format!(
        "Searches {count} {tools} of the {of} {} for those that do something, best match first.",
        servers.join(", ")
    );
    let own = |name: &str, description: &str, properties: serde_json::Value, required: &[&str]| {
        json!({
            "name": name,
            "description": description,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "annotations": {"readOnlyHint": name != CALL},
        })
        .to_string()
    };
    let name = json!({"type": "string", "description": "The tool's name, as find_tools gives it."});
    [
        own(
            FIND,
            &find,
            json!({
                "query": {"type": "string", "description": "What the tool should do, in a few words."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": 8},
            }),
            &["query"],
        ),
        own(
            DESCRIBE,
            "Shows the whole definition of a tool. Look here before its first call.",
            json!({"name": name}),
            &["name"],
        ),
        own(
            CALL,
            "Runs a tool that find_tools found, with the arguments that describe_tool asks for.",
            json!({"name": name, "arguments": {"type": "object"}}),
            &["name", "arguments"],
        ),
    ]
}
