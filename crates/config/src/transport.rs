//! Reads the transport of a server entry: the keys for `command` or `url`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;

use switchboard_document::{ConfigError, Member, Node, NodeValue, Position, read_text};
use switchboard_net::check_url;
use switchboard_text::sanitize;
use switchboard_vetting::{is_header_name, is_header_value, is_variable_name};
use switchboard_wire::{Authorities, BadAuthorities};

use crate::reader::{ConfigReader, ReadMode};
use crate::resolved::{BUILTIN, HttpKind, Transport};
use crate::variables::IfUnset;
use crate::{dotenv, secret_reference};

/// The keys that may also appear inside a nested `transport` object.
pub(crate) const KEYS: &[&str] =
    &["type", "command", "args", "env", "cwd", "envFile", "url", "urls", "headers", "caFile"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransportKind {
    Stdio,
    Http(HttpKind),
}

const KINDS: &[(&str, TransportKind)] = &[
    ("stdio", TransportKind::Stdio),
    ("sse", TransportKind::Http(HttpKind::Sse)),
    ("http", TransportKind::Http(HttpKind::Streamable)),
    ("streamableHttp", TransportKind::Http(HttpKind::Streamable)),
    ("streamable-http", TransportKind::Http(HttpKind::Streamable)),
    ("streamable_http", TransportKind::Http(HttpKind::Streamable)),
];

pub(crate) struct ParsedTransport {
    pub(crate) transport: Transport,
    pub(crate) env_file: Option<EnvFile>,
    pub(crate) authorities: Option<AuthoritiesFile>,
}

pub(crate) struct EnvFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// The transport keys of one entry, flattened and without nulls.
pub(crate) struct TransportFields<'a> {
    pub(crate) at: Position,
    members: BTreeMap<&'a str, &'a Member>,
}

impl<'a> TransportFields<'a> {
    pub(crate) fn new(
        reader: &ConfigReader<'_>,
        server: &'a Member,
        members: &'a [Member],
    ) -> Result<Self, ConfigError> {
        let present = members.iter().filter(|member| !member.value.is_null());
        let mut entry = Self {
            at: server.at,
            members: present.map(|member| (member.name.as_str(), member)).collect(),
        };
        // Some products nest these keys in an object `transport`, which is a word elsewhere.
        let nested = entry.get("transport").map(|transport| &transport.value.value);
        if let Some(NodeValue::Object(nested)) = nested {
            entry.members.remove("transport");
            let nested = nested.iter().filter(|member| KEYS.contains(&member.name.as_str()));
            for member in nested.filter(|member| !member.value.is_null()) {
                if entry.members.insert(&member.name, member).is_some() {
                    let predicate = "is given inside and outside of `transport`";
                    let error = reader.key_error(member.at, &member.name, predicate);
                    return Err(error.hint("keep one of them"));
                }
            }
        }
        Ok(entry)
    }

    fn get(&self, key: &str) -> Option<&'a Member> {
        self.members.get(key).copied()
    }

    fn node(&self, key: &str) -> Option<&'a Node> {
        self.get(key).map(|member| &member.value)
    }
}

pub(crate) fn read(
    reader: &mut ConfigReader<'_>,
    entry: &TransportFields<'_>,
) -> Result<ParsedTransport, ConfigError> {
    let kind = kind(reader, entry)?;
    let url = entry.get("url").or_else(|| entry.get("urls"));
    if let Some(own) = entry.get("command").or(url).filter(|_| reader.server == Some(BUILTIN)) {
        // Rules that allow `builtin` mean the built-in tools: no other server may have the name.
        let error = reader.error(own.at, "has the name of the built-in server");
        return Err(error.key(own.name.as_str()).hint("give it another name"));
    }
    let (transport, env_file) = match (entry.get("command"), url, kind) {
        (Some(_), Some(url), _) => {
            let message = "has both `command` and `url`";
            let error = reader.error(url.at, message).key(url.name.as_str());
            return Err(error.hint("keep `command` for a program, or `url` for a remote server"));
        }
        (Some(command), None, None | Some(TransportKind::Stdio)) => {
            let on = "a server started by `command`";
            warn_without_effect(reader, entry, &["headers", "caFile"], on);
            stdio(reader, entry, command)?
        }
        (None, Some(_), None) => (http(reader, entry, HttpKind::Auto)?, None),
        (None, Some(_), Some(TransportKind::Http(kind))) => (http(reader, entry, kind)?, None),
        (None, None, None) if reader.server == Some(BUILTIN) => (Transport::Builtin, None),
        (None, None, None) => {
            return Err(reader
                .error(entry.at, "has neither `command` nor `url`")
                .hint("give a `command` for a program, or a `url` for a remote server"));
        }
        (_, _, Some(TransportKind::Stdio)) => {
            return Err(reader
                .error(entry.at, "is of type `stdio` and so needs `command`")
                .hint("give a `command`, or remove the type"));
        }
        (_, _, Some(TransportKind::Http(_))) => {
            return Err(reader
                .error(entry.at, "is of a remote type and so needs `url`")
                .hint("give a `url`, or remove the type"));
        }
    };
    let named = entry.node("caFile").filter(|_| matches!(transport, Transport::Http { .. }));
    let authorities = named.map(|node| read_authorities(reader, node, "caFile"));
    let authorities = authorities.transpose()?.flatten();
    Ok(ParsedTransport { transport, env_file, authorities })
}

