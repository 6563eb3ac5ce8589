//! Adds, removes and restarts servers, and ends logins. Only for the owner of the host.

use std::time::Duration;

use serde_json::Value;
use switchboard_catalog::ServerStatus as State;
use switchboard_config::Replace;
use switchboard_fleet::SupervisorCommand;
use switchboard_oauth::LogoutReport;
use tokio::time::{Instant, timeout_at};
use tonic::Status;

use crate::access::AuthorizedCaller;
use crate::generated::v1::{
    CreateClientRequest, CreateClientResponse, EndedLogin, ReloadClientResponse,
};
use crate::grpc_service::GrpcService;
use crate::offerings::{no_server, server_state};
use crate::values::from_struct;

/// How long to wait for a server to start before the response reports its current state.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long to wait for a change of the configuration to take effect.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Members that clients may not set: they would replace the approval of a person.
const FORBIDDEN_MEMBERS: [&str; 3] = ["autoApprove", "alwaysAllow", "dangerous"];

impl GrpcService {
    pub(crate) async fn create(
        &self,
        visitor: &AuthorizedCaller,
        request: CreateClientRequest,
    ) -> Result<CreateClientResponse, Status> {
        visitor.require_owner("adding a server")?;
        let CreateClientRequest { server_identifier: id, config, replace } = request;
        let entry = config.map(from_struct).unwrap_or_default();
        if let Some(key) = FORBIDDEN_MEMBERS.iter().find(|key| entry.contains_key(**key)) {
            let why = format!("`{key}` cannot be set here; edit the configuration file");
            return Err(Status::invalid_argument(why));
        }
        let file = self.inner.options.config.clone();
        let file =
            file.ok_or_else(|| Status::failed_precondition("no configuration file to change"))?;
        let name = id.clone();
        // The file is locked against other writers, so this may block.
        let writing = tokio::task::spawn_blocking(move || {
            let entry = Value::Object(entry);
            let findings =
                switchboard_config::entry_findings(&file, &name, &entry).map_err(invalid)?;
            if let Some(danger) = findings.iter().find(|finding| finding.is_danger()) {
                let why = format!("approval needed: {}", danger.message);
                let hint = "add the server with `switchboard servers add`";
                return Err(Status::failed_precondition(format!("{why}; {hint}")));
            }
            let replace = if replace { Replace::Allow } else { Replace::Refuse };
            switchboard_config::add_server(&file, &name, &entry, replace).map_err(invalid)
        });
        writing.await.map_err(|error| Status::internal(error.to_string()))??;
        // The host watches the file and reloads it; this request only waits for the effect.
        self.await_fleet(RELOAD_TIMEOUT, |fleet| fleet.servers.contains_key(id.as_str())).await;
        self.await_settled(&id, START_TIMEOUT).await;
        let server = self.server(visitor, &id);
        let connected = server.as_ref().is_some_and(|server| server.status == State::Ready.word());
        Ok(CreateClientResponse { connected, server })
    }

    /// Removes a server from the configuration, and ends its logins.
    pub(crate) async fn delete(&self, visitor: &AuthorizedCaller, id: &str) -> Result<(), Status> {
        visitor.require_owner("removing a server")?;
        let config = self.host().config().load();
        let sources = config.servers.get(id).map(|server| server.source.file.clone());
        let file = sources.ok_or_else(|| no_server(id))?;
        // A server that was not read from a file has no path.
        if file.as_os_str().is_empty() {
            let why = format!("server `{id}` is not in a configuration file");
            return Err(Status::failed_precondition(why));
        }
        let name = id.to_owned();
        let writing =
            tokio::task::spawn_blocking(move || switchboard_config::remove_server(&file, &name));
        let written = writing.await.map_err(|error| Status::internal(error.to_string()))?;
        written.map_err(invalid)?;
        // After the removal: a server that is still configured could log in again.
        self.host().logins().logout(id).await.map_err(|error| {
            Status::internal(format!("the server was removed, but its login was not: {error}"))
        })?;
        self.await_fleet(RELOAD_TIMEOUT, |fleet| !fleet.servers.contains_key(id)).await;
        Ok(())
    }

    pub(crate) async fn reload(
        &self,
        visitor: &AuthorizedCaller,
        id: &str,
    ) -> Result<ReloadClientResponse, Status> {
        visitor.require_owner("restarting a server")?;
        let fleet = self.host().fleet().load();
        let server = fleet.servers.get(id).ok_or_else(|| no_server(id))?;
        let unusable = |why: &str| Err(Status::failed_precondition(format!("server `{id}` {why}")));
        match &server.status {
            State::Disabled => return unusable("is disabled"),
            State::NeedsApproval => return unusable("needs approval"),
            State::NotAllowed(failure) => {
                return unusable(&format!("is not allowed: {}", failure.message));
            }
            State::Starting
            | State::Ready
            | State::NeedsLogin(_)
            | State::Waiting { .. }
            | State::Failed(_) => {}
        }
        let mut changes = self.host().fleet().changes();
        changes.load();
        self.host().command(SupervisorCommand::Restart(server.id.clone())).await;
        // The first change shows that the restart has begun; without one, the state is returned.
        _ = timeout_at(Instant::now() + RELOAD_TIMEOUT, changes.changed()).await;
        self.await_settled(id, START_TIMEOUT).await;
        let fleet = self.host().fleet().load();
        let server = fleet.servers.get(id).map(|server| server_state(server, visitor));
        Ok(ReloadClientResponse { server })
    }

    /// Ends the logins of one server, or of all if `id` is `None`.
    pub(crate) async fn logout(
        &self,
        visitor: &AuthorizedCaller,
        id: Option<&str>,
    ) -> Result<Vec<EndedLogin>, Status> {
        visitor.require_owner("logging out")?;
        let logins = self.host().logins();
        let ended = match id {
            Some(id) => logins.logout(id).await,
            None => logins.logout_all().await,
        };
        let ended = ended.map_err(|error| Status::internal(error.to_string()))?;
        Ok(ended.into_iter().map(ended_login).collect())
    }

    async fn await_settled(&self, id: &str, limit: Duration) {
        let fleet = self.host().fleet().load();
        let Some(server) = fleet.servers.get(id) else { return };
        let settled = self.host().wait_settled(Some(std::slice::from_ref(&server.id)));
        // A server that needs longer continues to start in the background.
        _ = tokio::time::timeout(limit, settled).await;
    }

    async fn await_fleet(
        &self,
        limit: Duration,
        is_so: impl Fn(&switchboard_catalog::Fleet) -> bool,
    ) {
        let until = Instant::now() + limit;
        let mut changes = self.host().fleet().changes();
        let mut fleet = changes.load();
        while !is_so(&fleet) {
            match timeout_at(until, changes.changed()).await {
                Ok(newer) => fleet = newer,
                Err(_) => return,
            }
        }
    }
}

fn ended_login(ended: LogoutReport) -> EndedLogin {
    EndedLogin {
        server_identifier: ended.server,
        revoked: ended.revoked,
        detail: ended.why.unwrap_or_default(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn invalid(error: switchboard_document::ConfigError) -> Status {
    Status::invalid_argument(error.to_string())
}
