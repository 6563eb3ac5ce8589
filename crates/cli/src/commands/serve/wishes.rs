//! Options of `serve`: its flags, with the settings as defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::{Args, ValueEnum};
use switchboard_access::OauthOptions;
use switchboard_config::{
    Config, GatewayNames, GatewayOauth, GatewayReview, GatewaySettings, GatewayTools,
};
use switchboard_document::ConfigError;
use switchboard_gateway::{AccessControl, CallerLimits, GatewayOptions, NameMode, ToolMode};
use switchboard_terminal::CliError;

use crate::commands::serve::ServeArgs;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct OauthArgs {
    /// Accept tokens of this OAuth issuer
    #[arg(long, value_name = "URL", requires = "oauth_audience")]
    pub(crate) oauth_issuer: Option<String>,
    /// URL of this gateway, for which tokens must be issued
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    pub(crate) oauth_audience: Option<String>,
    /// Scope that tokens must have (can be repeated)
    #[arg(long, value_name = "SCOPE", requires = "oauth_issuer")]
    pub(crate) oauth_scope: Vec<String>,
    /// URL of the issuer's signing keys (default: discovered)
    #[arg(long, value_name = "URL", requires = "oauth_issuer")]
    pub(crate) oauth_jwks: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Maximum concurrent requests per caller (default: 256; without tokens, 4096 in total)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_in_flight: Option<u32>,
    /// Maximum sessions per caller (default: 1000; without tokens, 10000 in total)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) max_sessions: Option<u32>,
    /// Maximum requests per second and caller (default: unlimited)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_rate: Option<u32>,
    /// Maximum message size in bytes (default: 4194304)
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1_024..))]
    pub(crate) max_body: Option<u32>,
    /// Seconds that a client may take to send or read a message (default: 60)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) read_timeout: Option<u64>,
    /// Seconds to wait for running calls at shutdown (default: 30)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub(crate) drain: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NameChoice {
    /// Prefix with the server's name, as in `server__tool`
    #[value(alias = "server")]
    Prefixed,
    /// Names as the servers define them; collisions are an error
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolChoice {
    /// All tools up to 500 tools and 1 MiB of definitions, otherwise as `search`
    Auto,
    /// All tools of all servers
    All,
    /// Three tools that find, describe and call all others, plus the most used ones
    Search,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewChoice {
    /// The client asks its user, as the protocol intends
    Client,
    /// Switchboard asks, unless `autoApprove` allows the call
    Ask,
}

const DEFAULT_PORT: u16 = 8808;

pub(crate) struct ServeOptions {
    pub(crate) listen: SocketAddr,
    pub(crate) servers: Vec<String>,
    pub(crate) review: GatewayReview,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) require_token: bool,
    pub(crate) oauth: Option<OauthOptions>,
    names: NameMode,
    tools: ToolMode,
    limits: ServeLimits,
}

struct ServeLimits {
    in_flight: Option<usize>,
    sessions: Option<usize>,
    rate: Option<u32>,
    body_bytes: Option<usize>,
    read: Option<Duration>,
    drain: Option<Duration>,
}

/// Returns the gateway settings, if they are valid.
pub(crate) fn valid_settings<'a>(
    context: &CommandContext,
    config: &'a Config,
) -> Result<&'a GatewaySettings, CliError> {
    let project = context.places.project.as_deref();
    let of_project = |problem: &ConfigError| project == Some(&*problem.file);
    let is_about_settings = |problem: &&ConfigError| {
        let of_models = problem.key.as_deref().is_some_and(|key| key.starts_with("models"));
        // Broken rules are reported by the host, which then does not start.
        let of_rules = config.policies.broken.as_ref() == Some(*problem);
        problem.is_error()
            && problem.server.is_none()
            && !of_models
            && !of_rules
            && !of_project(problem)
    };
    // Fail closed: the broken setting may be one that restricts access.
    match config.problems.iter().find(is_about_settings) {
        Some(problem) => Err(problem.clone().into()),
        None => Ok(&config.settings.gateway),
    }
}

