//! Dispatches requests by method.

use serde_json::json;
use switchboard_core::TargetKind;
use switchboard_wire::{Era, Json, Revision, RpcError};

use crate::client_request::{ClientRequest, missing_param};
use crate::gateway::Gateway;
use crate::limits::BUSY_CODE;
use crate::lists::ListKind;
use crate::members::with_leading_members;
use crate::reply::{CachePolicy, ClientReply, RESOURCE_NOT_FOUND, into_reply, invalid_params};
use crate::tasks::TASKS_EXTENSION;

/// Capabilities of the gateway, independent of those of the servers.
const CAPABILITIES: &str = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}"#;

/// Maximum subscriptions per session or stream; a template can match any number of resources.
pub(crate) const MAX_SUBSCRIPTIONS: usize = 1_000;

/// Task capabilities as revision 2025-11-25 declares them.
const TASK_CAPABILITIES: &str =
    r#""tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#;

impl Gateway {
    /// Answers a request with the text of its result.
    ///
    /// Rare branches are boxed: a future is as large as its largest branch, and is moved as a whole
    /// whenever it becomes part of another.
    pub(crate) async fn answer(&self, asked: &ClientRequest) -> Result<ClientReply, RpcError> {
        let era = asked.client.era();
        if needs_all_servers(&asked.method) {
            self.wait_until_ready().await;
        }
        match (asked.method.as_str(), era) {
            ("tools/list", _) => self.list(asked, ListKind::Tools),
            ("resources/list", _) => self.list(asked, ListKind::Resources),
            ("resources/templates/list", _) => self.list(asked, ListKind::Templates),
            ("prompts/list", _) => self.list(asked, ListKind::Prompts),
            ("tools/call", _) => {
                let params = asked.params()?;
                match self.meta_tool(asked, params).await {
                    Some(own) => Box::pin(self.call_meta_tool(asked, own)).await,
                    None => self.call_with(asked, TargetKind::Tool, params).await,
                }
            }
            ("resources/read", _) => Box::pin(self.call(asked, TargetKind::Resource)).await,
            ("prompts/get", _) => Box::pin(self.call(asked, TargetKind::Prompt)).await,
            ("completion/complete", _) => Box::pin(self.complete(asked)).await,
            ("server/discover", Era::Modern) => Ok(self.discover(asked)),
            ("subscriptions/listen", Era::Modern) => {
                Box::pin(self.serve_subscription(asked)).await.map(ClientReply::from)
            }
            ("ping", Era::Legacy) => Ok("{}".to_owned().into()),
            ("logging/setLevel", Era::Legacy) => set_level(asked),
            ("resources/subscribe", Era::Legacy) => Box::pin(self.subscribe(asked, true)).await,
            ("resources/unsubscribe", Era::Legacy) => Box::pin(self.subscribe(asked, false)).await,
            (method, _) if method.starts_with("tasks/") => {
                Box::pin(self.handle_task_request(asked)).await.map(ClientReply::from)
            }
            (method, _) => {
                let why = format!("unknown method `{method}`");
                Err(RpcError::new(RpcError::METHOD_NOT_FOUND, why))
            }
        }
    }

    /// Returns the result of `initialize`, with the requested revision or the newest of its era.
    pub(crate) async fn initialize_result(&self, asked: &ClientRequest) -> String {
        self.wait_until_ready().await;
        let mut body = json!({
            "protocolVersion": asked.client.revision.as_str(),
            "serverInfo": server_info(),
        });
        self.add_server_info(asked, &mut body);
        with_capabilities(&body.to_string(), asked.client.revision)
    }

    fn discover(&self, asked: &ClientRequest) -> ClientReply {
        // Legacy revisions are not listed: clients negotiate them with `initialize`.
        let mut body = json!({
            "supportedVersions": [Revision::NEWEST.as_str()],
            "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
        });
        self.add_server_info(asked, &mut body);
        let body = with_capabilities(&body.to_string(), Revision::NEWEST);
        into_reply(Json::from_trusted(body), Era::Modern, CachePolicy::Private)
    }

    fn add_server_info(&self, asked: &ClientRequest, body: &mut serde_json::Value) {
        let listing = self.catalog_view(&asked.client.view);
        if let (Some(members), Some(instructions)) = (body.as_object_mut(), listing.instructions())
        {
            members.insert("instructions".to_owned(), instructions.into());
        }
    }

    async fn subscribe(
        &self,
        asked: &ClientRequest,
        wanted: bool,
    ) -> Result<ClientReply, RpcError> {
        let params = asked.params()?;
        let uri = params.uri.as_deref().ok_or_else(|| missing_param("uri"))?;
        let subscriptions = &asked.client.subscriptions;
        // A subscription to a resource that no longer exists can still be cancelled.
        if !wanted && subscriptions.lock().remove(uri).is_some() {
            return Ok("{}".to_owned().into());
        }
        let target = self.catalog_view(&asked.client.view).resource(uri).ok_or_else(|| {
            RpcError::new(RESOURCE_NOT_FOUND, format!("unknown resource `{uri}`"))
        })?;
        if wanted {
            if subscriptions.lock().len() >= MAX_SUBSCRIPTIONS {
                let why = format!("a session is limited to {MAX_SUBSCRIPTIONS} subscriptions");
                return Err(RpcError::new(BUSY_CODE, why));
            }
            // Not under the lock: subscribing reaches into the host and its connections.
            let subscription = self.subscribe_to_updates(&target);
            if let Some(subscription) = &subscription {
                // Every change after the answer must reach the client.
                subscription.settled().await;
            }
            subscriptions.lock().insert(uri.to_owned(), subscription);
        }
        Ok("{}".to_owned().into())
    }
}

/// Returns whether the answer depends on the offers of all servers; many clients list only once.
/// Requests for a single item wait only for its server.
fn needs_all_servers(method: &str) -> bool {
    !matches!(method, "tools/call" | "resources/read" | "prompts/get" | "ping" | "logging/setLevel")
}

fn set_level(asked: &ClientRequest) -> Result<ClientReply, RpcError> {
    let level = asked.params()?.level.as_deref().ok_or_else(|| missing_param("level"))?;
    if asked.client.set_level(level) {
        Ok("{}".to_owned().into())
    } else {
        Err(invalid_params(format!("unknown log level `{level}`")))
    }
}

fn with_capabilities(body: &str, revision: Revision) -> String {
    let tasks = match revision {
        Revision::NEWEST => Some(format!(r#""extensions":{{"{TASKS_EXTENSION}":{{}}}}"#)),
        Revision::NEWEST_LEGACY => Some(TASK_CAPABILITIES.to_owned()),
        // Earlier revisions have no tasks.
        _ => None,
    };
    let all = tasks.and_then(|tasks| with_leading_members(&tasks, CAPABILITIES));
    let front = format!(r#""capabilities":{}"#, all.as_deref().unwrap_or(CAPABILITIES));
    with_leading_members(&front, body).unwrap_or_else(|| body.to_owned())
}

fn server_info() -> serde_json::Value {
    json!({"name": "switchboard", "title": "Switchboard", "version": env!("CARGO_PKG_VERSION")})
}
