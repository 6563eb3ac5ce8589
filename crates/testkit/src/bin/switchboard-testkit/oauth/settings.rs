//! Command-line options of the authorization server, including its misbehaviour.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use serde_json::Value;

/// Every misbehaviour with its effect. Most take a URL in `--value`, in which `{origin}` expands to
/// the server's own address, `{sink}` to that of a listener that no client may contact, and
/// `{sink-port}` to that listener's port.
const MISBEHAVIOURS: &[(&str, &str)] = &[
    ("wrong-iss", "the callback's `iss` is --value (https://evil.example)"),
    ("no-iss", "the callback lacks the `iss` that the metadata promises"),
    ("wrong-state", "the callback has another `state`"),
    ("no-state", "the callback has no `state`"),
    ("script-in-error", "the callback is an error whose description is a script"),
    ("challenge-metadata", "the 401 names --value as its `resource_metadata`"),
    ("challenge-junk", "the 401 has --value as its whole challenge"),
    ("prm-redirect", "the resource metadata is a redirect to --value"),
    ("as-redirect", "the authorization server's metadata is a redirect to --value"),
    ("register-redirect", "registration answers with a redirect to --value"),
    ("token-redirect", "the token endpoint answers with a redirect to --value"),
    ("mcp-redirect", "an authorized MCP request is redirected to --value"),
    ("huge-metadata", "the resource metadata has 8 MiB"),
    ("huge-token", "the token answer has 8 MiB"),
    ("slow-metadata", "the authorization server's metadata never comes"),
    ("slow-token", "the token answer never comes"),
    ("echo-bait", "metadata requests fail with a body that must not be repeated"),
    ("refresh-refused", "every refresh is refused with `invalid_grant`"),
    ("refresh-broken", "every refresh fails with status 500"),
    ("always-401", "no token is ever good enough"),
    ("always-403", "no scope is ever enough"),
    ("strange-token-type", "tokens are not bearer tokens"),
    ("links", "metadata, registrations and tools are full of links to the sink"),
];

/// How a client has to authenticate at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientAuth {
    None,
    Basic,
    Post,
}

impl ClientAuth {
    /// Returns the name in metadata.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }
}

/// Location of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiscoveryMode {
    /// Resource metadata, and authorization server metadata as in RFC 8414
    Oauth,
    /// Resource metadata, and authorization server metadata as in `OpenID`
    #[value(name = "openid")]
    OpenId,
    /// As in 2025-03-26: no resource metadata, authorization server metadata at the origin
    Origin,
    /// As in 2025-03-26 without any metadata: only the default paths
    Nowhere,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "oauth")]
pub(crate) struct OauthSiteSettings {
    #[arg(long, default_value = "none")]
    pub(crate) client_auth: ClientAuth,
    #[arg(long, default_value = "oauth")]
    pub(crate) discovery: DiscoveryMode,
    /// Disable dynamic client registration
    #[arg(long)]
    pub(crate) no_registration: bool,
    /// Accept the URL of a client's metadata document as its id
    #[arg(long)]
    pub(crate) client_documents: bool,
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// Deny every authorization
    #[arg(long)]
    pub(crate) deny: bool,
    /// Id of a preregistered client
    #[arg(long)]
    pub(crate) client: Option<String>,
    #[arg(long)]
    pub(crate) client_secret: Option<String>,
    #[arg(long, default_value_t = 3600)]
    pub(crate) token_seconds: u64,
    /// Path of the issuer, empty or with a leading slash
    #[arg(long, default_value = "")]
    pub(crate) issuer_path: String,
    /// Scope that every MCP request needs
    #[arg(long)]
    pub(crate) base_scope: Option<String>,
    /// `scopes_supported` in the metadata
    #[arg(long, value_delimiter = ' ')]
    pub(crate) scopes: Option<Vec<String>>,
    /// JSON members that replace those of the authorization server metadata; null removes one
    #[arg(long, value_parser = parse_json)]
    pub(crate) server_metadata: Option<Value>,
    /// JSON members that replace those of the resource metadata; null removes one
    #[arg(long, value_parser = parse_json)]
    pub(crate) resource_metadata: Option<Value>,
    #[arg(long, value_parser = PossibleValuesParser::new(misbehaviours()))]
    misbehave: Option<String>,
    /// Value for `--misbehave`; {origin}, {sink} and {sink-port} expand to this process's addresses
    #[arg(long)]
    pub(crate) value: Option<String>,
}

impl OauthSiteSettings {
    /// Whether `--misbehave` names this misbehaviour.
    pub(crate) fn misbehaves(&self, name: &str) -> bool {
        debug_assert!(MISBEHAVIOURS.iter().any(|(known, _)| *known == name), "{name}");
        self.misbehave.as_deref() == Some(name)
    }

    /// Whether resources have no metadata and no `resource` parameter, as before 2025-06-18.
    pub(crate) fn is_old(&self) -> bool {
        matches!(self.discovery, DiscoveryMode::Origin | DiscoveryMode::Nowhere)
    }
}

fn misbehaviours() -> Vec<PossibleValue> {
    MISBEHAVIOURS.iter().map(|(name, effect)| PossibleValue::new(*name).help(*effect)).collect()
}

fn parse_json(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text)
}
