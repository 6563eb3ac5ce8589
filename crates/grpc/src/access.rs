//! Authentication of callers, and their views.

use std::sync::Arc;

use switchboard_access::{Access, Authenticator, View};
use switchboard_catalog::{Lease, Server};
use switchboard_core::ProposedCall;
use switchboard_net::{bearer, single_header};
use tonic::Status;
use tonic::metadata::MetadataMap;

/// The name of the caller on the Unix socket. No token can have it: token names contain no spaces.
const OWNER_NAME: &str = "unix socket";

/// The way in which callers authenticate.
#[derive(Clone)]
pub enum GrpcAccess {
    /// By connecting to a socket that only its owner can open; the owner has full access.
    Owner,
    Tokens(Arc<dyn Authenticator>),
}

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
    /// May make calls, but not administer the host.
    Guest,
}

impl GrpcAccess {
    pub(crate) async fn authenticate(
        &self,
        metadata: &MetadataMap,
    ) -> Result<AuthorizedCaller, Status> {
        let tokens = match self {
            Self::Owner => return Ok(AuthorizedCaller::owner()),
            Self::Tokens(tokens) => tokens,
        };
        // Duplicate headers are not credentials: a proxy may have validated the other one.
        let Ok(Some(authorization)) = single_header(metadata.as_ref(), "authorization") else {
            let why = "token needed: send the metadata `authorization: Bearer sb_…`";
            return Err(Status::unauthenticated(why));
        };
        // Same error for every bad token, so that callers cannot learn what is wrong with one.
        let unknown = || Status::unauthenticated("unknown token");
        let token = bearer(authorization).ok_or_else(unknown)?;
        let guest = tokens.authenticate(Some(token)).await.map_err(|_| unknown())?;
        let Access { identity, name, view } = guest;
        Ok(AuthorizedCaller { identity, name, view, role: CallerRole::Guest })
    }

    /// Returns whether an authenticated caller still has access.
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

    /// Fails unless the caller is the owner of the host.
    pub(crate) fn require_owner(&self, what: &str) -> Result<(), Status> {
        if self.is_owner() {
            return Ok(());
        }
        let why = format!("{what} needs the Unix socket; a token allows only calls");
        Err(Status::permission_denied(why))
    }

    pub(crate) fn sees_all(&self) -> bool {
        self.view.is_unrestricted()
    }

    pub(crate) fn sees(&self, server: &str, name: &str) -> bool {
        self.view.shows(server, name)
    }

    pub(crate) fn sees_server(&self, server: &Server) -> bool {
        let id = server.id.as_str();
        let offers = &server.offers;
        let items = offers.prompts.iter().chain(&offers.resources).chain(&offers.templates);
        self.sees_all()
            || offers.tools.iter().any(|tool| self.sees(id, tool.name()))
            || items.into_iter().any(|item| self.sees(id, &item.key))
    }

    /// Returns whether the view shows a resource, or a template that it is an instance of.
    pub(crate) fn sees_resource(&self, lease: &Lease, server: &str, uri: &str) -> bool {
        if self.sees_all() {
            return true;
        }
        let Some(offers) = lease.fleet().servers.get(server).map(|server| &server.offers) else {
            return false;
        };
        // A listed resource that the view hides stays hidden, even if a visible template fits.
        if offers.resources.iter().any(|item| *item.key == *uri) {
            return self.sees(server, uri);
        }
        // The lease matches the URI against the templates.
        offers.templates.iter().any(|item| self.sees(server, &item.key))
            && lease.resolve(ProposedCall::resource(server, uri)).is_ok()
    }
}
