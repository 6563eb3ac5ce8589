//! Reference-counted subscriptions to resources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_core::{Changes, Published, ServerId};

/// The reason why a resource cannot be subscribed to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubscribeError {
    #[error("server `{0}` is not ready")]
    NotReady(String),
    #[error("server `{0}` does not support resource subscriptions")]
    NotOffered(String),
    #[error("not allowed: {0}")]
    NotAllowed(String),
}

/// How long a subscriber waits for the server's answer.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);

type UrisByServer = BTreeMap<ServerId, BTreeSet<String>>;
type SubscriptionCounts = BTreeMap<ServerId, BTreeMap<String, usize>>;

/// The resources that currently have subscribers. Clones share them.
#[derive(Clone, Debug)]
pub struct Subscriptions {
    counts: Arc<Mutex<SubscriptionCounts>>,
    wanted: Published<UrisByServer>,
    /// The wanted resources whose server has answered the subscription.
    settled: Published<UrisByServer>,
}

/// A subscription to a resource, until it is dropped.
#[derive(Debug)]
#[must_use = "dropping this ends the subscription"]
pub struct Subscription {
    all: Subscriptions,
    server: ServerId,
    uri: String,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self {
            counts: Arc::default(),
            wanted: Published::new(BTreeMap::new()),
            settled: Published::new(BTreeMap::new()),
        }
    }
}

impl Subscriptions {
    /// Subscribes to a resource until the result is dropped.
    pub fn subscribe(&self, server: &ServerId, uri: &str) -> Subscription {
        self.update_count(server, uri, |count| *count += 1);
        Subscription { all: self.clone(), server: server.clone(), uri: uri.to_owned() }
    }

    /// Returns whether a server has any subscription.
    pub fn has_any(&self, server: &ServerId) -> bool {
        self.wanted.load().contains_key(server)
    }

    /// Returns the URIs of a server that have subscribers.
    pub fn wanted_uris(&self, server: &ServerId) -> BTreeSet<String> {
        self.wanted.load().get(server).cloned().unwrap_or_default()
    }

    /// Returns the changes of the set of subscribed resources.
    pub fn changes(&self) -> Changes<UrisByServer> {
        self.wanted.changes()
    }

    /// Notes that a server has accepted or refused a subscription.
    pub(crate) fn settle(&self, server: &ServerId, uri: &str) {
        // Under the lock, so that the last subscriber cannot leave between check and publication.
        let counts = self.counts.lock();
        if counts.get(server).is_some_and(|of_server| of_server.contains_key(uri)) {
            let mut settled = (*self.settled.load()).clone();
            if settled.entry(server.clone()).or_default().insert(uri.to_owned()) {
                self.settled.publish(settled);
            }
        }
    }

    fn update_count(&self, server: &ServerId, uri: &str, change: impl FnOnce(&mut usize)) {
        let mut counts = self.counts.lock();
        let of_server = counts.entry(server.clone()).or_default();
        let count = of_server.entry(uri.to_owned()).or_default();
        let before = *count;
        change(count);
        let after = *count;
        of_server.retain(|_, count| *count > 0);
        counts.retain(|_, of_server| !of_server.is_empty());
        // Servers need to know only about the first and the last subscriber.
        if (before == 0) != (after == 0) {
            let mut settled = (*self.settled.load()).clone();
            if settled.get_mut(server).is_some_and(|uris| uris.remove(uri)) {
                self.settled.publish(settled);
            }
            let keys = |of_server: &BTreeMap<String, usize>| of_server.keys().cloned().collect();
            let wanted = counts.iter().map(|(id, of_server)| (id.clone(), keys(of_server)));
            self.wanted.publish(wanted.collect());
        }
    }
}

impl Subscription {
    /// Waits until the server has answered the subscription, at most two seconds.
    pub async fn settled(&self) {
        let mut changes = self.all.settled.changes();
        let answered = async {
            while !changes.load().get(&self.server).is_some_and(|uris| uris.contains(&self.uri)) {
                changes.changed().await;
            }
        };
        // A server that does not answer has no updates either, so the subscriber need not know.
        _ = tokio::time::timeout(SETTLE_TIMEOUT, answered).await;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.all.update_count(&self.server, &self.uri, |count| *count = count.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_wanted_as_long_as_somebody_wants_it() {
        let all = Subscriptions::default();
        let one = ServerId::new("one").unwrap();
        let other = ServerId::new("other").unwrap();
        let first = all.subscribe(&one, "a:1");
        let second = all.subscribe(&one, "a:1");
        let third = all.subscribe(&one, "a:2");
        let wanted = || all.wanted_uris(&one).into_iter().collect::<Vec<_>>();
        assert_eq!(
            (wanted(), all.has_any(&other)),
            (vec!["a:1".to_owned(), "a:2".to_owned()], false)
        );
        drop(first);
        assert_eq!(wanted(), ["a:1", "a:2"]);
        all.settle(&one, "a:1");
        all.settle(&other, "a:1");
        assert_eq!(all.settled.load().keys().collect::<Vec<_>>(), [&one]);
        drop(second);
        assert!(all.settled.load()[&one].is_empty());
        assert_eq!(wanted(), ["a:2"]);
        drop(third);
        assert!(!all.has_any(&one));
    }
}
