//! Notifications to clients: changed lists, updated resources, log messages.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;
use switchboard_catalog::{Lease, Server};
use switchboard_core::{EventKind, ServerId, Target, TargetKind};
use switchboard_fleet::Subscription;
use switchboard_wire::{ListedItem, RpcError};
use tokio::sync::broadcast;

use crate::catalog_view::CatalogView;
use crate::client::McpClient;
use crate::client_request::{ClientRequest, missing_param};
use crate::dispatch::MAX_SUBSCRIPTIONS;
use crate::gateway::Gateway;
use crate::limits::BUSY_CODE;
use crate::log_subscribers::LogSubscribers;
use crate::reply::{invalid_params, notification};

/// Maximum notices queued for a slow receiver.
const MAX_QUEUED_NOTICES: usize = 1_024;
/// How long to wait for further changes, so that they are announced together.
const BATCH_WINDOW: Duration = Duration::from_millis(100);

/// The kinds that have a `list_changed` notification.
const LIST_KINDS: [TargetKind; 3] = [TargetKind::Tool, TargetKind::Resource, TargetKind::Prompt];

/// An event that clients may have subscribed to.
#[derive(Clone, Debug)]
pub(crate) enum ClientNotice {
    ListChanged(TargetKind, ListChange),
    ResourceUpdated { server: Arc<str>, uri: Arc<str> },
    Log { server: Arc<str>, level: Arc<str>, params: Arc<str>, during: Arc<[u64]> },
}

/// The items of a list that were added, removed or changed.
#[derive(Clone, Debug)]
pub(crate) enum ListChange {
    /// Items by server and own name.
    Items(Arc<[(ServerId, Box<str>)]>),
    /// The selection of tools listed for this caller changed.
    ForCaller(Arc<str>),
    /// Unknown, possibly all items.
    Unknown,
}

impl ListChange {
    fn affects(&self, client: &McpClient) -> bool {
        match self {
            Self::Items(items) => {
                items.iter().any(|(server, name)| client.view.shows(server.as_str(), name))
            }
            Self::ForCaller(identity) => *identity == client.identity,
            Self::Unknown => true,
        }
    }
}

pub(crate) struct NoticeBus {
    sender: broadcast::Sender<ClientNotice>,
    log_subscribers: LogSubscribers,
}

impl Default for NoticeBus {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(MAX_QUEUED_NOTICES),
            log_subscribers: LogSubscribers::default(),
        }
    }
}

impl NoticeBus {
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<ClientNotice> {
        self.sender.subscribe()
    }

    pub(crate) const fn log_subscribers(&self) -> &LogSubscribers {
        &self.log_subscribers
    }

    fn send(&self, notice: ClientNotice) {
        // There may be no subscriber.
        _ = self.sender.send(notice);
    }
}

/// Waits for the next notices. A receiver that lagged behind may have missed list changes, so it
/// gets one for every list.
pub(crate) async fn next_notices(
    notices: &mut broadcast::Receiver<ClientNotice>,
) -> Vec<ClientNotice> {
    match notices.recv().await {
        Ok(notice) => vec![notice],
        Err(broadcast::error::RecvError::Lagged(_)) => {
            LIST_KINDS.map(|kind| ClientNotice::ListChanged(kind, ListChange::Unknown)).into()
        }
        // Unreachable while the gateway exists, because it owns the sender.
        Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
    }
}

impl Gateway {
    /// Turns events of the host into notices and announces them.
    pub(crate) async fn forward_host_events(self) {
        let mut changes = self.host().fleet().changes();
        let mut events = self.host().events().watch_without_calls();
        let mut before = self.host().lease();
        loop {
            let told = tokio::select! {
                () = self.inner.stop.cancelled() => return,
                _ = changes.changed() => {
                    tokio::time::sleep(BATCH_WINDOW).await;
                    // Marked as seen before the lease is taken, so that no later change is missed.
                    changes.load();
                    let after = self.host().lease();
                    let told = changed_lists(&before, &after);
                    self.update_collisions(&after);
                    before = after;
                    told
                }
                event = events.recv() => match event {
                    Ok(event) => notice_from_event(event.what).into_iter().collect(),
                    // Log messages and resource updates are lost; lists do not depend on events.
                    Err(broadcast::error::RecvError::Lagged(_)) => Vec::new(),
                    Err(broadcast::error::RecvError::Closed) => return,
                },
            };
            told.into_iter().for_each(|notice| self.announce(notice));
        }
    }

    pub(crate) fn announce(&self, notice: ClientNotice) {
        for session in self.inner.sessions.all() {
            if let Some((method, params)) = self.legacy_notification(&session.client(), &notice) {
                session.send(notification(method, &params));
            }
        }
        self.inner.notices.send(notice);
    }

