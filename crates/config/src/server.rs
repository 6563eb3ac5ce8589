//! Reads the entry of one server into a `ServerConfig`.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_core::ServerId;
use switchboard_document::{ConfigError, Member, Node, NodeValue};
use switchboard_text::{Digest, sanitize};
use switchboard_vetting::{EntryFinding, entry_findings};

use crate::log_level::LogLevel;
use crate::oauth::OauthSettings;
use crate::reader::ConfigReader;
use crate::resolved::{
    ConfigLayer, DEFAULT_TIMEOUT, EntrySource, EraSetting, ServerConfig, ToolSettings, Transport,
};
use crate::sampling::{SamplingReview, SamplingSettings};
use crate::sandbox::Confinement;
use crate::transport::{EnvFile, ParsedTransport, TransportFields};
use crate::{oauth, sampling, sandbox, transport, variables};

/// The keys of an entry, in the order in which they are written.
pub(crate) const KEYS: &[&str] = &[
    "type", "transportType", "transport", "command", "args", "env", "envFile", "cwd", "url",
    "urls", "headers", "caFile", "oauth", "disabled", "timeout", "autoApprove", "alwaysAllow",
    "instances", "fallback", "tools", "prefix", "era", "sampling", "logLevel", "trusted",
    "mirrorSecrets", "dangerous", "sandbox",
];

const MAX_PREFIX_CHARS: usize = 32;

const TOOL_KEYS: &[&str] = &["timeout", "fallback", "readOnly", "idempotent", "task"];

/// Reads one server, and the `envFile` that it refers to. The caller looks for its approval.
pub(crate) fn read(
    reader: &mut ConfigReader<'_>,
    id: ServerId,
    member: &Member,
    layer: ConfigLayer,
) -> Result<(ServerConfig, Option<EnvFile>), ConfigError> {
    let NodeValue::Object(members) = &member.value.value else {
        let message = format!("the entry must be an object, not {}", member.value.kind());
        let hint = "write `{\"command\": ...}` or `{\"url\": ...}`";
        return Err(reader.error(member.value.at, message).hint(hint));
    };
    if let Some((path, at)) = member.value.find_duplicate() {
        return Err(reader.key_error(at, &path, "is given twice").hint("keep one of them"));
    }
    reader.warn_unknown(members, "", KEYS);
    let entry = TransportFields::new(reader, member, members)?;
    let found = transport::read(reader, &entry)?;
    let mut findings = match &found.transport {
        Transport::Stdio { command, args, env, .. } => entry_findings(command, args, env),
        Transport::Builtin | Transport::Http { .. } => Vec::new(),
    };
    if layer == ConfigLayer::Project {
        // Values are not shown, so the variables that a project's entry reads are listed by name.
        findings.extend(variables::referenced_variables(&member.value).into_iter().map(|name| {
            let message = format!("gets the variable `{name}` of your environment");
            EntryFinding::note(format!("variable:{name}"), message)
        }));
    }
    let agreed = agreed_dangers(reader, members, layer)?;
    let is_agreed = |finding: &EntryFinding| !finding.is_danger() || agreed.contains(&finding.word);
    let mut server = ServerConfig {
        // A project's entry comes from a repository that someone else may have written.
        approved: layer != ConfigLayer::Project && findings.iter().all(is_agreed),
        approval_digest: approval_digest(&member.value, &found, &findings),
        transport: found.transport,
        authorities: found.authorities,
        findings,
        source: EntrySource { file: reader.file.to_path_buf(), layer, line: member.at.line },
        ..default_server(id)
    };
    for member in members.iter().filter(|member| !member.value.is_null()) {
        read_key(reader, &mut server, member)?;
    }
    Ok((server, found.env_file))
}

/// Returns the dangers that the entry declares as accepted.
fn agreed_dangers(
    reader: &mut ConfigReader<'_>,
    members: &[Member],
    layer: ConfigLayer,
) -> Result<Vec<String>, ConfigError> {
    let key = "dangerous";
    let member = members.iter().find(|member| member.name == key && !member.value.is_null());
    let Some(member) = member else { return Ok(Vec::new()) };
    let words = reader.texts(&member.value, key)?;
    // The author of a project cannot accept dangers for the user.
    if layer == ConfigLayer::Project {
        reader.warn(member.at, key, "is ignored in a project's file");
        return Ok(Vec::new());
    }
    Ok(words)
}

/// Returns the built-in server without an entry, which also supplies the defaults of every entry.
pub fn default_server(id: ServerId) -> ServerConfig {
    ServerConfig {
        id,
        transport: Transport::Builtin,
        disabled: false,
        timeout: DEFAULT_TIMEOUT,
        auto_approve: BTreeSet::new(),
        instances: 1,
        fallback: None,
        tools: BTreeMap::new(),
        prefix: None,
        era: EraSetting::Auto,
        oauth: OauthSettings::default(),
        authorities: None,
        sampling: None,
        confinement: Confinement::None,
        log_level: None,
        trusted: false,
        barred: None,
        mirror_secrets: BTreeSet::new(),
        approved: true,
        findings: Vec::new(),
        approval_digest: String::new(),
        source: EntrySource { file: Default::default(), layer: ConfigLayer::User, line: 0 },
    }
}

/// Returns the fingerprint that an approval refers to.
fn approval_digest(entry: &Node, found: &ParsedTransport, findings: &[EntryFinding]) -> String {
    // The entry before variables are expanded, because a person approves that text.
    let digest = Digest::new("approval").with(&entry.to_compact_json());
    // The value of a variable can make a harmless entry dangerous.
    let dangers = findings.iter().filter(|finding| finding.is_danger());
    let digest = dangers
        .fold(digest, |digest, one| digest.with("danger").with(&one.word).with(&one.message));
    // The writer of an `envFile` can change what the server does.
    let digest = match &found.env_file {
        Some(file) => digest.with(&file.text),
        None => digest,
    };
    match &found.authorities {
        Some(file) => digest.with("authorities").with(&file.pem).hex(),
        None => digest.hex(),
    }
}

