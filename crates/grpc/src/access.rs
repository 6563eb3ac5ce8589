//! Who is let in, and what they see.

use std::pin::Pin;
use std::sync::Arc;

use switchboard_catalog::{Lease, Server};
use switchboard_core::ProposedCall;
use switchboard_net::{bearer, single_header};
use switchboard_rules::Pattern;
use tonic::Status;
use tonic::metadata::MetadataMap;

/// The name of whoever comes over the Unix socket. No token can have it: theirs hold no space.
const OWNER_NAME: &str = "unix socket";

/// How somebody gets in.
#[derive(Clone)]
pub enum GrpcAccess {
    /// Over a socket that only its owner can open: that is proof enough, for everything.
    Owner,
    /// With a token.
    Tokens(Arc<dyn TokenRegistry>),
}

/// Knows the tokens that let somebody in.
pub trait TokenRegistry: Send + Sync {
    /// Who it is that presents `bearer`; nothing, if nobody is let in with it.
    fn verify<'a>(&'a self, bearer: &'a str) -> TokenCheck<'a>;

    /// Whether somebody who was let in before still would be.
    fn is_valid(&self, identity: &str) -> bool;
}

/// A check under way.
pub type TokenCheck<'a> = Pin<Box<dyn Future<Output = Option<TokenHolder>> + Send + 'a>>;

/// Somebody who comes with a token.
#[derive(Clone, Debug)]
pub struct TokenHolder {
    /// Tells them from everybody else.
    pub identity: Arc<str>,
    /// What the record calls them.
    pub name: Arc<str>,
    /// What they see; everything, without a pattern.
    pub sees: Vec<Pattern>,
}

/// Somebody who was let in.
#[derive(Clone, Debug)]
pub(crate) struct AuthorizedCaller {
    pub(crate) identity: Arc<str>,
    pub(crate) name: Arc<str>,
    sees: Arc<[Pattern]>,
    standing: CallerRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallerRole {
    /// Whose host it is.
    Owner,
    /// Somebody else, who may call.
    Guest,
}

impl GrpcAccess {
    /// Who it is, if they are let in.
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
        let guest = match bearer(authorization) {
            Some(bearer) => tokens.verify(bearer).await,
            None => None,
        };
        let guest = guest.ok_or_else(|| Status::unauthenticated("this token is not known here"))?;
        Ok(AuthorizedCaller {
            identity: guest.identity,
            name: guest.name,
            sees: guest.sees.into(),
            standing: CallerRole::Guest,
        })
    }

    /// Whether somebody who was let in before still would be.
    pub(crate) fn is_valid(&self, identity: &str) -> bool {
        match self {
            Self::Owner => true,
            Self::Tokens(tokens) => tokens.is_valid(identity),
        }
    }
}

impl AuthorizedCaller {
    fn owner() -> Self {
        Self {
            identity: OWNER_NAME.into(),
            name: OWNER_NAME.into(),
            sees: Arc::default(),
            standing: CallerRole::Owner,
        }
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.standing == CallerRole::Owner
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
        self.sees.is_empty()
    }

    /// Whether a tool, prompt or listed resource is seen.
    pub(crate) fn sees(&self, server: &str, name: &str) -> bool {
        self.sees_all() || self.sees.iter().any(|pattern| pattern.covers(server, name))
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