    /// Returns the notification for a legacy client, if it is subscribed.
    pub(crate) fn legacy_notification(
        &self,
        client: &McpClient,
        notice: &ClientNotice,
    ) -> Option<(&'static str, String)> {
        match notice {
            ClientNotice::ListChanged(kind, what) => {
                what.affects(client).then(|| (list_changed_method(*kind), String::new()))
            }
            ClientNotice::ResourceUpdated { .. } if client.subscriptions.lock().is_empty() => None,
            ClientNotice::ResourceUpdated { server, uri } => {
                let shown = self.catalog_view(&client.view).public_uri(server, uri)?;
                let subscribed = client.subscriptions.lock();
                let is_it = |known: &&String| CatalogView::is_same_resource(server, &shown, known);
                let known = subscribed.keys().find(is_it)?;
                Some(("notifications/resources/updated", json!({"uri": known}).to_string()))
            }
            // The level is checked first: it is cheap, and most clients want no messages.
            ClientNotice::Log { server, level, .. }
                if !client.wants_log_level(level)
                    // A call of this client at the server forwards the message itself.
                    || client.has_call_at(server) =>
            {
                None
            }
            ClientNotice::Log { server, params, during, .. } => {
                let is_visible = (client.view.is_unrestricted() || client.view.shows(server, "*"))
                    && !self.host().quarantine().load().holds_server(server)
                    && self.inner.notices.log_subscribers().is_visible_to(client, during);
                is_visible.then(|| ("notifications/message", params.to_string()))
            }
        }
    }