impl ServeOptions {
    pub(crate) fn from_args(serve: ServeArgs, settings: &GatewaySettings) -> Self {
        let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
        let names = serve.names.map(|choice| match choice {
            NameChoice::Prefixed => GatewayNames::Prefixed,
            NameChoice::Plain => GatewayNames::Plain,
        });
        let tools = serve.tools.map(|choice| match choice {
            ToolChoice::Auto => GatewayTools::Auto,
            ToolChoice::All => GatewayTools::All,
            ToolChoice::Search => GatewayTools::Search,
        });
        let review = serve.review.map(|choice| match choice {
            ReviewChoice::Client => GatewayReview::Client,
            ReviewChoice::Ask => GatewayReview::Ask,
        });
        Self {
            listen: serve.listen.or(settings.listen).unwrap_or(usual),
            servers: flags_or_settings(serve.server, &settings.servers),
            review: review.or(settings.review).unwrap_or(GatewayReview::Client),
            hosts: flags_or_settings(serve.allow_host, &settings.allow_hosts),
            origins: flags_or_settings(serve.allow_origin, &settings.allow_origins),
            require_token: serve.require_token || settings.require_token,
            oauth: oauth(serve.oauth, settings),
            names: match names.or(settings.names) {
                Some(GatewayNames::Plain) => NameMode::Plain,
                Some(GatewayNames::Prefixed) | None => NameMode::Prefixed,
            },
            tools: match tools.or(settings.tools) {
                Some(GatewayTools::All) => ToolMode::All,
                Some(GatewayTools::Search) => ToolMode::Search,
                Some(GatewayTools::Auto) | None => ToolMode::Auto,
            },
            limits: ServeLimits::from_args(&serve.limits, settings),
        }
    }

    pub(crate) fn gateway_options(&self, door: &AccessControl) -> GatewayOptions {
        // Without authentication all clients are one caller, so they share higher limits.
        let callers = if door.authenticator.is_some() {
            CallerLimits::default()
        } else {
            CallerLimits::for_local_machine()
        };
        let usual = GatewayOptions::default();
        let limits = &self.limits;
        GatewayOptions {
            names: self.names,
            tools: self.tools,
            body_limit_bytes: limits.body_bytes.unwrap_or(usual.body_limit_bytes),
            read_limit: limits.read.unwrap_or(usual.read_limit),
            drain: limits.drain.unwrap_or(usual.drain),
            caller: CallerLimits {
                in_flight: limits.in_flight.unwrap_or(callers.in_flight),
                per_second: limits.rate,
                sessions: limits.sessions.unwrap_or(callers.sessions),
                waiting: callers.waiting,
            },
        }
    }
}

impl ServeLimits {
    fn from_args(flags: &LimitArgs, settings: &GatewaySettings) -> Self {
        let count = |flag: Option<u32>, setting: Option<usize>| {
            flag.and_then(|count| usize::try_from(count).ok()).or(setting)
        };
        let seconds = |flag: Option<u64>, setting: Option<usize>| {
            let setting = setting.and_then(|seconds| u64::try_from(seconds).ok());
            flag.or(setting).map(Duration::from_secs)
        };
        let rate = settings.max_rate.and_then(|rate| u32::try_from(rate).ok());
        Self {
            in_flight: count(flags.max_in_flight, settings.max_in_flight),
            sessions: count(flags.max_sessions, settings.max_sessions),
            rate: flags.max_rate.or(rate),
            body_bytes: count(flags.max_body, settings.max_body_bytes),
            read: seconds(flags.read_timeout, settings.read_seconds),
            drain: seconds(flags.drain, settings.drain_seconds),
        }
    }
}

fn flags_or_settings(flags: Vec<String>, settings: &[String]) -> Vec<String> {
    if flags.is_empty() { settings.to_vec() } else { flags }
}

fn oauth(flags: OauthArgs, settings: &GatewaySettings) -> Option<OauthOptions> {
    // An issuer on the command line replaces the settings as a whole: mixing two issuers could
    // accept tokens that neither of them means.
    let of_flags = flags.oauth_issuer.zip(flags.oauth_audience).map(|(issuer, audience)| {
        let scopes = flags.oauth_scope;
        let jwks = flags.oauth_jwks;
        GatewayOauth { issuer, audience, scopes, jwks }
    });
    let oauth = of_flags.or_else(|| settings.oauth.clone())?;
    Some(OauthOptions {
        issuer: oauth.issuer,
        audience: oauth.audience,
        scopes: oauth.scopes,
        keys_at: oauth.jwks,
        views: settings.views.clone(),
    })
}
