//! What clients are told unasked: lists that changed, resources that did, what servers say.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use switchboard_host::connect::{Server, Subscription};
use switchboard_host::events::What;
use switchboard_host::{Lease, Target, TargetKind};
use switchboard_wire::RpcError;
use switchboard_wire::list::Item;
use tokio::sync::broadcast;

use crate::asked::Asked;
use crate::client::Client;
use crate::envelope::notification;
use crate::gateway::Gateway;
use crate::listing::Listing;
use crate::session::locked;

/// As many notices wait for a slow reader.
const KEPT: usize = 1_024;
/// Changes that come this close together are told once.
const TOGETHER: Duration = Duration::from_millis(100);

/// One thing that clients may want to know.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    ToolsChanged,
    ResourcesChanged,
    PromptsChanged,
    Updated { server: Arc<str>, uri: Arc<str> },
    Said { server: Arc<str>, level: Arc<str>, params: Arc<str> },
}

/// Where notices come from.
pub(crate) struct Notices {
    sender: broadcast::Sender<Notice>,
}

impl Default for Notices {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(KEPT) }
    }
}

impl Notices {
    /// Everything from here on.
    pub(crate) fn watch(&self) -> broadcast::Receiver<Notice> {
        self.sender.subscribe()
    }

    fn tell(&self, notice: Notice) {
        // Nobody may listen at the moment.
        self.sender.send(notice).ok();
    }
}

/// What is to be told next. Who could not follow is told that everything may have changed: one of
/// what it missed may have said so.
pub(crate) async fn next_notices(notices: &mut broadcast::Receiver<Notice>) -> Vec<Notice> {
    match notices.recv().await {
        Ok(notice) => vec![notice],
        Err(broadcast::error::RecvError::Lagged(_)) => {
            vec![Notice::ToolsChanged, Notice::ResourcesChanged, Notice::PromptsChanged]
        }
        // They last as long as the gateway.
        Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
    }
}

impl Gateway {
    /// Turns what happens in the host into notices, and tells them to the sessions.
    pub(crate) async fn watch(self) {
        let mut changes = self.host().fleet().changes();
        let mut events = self.host().events().watch_but_calls();
        let mut before = self.host().lease();
        loop {
            let told = tokio::select! {
                () = self.stopping().cancelled() => return,
                _ = changes.changed() => {
                    tokio::time::sleep(TOGETHER).await;
                    changes.load();
                    let after = self.host().lease();
                    let told = changed(&before, &after);
                    before = after;
                    told
                }
                event = events.recv() => match event {
                    Ok(event) => notice_of(event.what).into_iter().collect(),
                    Err(broadcast::error::RecvError::Lagged(_)) => Vec::new(),
                    Err(broadcast::error::RecvError::Closed) => return,
                },
            };
            for notice in told {
                for session in self.sessions().all() {
                    if let Some((method, params)) = self.legacy(&session.client(), &notice) {
                        session.say(notification(method, &params));
                    }
                }
                self.notices().tell(notice);
            }
        }
    }

    /// A notice as a client of the legacy era gets it, if it wants it.
    pub(crate) fn legacy(
        &self,
        client: &Client,
        notice: &Notice,
    ) -> Option<(&'static str, String)> {
        let none = String::new;
        match notice {
            Notice::ToolsChanged => Some(("notifications/tools/list_changed", none())),
            Notice::ResourcesChanged => Some(("notifications/resources/list_changed", none())),
            Notice::PromptsChanged => Some(("notifications/prompts/list_changed", none())),
            Notice::Updated { .. } if locked(&client.subscribed).is_empty() => None,
            Notice::Updated { server, uri } => {
                let shown = self.listing(&client.view).known_address(server, uri)?;
                locked(&client.subscribed)
                    .contains_key(&shown)
                    .then(|| ("notifications/resources/updated", json!({"uri": shown}).to_string()))
            }
            // What a server says during a call goes with that call.
            Notice::Said { server, level, params } => {
                // Most clients want none: that is asked first, for there may be many of them.
                let seen = || {
                    (client.view.is_whole() || client.view.shows(server, "*"))
                        && !self.host().held().load().is_whole(server)
                };
                (client.wants(level) && seen() && !client.is_busy_with(server))
                    .then(|| ("notifications/message", params.to_string()))
            }
        }
    }

