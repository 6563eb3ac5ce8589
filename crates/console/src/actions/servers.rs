//! Starts servers afresh, and switches them on and off.

use axum::extract::{Path, State};
use switchboard_catalog::ServerStatus;
use switchboard_fleet::SupervisorCommand;

use super::body::{ApiResult, blocking, no_server};
use super::responses::{ServerRestarting, ServerSwitched};
use crate::console::{Console, SharedConsole};
use crate::reply;
use crate::reply::ApiError;

/// Starts a server afresh.
pub(crate) async fn restart(
    State(console): State<SharedConsole>,
    Path(name): Path<String>,
) -> ApiResult {
    let fleet = console.host.fleet().load();
    let server = fleet.servers.get(name.as_str()).ok_or_else(|| no_server(&name))?;
    match &server.status {
        ServerStatus::Disabled => {
            Err(ApiError::unprocessable(format!("server `{name}` is disabled"))
                .with_hint("enable it first"))
        }
        ServerStatus::NeedsApproval => {
            Err(ApiError::unprocessable(format!("server `{name}` is not approved"))
                .with_hint(format!("run `switchboard servers approve {name}`")))
        }
        ServerStatus::NotAllowed(failure) => {
            let why = format!("server `{name}` is not allowed: {}", failure.message);
            Err(ApiError::unprocessable(why).with_hint("run `switchboard policy show`"))
        }
        ServerStatus::Starting
        | ServerStatus::Ready
        | ServerStatus::NeedsLogin(_)
        | ServerStatus::Waiting { .. }
        | ServerStatus::Failed(_) => {
            console.host.command(SupervisorCommand::Restart(server.id.clone())).await;
            Ok(reply::json(&ServerRestarting { restarting: name }))
        }
    }
}

/// Switches a server on.
pub(crate) async fn enable(
    State(console): State<SharedConsole>,
    Path(name): Path<String>,
) -> ApiResult {
    switch(&console, name, ServerSwitch::On).await
}

/// Switches a server off.
pub(crate) async fn disable(
    State(console): State<SharedConsole>,
    Path(name): Path<String>,
) -> ApiResult {
    switch(&console, name, ServerSwitch::Off).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ServerSwitch {
    On,
    Off,
}

/// Changes the file that has the server; the host reads it again by itself.
async fn switch(console: &Console, name: String, to: ServerSwitch) -> ApiResult {
    let config = console.host.config().load();
    let server = config.servers.get(name.as_str()).ok_or_else(|| no_server(&name))?;
    let file = server.source.file.clone();
    if file.as_os_str().is_empty() {
        let why = format!("server `{name}` is in no configuration file");
        return Err(ApiError::unprocessable(why).with_hint("the setting `builtin` switches it off"));
    }
    let id = server.id.clone();
    blocking(move || match to {
        ServerSwitch::On => switchboard_config::enable_server(&file, id.as_str()),
        ServerSwitch::Off => switchboard_config::disable_server(&file, id.as_str()),
    })
    .await?;
    Ok(reply::json(&ServerSwitched { server: name, enabled: to == ServerSwitch::On }))
}
