//! The checked and merged content of all configuration files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::{Durability, ServerId};
use switchboard_document::ConfigError;
use switchboard_net::url_without_secrets;
use switchboard_rules::{Policies, Team};
use switchboard_text::Digest;
use switchboard_vetting::EntryFinding;

use crate::chat::ChatSettings;
use crate::gateway::GatewaySettings;
use crate::log_level::LogLevel;
use crate::models::ModelProfile;
use crate::oauth::OauthSettings;
use crate::policies::barred_by;
use crate::sampling::SamplingSettings;
use crate::sandbox::Confinement;
use crate::settings::DiscoverySettings;
use crate::transport::AuthoritiesFile;

/// The name of the built-in server.
pub const BUILTIN: &str = "builtin";

pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The checked and merged configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// Servers with a valid entry, including disabled and unapproved ones.
    pub servers: BTreeMap<ServerId, ServerConfig>,
    /// Servers with an invalid entry, with the first error.
    pub broken: BTreeMap<ServerId, ConfigError>,
    /// Errors that concern whole files, and all warnings.
    pub problems: Vec<ConfigError>,
    pub models: BTreeMap<String, ModelProfile>,
    pub settings: Settings,
    /// The rules of all levels.
    pub policies: Arc<Policies>,
    pub team: Team,
    /// Every file that was considered, whether or not it exists: the files to watch.
    pub files: Vec<PathBuf>,
}

impl Config {
    /// Returns whether every file could be read as a whole. If not, servers may be missing.
    pub fn is_complete(&self) -> bool {
        // An error with a server is about its invalid name, which affects no other entry.
        !self.problems.iter().any(|problem| problem.is_error() && problem.server.is_none())
    }

    /// Returns this configuration with the rules of another one, if those are readable.
    pub fn with_policies_from(&self, other: Self) -> Self {
        let mut config = self.clone();
        if other.policies.broken.is_none() {
            config.policies = other.policies;
            config.team = other.team;
            for server in config.servers.values_mut() {
                server.barred = barred_by(&config.policies, server);
            }
        }
        config
    }
}

/// The configuration of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub id: ServerId,
    pub transport: Transport,
    /// Whether the server is configured, but not started.
    pub disabled: bool,
    /// Timeout of one call.
    pub timeout: Duration,
    /// Tools that run without approval, if the global `autoApprove` setting is on as well.
    pub auto_approve: BTreeSet<String>,
    pub instances: usize,
    /// Target of calls that this server cannot take: `server` or `server/tool`.
    pub fallback: Option<String>,
    pub tools: BTreeMap<String, ToolSettings>,
    /// Prefix of the server's names in the gateway, if not the server's own name; may be empty.
    pub prefix: Option<String>,
    pub era: EraSetting,
    pub oauth: OauthSettings,
    /// Certificate authorities that the server may use in addition to those of the system.
    pub authorities: Option<AuthoritiesFile>,
    /// Limits for sampling; `None` if the server may not use a model.
    pub sampling: Option<SamplingSettings>,
    pub confinement: Confinement,
    /// Minimum severity of log messages, if it differs from the settings.
    pub log_level: Option<LogLevel>,
    /// Whether the server's annotations of its tools are trusted.
    pub trusted: bool,
    /// The reason that a policy does not allow this server.
    pub barred: Option<String>,
    /// Arguments that look like secrets but are nevertheless mirrored in HTTP headers.
    pub mirror_secrets: BTreeSet<String>,
    /// Whether the server may start. Entries of a project and undeclared dangers need approval.
    pub approved: bool,
    /// Findings that a person should see before the server runs.
    pub findings: Vec<EntryFinding>,
    /// The fingerprint of this exact entry, which an approval refers to.
    pub approval_digest: String,
    pub source: EntrySource,
}

