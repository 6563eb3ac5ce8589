//! Unknown names that may belong to a server that is still starting or failed to start.

use std::sync::Arc;

use switchboard_access::View;
use switchboard_catalog::{Fleet, Lease, Server, ServerStatus, model_name};
use switchboard_core::{ProposedCall, Target, TargetKind};
use switchboard_text::nearest_names;
use switchboard_wire::RpcError;

use crate::client_request::{ClientRequest, ClientRequestParams, arguments, find_target};
use crate::gateway::Gateway;
use crate::name_table::{NameMode, NamingScheme};
use crate::parked_calls::RunningCall;
use crate::uri_rewrite::uri_prefix;

/// Maximum number of servers, and of similar names, in an error message.
const MAX_SUGGESTIONS: usize = 3;
/// Length of the digest suffix of a shortened name.
const DIGEST_SUFFIX_LENGTH: usize = 9;

/// Whether a name may belong to a server that has listed nothing yet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NameClaim {
    None,
    Perhaps,
    /// The name belongs to the server if the item exists; contains the server's own name for it.
    Own(String),
}

/// The result of waiting for an unknown name.
pub(crate) enum LateLookup {
    Found,
    /// The server is not ready; a call to it reports why.
    NotReady(Lease, Target),
    /// No server has the name. Contains the servers that may have it but are not ready.
    NotFound(Option<String>),
}

impl Gateway {
    /// Waits for the server of an unknown name and starts the call, or adds suggestions to `error`.
    pub(crate) async fn start_late_call(
        &self,
        asked: &ClientRequest,
        kind: TargetKind,
        params: &ClientRequestParams,
        error: RpcError,
    ) -> Result<RunningCall, RpcError> {
        let name = match kind {
            TargetKind::Tool | TargetKind::Prompt => params.name.as_deref(),
            TargetKind::Resource => params.uri.as_deref(),
        };
        let listing = self.catalog_view(&asked.client.view);
        if find_target(&listing, kind, params, asked.client.era()).is_ok() {
            // The name has appeared in the meantime, or the error had another cause and recurs.
            return self.start_call(asked, kind, params);
        }
        let Some(name) = name else { return Err(error) };
        match self.wait_for_name(asked, kind, name).await {
            LateLookup::Found => self.start_call(asked, kind, params),
            LateLookup::NotReady(lease, target) => {
                let proposed = ProposedCall { target, arguments: arguments(params) };
                Ok(self.run_call(asked, &lease, proposed, params))
            }
            LateLookup::NotFound(None) => {
                let listing = self.catalog_view(&asked.client.view);
                let near = match kind {
                    TargetKind::Tool => did_you_mean(listing.tool_names(), name),
                    TargetKind::Prompt => did_you_mean(listing.prompt_names(), name),
                    TargetKind::Resource => None,
                };
                let near = near.unwrap_or_default();
                Err(RpcError { message: format!("{}{near}", error.message), ..error })
            }
            LateLookup::NotFound(Some(why)) => {
                Err(RpcError { message: format!("{}: {why}", error.message), ..error })
            }
        }
    }

    /// Waits for the servers that may have a name, as long as they may take to start.
    pub(crate) async fn wait_for_name(
        &self,
        asked: &ClientRequest,
        kind: TargetKind,
        name: &str,
    ) -> LateLookup {
        let view = &asked.client.view;
        let is_there = || {
            let listing = self.catalog_view(view);
            match kind {
                TargetKind::Tool => listing.tool(name).is_some(),
                TargetKind::Prompt => listing.prompt(name).is_some(),
                TargetKind::Resource => listing.resource(name).is_some(),
            }
        };
        let wanted = RequestedName { kind, name, view, mode: self.inner.options.names };
        // Before the fleet is read, so that a server that becomes ready in between is noticed.
        let mut changes = self.host().fleet().changes();
        let fleet = changes.load();
        let late = fleet.servers.values().filter(|server| !server.status.is_settled());
        let late: Vec<_> = late
            .filter(|server| wanted.claim(server) != NameClaim::None)
            .map(|server| server.id.clone())
            .collect();
        if !late.is_empty() {
            let settled = self.host().wait_settled(Some(&late));
            tokio::pin!(settled);
            loop {
                tokio::select! {
                    () = &mut settled => break,
                    () = asked.cancel.cancelled() => break,
                    () = self.inner.stop.cancelled() => break,
                    _ = changes.changed() => {}
                }
                if is_there() {
                    break;
                }
            }
        }
        if is_there() {
            return LateLookup::Found;
        }
        // A fresh lease: cached views are not updated when only the state of a server changes.
        let lease = self.host().lease();
        match wanted.owner(lease.fleet()) {
            Some(target) => LateLookup::NotReady(lease, target),
            None => LateLookup::NotFound(wanted.unavailable_reason(lease.fleet())),
        }
    }
}

/// Suggests similar names, as a clause of an error message.
pub(crate) fn did_you_mean<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> Option<String> {
    let near = nearest_names(name, names, MAX_SUGGESTIONS);
    (!near.is_empty()).then(|| format!("; did you mean `{}`?", near.join("` or `")))
}