    /// Follows what a modern client wants to hear about, until it or we go away.
    pub(crate) async fn listen(&self, asked: &Asked) -> Result<String, RpcError> {
        let params = asked.params()?;
        let wanted: Wanted = match &params.notifications {
            Some(wanted) => wanted.read().map_err(|error| {
                let why = format!("the `notifications` cannot be read: {error}");
                RpcError::new(RpcError::INVALID_PARAMS, why)
            })?,
            None => return Err(crate::asked::missing("notifications")),
        };
        let mut notices = self.notices().watch();
        let listing = self.listing(&asked.client.view);
        let found = |uri: &String| listing.resource(uri);
        let targets = wanted.resource_subscriptions.iter().filter_map(found);
        let _subscriptions: Vec<_> =
            targets.filter_map(|target| self.want_updates(&target)).collect();
        let id = asked.id.as_str();
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
        let accepted = wanted.accepted(&listing);
        let params = format!(r#"{{{meta},"notifications":{accepted}}}"#);
        asked.out.notify("notifications/subscriptions/acknowledged", &params).await;
        let listening = async {
            loop {
                for notice in next_notices(&mut notices).await {
                    if let Some((method, params)) = self.modern(asked, &wanted, &notice, &meta) {
                        asked.out.notify(method, &params).await;
                    }
                }
            }
        };
        tokio::select! {
            () = listening => {}
            () = asked.cancel.cancelled() => {}
            () = self.stopping().cancelled() => {}
        }
        Ok(format!(r#"{{"resultType":"complete",{meta}}}"#))
    }

    fn modern(
        &self,
        asked: &Asked,
        wanted: &Wanted,
        notice: &Notice,
        meta: &str,
    ) -> Option<(&'static str, String)> {
        let only = format!("{{{meta}}}");
        match notice {
            Notice::ToolsChanged if wanted.tools_list_changed => {
                Some(("notifications/tools/list_changed", only))
            }
            Notice::ResourcesChanged if wanted.resources_list_changed => {
                Some(("notifications/resources/list_changed", only))
            }
            Notice::PromptsChanged if wanted.prompts_list_changed => {
                Some(("notifications/prompts/list_changed", only))
            }
            Notice::Updated { .. } if wanted.resource_subscriptions.is_empty() => None,
            Notice::Updated { server, uri } => {
                let shown = self.listing(&asked.client.view).known_address(server, uri)?;
                let params = || format!(r#"{{{meta},"uri":{}}}"#, json!(shown));
                wanted
                    .resource_subscriptions
                    .contains(&shown)
                    .then(|| ("notifications/resources/updated", params()))
            }
            _ => None,
        }
    }

    /// Has a server tell of changes of a resource, as long as the result is kept.
    pub(crate) fn want_updates(&self, target: &Target) -> Option<Subscription> {
        // A server that does not offer it never tells.
        self.host().subscribe(&target.server, &target.name).ok()
    }
}

/// What a modern client wants to hear about.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wanted {
    tools_list_changed: bool,
    resources_list_changed: bool,
    prompts_list_changed: bool,
    resource_subscriptions: Vec<String>,
}

impl Wanted {
    /// The part of it that will come.
    fn accepted(&self, listing: &Listing) -> String {
        let mut members = serde_json::Map::new();
        for (name, wanted) in [
            ("toolsListChanged", self.tools_list_changed),
            ("resourcesListChanged", self.resources_list_changed),
            ("promptsListChanged", self.prompts_list_changed),
        ] {
            if wanted {
                members.insert(name.to_owned(), true.into());
            }
        }
        let known: Vec<&String> = self
            .resource_subscriptions
            .iter()
            .filter(|uri| listing.resource(uri).is_some())
            .collect();
        if !known.is_empty() {
            members.insert("resourceSubscriptions".to_owned(), json!(known));
        }
        serde_json::Value::Object(members).to_string()
    }
}

fn notice_of(what: What) -> Option<Notice> {
    match what {
        What::ServerSaid { server, level, text, raw } => {
            let said = || json!({"level": level, "logger": server, "data": text}).to_string();
            let params: String = raw.map_or_else(said, |raw| raw.as_str().to_owned());
            Some(Notice::Said { server: server.into(), level: level.into(), params: params.into() })
        }
        What::ResourceUpdated { server, uri } => {
            Some(Notice::Updated { server: server.into(), uri: uri.into() })
        }
        _ => None,
    }
}

/// Which lists are not what they were.
fn changed(before: &Lease, after: &Lease) -> Vec<Notice> {
    if before.fleet().edition == after.fleet().edition {
        return Vec::new();
    }
    let mut told = Vec::new();
    if differ(before, after, TargetKind::Tool, |server| {
        server.offers.tools.iter().map(|tool| &tool.item).collect()
    }) {
        told.push(Notice::ToolsChanged);
    }
    if differ(before, after, TargetKind::Resource, |server| {
        server.offers.resources.iter().chain(&server.offers.templates).collect()
    }) {
        told.push(Notice::ResourcesChanged);
    }
    if differ(before, after, TargetKind::Prompt, |server| server.offers.prompts.iter().collect()) {
        told.push(Notice::PromptsChanged);
    }
    told
}

/// Whether the items of a kind that are shown are not the same.
fn differ(
    before: &Lease,
    after: &Lease,
    kind: TargetKind,
    items: fn(&Server) -> Vec<&Item>,
) -> bool {
    let all_shown = before.lists_all() && after.lists_all();
    let same = |left: &Arc<Server>, right: &Arc<Server>| {
        let same_offers = all_shown && Arc::ptr_eq(&left.offers, &right.offers);
        let same_texts =
            || texts(before, left, (kind, items)).eq(texts(after, right, (kind, items)));
        left.id == right.id && (same_offers || same_texts())
    };
    let (left, right) = (&before.fleet().servers, &after.fleet().servers);
    left.len() != right.len()
        || !left.values().zip(right.values()).all(|(left, right)| same(left, right))
}

fn texts<'a>(
    lease: &Lease,
    server: &'a Server,
    (kind, items): (TargetKind, fn(&Server) -> Vec<&Item>),
) -> impl Iterator<Item = &'a str> {
    let shown = items(server).into_iter();
    let shown = shown.filter(move |item| lease.lists(kind, server.id.as_str(), &item.key));
    shown.map(|item| item.raw.get())
}