impl ServerConfig {
    /// Returns a digest of the settings that cannot change while the server runs.
    pub fn restart_key(&self) -> String {
        // Other settings, such as the timeout, are read anew by each call.
        let digest = Digest::new("restart")
            .with(&format!("{} {}", self.disabled, self.approved))
            .with(&format!("{} {:?}", self.instances, self.era));
        let digest = match &self.barred {
            Some(why) => digest.with("barred").with(why),
            None => digest,
        };
        // Capabilities are negotiated once per connection, so a change of sampling needs a new one.
        let digest = match &self.sampling {
            Some(sampling) => digest.with(&format!("{sampling:?}")),
            None => digest,
        };
        let digest = match &self.confinement {
            Confinement::None => digest,
            confined => digest.with(&format!("{confined:?}")),
        };
        match &self.transport {
            Transport::Builtin => digest.with("builtin"),
            Transport::Stdio { command, args, env, cwd } => {
                let digest = with_list(digest.with("stdio").with(command), args);
                let digest = with_map(digest, env);
                match cwd {
                    Some(cwd) => digest.with("cwd").with(&format!("{cwd:?}")),
                    None => digest.with("no cwd"),
                }
            }
            Transport::Http { urls, headers, kind } => {
                let digest = with_list(digest.with("http").with(&format!("{kind:?}")), urls);
                let digest = with_map(digest, headers);
                let digest = match &self.authorities {
                    Some(file) => digest.with("authorities").with(&file.pem),
                    None => digest,
                };
                if self.oauth == OauthSettings::default() {
                    digest
                } else {
                    // The `Debug` output omits the secret, so the digest adds it separately.
                    let secret = self.oauth.client_secret.as_deref().unwrap_or_default();
                    digest.with(&format!("{:?}", self.oauth)).with(secret)
                }
            }
        }
        .hex()
    }
}

fn with_list(digest: Digest, texts: &[String]) -> Digest {
    let digest = digest.with(&texts.len().to_string());
    texts.iter().fold(digest, |digest, text| digest.with(text))
}

fn with_map(digest: Digest, map: &BTreeMap<String, String>) -> Digest {
    let digest = digest.with(&map.len().to_string());
    map.iter().fold(digest, |digest, (name, value)| digest.with(name).with(value))
}

/// The way in which a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    Builtin,
    Stdio {
        /// A name to look up in `PATH`, or an absolute path.
        command: String,
        /// The arguments, passed unchanged and never through a shell.
        args: Vec<String>,
        /// Variables in addition to the safe ones that the program inherits.
        env: BTreeMap<String, String>,
        cwd: Option<PathBuf>,
    },
    Http {
        /// At least one URL. Each is an instance, and a call goes to the least busy ready one.
        urls: Vec<String>,
        headers: BTreeMap<String, String>,
        kind: HttpKind,
    },
}

// Prints only the names of variables and headers: their values may be secrets.
impl fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => formatter.write_str("Builtin"),
            Self::Stdio { command, args, env, cwd } => formatter
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", args)
                .field("env", &env.keys())
                .field("cwd", cwd)
                .finish(),
            Self::Http { urls, headers, kind } => {
                let urls: Vec<String> = urls.iter().map(|url| url_without_secrets(url)).collect();
                formatter
                    .debug_struct("Http")
                    .field("urls", &urls)
                    .field("headers", &headers.keys())
                    .field("kind", kind)
                    .finish()
            }
        }
    }
}

/// The transport of a server on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpKind {
    /// Streamable HTTP, with a fallback to SSE.
    #[default]
    Auto,
    Streamable,
    Sse,
}

/// The protocol era of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EraSetting {
    #[default]
    Auto,
    Legacy,
    Modern,
}

/// The operator's settings for one tool, independent of the server's own annotations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSettings {
    /// Timeout of one call, if it differs from the server's.
    pub timeout: Option<Duration>,
    /// Target of calls if the tool cannot be reached: `server` or `server/tool`.
    pub fallback: Option<String>,
    /// Whether the tool changes nothing, so that a call may be retried.
    pub read_only: bool,
    /// Whether repeated calls have the effect of one, so that a call may be retried.
    pub idempotent: bool,
    /// Whether the tool runs as a task if the server makes that optional.
    pub task: bool,
}

/// The location of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySource {
    /// The file; empty for the built-in server if no file mentions it.
    pub file: PathBuf,
    pub layer: ConfigLayer,
    /// The line of the name; 0 without a file.
    pub line: usize,
}

/// The origin of a configuration file, in ascending order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigLayer {
    User,
    /// The project's file, whose entries need approval.
    Project,
    /// A file that the user gave for this run.
    Explicit,
}

