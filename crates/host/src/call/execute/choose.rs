//! Chooses the connection for a call, and waits for one within a limit.

use std::time::Duration;

use switchboard_catalog::{CallGuard, Fleet, Instance, ResolvedCall, Server, ServerStatus, Tool};
use switchboard_core::{Outcome, Published, TargetKind};
use switchboard_wire::Peer;
use tokio::time::{Instant, timeout_at};

/// The connection chosen for a call.
pub(super) struct ChosenConnection {
    pub(super) instance: Instance,
    pub(super) peer: Peer,
    /// Counts the call as running on the instance, for the next choice.
    pub(super) in_use: CallGuard,
}

/// Returns the least busy ready connection, from the lease or else from the current fleet.
pub(super) async fn choose_connection(
    call: &ResolvedCall,
    fleet: &Published<Fleet>,
    limit: Duration,
) -> Result<ChosenConnection, Outcome> {
    // The leased connection has the definitions that the caller saw, so it comes first.
    if let Some(chosen) = pick(call.server()) {
        return Ok(chosen);
    }
    let until = Instant::now() + limit;
    let mut changes = fleet.changes();
    let mut current = changes.load();
    loop {
        let server = same_server(call, &current)?;
        if let Some(chosen) = pick(server) {
            return Ok(chosen);
        }
        may_still_come(server)?;
        current = match timeout_at(until, changes.changed()).await {
            Ok(newer) => newer,
            Err(_) => {
                let message = format!("server `{}` did not become ready in time", server.id);
                return Err(Outcome::not_sent("not_ready", message));
            }
        };
    }
}

fn pick(server: &Server) -> Option<ChosenConnection> {
    let (instance, peer) = server.least_busy()?;
    let in_use = instance.health.enter();
    Some(ChosenConnection { instance: instance.clone(), peer: peer.clone(), in_use })
}

/// Returns the server in the current fleet, if its definition still matches the lease.
fn same_server<'f>(call: &ResolvedCall, fleet: &'f Fleet) -> Result<&'f Server, Outcome> {
    let target = call.target();
    let Some(server) = fleet.servers.get(target.server.as_str()) else {
        let message = format!("server `{}` has been removed", target.server);
        return Err(Outcome::not_sent("removed", message));
    };
    // The definitions of a server that is still starting are not known yet.
    if target.kind == TargetKind::Tool
        && server.status == ServerStatus::Ready
        && server.offers.tool(&target.name).map(Tool::digest) != Some(call.definition_digest())
    {
        let message = format!("`{target}` has changed since it was listed");
        return Err(Outcome::not_sent("definition_changed", message)
            .with_hint("list the tools again, then call it again"));
    }
    Ok(server)
}

/// Returns `Ok` if waiting makes sense because the server may still become ready.
fn may_still_come(server: &Server) -> Result<(), Outcome> {
    let id = &server.id;
    let not_ready = |why: String| Outcome::not_sent("not_ready", format!("server `{id}`: {why}"));
    match &server.status {
        ServerStatus::Starting => Ok(()),
        ServerStatus::Ready => {
            let open =
                |instance: &Instance| instance.peer.as_ref().is_some_and(|peer| !peer.is_closed());
            let resting = server.instances.iter().filter(|instance| open(instance));
            match resting.filter_map(|instance| instance.health.breaker_reason()).next() {
                Some(why) => Err(not_ready(why).with_hint(format!(
                    "it is probed in the background; run `switchboard doctor {id}`"
                ))),
                // The connection closed a moment ago; the next fleet update reports it.
                None => Ok(()),
            }
        }
        status => {
            let why = status.failure().map_or_else(
                || status.word().to_owned(),
                |failure| format!("{}: {}", status.word(), failure.message),
            );
            let outcome = not_ready(why);
            Err(match status.failure().and_then(|failure| failure.hint.clone()) {
                Some(hint) => outcome.with_hint(hint),
                None => outcome,
            })
        }
    }
}
