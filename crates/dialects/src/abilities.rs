//! `ProductAbilities`: the settings of a server that a product's file can express.

use crate::entry::EntryHttpKind;
use crate::text::Syntax;

/// The settings of a server that a product's file can express.
#[derive(Debug, Clone, Copy)]
pub struct ProductAbilities {
    /// The supported HTTP transports; empty if the product only starts programs.
    pub kinds: &'static [EntryHttpKind],
    /// Whether a program's working directory can be set.
    pub cwd: bool,
    /// Whether a file with environment variables can be given.
    pub env_file: bool,
    /// The timeout of a call.
    pub timeout: Option<TimeLimit>,
    /// The timeout of a start.
    pub startup_timeout: Option<TimeLimit>,
    /// Whether a server can be disabled.
    pub disabled: bool,
    /// Whether single tools can be auto-approved.
    pub approved: bool,
    /// Whether all tools can be auto-approved at once.
    pub approve_all: bool,
    /// Whether there is an allow-list of tools.
    pub allowed: bool,
    /// Whether there is a deny-list of tools.
    pub denied: bool,
    pub oauth: OauthParts,
    /// How environment values can be passed by name, besides variables in texts.
    pub env_carries: CarriedNames,
    /// How header values can be passed by name, besides variables in texts.
    pub headers_carry: CarriedNames,
    /// Converts a name to a valid server name of the product.
    pub(crate) names: fn(&str) -> String,
    /// The syntax of variables in commands, arguments and folders.
    pub(crate) program: Syntax,
    /// The syntax of variables in environment values.
    pub(crate) env: Syntax,
    /// The syntax of variables in URLs.
    pub(crate) address: Syntax,
    /// The syntax of variables in headers.
    pub(crate) headers: Syntax,
}

/// The unit and range of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit {
    pub unit: TimeUnit,
    /// Minimum, in milliseconds.
    pub least_ms: u64,
    /// Maximum, in milliseconds.
    pub most_ms: u64,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, including fractions.
    Seconds,
    WholeSeconds,
    Milliseconds,
}

/// The OAuth settings that a file can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OauthParts {
    pub client: bool,
    pub secret: bool,
    pub scopes: bool,
    /// The port of the redirect URI.
    pub port: bool,
    /// Scopes and port require a client.
    pub only_with_client: bool,
}

/// The values that a separate list of names can pass to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedNames {
    /// There is no such list.
    Nothing,
    /// An environment variable under its own name.
    SameVariable,
    /// A stored secret under its own name.
    SameSecret,
    /// Any variable as the whole value, and one after `Bearer `.
    WholeVariable,
}

impl OauthParts {
    pub(crate) const NONE: Self =
        Self { client: false, secret: false, scopes: false, port: false, only_with_client: false };
    pub(crate) const ALL: Self =
        Self { client: true, secret: true, scopes: true, port: true, only_with_client: false };
}

impl TimeLimit {
    pub(crate) const SECONDS: Self =
        Self { unit: TimeUnit::Seconds, least_ms: 1_000, most_ms: 3_600_000 };
    pub(crate) const MILLISECONDS: Self =
        Self { unit: TimeUnit::Milliseconds, least_ms: 1, most_ms: u32::MAX as u64 };
    pub(crate) const LONG_SECONDS: Self =
        Self { unit: TimeUnit::Seconds, least_ms: 1, most_ms: u32::MAX as u64 };

    /// Returns the nearest duration that can be expressed.
    pub(crate) fn nearest(self, milliseconds: u64) -> u64 {
        let inside = milliseconds.clamp(self.least_ms, self.most_ms);
        match self.unit {
            TimeUnit::Seconds | TimeUnit::Milliseconds => inside,
            TimeUnit::WholeSeconds => inside.div_ceil(1_000).saturating_mul(1_000),
        }
    }
}

impl ProductAbilities {
    /// A product that supports only the basic settings.
    pub(crate) const MINIMAL: Self = Self {
        kinds: &[],
        cwd: false,
        env_file: false,
        timeout: None,
        startup_timeout: None,
        disabled: false,
        approved: false,
        approve_all: false,
        allowed: false,
        denied: false,
        oauth: OauthParts::NONE,
        env_carries: CarriedNames::Nothing,
        headers_carry: CarriedNames::Nothing,
        names: str::to_owned,
        program: Syntax::PLAIN,
        env: Syntax::PLAIN,
        address: Syntax::PLAIN,
        headers: Syntax::PLAIN,
    };

    /// Returns minimal abilities with one syntax of variables for all values.
    pub(crate) const fn with_variables(syntax: Syntax) -> Self {
        Self { program: syntax, env: syntax, address: syntax, headers: syntax, ..Self::MINIMAL }
    }
}

/// Replaces characters other than ASCII letters, digits, `_` and `-`.
pub(crate) fn plain_name(name: &str) -> String {
    let plain = |one: char| if one.is_ascii_alphanumeric() || one == '-' { one } else { '_' };
    let name: String = name.chars().map(plain).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// Converts a name to lowercase letters, digits and `-`, starting with a letter.
pub(crate) fn kebab_name(name: &str) -> String {
    let plain =
        |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let is_right = name.starts_with(|first: char| first.is_ascii_lowercase());
    if is_right { name } else { format!("s{name}") }
}
