//! Requests to servers that are not calls: subscriptions and completions.

use std::time::Duration;

use switchboard_catalog::Lease;
use switchboard_core::{Target, TargetKind};
use switchboard_fleet::{
    Completion, CompletionError, CompletionRequest, CompletionTarget, SubscribeError, Subscription,
    can_subscribe, complete,
};

use crate::host::Host;

/// How long `caught_up` waits for the processing of messages already received.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(1);

impl Host {
    /// Subscribes to changes of a resource, reported as events, until the result is dropped. The
    /// subscription is renewed after a reconnect.
    pub fn subscribe(&self, server: &str, uri: &str) -> Result<Subscription, SubscribeError> {
        // Change notifications also reveal something about a resource that is denied.
        if let Some(by) = self.forbidding_rule(&Target::new(TargetKind::Resource, server, uri)) {
            return Err(SubscribeError::NotAllowed(by));
        }
        let fleet = self.fleet().load();
        let found = fleet.servers.get(server);
        let agreement = found.and_then(|server| Some((&server.id, server.agreement.as_ref()?)));
        let (id, agreement) =
            agreement.ok_or_else(|| SubscribeError::NotReady(server.to_owned()))?;
        if !can_subscribe(agreement) {
            return Err(SubscribeError::NotOffered(server.to_owned()));
        }
        Ok(self.subscriptions().subscribe(id, uri))
    }

    /// Waits briefly until all messages received from a server are processed, so that those sent
    /// before an answer are known when the answer is forwarded.
    pub async fn caught_up(&self, server: &str) {
        let fleet = self.fleet().load();
        let instances = fleet.servers.get(server).into_iter().flat_map(|server| &server.instances);
        for instance in instances.filter(|instance| instance.peer.is_some()) {
            // A timeout is fine: the answer matters more than messages that arrive slowly.
            _ = tokio::time::timeout(CATCH_UP_TIMEOUT, instance.health.caught_up()).await;
        }
    }

    /// Requests completions for an argument value from a server of the lease.
    pub async fn complete(
        &self,
        lease: &Lease,
        server: &str,
        completing: &CompletionRequest<'_>,
    ) -> Result<Completion, CompletionError> {
        let (kind, name) = match completing.target {
            CompletionTarget::Prompt(prompt) => (TargetKind::Prompt, prompt),
            CompletionTarget::Template(template) => (TargetKind::Resource, template),
        };
        if let Some(by) = self.forbidding_rule(&Target::new(kind, server, name)) {
            return Err(CompletionError::NotAllowed(by));
        }
        match lease.fleet().servers.get(server) {
            Some(server) => complete(server, completing).await,
            None => Err(CompletionError::NotReady(server.to_owned())),
        }
    }
}