/// Returns the type from any of its three keys, which must not contradict each other.
fn kind(
    reader: &ConfigReader<'_>,
    entry: &TransportFields<'_>,
) -> Result<Option<TransportKind>, ConfigError> {
    let mut found = None;
    for key in ["type", "transportType", "transport"] {
        let Some(node) = entry.node(key) else { continue };
        let kind = reader.choice(node, key, KINDS)?;
        if found.replace(kind).is_some_and(|other| other != kind) {
            let error = reader.key_error(node.at, key, "contradicts the type given before");
            return Err(error.hint("keep `type` alone"));
        }
    }
    Ok(found)
}

fn warn_without_effect(
    reader: &mut ConfigReader<'_>,
    entry: &TransportFields<'_>,
    keys: &[&str],
    on: &str,
) {
    for member in keys.iter().filter_map(|key| entry.get(key)) {
        reader.warn(member.at, &member.name, &format!("has no effect on {on}"));
    }
}

fn stdio(
    reader: &mut ConfigReader<'_>,
    entry: &TransportFields<'_>,
    command: &Member,
) -> Result<(Transport, Option<EnvFile>), ConfigError> {
    let text = reader.system_text(&command.value, "command")?;
    if text.trim().is_empty() {
        let error = reader.key_error(command.value.at, "command", "is empty");
        return Err(error.hint("name the program to start"));
    }
    if text.contains(['\n', '\r']) {
        let error = reader.key_error(command.value.at, "command", "contains a line break");
        return Err(error.hint("name one program; its arguments belong in `args`"));
    }
    if text.trim() != text {
        reader.warn_white_space(command.value.at, "command");
    }
    let base = reader.variables.workspace;
    let args = entry.node("args").map(|node| reader.texts(node, "args")).transpose()?;
    let cwd = entry.node("cwd").map(|node| reader.path(node, "cwd", base)).transpose()?;
    let (env, env_file) = environment(reader, entry)?;
    let command = program(reader, text, cwd.as_deref().unwrap_or(base));
    let args = args.unwrap_or_default();
    Ok((Transport::Stdio { command, args, env, cwd }, env_file))
}

/// Returns the program to start. A bare name is looked up in `PATH` at start.
fn program(reader: &ConfigReader<'_>, text: String, base: &Path) -> String {
    // Any other path is made absolute here: the program that a person approved is the one that
    // runs, regardless of the current folder at that time.
    if !text.contains(is_separator) || reader.variables.unset == IfUnset::Keep {
        return text;
    }
    let path = reader.resolve(&text, base);
    path.into_os_string().into_string().unwrap_or(text)
}

/// Returns the variables of `envFile`, overridden by those of `env`.
fn environment(
    reader: &mut ConfigReader<'_>,
    entry: &TransportFields<'_>,
) -> Result<(BTreeMap<String, String>, Option<EnvFile>), ConfigError> {
    let mut variables = BTreeMap::new();
    let mut found = None;
    // Entries that are about to be written are checked without reading other files.
    if let Some(node) = entry.node("envFile").filter(|_| reader.mode == ReadMode::Read) {
        let folder = reader.file.parent().unwrap_or(Path::new(""));
        let path = reader.path(node, "envFile", folder)?;
        let (text, pairs) = env_file(reader, node.at, &path)?;
        for (name, value) in pairs {
            check_variable(reader, &name, "envFile", node.at)?;
            variables.insert(name, value);
        }
        found = Some(EnvFile { path, text });
    }
    if let Some(node) = entry.node("env") {
        for (name, (value, at)) in reader.map(node, "env")? {
            check_variable(reader, &name, &format!("env.{name}"), at)?;
            variables.insert(name, value);
        }
    }
    Ok((variables, found))
}

type EnvPairs = Vec<(String, String)>;

fn env_file(
    reader: &ConfigReader<'_>,
    at: Position,
    path: &Path,
) -> Result<(String, EnvPairs), ConfigError> {
    let shown = sanitize(&path.display().to_string());
    let error = |message: String| reader.error(at, message).key("envFile");
    let text = read_text(path)
        .map_err(|cause| {
            let error = error(format!("`{shown}` {}", cause.predicate()));
            ConfigError { hint: cause.hint, ..error }
        })?
        .ok_or_else(|| {
            error(format!("`{shown}` does not exist"))
                .hint("create it, or correct `envFile`; a relative path starts at this file")
        })?;
    let pairs = dotenv::parse(&text).map_err(|cause| {
        error(format!("`{shown}` cannot be read at line {}: {}", cause.line, cause.message))
            .hint("every line is `NAME=value`, a comment after `#`, or empty")
    })?;
    if let Some((name, _)) = pairs.iter().find(|(_, value)| value.contains('\0')) {
        let error = error(format!("`{name}` in `{shown}` contains a NUL character"));
        return Err(error.hint("remove it"));
    }
    Ok((text, pairs))
}

