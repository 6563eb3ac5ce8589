//! The `gateway` section of the settings: defaults for the flags of `serve`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

use switchboard_document::{ConfigError, Member, Node};
use switchboard_text::suggestion;

use crate::gateway_views;
use crate::gateway_views::ViewKey;
use crate::reader::ConfigReader;

const KEYS: &[&str] = &[
    "listen", "servers", "names", "tools", "review", "allowHosts", "allowOrigins", "requireToken",
    "oauth", "views", "maxInFlight", "maxSessions", "maxRate", "maxBodyBytes", "readSeconds",
    "drainSeconds",
];
const OAUTH_KEYS: &[&str] = &["issuer", "audience", "scopes", "jwks"];

const COUNT_RANGE: RangeInclusive<usize> = 1..=1_000_000;
const SESSIONS_RANGE: RangeInclusive<usize> = 1..=10_000;
const BODY_BYTES_RANGE: RangeInclusive<usize> = 1_024..=1_073_741_824;
const READ_SECONDS_RANGE: RangeInclusive<usize> = 1..=3_600;
const DRAIN_SECONDS_RANGE: RangeInclusive<usize> = 0..=3_600;

/// Defaults for the flags of `serve`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GatewaySettings {
    pub listen: Option<SocketAddr>,
    /// The servers to serve; empty means all.
    pub servers: Vec<String>,
    pub names: Option<GatewayNames>,
    pub tools: Option<GatewayTools>,
    /// The approver of calls that no rule allows.
    pub review: Option<GatewayReview>,
    /// Accepted `Host` names, in addition to those of this machine.
    pub allow_hosts: Vec<String>,
    /// Origins whose pages may send requests.
    pub allow_origins: Vec<String>,
    pub require_token: bool,
    /// The issuer whose tokens are accepted in addition to our own.
    pub oauth: Option<GatewayOauth>,
    /// The views of callers with a token of the issuer; `None` shows everything to everyone.
    pub views: Option<BTreeMap<ViewKey, Vec<String>>>,
    /// Maximum number of concurrent requests per caller.
    pub max_in_flight: Option<usize>,
    pub max_sessions: Option<usize>,
    /// Maximum number of requests per caller and second.
    pub max_rate: Option<usize>,
    pub max_body_bytes: Option<usize>,
    /// How long a client may take to send its headers or a message, in seconds.
    pub read_seconds: Option<usize>,
    /// How long calls in flight may continue after a shutdown request, in seconds.
    pub drain_seconds: Option<usize>,
}

/// How tools and prompts are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayNames {
    Prefixed,
    Plain,
}

/// Which tools are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayTools {
    /// All tools, unless there are too many.
    Auto,
    All,
    /// Three tools that find, describe and call the others.
    Search,
}

/// The approver of calls that no rule allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayReview {
    /// The client asks its own user.
    Client,
    Ask,
}

/// The token issuer that the gateway accepts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GatewayOauth {
    /// The issuer, exactly as in the `iss` claim of its tokens.
    pub issuer: String,
    /// The URL under which clients reach the gateway; expected in the `aud` claim.
    pub audience: String,
    pub scopes: Vec<String>,
    /// URL of the issuer's key set; `None` means that it is discovered.
    pub jwks: Option<String>,
}

/// Reads the whole object into `gateway`.
pub(crate) fn read(
    gateway: &mut GatewaySettings,
    node: &Node,
    key: &str,
    reader: &ConfigReader<'_>,
) -> Result<(), ConfigError> {
    for member in known_members(reader, node, key, KEYS)? {
        let node = &member.value;
        let key = &format!("{key}.{}", member.name);
        match member.name.as_str() {
            "listen" => gateway.listen = Some(address(reader, node, key)?),
            "servers" => gateway.servers = reader.texts(node, key)?,
            "names" => {
                let choices = [
                    ("prefixed", GatewayNames::Prefixed),
                    ("server", GatewayNames::Prefixed),
                    ("plain", GatewayNames::Plain),
                ];
                gateway.names = Some(reader.choice(node, key, &choices)?);
            }
            "tools" => {
                let choices = [
                    ("auto", GatewayTools::Auto),
                    ("all", GatewayTools::All),
                    ("search", GatewayTools::Search),
                ];
                gateway.tools = Some(reader.choice(node, key, &choices)?);
            }
            "review" => {
                let choices = [("client", GatewayReview::Client), ("ask", GatewayReview::Ask)];
                gateway.review = Some(reader.choice(node, key, &choices)?);
            }
            "allowHosts" => gateway.allow_hosts = reader.texts(node, key)?,
            "allowOrigins" => gateway.allow_origins = reader.texts(node, key)?,
            "requireToken" => gateway.require_token = reader.flag(node, key)?,
            "oauth" => gateway.oauth = Some(oauth(reader, node, key)?),
            "views" => gateway.views = Some(gateway_views::read(reader, node, key)?),
            "maxInFlight" => gateway.max_in_flight = Some(reader.count(node, key, COUNT_RANGE)?),
            "maxSessions" => {
                gateway.max_sessions = Some(reader.count(node, key, SESSIONS_RANGE)?);
            }
            "maxRate" => gateway.max_rate = Some(reader.count(node, key, COUNT_RANGE)?),
            "maxBodyBytes" => {
                gateway.max_body_bytes = Some(reader.count(node, key, BODY_BYTES_RANGE)?);
            }
            "readSeconds" => {
                gateway.read_seconds = Some(reader.count(node, key, READ_SECONDS_RANGE)?);
            }
            "drainSeconds" => {
                gateway.drain_seconds = Some(reader.count(node, key, DRAIN_SECONDS_RANGE)?);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the members that are not null; rejects unknown ones.
fn known_members<'n>(
    reader: &ConfigReader<'_>,
    node: &'n Node,
    key: &str,
    known: &[&'static str],
) -> Result<Vec<&'n Member>, ConfigError> {
    let members = reader.members(node, key)?;
    // Not a warning as elsewhere: a misspelled limit would not limit anything.
    if let Some(other) = members.iter().find(|member| !known.contains(&member.name.as_str())) {
        let error = reader.key_error(other.at, &format!("{key}.{}", other.name), "is not known");
        return Err(match suggestion(&other.name, known) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error.hint(format!("use one of `{}`", known.join("`, `"))),
        });
    }
    Ok(members.iter().filter(|member| !member.value.is_null()).collect())
}

fn address(reader: &ConfigReader<'_>, node: &Node, key: &str) -> Result<SocketAddr, ConfigError> {
    let text = reader.text(node, key)?;
    text.parse().map_err(|_| {
        let error = reader.key_error(node.at, key, "must be an address and a port");
        error.hint("such as `127.0.0.1:8808`")
    })
}

fn oauth(reader: &ConfigReader<'_>, node: &Node, key: &str) -> Result<GatewayOauth, ConfigError> {
    let mut oauth = GatewayOauth::default();
    for member in known_members(reader, node, key, OAUTH_KEYS)? {
        let node = &member.value;
        let key = &format!("{key}.{}", member.name);
        match member.name.as_str() {
            "issuer" => oauth.issuer = reader.text(node, key)?,
            "audience" => oauth.audience = reader.text(node, key)?,
            "scopes" => oauth.scopes = reader.texts(node, key)?,
            "jwks" => oauth.jwks = Some(reader.text(node, key)?),
            _ => {}
        }
    }
    // Without an audience, a token that the issuer made for another service would be accepted.
    if oauth.issuer.is_empty() || oauth.audience.is_empty() {
        return Err(reader.key_error(node.at, key, "needs an `issuer` and an `audience`"));
    }
    Ok(oauth)
}