/// Settings that apply to all servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether `autoApprove` lists have any effect; off means that no tool runs without approval.
    pub auto_approve: bool,
    pub durability: Durability,
    /// Maximum size of a result that is accepted from a server, in bytes.
    pub result_limit_bytes: usize,
    /// Maximum size of a result that is shown in full, in bytes; a longer one is written to a file.
    pub show_limit_bytes: usize,
    /// How long a review waits for a person, in minutes.
    pub review_minutes: usize,
    /// Whether definitions are scanned, and quarantined if they contain an attack.
    pub scan: bool,
    pub builtin: bool,
    /// The roots of servers and of the built-in file tools. If empty, servers have no roots, and
    /// the built-in tools use the current folder.
    pub roots: Vec<PathBuf>,
    /// A file with the key that encrypts stored logins.
    pub token_key_file: Option<PathBuf>,
    /// Whether packages without a pinned version are refused.
    pub strict: bool,
    /// A folder with OSV records of bad packages, which are refused.
    pub bad_packages: Option<PathBuf>,
    /// Minimum severity of log messages from servers.
    pub log_level: LogLevel,
    /// Whether a desktop notification is shown when a review waits for a person.
    pub notifications: bool,
    pub chat: ChatSettings,
    pub gateway: GatewaySettings,
    /// Whether calls with side effects need approval after data from an untrusted server was read.
    pub taint: bool,
    /// The locations of the team's files, if the organisation sets none.
    pub team: Team,
    /// Whether changed definitions need approval.
    pub pins: bool,
    pub first_use: FirstUseSetting,
    pub compromise_scope: CompromiseScope,
    pub discovery: DiscoverySettings,
}

/// The approval of the definitions of a new server, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum FirstUseSetting {
    /// Trusts the definitions with the entry, which a person wrote or approved.
    Trust,
    /// Asks a person who is present, and otherwise trusts the definitions with the entry.
    #[default]
    Person,
    /// Waits for the approval of every definition.
    Ask,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            auto_approve: false,
            durability: Durability::Process,
            result_limit_bytes: 64 * 1024 * 1024,
            show_limit_bytes: 40_000,
            review_minutes: 5,
            scan: true,
            builtin: true,
            roots: Vec::new(),
            token_key_file: None,
            strict: false,
            bad_packages: None,
            log_level: LogLevel::Info,
            notifications: false,
            chat: ChatSettings::default(),
            gateway: GatewaySettings::default(),
            taint: true,
            team: Team::default(),
            pins: true,
            first_use: FirstUseSetting::Person,
            compromise_scope: CompromiseScope::Server,
            discovery: DiscoverySettings::default(),
        }
    }
}

/// The extent of a quarantine when a definition of a server becomes an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum CompromiseScope {
    Definition,
    /// The whole server, because its other definitions are not trustworthy either.
    #[default]
    Server,
}

impl ServerConfig {
    /// Returns a fingerprint of the name and of how the server is reached.
    pub fn identity(&self) -> String {
        self.identity_with(str::to_owned)
    }

    /// Returns the same fingerprint after `rewritten` was applied to every text, for example to
    /// remove the path of a project.
    pub fn identity_with(&self, rewritten: impl Fn(&str) -> String) -> String {
        // Without the values of variables and headers: they are secrets and may rotate.
        let texts = |digest: Digest, texts: &mut dyn Iterator<Item = &String>| {
            let texts: Vec<String> = texts.map(|text| rewritten(text)).collect();
            let digest = digest.with(&texts.len().to_string());
            texts.iter().fold(digest, |digest, text| digest.with(text))
        };
        let digest = Digest::new("identity").with(self.id.as_str());
        match &self.transport {
            Transport::Builtin => digest.with("builtin"),
            Transport::Stdio { command, args, env, cwd } => {
                let digest = digest.with("stdio").with(&rewritten(command));
                let digest = texts(digest, &mut args.iter());
                let digest = texts(digest, &mut env.keys());
                let cwd = cwd.as_ref().map(|cwd| rewritten(&cwd.to_string_lossy()));
                digest.with(&format!("{cwd:?}"))
            }
            Transport::Http { urls, headers, kind: _ } => {
                let digest = texts(digest.with("http"), &mut urls.iter());
                texts(digest, &mut headers.keys())
            }
        }
        .hex()
    }

    /// Returns the command line or the URLs, without secrets.
    pub fn endpoint_text(&self) -> String {
        match &self.transport {
            Transport::Builtin => "built in".to_owned(),
            Transport::Stdio { command, args, .. } => {
                let words = std::iter::once(command).chain(args);
                words.map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            Transport::Http { urls, .. } => {
                let urls = urls.iter().map(|url| url_without_secrets(url));
                urls.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

#[cfg(test)]
#[path = "resolved_tests.rs"]
mod tests;
