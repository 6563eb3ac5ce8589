//! Taint: the servers that the session of a call has read from, for rules that depend on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_catalog::ResolvedCall;
use switchboard_config::Config;
use switchboard_core::{Outcome, Published};
use switchboard_policy::{ResultCounts, SessionFacts, SessionKey, SessionTracker, is_trusted};
use switchboard_store::{Ledger, LedgerError};

use crate::call::pipeline::{CallPipeline, SessionScope};
use crate::host::Host;

struct Taint<'a> {
    sessions: &'a SessionTracker,
    ledger: &'a Ledger,
    config: &'a Published<Config>,
}

/// The number of results that a conversation has read from one target.
struct ReadResults {
    server: String,
    target: String,
    times: u64,
}

impl<'a> Taint<'a> {
    fn new(host: &'a Host) -> Self {
        Self { sessions: &host.rules().sessions, ledger: host.ledger(), config: host.config() }
    }

    /// Returns the facts of a session, restored from the record if another process began it.
    async fn facts(&self, key: &SessionKey) -> Result<SessionFacts, LedgerError> {
        if let Some(facts) = self.sessions.get(key) {
            return Ok(facts);
        }
        let Some(conversation) = key.conversation() else { return Ok(SessionFacts::default()) };
        // Calls that were sent count, whatever their outcome: the server may have answered.
        let sent = self.ledger.targets_sent_in(conversation).await?;
        let read =
            sent.into_iter().map(|(server, target, times)| ReadResults { server, target, times });
        self.ingest(key, read.collect());
        Ok(self.sessions.get(key).unwrap_or_default())
    }

    fn ingest(&self, key: &SessionKey, read: Vec<ReadResults>) {
        let config = self.config.load();
        let mut results = ResultCounts::default();
        self.sessions.update(key, |facts| {
            for ReadResults { server, target, times } in &read {
                record_server(
                    facts,
                    server,
                    config.servers.get(server.as_str()).is_some_and(is_trusted),
                );
                results.add_count(server, target, *times);
            }
            Arc::make_mut(&mut facts.results).merge(&results);
        });
    }
}

fn record_server(facts: &mut SessionFacts, server: &str, is_trusted: bool) {
    if is_trusted {
        facts.record_read(server);
    } else {
        facts.record_untrusted_read(server);
    }
}

impl Host {
    /// Restores the taint of a conversation from its results, one `(server, target)` pair each.
    /// They count in a copy of the conversation too, which has read the same results.
    pub async fn restore_taint(
        &self,
        conversation: &str,
        results: impl IntoIterator<Item = (&str, &str)> + Send,
    ) -> Result<(), LedgerError> {
        let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for result in results {
            *counts.entry(result).or_default() += 1;
        }
        let read: Vec<ReadResults> = counts
            .into_iter()
            .map(|((server, target), times)| ReadResults {
                server: server.to_owned(),
                target: target.to_owned(),
                times,
            })
            .collect();
        if !read.is_empty() {
            let taint = Taint::new(self);
            let key = SessionKey::for_conversation(conversation);
            // Restore the facts in the record first: once the session is in memory, `facts` no
            // longer reads the record.
            taint.facts(&key).await?;
            taint.ingest(&key, read);
        }
        Ok(())
    }
}

impl CallPipeline<'_> {
    /// Counts the call in its session, and returns the facts of the session before it.
    pub(crate) async fn enter_session(&self, call: &ResolvedCall) -> Result<SessionFacts, Outcome> {
        let before = self.session_facts().await?;
        let Some(key) = self.session_key() else { return Ok(before) };
        Ok(self.host.rules().sessions.enter(&key, call.target().server.as_str()))
    }

    pub(crate) async fn session_facts(&self) -> Result<SessionFacts, Outcome> {
        let Some(key) = self.session_key() else { return Ok(SessionFacts::default()) };
        Taint::new(self.host).facts(&key).await.map_err(|error| error.outcome())
    }

    pub(crate) fn record_taint(&self, call: &ResolvedCall) {
        let Some(key) = self.session_key() else { return };
        let target = call.target();
        // Trust as of the lease: a change of the settings during the call does not remove taint.
        let is_trusted = call.server().config.as_deref().is_some_and(is_trusted);
        self.host.rules().sessions.update(&key, |facts| {
            record_server(facts, &target.server, is_trusted);
            facts.record_result(&target.server, &target.name);
        });
    }

    fn session_key(&self) -> Option<SessionKey> {
        match &self.options.session {
            SessionScope::Caller => Some(SessionKey::for_caller(self.caller)),
            SessionScope::Verified(identity) => Some(SessionKey::for_verified(identity)),
            SessionScope::None => None,
        }
    }
}
