//! Names that are not there: perhaps their server is still on its way up, or did not come up.

use std::sync::Arc;

use switchboard_catalog::{Fleet, Lease, Server, Status, model_name};
use switchboard_core::{ProposedCall, Target, TargetKind};
use switchboard_text::nearest;
use switchboard_wire::RpcError;

use crate::addresses::prefix;
use crate::asked::{Asked, Params, arguments, find};
use crate::gateway::Gateway;
use crate::naming::{NameMode, Naming};
use crate::parked::Running;
use crate::view::View;

/// As many servers are named as the reason why something is not there, and as many near names.
const NAMED: usize = 3;
/// How much longer than its beginning a name is that ends with a digest.
const DIGEST: usize = 9;

/// Whether a name is one of a server that has listed nothing yet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Claim {
    /// It is no name of that server.
    None,
    /// It may be one.
    Perhaps,
    /// It is one, if there is such a thing: under this name of its own.
    Own(String),
}

/// What became of a name that was not there.
pub(crate) enum Arrival {
    /// It is there.
    There,
    /// Its server is not; calling it says why.
    NotReady(Lease, Target),
    /// Nobody has it, perhaps because some servers are not ready.
    Nobody(Option<String>),
}

impl Gateway {
    /// Starts a call of what was not there at first, `error`, if only its server was late.
    pub(crate) async fn started_later(
        &self,
        asked: &Asked,
        kind: TargetKind,
        params: &Params,
        error: RpcError,
    ) -> Result<Running, RpcError> {
        let name = match kind {
            TargetKind::Tool | TargetKind::Prompt => params.name.as_deref(),
            TargetKind::Resource => params.uri.as_deref(),
        };
        if find(&self.listing(&asked.client.view), kind, params, asked.client.era()).is_ok() {
            // It came just now, or something else is wrong, which is told again.
            return self.started(asked, kind, params);
        }
        let Some(name) = name else { return Err(error) };
        match self.arrival(asked, kind, name).await {
            Arrival::There => self.started(asked, kind, params),
            Arrival::NotReady(lease, target) => {
                let proposed = ProposedCall { target, arguments: arguments(params) };
                Ok(self.run(asked, &lease, proposed, params))
            }
            Arrival::Nobody(None) => {
                let listing = self.listing(&asked.client.view);
                let near = match kind {
                    TargetKind::Tool => near(listing.tool_names(), name),
                    TargetKind::Prompt => near(listing.prompt_names(), name),
                    TargetKind::Resource => None,
                };
                Err(RpcError {
                    message: format!("{}{}", error.message, near.unwrap_or_default()),
                    ..error
                })
            }
            Arrival::Nobody(Some(why)) => {
                Err(RpcError { message: format!("{}: {why}", error.message), ..error })
            }
        }
    }

    /// Waits for the servers that may have a name, for as long as they may take to start.
    pub(crate) async fn arrival(&self, asked: &Asked, kind: TargetKind, name: &str) -> Arrival {
        let view = &asked.client.view;
        let is_there = || {
            let listing = self.listing(view);
            match kind {
                TargetKind::Tool => listing.tool(name).is_some(),
                TargetKind::Prompt => listing.prompt(name).is_some(),
                TargetKind::Resource => listing.resource(name).is_some(),
            }
        };
        let wanted = Name { kind, name, view, mode: self.options().names };
        let mut changes = self.host().fleet().changes();
        let fleet = changes.load();
        let late = fleet.servers.values().filter(|server| !server.status.is_settled());
        let late: Vec<_> = late
            .filter(|server| wanted.claim(server) != Claim::None)
            .map(|server| server.id.clone())
            .collect();
        if !late.is_empty() {
            let settled = self.host().settled(Some(&late));
            tokio::pin!(settled);
            loop {
                tokio::select! {
                    () = &mut settled => break,
                    () = asked.cancel.cancelled() => break,
                    () = self.stopping().cancelled() => break,
                    _ = changes.changed() => {}
                }
                if is_there() {
                    break;
                }
            }
        }
        if is_there() {
            return Arrival::There;
        }
        // As it is at this moment: listings are kept while servers only change their state.
        let lease = self.host().lease();
        match wanted.owner(lease.fleet()) {
            Some(target) => Arrival::NotReady(lease, target),
            None => Arrival::Nobody(wanted.excuse(lease.fleet())),
        }
    }
}

/// The names that come close to one that is not there, as a clause.
pub(crate) fn near<'a>(names: impl Iterator<Item = &'a str>, name: &str) -> Option<String> {
    let near = nearest(name, names, NAMED);
    (!near.is_empty()).then(|| format!("; did you mean `{}`?", near.join("` or `")))
}

