//! `ProductAbilities`: the settings of a server that a product's file can express.

use crate::entry::EntryHttpKind;
use crate::text::Syntax;

/// What a product's file can say about a server.
#[derive(Debug, Clone, Copy)]
pub struct ProductAbilities {
    /// What may be spoken at an address; nothing if there are no addresses.
    pub kinds: &'static [EntryHttpKind],
    /// The folder that a program starts in.
    pub cwd: bool,
    /// A file with variables.
    pub env_file: bool,
    /// How long a call may take.
    pub timeout: Option<TimeLimit>,
    /// How long a start may take.
    pub startup_timeout: Option<TimeLimit>,
    /// A server that is kept but not used.
    pub disabled: bool,
    /// Single tools that need no question.
    pub approved: bool,
    /// No tool needs a question.
    pub approve_all: bool,
    /// The only tools there are.
    pub allowed: bool,
    /// Tools that are not there.
    pub denied: bool,
    pub oauth: OauthParts,
    /// What the environment can be made of besides variables in texts.
    pub env_carries: CarriedNames,
    /// The same for headers.
    pub headers_carry: CarriedNames,
    /// Which names servers can have.
    pub(crate) names: fn(&str) -> String,
    /// How variables are written in commands, arguments and folders.
    pub(crate) program: Syntax,
    /// The same in values of the environment.
    pub(crate) env: Syntax,
    /// The same in addresses.
    pub(crate) address: Syntax,
    /// The same in headers.
    pub(crate) headers: Syntax,
}

/// A time and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit {
    pub unit: TimeUnit,
    /// The shortest, in milliseconds.
    pub least_ms: u64,
    /// The longest, in milliseconds.
    pub most_ms: u64,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, also parts of them.
    Seconds,
    WholeSeconds,
    Milliseconds,
}

/// What a file can say about a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OauthParts {
    pub client: bool,
    pub secret: bool,
    pub scopes: bool,
    /// The port for the browser's answer.
    pub port: bool,
    /// Scopes and port only together with a client.
    pub only_with_client: bool,
}

/// What a list of names beside the values can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedNames {
    /// There is no such list.
    Nothing,
    /// A variable under its own name.
    SameVariable,
    /// Something kept, under its own name.
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

    /// The nearest time that can be said.
    pub(crate) fn nearest(self, milliseconds: u64) -> u64 {
        let inside = milliseconds.clamp(self.least_ms, self.most_ms);
        match self.unit {
            TimeUnit::Seconds | TimeUnit::Milliseconds => inside,
            TimeUnit::WholeSeconds => inside.div_ceil(1_000).saturating_mul(1_000),
        }
    }
}

impl ProductAbilities {
    /// A product that can say next to nothing.
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

    /// The same with one way to write variables everywhere.
    pub(crate) const fn with_variables(syntax: Syntax) -> Self {
        Self { program: syntax, env: syntax, address: syntax, headers: syntax, ..Self::MINIMAL }
    }
}

/// A name of letters, digits, `_` and `-`.
pub(crate) fn plain_name(name: &str) -> String {
    let plain = |one: char| if one.is_ascii_alphanumeric() || one == '-' { one } else { '_' };
    let name: String = name.chars().map(plain).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// A name of small letters, digits and `-` that begins with a letter.
pub(crate) fn kebab_name(name: &str) -> String {
    let plain =
        |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let is_right = name.starts_with(|first: char| first.is_ascii_lowercase());
    if is_right { name } else { format!("s{name}") }
}
