//! `Config`: what the files say once they are read, checked and put on top of each other.

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

/// The name of the server that is part of the host.
pub const BUILTIN: &str = "builtin";

/// How long a call may take if nothing else is said.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Everything the files say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// The servers whose entries are right; disabled and unapproved ones too.
    pub servers: BTreeMap<ServerId, ServerConfig>,
    /// The servers whose entries are wrong, with the first reason.
    pub broken: BTreeMap<ServerId, ConfigError>,
    /// What is wrong with files as a whole, and every warning.
    pub problems: Vec<ConfigError>,
    /// The models that conversations can use.
    pub models: BTreeMap<String, ModelProfile>,
    /// What holds for all servers.
    pub settings: Settings,
    /// The rules of all levels.
    pub policies: Arc<Policies>,
    /// Where the files of the team are.
    pub team: Team,
    /// Every file that was looked at, there or not: the ones to watch.
    pub files: Vec<PathBuf>,
}

impl Config {
    /// Whether every file could be read as a whole. If not, servers may be missing from this
    /// configuration that are still wanted. An entry without a proper name is none of them: it
    /// costs itself only.
    pub fn is_complete(&self) -> bool {
        !self.problems.iter().any(|problem| problem.is_error() && problem.server.is_none())
    }

    /// The same with the rules of another configuration, if those could be read.
    #[must_use]
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

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub id: ServerId,
    /// How it is reached.
    pub transport: Transport,
    /// Configured, but not to be started.
    pub disabled: bool,
    /// How long one call may take.
    pub timeout: Duration,
    /// Tools that need no question if the global switch is on as well.
    pub auto_approve: BTreeSet<String>,
    /// How many processes to run.
    pub instances: usize,
    /// Where calls go if this server cannot take them: `server` or `server/tool`.
    pub fallback: Option<String>,
    /// What is said about single tools.
    pub tools: BTreeMap<String, ToolSettings>,
    /// What stands before its names in the gateway, if not its own name; empty for nothing.
    pub prefix: Option<String>,
    /// Which era of the protocol it speaks.
    pub era: EraSetting,
    /// As whom to log in to it, and for what.
    pub oauth: OauthSettings,
    /// Who may issue its certificate beside those that the system trusts.
    pub authorities: Option<AuthoritiesFile>,
    /// Whether it may ask a model, and how much.
    pub sampling: Option<SamplingSettings>,
    /// What it may reach on this machine.
    pub confinement: Confinement,
    /// Which of its messages are wanted, if not those that the settings say.
    pub log_level: Option<LogLevel>,
    /// Whether what it says about its tools is believed.
    pub trusted: bool,
    /// Why the organisation, the team, the project or the user does not allow it to be there.
    pub barred: Option<String>,
    /// Arguments that look like secrets and are repeated in HTTP headers all the same.
    pub mirror_secrets: BTreeSet<String>,
    /// Whether it may be started: always, except for a project's entry that nobody approved yet.
    pub approved: bool,
    /// What a person should know before it runs.
    pub findings: Vec<EntryFinding>,
    /// What an approval of this entry, exactly as it is, refers to.
    pub approval_digest: String,
    /// Where the entry is written.
    pub source: EntrySource,
}

impl ServerConfig {
    /// A digest of what cannot change while the server runs. Two entries with the same key differ
    /// at most in what each call looks up anew, such as the timeout.
    pub fn restart_key(&self) -> String {
        let digest = Digest::new("restart")
            .with(&format!("{} {}", self.disabled, self.approved))
            .with(&format!("{} {:?}", self.instances, self.era));
        let digest = match &self.barred {
            Some(why) => digest.with("barred").with(why),
            None => digest,
        };
        // What a server was told that it may ask holds as long as the connection.
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
                    // What is printed leaves out the secret.
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

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// It is part of this program.
    Builtin,
    /// A program that we start and talk to over its standard input and output.
    Stdio {
        /// A name to look up in `PATH`, or an absolute path.
        command: String,
        /// Its arguments, passed on as they are, never through a shell.
        args: Vec<String>,
        /// Variables it gets beside the safe ones it inherits.
        env: BTreeMap<String, String>,
        /// The folder it works in.
        cwd: Option<PathBuf>,
    },
    /// A server on the network.
    Http {
        /// At least one address; each is an instance, and a call goes to the least busy ready one.
        urls: Vec<String>,
        /// Headers for every request.
        headers: BTreeMap<String, String>,
        /// Which transport it speaks.
        kind: HttpKind,
    },
}

/// Values of variables and headers are secrets, so only their names are printed.
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

/// Which transport a server on the network speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpKind {
    /// Streamable HTTP, and SSE if that is not understood.
    #[default]
    Auto,
    Streamable,
    /// The older HTTP with SSE.
    Sse,
}

