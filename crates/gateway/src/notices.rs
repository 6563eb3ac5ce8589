//! What clients are told unasked: lists that changed, resources that did, what servers say.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use switchboard_catalog::{Lease, Server};
use switchboard_core::{ServerId, Target, TargetKind, What};
use switchboard_fleet::Subscription;
use switchboard_wire::RpcError;
use switchboard_wire::list::Item;
use tokio::sync::broadcast;

use crate::asked::Asked;
use crate::client::Client;
use crate::dispatch::MOST_SUBSCRIBED;
use crate::envelope::notification;
use crate::gateway::Gateway;
use crate::limits::BUSY;
use crate::listing::Listing;
use crate::session::locked;
use crate::wanted_messages::WantedMessages;

/// As many notices wait for a slow reader.
const KEPT: usize = 1_024;
/// Changes that come this close together are told once.
const TOGETHER: Duration = Duration::from_millis(100);

/// The kinds of lists.
const KINDS: [TargetKind; 3] = [TargetKind::Tool, TargetKind::Resource, TargetKind::Prompt];

/// One thing that clients may want to know.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    /// A list of this kind is not what it was.
    Changed(TargetKind, Changed),
    Updated {
        server: Arc<str>,
        uri: Arc<str>,
    },
    Said {
        server: Arc<str>,
        level: Arc<str>,
        params: Arc<str>,
        during: Arc<[u64]>,
    },
}

/// What is new, gone or another in a list.
#[derive(Clone, Debug)]
pub(crate) enum Changed {
    /// These, by their servers and their own names.
    These(Arc<[(ServerId, Box<str>)]>),
    /// Which of them are shown to one caller.
    Of(Arc<str>),
    /// Nobody knows: perhaps everything.
    Perhaps,
}

impl Changed {
    /// Whether a client sees another list than before.
    fn is_seen_by(&self, client: &Client) -> bool {
        match self {
            Self::These(items) => {
                items.iter().any(|(server, name)| client.view.shows(server.as_str(), name))
            }
            Self::Of(identity) => *identity == client.identity,
            Self::Perhaps => true,
        }
    }
}

/// Where notices come from.
pub(crate) struct Notices {
    sender: broadcast::Sender<Notice>,
    wanted: WantedMessages,
}

impl Default for Notices {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(KEPT), wanted: WantedMessages::default() }
    }
}

impl Notices {
    /// Everything from here on.
    pub(crate) fn watch(&self) -> broadcast::Receiver<Notice> {
        self.sender.subscribe()
    }