struct RequestedName<'a> {
    kind: TargetKind,
    name: &'a str,
    view: &'a View,
    mode: NameMode,
}

impl RequestedName<'_> {
    /// Returns whether a server that has listed nothing yet may have the name.
    fn claim(&self, server: &Server) -> NameClaim {
        let may_come = match &server.status {
            ServerStatus::Starting
            | ServerStatus::Waiting { .. }
            | ServerStatus::NeedsApproval
            | ServerStatus::NeedsLogin(_)
            | ServerStatus::Failed(_) => true,
            ServerStatus::Ready | ServerStatus::Disabled | ServerStatus::NotAllowed(_) => false,
        };
        // The items of a server that was connected before stay listed while it is down.
        if !may_come || server.agreement.is_some() {
            return NameClaim::None;
        }
        let id = server.id.as_str();
        let claim = match (self.kind, NamingScheme::for_server(server, self.mode)) {
            (TargetKind::Resource, _) => match self.name.strip_prefix(&uri_prefix(id)) {
                Some(own) => NameClaim::Own(own.to_owned()),
                None => NameClaim::Perhaps,
            },
            (_, NamingScheme::Server) => claim_by_prefix(id, self.name),
            (_, NamingScheme::Prefix(prefix)) => claim_by_prefix(prefix, self.name),
            (_, NamingScheme::Plain) => NameClaim::Perhaps,
        };
        let own = match &claim {
            NameClaim::None => return NameClaim::None,
            NameClaim::Perhaps => self.name,
            NameClaim::Own(own) => own,
        };
        // A caller must not learn from the wait or the message that a hidden server exists.
        if self.view.shows(id, own) { claim } else { NameClaim::None }
    }

    /// Returns the server that the name must belong to, if it exists.
    fn owner(&self, fleet: &Fleet) -> Option<Target> {
        fleet.servers.values().find_map(|server| match self.claim(server) {
            NameClaim::Own(own) => Some(Target::new(self.kind, server.id.as_str(), &own)),
            NameClaim::None | NameClaim::Perhaps => None,
        })
    }

    /// Names the servers that may have the name but are not ready.
    fn unavailable_reason(&self, fleet: &Fleet) -> Option<String> {
        let claims = |server: &&Arc<Server>| self.claim(server) != NameClaim::None;
        let missing: Vec<String> = fleet
            .servers
            .values()
            .filter(claims)
            .take(MAX_SUGGESTIONS)
            .map(|server| {
                let why = match &server.status {
                    ServerStatus::NeedsApproval => Some(format!(
                        "review it, then run `switchboard servers approve {}`",
                        server.id
                    )),
                    status => status.failure().map(|failure| failure.message.clone()),
                };
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                format!("server `{}` is not ready ({}{why})", server.id, server.status.word())
            })
            .collect();
        (!missing.is_empty()).then(|| missing.join(", "))
    }
}

/// Matches a name against the names that a prefix produces.
fn claim_by_prefix(prefix: &str, name: &str) -> NameClaim {
    let beginning = model_name(prefix, "");
    if beginning == format!("{prefix}__") {
        return match name.strip_prefix(&beginning).filter(|own| !own.is_empty()) {
            // The round trip fails for a name that would have been shortened.
            Some(own) if model_name(prefix, own) == name => NameClaim::Own(own.to_owned()),
            Some(_) => NameClaim::Perhaps,
            None => NameClaim::None,
        };
    }
    // Characters of the prefix that names may not have were replaced, and a digest appended.
    let kept =
        beginning.len().checked_sub(DIGEST_SUFFIX_LENGTH).and_then(|kept| beginning.get(..kept));
    match kept.is_some_and(|kept| name.starts_with(kept)) {
        true => NameClaim::Perhaps,
        false => NameClaim::None,
    }
}

#[cfg(test)]
mod tests {
    use switchboard_catalog::model_name;

    use super::{NameClaim, claim_by_prefix};

    #[test]
    fn a_name_tells_which_server_it_may_be_of() {
        let own = |name: &str| NameClaim::Own(name.to_owned());
        // Shortened with a digest, as for a tool with a long name.
        let long = model_name("a", &"t".repeat(80));
        let cut = long.strip_prefix("a__").unwrap();
        for (prefix, name, expected) in [
            ("a", "a__b", own("b")),
            ("a", "a__b__c", own("b__c")),
            ("a__b", "a__b__c", own("c")),
            ("a", "a__", NameClaim::None),
            ("a", "b__a", NameClaim::None),
            ("a", "ab__c", NameClaim::None),
            ("a", "a_b", NameClaim::None),
            ("a", &long, own(cut)),
            ("a b", &model_name("a b", "c"), NameClaim::Perhaps),
            ("a b", "a__c", NameClaim::None),
        ] {
            assert_eq!(claim_by_prefix(prefix, name), expected, "{prefix} {name}");
        }
    }
}