/// Which era of the protocol a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EraSetting {
    #[default]
    Auto,
    Legacy,
    Modern,
}

/// What the operator says about one tool. Hints of the server itself are not found here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSettings {
    /// How long one call may take, if not as long as for the server.
    pub timeout: Option<Duration>,
    /// Where calls go if the tool cannot be reached: `server` or `server/tool`.
    pub fallback: Option<String>,
    /// It changes nothing, so that it may be tried again.
    pub read_only: bool,
    /// Calling it twice is the same as calling it once, so that it may be tried again.
    pub idempotent: bool,
    /// It runs as a task where the server leaves that to us.
    pub task: bool,
}

/// Where an entry is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntrySource {
    /// The file; empty for the built-in server if no file mentions it.
    pub file: PathBuf,
    /// What kind of file that is.
    pub layer: ConfigLayer,
    /// The line of the name, counted from 1; 0 if there is no file.
    pub line: usize,
}

/// Who wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigLayer {
    /// The user, for themselves.
    User,
    /// Whoever wrote the project; not trusted until approved.
    Project,
    /// The user, for this run.
    Explicit,
}

/// What holds for all servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The global switch: without it no tool runs unasked.
    pub auto_approve: bool,
    /// What a record survives.
    pub durability: Durability,
    /// The longest result that is taken from a server, in bytes.
    pub result_limit_bytes: usize,
    /// The longest result that is shown whole, in bytes; a longer one goes to a file.
    pub show_limit_bytes: usize,
    /// How long something waits for a person, in minutes.
    pub review_minutes: usize,
    /// Whether definitions are scanned, and held where an attack is found in them.
    pub scan: bool,
    /// Whether the built-in server is there.
    pub builtin: bool,
    /// The folders that servers are told of and that the built-in file tools may use; none means
    /// that servers are told of none and the built-in tools use the current folder.
    pub roots: Vec<PathBuf>,
    /// A file with the key that stored logins are sealed with.
    pub token_key_file: Option<PathBuf>,
    /// Whether packages without a fixed version are refused.
    pub strict: bool,
    /// A folder of records of bad packages, which are refused.
    pub bad_packages: Option<PathBuf>,
    /// Which messages of servers are wanted.
    pub log_level: LogLevel,
    /// Whether the desktop shows that something waits for a person.
    pub notifications: bool,
    pub chat: ChatSettings,
    /// What `serve` does where its flags say nothing.
    pub gateway: GatewaySettings,
    /// Whether what may change something is asked about after something was read from a server that
    /// is not trusted.
    pub taint: bool,
    /// Where the files of the team are, if the organisation does not say.
    pub team: Team,
    /// Whether definitions that changed wait for a person.
    pub pins: bool,
    /// What happens when a server is first seen.
    pub first_use: FirstUseSetting,
    /// How much is held when a definition turns into an attack.
    pub compromise_scope: CompromiseScope,
    /// Where servers are looked for.
    pub discovery: DiscoverySettings,
}

/// What happens when a server is first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum FirstUseSetting {
    /// Whoever wrote or approved its entry stands by what it offers.
    Trust,
    /// A person who is there is shown what it offers, and asked; where nobody is, whoever wrote or
    /// approved its entry stands by it.
    #[default]
    Person,
    /// Everything of it waits for a person.
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

/// How much of a server is held when one of its definitions turns into an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum CompromiseScope {
    Definition,
    /// All of it: who turns is not trusted in the rest.
    #[default]
    Server,
}

impl ServerConfig {
    /// The fingerprint of the name and of how the server is reached. Values of variables and headers
    /// are secrets that change; their names do not.
    #[must_use]
    pub fn identity(&self) -> String {
        self.identity_with(str::to_owned)
    }

    /// The same where every text is first rewritten, such as to leave out where a project lies.
    #[must_use]
    pub fn identity_with(&self, rewritten: impl Fn(&str) -> String) -> String {
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

    /// How the server is reached, for people and without secrets.
    #[must_use]
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