    /// Serves `subscriptions/listen` until the client cancels or the gateway stops.
    pub(crate) async fn serve_subscription(
        &self,
        asked: &ClientRequest,
    ) -> Result<String, RpcError> {
        let params = asked.params()?;
        let wanted = params.notifications.as_ref().ok_or_else(|| missing_param("notifications"))?;
        let wanted: SubscriptionFilter = wanted
            .read()
            .map_err(|error| invalid_params(format!("invalid `notifications`: {error}")))?;
        if wanted.resource_subscriptions.len() > MAX_SUBSCRIPTIONS {
            let why = format!("a stream is limited to {MAX_SUBSCRIPTIONS} resource subscriptions");
            return Err(RpcError::new(BUSY_CODE, why));
        }
        // Before the acknowledgement, so that every change after it reaches the client.
        let mut notices = self.inner.notices.subscribe();
        let listener = self.inner.listeners.add(&asked.client.identity);
        let listing = self.catalog_view(&asked.client.view);
        let found = |uri: &String| listing.resource(uri);
        let targets = wanted.resource_subscriptions.iter().filter_map(found);
        let subscriptions: Vec<_> =
            targets.filter_map(|target| self.subscribe_to_updates(&target)).collect();
        join_all(subscriptions.iter().map(Subscription::settled)).await;
        let id = asked.id.as_str();
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
        let accepted = wanted.accepted_json(&listing);
        let params = format!(r#"{{{meta},"notifications":{accepted}}}"#);
        asked.out.notify("notifications/subscriptions/acknowledged", &params).await;
        let listening = async {
            loop {
                for notice in next_notices(&mut notices).await {
                    if let Some((method, params)) =
                        self.modern_notification(asked, &wanted, &notice, &meta)
                    {
                        asked.out.notify(method, &params).await;
                    }
                }
            }
        };
        tokio::select! {
            () = listening => {}
            () = asked.cancel.cancelled() => {}
            () = listener.over.cancelled() => {}
            () = self.inner.stop.cancelled() => {}
        }
        Ok(format!(r#"{{"resultType":"complete",{meta}}}"#))
    }

    fn modern_notification(
        &self,
        asked: &ClientRequest,
        wanted: &SubscriptionFilter,
        notice: &ClientNotice,
        meta: &str,
    ) -> Option<(&'static str, String)> {
        match notice {
            ClientNotice::ListChanged(kind, what) => {
                let is_wanted = match kind {
                    TargetKind::Tool => wanted.tools_list_changed,
                    TargetKind::Resource => wanted.resources_list_changed,
                    TargetKind::Prompt => wanted.prompts_list_changed,
                };
                let is_told = is_wanted && what.affects(&asked.client);
                is_told.then(|| (list_changed_method(*kind), format!("{{{meta}}}")))
            }
            ClientNotice::ResourceUpdated { .. } if wanted.resource_subscriptions.is_empty() => {
                None
            }
            ClientNotice::ResourceUpdated { server, uri } => {
                let shown = self.catalog_view(&asked.client.view).public_uri(server, uri)?;
                let is_it = |known: &&String| CatalogView::is_same_resource(server, &shown, known);
                let known = wanted.resource_subscriptions.iter().find(is_it)?;
                let params = format!(r#"{{{meta},"uri":{}}}"#, json!(known));
                Some(("notifications/resources/updated", params))
            }
            // Modern clients ask for log messages with each call and get them on its stream.
            ClientNotice::Log { .. } => None,
        }
    }

    /// Subscribes to updates of a resource until the result is dropped.
    pub(crate) fn subscribe_to_updates(&self, target: &Target) -> Option<Subscription> {
        // A server without subscriptions never sends updates; that is not an error.
        self.host().subscribe(&target.server, &target.name).ok()
    }
}

/// The `notifications` that a modern client requests.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SubscriptionFilter {
    tools_list_changed: bool,
    resources_list_changed: bool,
    prompts_list_changed: bool,
    resource_subscriptions: Vec<String>,
}

impl SubscriptionFilter {
    /// Returns the accepted part of the filter, for the acknowledgement.
    fn accepted_json(&self, listing: &CatalogView) -> String {
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
        let known =
            self.resource_subscriptions.iter().filter(|uri| listing.resource(uri).is_some());
        let known: Vec<&String> = known.collect();
        if !known.is_empty() {
            members.insert("resourceSubscriptions".to_owned(), json!(known));
        }
        serde_json::Value::Object(members).to_string()
    }
}

fn notice_from_event(what: EventKind) -> Option<ClientNotice> {
    match what {
        EventKind::ServerSaid { server, level, text, raw, during } => {
            let said = || json!({"level": level, "logger": server, "data": text}).to_string();
            let params: String = raw.map_or_else(said, |raw| raw.as_str().to_owned());
            let level = level.into();
            let params = params.into();
            Some(ClientNotice::Log { server: server.into(), level, params, during: during.into() })
        }
        EventKind::ResourceUpdated { server, uri } => {
            Some(ClientNotice::ResourceUpdated { server: server.into(), uri: uri.into() })
        }
        _ => None,
    }
}

const fn list_changed_method(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Tool => "notifications/tools/list_changed",
        TargetKind::Resource => "notifications/resources/list_changed",
        TargetKind::Prompt => "notifications/prompts/list_changed",
    }
}

/// Compares two leases and returns a notice for each changed list.
fn changed_lists(before: &Lease, after: &Lease) -> Vec<ClientNotice> {
    if before.fleet().edition == after.fleet().edition {
        return Vec::new();
    }
    let told = LIST_KINDS.map(|kind| (kind, changed_items(before, after, kind)));
    let told = told.into_iter().filter(|(_, items)| !items.is_empty());
    told.map(|(kind, items)| ClientNotice::ListChanged(kind, ListChange::Items(items.into())))
        .collect()
}

/// Returns the items of a kind that were added, removed or changed.
fn changed_items(before: &Lease, after: &Lease, kind: TargetKind) -> Vec<(ServerId, Box<str>)> {
    let all_shown = before.lists_everything() && after.lists_everything();
    let left = &before.fleet().servers;
    let right = &after.fleet().servers;
    let mut different = Vec::new();
    for server in left.values().chain(right.values().filter(|one| !left.contains_key(&one.id))) {
        let old = left.get(&server.id);
        let new = right.get(&server.id);
        // The same offers can be listed differently if rules hide some of them.
        if let (Some(old), Some(new)) = (old, new)
            && all_shown
            && Arc::ptr_eq(&old.offers, &new.offers)
        {
            continue;
        }
        let old = old.map(|server| visible_items(before, server, kind)).unwrap_or_default();
        let new = new.map(|server| visible_items(after, server, kind)).unwrap_or_default();
        let is_same = |left: &&ListedItem, right: &&ListedItem| left.raw.get() == right.raw.get();
        if old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| is_same(old, new)) {
            continue;
        }
        let kept: HashSet<&str> = old.iter().map(|item| item.raw.get()).collect();
        let came: HashSet<&str> = new.iter().map(|item| item.raw.get()).collect();
        let is_other =
            |item: &&&ListedItem| !(kept.contains(item.raw.get()) && came.contains(item.raw.get()));
        let mut names: Vec<&ListedItem> =
            old.iter().chain(&new).filter(is_other).copied().collect();
        // Only the order changed, which clients with a cached list have to learn too.
        if names.is_empty() {
            names = new;
        }
        different.extend(names.iter().map(|item| (server.id.clone(), item.key.clone())));
    }
    different
}

fn visible_items<'a>(lease: &Lease, server: &'a Server, kind: TargetKind) -> Vec<&'a ListedItem> {
    let offers = &server.offers;
    let items: Vec<&ListedItem> = match kind {
        TargetKind::Tool => offers.tools.iter().map(|tool| &tool.item).collect(),
        TargetKind::Resource => offers.resources.iter().chain(&offers.templates).collect(),
        TargetKind::Prompt => offers.prompts.iter().collect(),
    };
    let is_shown = |item: &&ListedItem| lease.is_listed(kind, server.id.as_str(), &item.key);
    items.into_iter().filter(is_shown).collect()
}
