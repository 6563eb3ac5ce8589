//! `ProductAbilities`: the settings of a server that a product's file can express.

use crate::entry::EntryHttpKind;
use crate::text::Syntax;

/// The settings of a server that a product's file can express.
#[derive(Debug, Clone, Copy)]
pub struct ProductAbilities {
    /// The supported HTTP transports; empty if the product only starts programs.
    pub kinds: &'static [EntryHttpKind],
    pub cwd: bool,
    pub env_file: bool,
    pub timeout: Option<TimeLimit>,
    pub startup_timeout: Option<TimeLimit>,
    pub disabled: bool,
    /// Whether single tools can be auto-approved.
    pub approved: bool,
    pub approve_all: bool,
    pub allowed: bool,
    pub denied: bool,
    pub oauth: OauthParts,
    /// How environment values can be passed by name, besides variables in texts.
    pub env_carries: CarriedNames,
    /// How header values can be passed by name, besides variables in texts.
    pub headers_carry: CarriedNames,
    /// Converts a name to a valid server name of the product.
    pub(crate) names: fn(&str) -> String,
    /// The syntax of variables in commands, arguments and folders; the next three are for others.
    pub(crate) program: Syntax,
    pub(crate) env: Syntax,
    pub(crate) address: Syntax,
    pub(crate) headers: Syntax,
}

/// The unit and range of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit {
    pub unit: TimeUnit,
    pub least_ms: u64,
    pub most_ms: u64,
}

/// The unit in which a product writes durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, also with fractions.
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
    pub port: bool,
    /// Scopes and port require a client.
    pub only_with_client: bool,
}

/// The values that a separate list of names can pass to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedNames {
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

    pub(crate) fn nearest(self, milliseconds: u64) -> u64 {
        let inside = milliseconds.clamp(self.least_ms, self.most_ms);
        match self.unit {
            TimeUnit::Seconds | TimeUnit::Milliseconds => inside,
            // Up, since a shorter timeout could break calls that work today.
            TimeUnit::WholeSeconds => inside.div_ceil(1_000).saturating_mul(1_000),
        }
    }
}

impl ProductAbilities {
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
