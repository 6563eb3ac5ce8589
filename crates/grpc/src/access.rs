//! Admission of callers, and what they see.

use std::sync::Arc;

use switchboard_access::{Access, Authenticator, View};
use switchboard_catalog::{Lease, Server};
use switchboard_core::ProposedCall;
use switchboard_net::{bearer, single_header};
use tonic::Status;
use tonic::metadata::MetadataMap;

/// The name of the caller on the Unix socket. No token can have it: names of tokens hold no space.
const OWNER_NAME: &str = "unix socket";

/// How callers prove who they are.
#[derive(Clone)]
pub enum GrpcAccess {
    /// By a socket that only its owner can open, which is proof enough for everything.
    Owner,
    Tokens(Arc<dyn Authenticator>),
}

/// A caller that was admitted.
#[derive(Clone, Debug)]
pub(crate) struct AuthorizedCaller {
    pub(crate) identity: Arc<str>,
    pub(crate) name: Arc<str>,
    view: Arc<View>,
    role: CallerRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallerRole {
    Owner,
    /// May call, and nothing else.
    Guest,
}

impl GrpcAccess {
    /// Returns the caller, if it is admitted.
    pub(crate) async fn authenticate(
        &self,
        metadata: &MetadataMap,
    ) -> Result<AuthorizedCaller, Status> {
        let tokens = match self {
            Self::Owner => return Ok(AuthorizedCaller::owner()),
            Self::Tokens(tokens) => tokens,
        };
        // Duplicates are no credentials: a proxy may have validated the other one.
        let Ok(Some(authorization)) = single_header(metadata.as_ref(), "authorization") else {
            return Err(Status::unauthenticated(
                "a token is needed: metadata `authorization: Bearer sb_…`",
            ));
        };
        let unknown = || Status::unauthenticated("this token is not known here");
        let token = bearer(authorization).ok_or_else(unknown)?;
        let guest = tokens.authenticate(Some(token)).await.map_err(|_| unknown())?;
        let Access { identity, name, view } = guest;
        Ok(AuthorizedCaller { identity, name, view, role: CallerRole::Guest })
    }

    /// Whether a caller that was admitted before still would be.
    pub(crate) fn is_valid(&self, identity: &str) -> bool {
        match self {
            Self::Owner => true,
            Self::Tokens(tokens) => tokens.is_still_valid(identity),
        }
    }
}

impl AuthorizedCaller {
    fn owner() -> Self {
        Self {
            identity: OWNER_NAME.into(),
            name: OWNER_NAME.into(),
            view: Arc::default(),
            role: CallerRole::Owner,
        }
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.role == CallerRole::Owner
    }

    /// Fails unless it is the one whose host it is.
    pub(crate) fn require_owner(&self, what: &str) -> Result<(), Status> {
        if self.is_owner() {
            return Ok(());
        }
        Err(Status::permission_denied(format!(
            "{what} takes the Unix socket: a token is for calls"
        )))
    }

    /// Whether everything is seen.
    pub(crate) fn sees_all(&self) -> bool {
        self.view.is_unrestricted()
    }

    /// Whether a tool, prompt or listed resource is seen.
    pub(crate) fn sees(&self, server: &str, name: &str) -> bool {
        self.view.shows(server, name)
    }

    /// Whether anything of a server is seen.
    pub(crate) fn sees_server(&self, server: &Server) -> bool {
        let id = server.id.as_str();
        let offers = &server.offers;
        let items = offers.prompts.iter().chain(&offers.resources).chain(&offers.templates);
        self.sees_all()
            || offers.tools.iter().any(|tool| self.sees(id, tool.name()))
            || items.into_iter().any(|item| self.sees(id, &item.key))
    }

    /// Whether a resource may be read: one that is seen, or of a family that is.
    pub(crate) fn sees_resource(&self, lease: &Lease, server: &str, uri: &str) -> bool {
        if self.sees_all() {
            return true;
        }
        let Some(offers) = lease.fleet().servers.get(server).map(|server| &server.offers) else {
            return false;
        };
        if offers.resources.iter().any(|item| *item.key == *uri) {
            return self.sees(server, uri);
        }
        offers.templates.iter().any(|item| self.sees(server, &item.key))
            && lease.resolve(ProposedCall::resource(server, uri)).is_ok()
    }
}
