//! The connection for requests about a task, which may be newer than the one that created it.

use std::time::Duration;

use switchboard_catalog::{Fleet, Server, ServerStatus};
use switchboard_core::{Published, TaskPlace};
use switchboard_wire::{Era, Peer};
use tokio::time::{Instant, timeout_at};

/// Why requests about a task cannot be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TaskConnectionError {
    /// The server is no longer configured, or changed its era: the task is lost.
    Removed(String),
    /// The server cannot be reached for now.
    Away(String),
}

/// Returns the connection to an instance of a server, and waits for it up to `limit`.
pub(super) async fn task_connection(
    fleet: &Published<Fleet>,
    place: &TaskPlace,
    era: Era,
    limit: Duration,
) -> Result<Peer, TaskConnectionError> {
    let until = Instant::now() + limit;
    let mut changes = fleet.changes();
    let mut current = changes.load();
    loop {
        let id = place.server.as_str();
        let Some(server) = current.servers.get(id) else {
            return Err(TaskConnectionError::Removed(format!("server `{id}` has been removed")));
        };
        if let Some(peer) = instance_peer(server, place.instance) {
            return require_era(peer, era, id);
        }
        match &server.status {
            // Waiting does not help: these states change only when a person acts.
            ServerStatus::Disabled
            | ServerStatus::NeedsApproval
            | ServerStatus::NotAllowed(_)
            | ServerStatus::NeedsLogin(_) => {
                return Err(TaskConnectionError::Away(away_reason(server)));
            }
            _ => {}
        }
        current = match timeout_at(until, changes.changed()).await {
            Ok(newer) => newer,
            Err(_) => return Err(TaskConnectionError::Away(away_reason(server))),
        };
    }
}

fn instance_peer(server: &Server, number: usize) -> Option<Peer> {
    let instance = server.instances.iter().find(|instance| instance.number == number)?;
    instance.peer.clone().filter(|peer| !peer.is_closed())
}

/// Rejects a connection of another era, whose tasks are unrelated: the task is lost.
fn require_era(peer: Peer, era: Era, server: &str) -> Result<Peer, TaskConnectionError> {
    if peer.protocol().revision.era() == era {
        Ok(peer)
    } else {
        let why = format!("server `{server}` now speaks another protocol revision");
        Err(TaskConnectionError::Removed(why))
    }
}

fn away_reason(server: &Server) -> String {
    let why = server.status.failure().map(|failure| format!(": {}", failure.message));
    let id = &server.id;
    let word = server.status.word();
    format!("server `{id}` cannot be reached ({word}{})", why.unwrap_or_default())
}