/// A name that somebody with a view asks for.
struct Name<'a> {
    kind: TargetKind,
    name: &'a str,
    view: &'a View,
    mode: NameMode,
}

impl Name<'_> {
    /// Whether a server may have it that has listed nothing yet.
    fn claim(&self, server: &Server) -> Claim {
        let may_come = match &server.status {
            Status::Starting
            | Status::Waiting { .. }
            | Status::NeedsApproval
            | Status::NeedsLogin(_)
            | Status::Failed(_) => true,
            Status::Ready | Status::Disabled | Status::NotAllowed(_) => false,
        };
        // What a server has listed once stays listed while it is down.
        if !may_come || server.agreement.is_some() {
            return Claim::None;
        }
        let id = server.id.as_str();
        let claim = match (self.kind, Naming::of(server, self.mode)) {
            (TargetKind::Resource, _) => match self.name.strip_prefix(&prefix(id)) {
                Some(own) => Claim::Own(own.to_owned()),
                None => Claim::Perhaps,
            },
            (_, Naming::Server) => of_prefix(id, self.name),
            (_, Naming::Prefix(prefix)) => of_prefix(prefix, self.name),
            (_, Naming::Plain) => Claim::Perhaps,
        };
        let own = match &claim {
            Claim::None => return Claim::None,
            Claim::Perhaps => self.name,
            Claim::Own(own) => own,
        };
        if self.view.shows(id, own) { claim } else { Claim::None }
    }

    /// The server that has it if anybody does.
    fn owner(&self, fleet: &Fleet) -> Option<Target> {
        fleet.servers.values().find_map(|server| match self.claim(server) {
            Claim::Own(own) => Some(Target::new(self.kind, server.id.as_str(), &own)),
            Claim::None | Claim::Perhaps => None,
        })
    }

    /// Why nobody may have it.
    fn excuse(&self, fleet: &Fleet) -> Option<String> {
        let claims = |server: &&Arc<Server>| self.claim(server) != Claim::None;
        let missing: Vec<String> = fleet
            .servers
            .values()
            .filter(claims)
            .take(NAMED)
            .map(|server| {
                let why = match &server.status {
                    Status::NeedsApproval => Some(format!(
                        "look at it, then `switchboard servers approve {}`",
                        server.id
                    )),
                    status => status.failure().map(|failure| failure.message.clone()),
                };
                let why = why.map(|why| format!(": {why}"));
                let (word, why) = (server.status.word(), why.unwrap_or_default());
                format!("server `{}` is not ready ({word}{why})", server.id)
            })
            .collect();
        (!missing.is_empty()).then(|| missing.join(", "))
    }
}

/// Whether a name begins as those with a prefix do.
fn of_prefix(prefix: &str, name: &str) -> Claim {
    let beginning = model_name(prefix, "");
    if beginning == format!("{prefix}__") {
        return match name.strip_prefix(&beginning).filter(|own| !own.is_empty()) {
            // A longer one would not be called so.
            Some(own) if model_name(prefix, own) == name => Claim::Own(own.to_owned()),
            Some(_) => Claim::Perhaps,
            None => Claim::None,
        };
    }
    // What a name may not hold was replaced, and a digest of the whole stands behind.
    let kept = beginning.len().checked_sub(DIGEST).and_then(|kept| beginning.get(..kept));
    match kept.is_some_and(|kept| name.starts_with(kept)) {
        true => Claim::Perhaps,
        false => Claim::None,
    }
}

#[cfg(test)]
mod tests {
    use switchboard_catalog::model_name;

    use super::{Claim, of_prefix};

    #[test]
    fn a_name_tells_which_server_it_may_be_of() {
        let own = |name: &str| Claim::Own(name.to_owned());
        // Cut and with a digest, as if a tool were called so.
        let long = model_name("a", &"t".repeat(80));
        let cut = long.strip_prefix("a__").unwrap();
        for (prefix, name, expected) in [
            ("a", "a__b", own("b")),
            ("a", "a__b__c", own("b__c")),
            ("a__b", "a__b__c", own("c")),
            ("a", "a__", Claim::None),
            ("a", "b__a", Claim::None),
            ("a", "ab__c", Claim::None),
            ("a", "a_b", Claim::None),
            ("a", &long, own(cut)),
            ("a b", &model_name("a b", "c"), Claim::Perhaps),
            ("a b", "a__c", Claim::None),
        ] {
            assert_eq!(of_prefix(prefix, name), expected, "{prefix} {name}");
        }
    }
}
