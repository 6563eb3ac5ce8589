//! Starts servers afresh, and switches them on and off.

use axum::extract::{Path, State};
use switchboard_catalog::Status;
use switchboard_fleet::Command;

use super::body::{Answer, blocking, no_server};
use super::done::{ServerRestarting, ServerSwitched};
use crate::console::{Console, Shared};
use crate::reply;
use crate::reply::Problem;

/// Starts a server afresh.
pub(crate) async fn restart(State(console): State<Shared>, Path(name): Path<String>) -> Answer {
    let fleet = console.host.fleet().load();
    let server = fleet.servers.get(name.as_str()).ok_or_else(|| no_server(&name))?;
    match &server.status {
        Status::Disabled => {
            Err(Problem::unusable(format!("server `{name}` is disabled"))
                .with_hint("enable it first"))
        }
        Status::NeedsApproval => Err(Problem::unusable(format!("server `{name}` is not approved"))
            .with_hint(format!("run `switchboard servers approve {name}`"))),
        Status::NotAllowed(failure) => {
            let why = format!("server `{name}` is not allowed: {}", failure.message);
            Err(Problem::unusable(why).with_hint("run `switchboard policy show`"))
        }
        Status::Starting
        | Status::Ready
        | Status::NeedsLogin(_)
        | Status::Waiting { .. }
        | Status::Failed(_) => {
            console.host.command(Command::Restart(server.id.clone())).await;
            Ok(reply::json(&ServerRestarting { restarting: name }))
        }
    }
}

/// Switches a server on.
pub(crate) async fn enable(State(console): State<Shared>, Path(name): Path<String>) -> Answer {
    switch(&console, name, Switch::On).await
}

/// Switches a server off.
pub(crate) async fn disable(State(console): State<Shared>, Path(name): Path<String>) -> Answer {
    switch(&console, name, Switch::Off).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// Changes the file that has the server; the host reads it again by itself.
async fn switch(console: &Console, name: String, to: Switch) -> Answer {
    let config = console.host.config().load();
    let server = config.servers.get(name.as_str()).ok_or_else(|| no_server(&name))?;
    let file = server.source.file.clone();
    if file.as_os_str().is_empty() {
        let why = format!("server `{name}` is in no configuration file");
        return Err(Problem::unusable(why).with_hint("the setting `builtin` switches it off"));
    }
    let id = server.id.clone();
    blocking(move || match to {
        Switch::On => switchboard_config::enable_server(&file, id.as_str()),
        Switch::Off => switchboard_config::disable_server(&file, id.as_str()),
    })
    .await?;
    Ok(reply::json(&ServerSwitched { server: name, enabled: to == Switch::On }))
}
