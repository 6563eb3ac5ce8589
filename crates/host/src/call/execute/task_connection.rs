//! The connection that a task is asked about on, which may be a later one than it began on.

use std::time::Duration;

use switchboard_catalog::{Fleet, Server, Status};
use switchboard_core::{Published, TaskPlace};
use switchboard_wire::{Era, Peer};
use tokio::time::{Instant, timeout_at};

/// Why nobody can be asked about a task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoConnection {
    /// The server is not there to stay away for a while: it is no longer configured.
    Removed(String),
    /// It cannot be reached now.
    Away(String),
}

/// The connection to the instance of a server, waited for as long as `limit`.
pub(super) async fn connection(
    fleet: &Published<Fleet>,
    place: &TaskPlace,
    era: Era,
    limit: Duration,
) -> Result<Peer, NoConnection> {
    let until = Instant::now() + limit;
    let mut changes = fleet.changes();
    let mut current = changes.load();
    loop {
        let id = place.server.as_str();
        let Some(server) = current.servers.get(id) else {
            return Err(NoConnection::Removed(format!("server `{id}` has been removed")));
        };
        if let Some(peer) = of_instance(server, place.instance) {
            return of_era(peer, era, id);
        }
        match &server.status {
            Status::Disabled
            | Status::NeedsApproval
            | Status::NotAllowed(_)
            | Status::NeedsLogin(_) => {
                return Err(NoConnection::Away(away(server)));
            }
            _ => {}
        }
        current = match timeout_at(until, changes.changed()).await {
            Ok(newer) => newer,
            Err(_) => return Err(NoConnection::Away(away(server))),
        };
    }
}

fn of_instance(server: &Server, number: usize) -> Option<Peer> {
    let instance = server.instances.iter().find(|instance| instance.number == number)?;
    instance.peer.clone().filter(|peer| !peer.is_closed())
}

/// The two forms of tasks have nothing in common: a server that changed its era forgot them.
fn of_era(peer: Peer, era: Era, server: &str) -> Result<Peer, NoConnection> {
    if peer.stance().revision.era() == era {
        Ok(peer)
    } else {
        let why = format!("server `{server}` speaks another revision of the protocol by now");
        Err(NoConnection::Removed(why))
    }
}

fn away(server: &Server) -> String {
    let why = server.status.failure().map(|failure| format!(": {}", failure.message));
    let (id, word) = (&server.id, server.status.word());
    format!("server `{id}` cannot be reached ({word}{})", why.unwrap_or_default())
}