    /// The calls whose messages are wanted.
    pub(crate) const fn wanted(&self) -> &WantedMessages {
        &self.wanted
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
            KINDS.map(|kind| Notice::Changed(kind, Changed::Perhaps)).into()
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
                    self.look_for_collisions(&after);
                    before = after;
                    told
                }
                event = events.recv() => match event {
                    Ok(event) => notice_of(event.what).into_iter().collect(),
                    Err(broadcast::error::RecvError::Lagged(_)) => Vec::new(),
                    Err(broadcast::error::RecvError::Closed) => return,
                },
            };
            told.into_iter().for_each(|notice| self.announce(notice));
        }
    }

    /// Tells everybody who wants to know.
    pub(crate) fn announce(&self, notice: Notice) {
        for session in self.sessions().all() {
            if let Some((method, params)) = self.legacy(&session.client(), &notice) {
                session.say(notification(method, &params));
            }
        }
        self.notices().tell(notice);
    }

    /// A notice as a client of the legacy era gets it, if it wants it.
    pub(crate) fn legacy(
        &self,
        client: &Client,
        notice: &Notice,
    ) -> Option<(&'static str, String)> {
        match notice {
            Notice::Changed(kind, what) => {
                what.is_seen_by(client).then(|| (list_changed(*kind), String::new()))
            }
            Notice::Updated { .. } if locked(&client.subscribed).is_empty() => None,
            Notice::Updated { server, uri } => {
                let shown = self.listing(&client.view).known_address(server, uri)?;
                let subscribed = locked(&client.subscribed);
                let is_it = |known: &&String| Listing::is_same_address(server, &shown, known);
                let known = subscribed.keys().find(is_it)?;
                Some(("notifications/resources/updated", json!({"uri": known}).to_string()))
            }
            // What a server says during a call goes with that call.
            Notice::Said { server, level, params, during } => {
                // Most clients want none: that is asked first, for there may be many of them.
                let seen = || {
                    (client.view.is_whole() || client.view.shows(server, "*"))
                        && !self.host().held().load().is_whole(server)
                };
                let is_theirs = || self.notices().wanted().are_of(client, during);
                (client.wants(level) && seen() && !client.is_busy_with(server) && is_theirs())
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
        if wanted.resource_subscriptions.len() > MOST_SUBSCRIBED {
            let why = format!("a stream tells of at most {MOST_SUBSCRIBED} resources");
            return Err(RpcError::new(BUSY, why));
        }
        let mut notices = self.notices().watch();
        let listener = self.listeners().add(&asked.client.identity);
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
            () = listener.over.cancelled() => {}
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
        match notice {
            Notice::Changed(kind, what) => {
                let is_wanted = match kind {
                    TargetKind::Tool => wanted.tools_list_changed,
                    TargetKind::Resource => wanted.resources_list_changed,
                    TargetKind::Prompt => wanted.prompts_list_changed,
                };
                let is_told = is_wanted && what.is_seen_by(&asked.client);
                is_told.then(|| (list_changed(*kind), format!("{{{meta}}}")))
            }
            Notice::Updated { .. } if wanted.resource_subscriptions.is_empty() => None,
            Notice::Updated { server, uri } => {
                let shown = self.listing(&asked.client.view).known_address(server, uri)?;
                let is_it = |known: &&String| Listing::is_same_address(server, &shown, known);
                let known = wanted.resource_subscriptions.iter().find(is_it)?;
                let params = format!(r#"{{{meta},"uri":{}}}"#, json!(known));
                Some(("notifications/resources/updated", params))
            }
            Notice::Said { .. } => None,
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
        What::ServerSaid { server, level, text, raw, during } => {
            let said = || json!({"level": level, "logger": server, "data": text}).to_string();
            let params: String = raw.map_or_else(said, |raw| raw.as_str().to_owned());
            let (server, level, params) = (server.into(), level.into(), params.into());
            Some(Notice::Said { server, level, params, during: during.into() })
        }
        What::ResourceUpdated { server, uri } => {
            Some(Notice::Updated { server: server.into(), uri: uri.into() })
        }
        _ => None,
    }
}

/// What is told of a list that changed.
const fn list_changed(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Tool => "notifications/tools/list_changed",
        TargetKind::Resource => "notifications/resources/list_changed",
        TargetKind::Prompt => "notifications/prompts/list_changed",
    }
}

/// Which lists are not what they were.
fn changed(before: &Lease, after: &Lease) -> Vec<Notice> {
    if before.fleet().edition == after.fleet().edition {
        return Vec::new();
    }
    let told = KINDS.map(|kind| (kind, different(before, after, kind)));
    let told = told.into_iter().filter(|(_, items)| !items.is_empty());
    told.map(|(kind, items)| Notice::Changed(kind, Changed::These(items.into()))).collect()
}

/// The items of a kind that are shown in another way than before, or by one of both only.
fn different(before: &Lease, after: &Lease, kind: TargetKind) -> Vec<(ServerId, Box<str>)> {
    let all_shown = before.lists_all() && after.lists_all();
    let (left, right) = (&before.fleet().servers, &after.fleet().servers);
    let mut different = Vec::new();
    for server in left.values().chain(right.values().filter(|one| !left.contains_key(&one.id))) {
        let (old, new) = (left.get(&server.id), right.get(&server.id));
        if let (Some(old), Some(new)) = (old, new)
            && all_shown
            && Arc::ptr_eq(&old.offers, &new.offers)
        {
            continue;
        }
        let old = old.map(|server| shown(before, server, kind)).unwrap_or_default();
        let new = new.map(|server| shown(after, server, kind)).unwrap_or_default();
        let is_same = |left: &&Item, right: &&Item| left.raw.get() == right.raw.get();
        if old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| is_same(old, new)) {
            continue;
        }
        let kept: HashSet<&str> = old.iter().map(|item| item.raw.get()).collect();
        let came: HashSet<&str> = new.iter().map(|item| item.raw.get()).collect();
        let is_other =
            |item: &&&Item| !(kept.contains(item.raw.get()) && came.contains(item.raw.get()));
        let mut names: Vec<&Item> = old.iter().chain(&new).filter(is_other).copied().collect();
        if names.is_empty() {
            // The same in another order.
            names = new;
        }
        different.extend(names.iter().map(|item| (server.id.clone(), item.key.clone())));
    }
    different
}

/// What is shown of a server.
fn shown<'a>(lease: &Lease, server: &'a Server, kind: TargetKind) -> Vec<&'a Item> {
    let offers = &server.offers;
    let items: Vec<&Item> = match kind {
        TargetKind::Tool => offers.tools.iter().map(|tool| &tool.item).collect(),
        TargetKind::Resource => offers.resources.iter().chain(&offers.templates).collect(),
        TargetKind::Prompt => offers.prompts.iter().collect(),
    };
    let is_shown = |item: &&Item| lease.lists(kind, server.id.as_str(), &item.key);
    items.into_iter().filter(is_shown).collect()
}
