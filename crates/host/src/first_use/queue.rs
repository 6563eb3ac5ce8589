//! Adds servers that wait for their first approval to the review queue, where every face sees them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_config::{Config, ServerConfig};
use switchboard_core::{Published, ServerId, Tasks};
use switchboard_scan::{Severity, overall_severity};
use switchboard_store::{AskReply, Audit};
use switchboard_text::excerpt_text;
use switchboard_trust::{
    Quarantine, QuarantinedDefinition, approve_first_use, findings_in, first_use_version,
};
use tokio_util::sync::CancellationToken;

use crate::review::{ReviewQueue, ask_consent};

/// How long such a question stays open: longer than any expected host uptime.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(30 * 86_400);
/// Maximum number of definitions listed in the question; the count includes all.
const MAX_NAMED: usize = 200;
/// Maximum number of characters shown of each definition.
const MAX_TEXT_CHARS: usize = 300;

/// Requests approval of new servers through the review queue.
pub(crate) struct FirstUseAsker {
    pub(crate) config: Published<Config>,
    pub(crate) waiting: ReviewQueue,
    pub(crate) audit: Audit,
    pub(crate) state: PathBuf,
}

impl FirstUseAsker {
    /// Asks about every new server as soon as its definitions are known, once per version.
    pub(crate) fn follow(self, held: &Published<Quarantine>, tasks: &Tasks) {
        let mut changes = held.changes();
        let stopping = tasks.stop_token().clone();
        let this = Arc::new(self);
        let spawner = tasks.clone();
        tasks.spawn(async move {
            let mut asked: BTreeMap<ServerId, (String, CancellationToken)> = BTreeMap::new();
            let mut quarantine = changes.load();
            loop {
                // A yes to other definitions than the current ones must not count.
                asked.retain(|server, (version, question)| {
                    let is_same =
                        first_use_version(&quarantine, server).is_some_and(|now| now == *version);
                    if !is_same {
                        question.cancel();
                    }
                    is_same
                });
                for server in quarantine.servers.keys() {
                    let Some(version) = first_use_version(&quarantine, server) else { continue };
                    if asked.contains_key(server) {
                        continue;
                    }
                    let question = stopping.child_token();
                    asked.insert(server.clone(), (version, question.clone()));
                    let definitions =
                        quarantine.servers.get(server).map(|it| it.definitions.clone());
                    let this = Arc::clone(&this);
                    let server = server.clone();
                    spawner.spawn(async move {
                        let asking = this.ask(&server, definitions.unwrap_or_default());
                        question.run_until_cancelled(asking).await;
                    });
                }
                match stopping.run_until_cancelled(changes.changed()).await {
                    Some(newer) => quarantine = newer,
                    None => return,
                }
            }
        });
    }

    async fn ask(&self, server: &ServerId, definitions: Vec<QuarantinedDefinition>) {
        let config = self.config.load();
        let Some(entry) = config.servers.get(server.as_str()) else { return };
        let message = format!(
            "server `{server}` is used for the first time and offers {} definitions; accept to \
             approve them exactly as shown",
            definitions.len()
        );
        let details = details(entry, &definitions);
        let asked = ask_consent(
            &self.waiting,
            server.as_str(),
            "first_use",
            message,
            details,
            QUESTION_TIMEOUT,
        );
        // A rejected or failed question leaves the server in quarantine.
        if !matches!(asked.await, Ok(AskReply::Accept(_))) {
            return;
        }
        let state = self.state.clone();
        let audit = self.audit.clone();
        let server = server.to_string();
        let identity = entry.identity();
        let approving = tokio::task::spawn_blocking(move || {
            approve_first_use(&state, &audit, &server, &identity, &definitions)
        });
        // Without a stored approval, the server stays in quarantine, and the next start asks again.
        _ = approving.await;
    }
}

fn details(entry: &ServerConfig, definitions: &[QuarantinedDefinition]) -> Value {
    let one = |held: &QuarantinedDefinition| {
        json!({
            "kind": held.kind.as_str(),
            "name": held.name,
            "digest": held.digest,
            "says": excerpt_text(&held.now, MAX_TEXT_CHARS),
            "findings": findings(held),
        })
    };
    json!({
        "how": entry.endpoint_text(),
        "count": definitions.len(),
        "definitions": definitions.iter().take(MAX_NAMED).map(one).collect::<Vec<_>>(),
    })
}

fn findings(held: &QuarantinedDefinition) -> Vec<Value> {
    let findings = findings_in(held);
    if overall_severity(&findings).is_none_or(|severity| severity < Severity::Ask) {
        return Vec::new();
    }
    findings
        .iter()
        .map(|one| json!({"rule": one.rule, "at": one.place, "says": one.excerpt}))
        .collect()
}
