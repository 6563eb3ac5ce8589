//! The kind of authorization server that the command line asks for, and what it does wrong.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use serde_json::Value;

/// Every name with what it does; most take a URL by `--value`, in which `{origin}` stands for the
/// server's own address and `{sink}` for the listener that nobody may reach, with the port
/// `{sink-port}`.
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

/// How a client has to prove itself at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientAuth {
    None,
    Basic,
    Post,
}

impl ClientAuth {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiscoveryMode {
    /// Resource metadata, and the authorization server's in the form of RFC 8414
    Oauth,
    /// Resource metadata, and the authorization server's in the form of `OpenID`
    #[value(name = "openid")]
    OpenId,
    /// As in 2025-03-26: no resource metadata, the authorization server's at the origin
    Origin,
    /// As in 2025-03-26 with nothing at all: only the usual paths
    Nowhere,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "oauth")]
pub(crate) struct OauthSiteSettings {
    #[arg(long, default_value = "none")]
    pub(crate) client_auth: ClientAuth,
    #[arg(long, default_value = "oauth")]
    pub(crate) discovery: DiscoveryMode,
    /// No dynamic registration
    #[arg(long)]
    pub(crate) no_registration: bool,
    /// Takes the address of a client's document as its id
    #[arg(long)]
    pub(crate) client_documents: bool,
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// Nobody agrees
    #[arg(long)]
    pub(crate) deny: bool,
    /// A client that need not register
    #[arg(long)]
    pub(crate) client: Option<String>,
    #[arg(long)]
    pub(crate) client_secret: Option<String>,
    #[arg(long, default_value_t = 3600)]
    pub(crate) token_seconds: u64,
    /// The path of the issuer, empty or with a slash in front
    #[arg(long, default_value = "")]
    pub(crate) issuer_path: String,
    /// The scope without which nothing is answered
    #[arg(long)]
    pub(crate) base_scope: Option<String>,
    /// `scopes_supported` in the metadata
    #[arg(long, value_delimiter = ' ')]
    pub(crate) scopes: Option<Vec<String>>,
    /// Members that replace those of the authorization server's metadata; null removes one
    #[arg(long, value_parser = parse_json)]
    pub(crate) server_metadata: Option<Value>,
    /// The same for the resource's metadata
    #[arg(long, value_parser = parse_json)]
    pub(crate) resource_metadata: Option<Value>,
    #[arg(long, value_parser = PossibleValuesParser::new(misbehaviours()))]
    misbehave: Option<String>,
    /// In values, {origin}, {sink} and {sink-port} belong to this process
    #[arg(long)]
    pub(crate) value: Option<String>,
}

impl OauthSiteSettings {
    /// Says whether the server was told to do this wrong.
    pub(crate) fn misbehaves(&self, name: &str) -> bool {
        debug_assert!(MISBEHAVIOURS.iter().any(|(known, _)| *known == name), "{name}");
        self.misbehave.as_deref() == Some(name)
    }

    /// Whether clients know nothing of resources, as before 2025-06-18.
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