fn check_variable(
    reader: &ConfigReader<'_>,
    name: &str,
    key: &str,
    at: Position,
) -> Result<(), ConfigError> {
    if !is_variable_name(name) {
        let error = reader.key_error(at, key, "is not a valid variable name");
        return Err(error.hint("use letters, digits and `_`"));
    }
    Ok(())
}

fn http(
    reader: &mut ConfigReader<'_>,
    entry: &TransportFields<'_>,
    kind: HttpKind,
) -> Result<Transport, ConfigError> {
    warn_without_effect(reader, entry, &["args", "env", "envFile", "cwd"], "a remote server");
    let urls = match (entry.get("url"), entry.get("urls")) {
        (Some(_), Some(urls)) => {
            let error = reader.error(urls.at, "has both `url` and `urls`").key("urls");
            return Err(error.hint("keep one of them"));
        }
        (Some(url), None) => vec![address(reader, &url.value, "url")?],
        (None, Some(urls)) => addresses(reader, &urls.value)?,
        (None, None) => Vec::new(),
    };
    let mut headers = BTreeMap::new();
    if let Some(node) = entry.node("headers") {
        for (name, (value, at)) in reader.map(node, "headers")? {
            let key = format!("headers.{name}");
            if !is_header_name(&name) {
                let error = reader.key_error(at, &key, "is not a valid header name");
                return Err(error.hint("use letters, digits and `-`"));
            }
            // The NUL characters of a secret's reference are not part of the final value.
            if !is_header_value(&secret_reference::display_text(&value)) {
                let error = reader.key_error(at, &key, "contains a control character");
                return Err(error.hint("remove it; a value has one line"));
            }
            headers.insert(name, value);
        }
    }
    Ok(Transport::Http { urls, headers, kind })
}

fn addresses(reader: &ConfigReader<'_>, node: &Node) -> Result<Vec<String>, ConfigError> {
    match &node.value {
        NodeValue::List(nodes) if !nodes.is_empty() => nodes
            .iter()
            .enumerate()
            .map(|(index, node)| address(reader, node, &format!("urls[{index}]")))
            .collect(),
        NodeValue::List(_) => {
            let hint = "name at least one address, or use `url`";
            Err(reader.key_error(node.at, "urls", "is empty").hint(hint))
        }
        _ => {
            let predicate = format!("must be a list of strings, not {}", node.kind());
            let hint = "write `[\"https://host/path\"]`, or use `url`";
            Err(reader.key_error(node.at, "urls", &predicate).hint(hint))
        }
    }
}

fn address(reader: &ConfigReader<'_>, node: &Node, key: &str) -> Result<String, ConfigError> {
    let text = reader.text(node, key)?;
    // A variable that is kept may be any part of the URL.
    if reader.variables.unset == IfUnset::Keep && text.contains("${") {
        return Ok(text);
    }
    check_url(&text)
        .map_err(|wrong| reader.key_error(node.at, key, wrong).hint("write `https://host/path`"))?;
    Ok(text)
}

/// A file with CA certificates, as it was when the configuration was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthoritiesFile {
    pub path: PathBuf,
    pub pem: Arc<str>,
}

impl AuthoritiesFile {
    /// Parses the certificates, which were checked when the file was read.
    pub fn authorities(&self) -> Result<Authorities, BadAuthorities> {
        Authorities::from_pem(&self.pem)
    }
}

/// Reads the `caFile` of an entry; `None` in [`ReadMode::Write`].
fn read_authorities(
    reader: &ConfigReader<'_>,
    node: &Node,
    key: &str,
) -> Result<Option<AuthoritiesFile>, ConfigError> {
    let folder = reader.file.parent().unwrap_or(Path::new(""));
    let path = reader.path(node, key, folder)?;
    // As for `envFile`, an entry that is about to be written is checked without other files.
    if reader.mode != ReadMode::Read {
        return Ok(None);
    }
    let named = sanitize(&path.display().to_string());
    let error = |message: String| {
        let error = reader.error(node.at, message).key(key);
        error.hint("name a PEM file with the certificate of the authority that issued the server's")
    };
    let text = read_text(&path)
        .map_err(|cause| error(format!("`{named}` {}", cause.predicate())))?
        .ok_or_else(|| error(format!("`{named}` does not exist")))?;
    Authorities::from_pem(&text).map_err(|cause| error(format!("`{named}` {cause}")))?;
    Ok(Some(AuthoritiesFile { path, pem: text.into() }))
}