fn read_key(
    reader: &mut ConfigReader<'_>,
    server: &mut ServerConfig,
    member: &Member,
) -> Result<(), ConfigError> {
    let node = &member.value;
    let key = member.name.as_str();
    match key {
        "disabled" => server.disabled = reader.flag(node, key)?,
        "timeout" => server.timeout = reader.timeout(node, key)?.unwrap_or(DEFAULT_TIMEOUT),
        "mirrorSecrets" => server.mirror_secrets.extend(reader.texts(node, key)?),
        "autoApprove" | "alwaysAllow" => {
            let names = reader.texts(node, key)?;
            names.iter().for_each(|name| reader.warn_wildcard(node.at, key, name));
            server.auto_approve.extend(names);
        }
        "instances" => {
            server.instances = reader.count(node, key, 1..=32)?;
            if server.instances > 1 && !matches!(server.transport, Transport::Stdio { .. }) {
                return Err(stdio_only_error(reader, node, key));
            }
        }
        "fallback" => server.fallback = Some(fallback(reader, node, key)?),
        "tools" => server.tools = tools(reader, node)?,
        "prefix" => server.prefix = Some(prefix(reader, node, key)?),
        "oauth" => {
            server.oauth = oauth::read(reader, node)?;
            if !matches!(server.transport, Transport::Http { .. }) {
                reader.warn(node.at, key, "has no effect on a server without `url`");
            }
        }
        "era" => {
            let choices = [
                ("auto", EraSetting::Auto),
                ("legacy", EraSetting::Legacy),
                ("modern", EraSetting::Modern),
            ];
            server.era = reader.choice(node, key, &choices)?;
        }
        "sampling" => {
            server.sampling = sampling::read(reader, node, key)?;
            let is_project = server.source.layer == ConfigLayer::Project;
            let unseen = |wanted: &&mut SamplingSettings| wanted.review == SamplingReview::Nobody;
            // The author of a project cannot waive the user's approval.
            if let Some(wanted) = server.sampling.as_mut().filter(unseen).filter(|_| is_project) {
                wanted.review = SamplingReview::Person;
                let key = "sampling.review";
                reader.warn(node.at, key, "cannot be waived by a project, so it is ignored");
            }
        }
        // The author of a project cannot vouch for its servers.
        "trusted" if server.source.layer == ConfigLayer::Project => {
            reader.flag(node, key)?;
            reader.warn(node.at, key, "cannot be set by a project, so it is ignored");
        }
        "trusted" => server.trusted = reader.flag(node, key)?,
        "sandbox" => {
            server.confinement = sandbox::read(reader, node, key)?;
            if !matches!(server.transport, Transport::Stdio { .. }) {
                return Err(stdio_only_error(reader, node, key));
            }
        }
        "logLevel" => server.log_level = Some(reader.choice(node, key, &LogLevel::ALL)?),
        _ => {}
    }
    Ok(())
}

fn stdio_only_error(reader: &ConfigReader<'_>, node: &Node, key: &str) -> ConfigError {
    let error = reader.key_error(node.at, key, "is only for servers started by `command`");
    error.hint("remove the key; several addresses of one server go into `urls`")
}

fn fallback(reader: &ConfigReader<'_>, node: &Node, key: &str) -> Result<String, ConfigError> {
    let text = reader.text(node, key)?;
    if text.is_empty() {
        let hint = "write `server` or `server/tool`, or remove the key";
        return Err(reader.key_error(node.at, key, "is empty").hint(hint));
    }
    if reader.server == Some(text.as_str()) {
        let error = reader.key_error(node.at, key, "cannot be the server itself");
        return Err(error.hint("name another server"));
    }
    Ok(text)
}

fn prefix(reader: &ConfigReader<'_>, node: &Node, key: &str) -> Result<String, ConfigError> {
    let text = reader.text(node, key)?;
    // Clients and model vendors accept only these characters in the names of tools.
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if text.len() > MAX_PREFIX_CHARS || !text.bytes().all(fits) {
        let predicate = format!(
            "must be at most {MAX_PREFIX_CHARS} letters, digits, `_` and `-`, not `{}`",
            sanitize(&text)
        );
        return Err(reader.key_error(node.at, key, &predicate));
    }
    Ok(text)
}

fn tools(
    reader: &mut ConfigReader<'_>,
    node: &Node,
) -> Result<BTreeMap<String, ToolSettings>, ConfigError> {
    let mut tools = BTreeMap::new();
    for tool in reader.members(node, "tools")? {
        let inside = format!("tools.{}.", tool.name);
        reader.warn_wildcard(tool.at, "tools", &tool.name);
        let members = reader.members(&tool.value, inside.trim_end_matches('.'))?;
        reader.warn_unknown(members, &inside, TOOL_KEYS);
        let mut settings = ToolSettings::default();
        for member in members.iter().filter(|member| !member.value.is_null()) {
            let node = &member.value;
            let key = &format!("{inside}{}", member.name);
            match member.name.as_str() {
                "timeout" => settings.timeout = reader.timeout(node, key)?,
                "fallback" => settings.fallback = Some(fallback(reader, node, key)?),
                "readOnly" => settings.read_only = reader.flag(node, key)?,
                "idempotent" => settings.idempotent = reader.flag(node, key)?,
                "task" => settings.task = reader.flag(node, key)?,
                _ => {}
            }
        }
        tools.insert(tool.name.clone(), settings);
    }
    Ok(tools)
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
