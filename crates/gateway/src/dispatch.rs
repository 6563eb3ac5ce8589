//! From a method to what answers it.

use serde_json::json;
use switchboard_core::TargetKind;
use switchboard_wire::{Era, Json, Revision, RpcError};

use crate::answer::{Cache, Reply, dressed};
use crate::asked::Asked;
use crate::gateway::Gateway;
use crate::limits::BUSY;
use crate::lists::Kind;
use crate::session::locked;
use crate::tasks::EXTENSION;

/// What we can do, whatever the servers can.
const CAPABILITIES: &str = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}"#;

/// As many resources one session or stream hears about: templates stand for any number of them.
pub(crate) const MOST_SUBSCRIBED: usize = 1_000;

/// What 2025-11-25 says about tasks.
const TASKS: &str = r#""tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#;

impl Gateway {
    /// Answers a request with the text of its result.
    ///
    /// What is rare is boxed: a future has the size of its largest part, and is moved as a whole each
    /// time that it becomes part of another.
    pub(crate) async fn answer(&self, asked: &Asked) -> Result<Reply, RpcError> {
        let era = asked.client.era();
        if waits_for_all(&asked.method) {
            self.ready().await;
        }
        match (asked.method.as_str(), era) {
            ("tools/list", _) => self.list(asked, Kind::Tools),
            ("resources/list", _) => self.list(asked, Kind::Resources),
            ("resources/templates/list", _) => self.list(asked, Kind::Templates),
            ("prompts/list", _) => self.list(asked, Kind::Prompts),
            ("tools/call", _) => {
                let params = asked.params()?;
                match self.own_tool(asked, params).await {
                    Some(own) => Box::pin(self.call_own(asked, own)).await,
                    None => self.call_with(asked, TargetKind::Tool, params).await,
                }
            }
            ("resources/read", _) => Box::pin(self.call(asked, TargetKind::Resource)).await,
            ("prompts/get", _) => Box::pin(self.call(asked, TargetKind::Prompt)).await,
            ("completion/complete", _) => Box::pin(self.complete(asked)).await,
            ("server/discover", Era::Modern) => Ok(self.discover(asked)),
            ("subscriptions/listen", Era::Modern) => {
                Box::pin(self.listen(asked)).await.map(Reply::from)
            }
            ("ping", Era::Legacy) => Ok("{}".to_owned().into()),
            ("logging/setLevel", Era::Legacy) => set_level(asked).map(Reply::from),
            ("resources/subscribe", Era::Legacy) => self.subscribe(asked, true).map(Reply::from),
            ("resources/unsubscribe", Era::Legacy) => self.subscribe(asked, false).map(Reply::from),
            (method, _) if method.starts_with("tasks/") => {
                Box::pin(self.about_task(asked)).await.map(Reply::from)
            }
            (method, _) => {
                let why = format!("there is no method `{method}`");
                Err(RpcError::new(RpcError::METHOD_NOT_FOUND, why))
            }
        }
    }

    /// The answer to `initialize`: the revision that was asked for, or the newest of its era.
    pub(crate) async fn welcome(&self, asked: &Asked) -> String {
        self.ready().await;
        let mut body = json!({
            "protocolVersion": asked.client.revision.as_str(),
            "serverInfo": identity(),
        });
        self.introduce(asked, &mut body);
        with_capabilities(&body.to_string(), asked.client.revision)
    }

    fn discover(&self, asked: &Asked) -> Reply {
        let mut body = json!({
            "supportedVersions": [Revision::NEWEST.as_str()],
            "_meta": {"io.modelcontextprotocol/serverInfo": identity()},
        });
        self.introduce(asked, &mut body);
        let body = with_capabilities(&body.to_string(), Revision::NEWEST);
        dressed(Json::trusted(body), Era::Modern, Cache::Private)
    }

    fn introduce(&self, asked: &Asked, body: &mut serde_json::Value) {
        let listing = self.listing(&asked.client.view);
        if let (Some(members), Some(instructions)) = (body.as_object_mut(), listing.instructions())
        {
            members.insert("instructions".to_owned(), instructions.into());
        }
    }

    fn subscribe(&self, asked: &Asked, wanted: bool) -> Result<String, RpcError> {
        let params = asked.params()?;
        let uri = params.uri.as_deref().ok_or_else(|| crate::asked::missing("uri"))?;
        let subscriptions = &asked.client.subscribed;
        // What is gone by now can be left all the same.
        if !wanted && locked(subscriptions).remove(uri).is_some() {
            return Ok("{}".to_owned());
        }
        let target = self
            .listing(&asked.client.view)
            .resource(uri)
            .ok_or_else(|| RpcError::new(-32_002, format!("there is no resource `{uri}`")))?;
        if wanted {
            if locked(subscriptions).len() >= MOST_SUBSCRIBED {
                let why = format!("this session has {MOST_SUBSCRIBED} subscriptions already");
                return Err(RpcError::new(BUSY, why));
            }
            let subscription = self.want_updates(&target);
            locked(subscriptions).insert(uri.to_owned(), subscription);
        }
        Ok("{}".to_owned())
    }
}

/// Whether an answer depends on what all servers offer: many clients ask for that only once. What
/// names one thing waits for its server alone.
fn waits_for_all(method: &str) -> bool {
    !matches!(method, "tools/call" | "resources/read" | "prompts/get" | "ping" | "logging/setLevel")
}

fn set_level(asked: &Asked) -> Result<String, RpcError> {
    let params = asked.params()?;
    let level = params.level.as_deref().ok_or_else(|| crate::asked::missing("level"))?;
    if asked.client.set_level(level) {
        Ok("{}".to_owned())
    } else {
        Err(RpcError::new(RpcError::INVALID_PARAMS, format!("there is no level `{level}`")))
    }
}

fn with_capabilities(body: &str, revision: Revision) -> String {
    let tasks = match revision {
        Revision::NEWEST => format!(r#""extensions":{{"{EXTENSION}":{{}}}}"#),
        Revision::NEWEST_LEGACY => TASKS.to_owned(),
        _ => String::new(),
    };
    let all = match tasks.as_str() {
        "" => Some(CAPABILITIES.to_owned()),
        tasks => crate::members::with_front(tasks, CAPABILITIES),
    };
    let front = format!(r#""capabilities":{}"#, all.as_deref().unwrap_or(CAPABILITIES));
    crate::members::with_front(&front, body).unwrap_or_else(|| body.to_owned())
}

fn identity() -> serde_json::Value {
    json!({"name": "switchboard", "title": "Switchboard", "version": env!("CARGO_PKG_VERSION")})
}
