//! What kind of authorization server the command line asks for.

use serde_json::Value;

use super::misbehaviour::Misbehaviour;
use crate::options::Flags;

/// How a client has to prove itself at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientAuth {
    None,
    Basic,
    Post,
}

impl ClientAuth {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "none" => Self::None,
            "basic" => Self::Basic,
            "post" => Self::Post,
            other => panic!("unknown client authentication `{other}`"),
        }
    }

    /// The name in metadata.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }
}

/// Where metadata is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiscoveryMode {
    /// Resource metadata, and the authorization server's in the form of RFC 8414.
    Oauth,
    /// Resource metadata, and the authorization server's in the form of `OpenID`.
    OpenId,
    /// As in 2025-03-26: no resource metadata, the authorization server's at the origin.
    Origin,
    /// As in 2025-03-26 with nothing at all: only the usual paths.
    Nowhere,
}

#[derive(Debug)]
pub(crate) struct OauthSiteSettings {
    pub(crate) client_auth: ClientAuth,
    pub(crate) discovery: DiscoveryMode,
    pub(crate) registration: bool,
    pub(crate) client_documents: bool,
    pub(crate) refresh_tokens: bool,
    pub(crate) deny: bool,
    /// The id and the secret of a client that need not register.
    pub(crate) client: Option<(String, Option<String>)>,
    pub(crate) token_seconds: u64,
    /// The path of the issuer, empty or with a slash in front.
    pub(crate) issuer_path: String,
    /// The scope without which nothing is answered.
    pub(crate) base_scope: Option<String>,
    pub(crate) scopes_supported: Option<Vec<String>>,
    /// Members that replace those of the authorization server's metadata; null removes one.
    pub(crate) server_metadata: Value,
    /// The same for the resource's metadata.
    pub(crate) resource_metadata: Value,
    pub(crate) misbehaviour: Option<Misbehaviour>,
    /// The status of redirects that a misbehaviour makes.
    pub(crate) redirect_status: u16,
}

impl OauthSiteSettings {
    pub(crate) fn from_flags(flags: &Flags) -> Self {
        let discovery = match flags.text("discovery") {
            None | Some("oauth") => DiscoveryMode::Oauth,
            Some("openid") => DiscoveryMode::OpenId,
            Some("origin") => DiscoveryMode::Origin,
            Some("nowhere") => DiscoveryMode::Nowhere,
            Some(other) => panic!("unknown discovery `{other}`"),
        };
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        let secret = flags.text("client-secret").map(str::to_owned);
        Self {
            client_auth: ClientAuth::from_name(flags.text("client-auth").unwrap_or("none")),
            discovery,
            registration: !flags.has("no-registration"),
            client_documents: flags.has("client-documents"),
            refresh_tokens: !flags.has("no-refresh"),
            deny: flags.has("deny"),
            client: flags.text("client").map(|id| (id.to_owned(), secret)),
            token_seconds: flags.number("token-seconds", 3600),
            issuer_path: flags.text("issuer-path").unwrap_or_default().to_owned(),
            base_scope: flags.text("base-scope").map(str::to_owned),
            scopes_supported: flags.text("scopes").map(words),
            server_metadata: object(flags, "server-metadata"),
            resource_metadata: object(flags, "resource-metadata"),
            misbehaviour: flags
                .text("misbehave")
                .map(|name| Misbehaviour::from_name(name, flags.text("value"))),
            redirect_status: flags.number("status", 307),
        }
    }

    /// Says whether the server was told to do this wrong.
    pub(crate) fn misbehaves(&self, name: &str) -> bool {
        self.misbehaviour.as_ref().is_some_and(|wrong| wrong.is(name))
    }
}

fn object(flags: &Flags, name: &str) -> Value {
    let Some(text) = flags.text(name) else { return Value::Null };
    serde_json::from_str(text).unwrap_or_else(|cause| panic!("`--{name}`: {cause}"))
}
