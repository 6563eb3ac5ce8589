//! Describes a configured server as `server.json`, without anything that could be a secret.
//!
//! Values of arguments, variables and headers may come from the publisher's environment, so only
//! their names are published. A user who adds the server is asked for the values.

use serde_json::{Map, Value, json};

use crate::server_json::{
    KeyValue, ListedServer, PackageArgument, PackageTransport, RegistryPackage, RegistryRemote,
    ServerDetail, ValueInput,
};

const NAMESPACE: &str = "local.switchboard";

/// A server that is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryOffer {
    pub id: String,
    pub title: Option<String>,
    pub version: Option<String>,
    pub how: OfferTransport,
}

/// How a published server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfferTransport {
    Command { command: String, args: Vec<String>, variables: Vec<String> },
    Remote { kind: &'static str, url: String, headers: Vec<String> },
}

impl RegistryOffer {
    /// Returns the name in the registry.
    #[must_use]
    pub fn name(&self) -> String {
        let fits = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' };
        let plain: String = self.id.chars().map(fits).take(120).collect();
        let plain = plain.trim_start_matches(['-', '_']);
        let plain = if plain.is_empty() { "server" } else { plain };
        format!("{NAMESPACE}/{plain}")
    }

    /// Returns the registry entry of the server.
    #[must_use]
    pub fn to_listed(&self) -> ListedServer {
        let (packages, remotes) = match &self.how {
            OfferTransport::Command { command, args, variables } => {
                (package(command, args, variables).into_iter().collect(), Vec::new())
            }
            OfferTransport::Remote { kind, url, headers } => {
                (Vec::new(), vec![remote(kind, url, headers)])
            }
        };
        let what = if packages.is_empty() && remotes.is_empty() {
            "which runs a program of its own"
        } else {
            "as this organisation runs it"
        };
        let id: String = self.id.chars().filter(|c| !c.is_control()).take(60).collect();
        let server = ServerDetail {
            name: self.name(),
            title: self.title.clone(),
            description: Some(format!("The server {id}, {what}")),
            version: Some(self.version.clone().unwrap_or_else(|| "0.0.0".to_owned())),
            packages,
            remotes,
            ..ServerDetail::default()
        };
        let official = json!({"status": "active", "isLatest": true});
        let meta =
            Map::from_iter([("io.modelcontextprotocol.registry/official".to_owned(), official)]);
        ListedServer { server, meta }
    }
}

fn asked_variable(name: &str) -> KeyValue {
    let input = ValueInput { is_required: true, is_secret: true, ..ValueInput::default() };
    KeyValue { name: name.to_owned(), input }
}

fn remote(kind: &str, url: &str, headers: &[String]) -> RegistryRemote {
    let headers = headers.iter().map(|name| asked_variable(name)).collect();
    // A query or a user name may contain a secret, so neither is published.
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = plain.split_once("://").unwrap_or(("https", plain));
    let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let host = host.rsplit('@').next().unwrap_or_default();
    // Some services put the API key into the path; such a path becomes a variable.
    let is_word =
        |part: &str| part.len() <= 16 && part.chars().filter(char::is_ascii_digit).count() <= 2;
    let is_plain = path.is_none_or(|path| path.split('/').all(is_word));
    let mut remote = RegistryRemote {
        kind: kind.to_owned(),
        url: String::new(),
        headers,
        ..RegistryRemote::default()
    };
    remote.url = match path {
        None => format!("{scheme}://{host}"),
        Some(path) if is_plain => format!("{scheme}://{host}/{path}"),
        Some(_) => {
            let input = ValueInput {
                is_required: true,
                is_secret: true,
                description: Some("the path of the address".to_owned()),
                ..ValueInput::default()
            };
            remote.variables.insert("path".to_owned(), input);
            format!("{scheme}://{host}/{{path}}")
        }
    };
    remote
}

/// Returns the package that a command runs, if the command is a known package runner.
fn package(command: &str, args: &[String], variables: &[String]) -> Option<RegistryPackage> {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let name = name.strip_suffix(".cmd").or_else(|| name.strip_suffix(".exe")).unwrap_or(name);
    let mut words = args.iter().map(String::as_str);
    let (kind, hint, spec) = match name {
        "npx" | "bunx" => ("npm", name, words.by_ref().find(|word| !word.starts_with('-'))?),
        "uvx" => ("pypi", name, words.next().filter(|word| !word.starts_with('-'))?),
        "dnx" => ("nuget", name, words.next().filter(|word| !word.starts_with('-'))?),
        "docker" | "podman" => ("oci", name, image(&mut words)?),
        _ => return None,
    };
    let (identifier, version) = match (kind, spec.rfind('@').filter(|at| *at > 0)) {
        ("oci", _) | (_, None) => (spec.to_owned(), None),
        (_, Some(at)) => (spec.get(..at)?.to_owned(), spec.get(at + 1..).map(str::to_owned)),
    };
    let plain =
        |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-:+[]".contains(c));
    // A spec with other characters may be a URL with a token in it.
    if !plain(spec) {
        return None;
    }
    let words: Vec<&str> =
        words.skip_while(|word| name == "dnx" && matches!(*word, "--yes" | "--")).collect();
    Some(RegistryPackage {
        registry_type: kind.to_owned(),
        identifier,
        version,
        runtime_hint: Some(hint.to_owned()),
        transport: Some(PackageTransport {
            kind: "stdio".to_owned(),
            ..PackageTransport::default()
        }),
        package_arguments: arguments(&words),
        environment_variables: variables.iter().map(|name| asked_variable(name)).collect(),
        ..RegistryPackage::default()
    })
}

/// Returns the image in the arguments of a container runtime.
fn image<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = "-i --interactive --rm --init --read-only -t --tty -it -q --quiet";
    words.by_ref().find(|word| *word == "run")?;
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return Some(word);
        }
        // Any other option is assumed to have its value in the next word.
        if !plain.split(' ').any(|one| one == word) && !word.contains('=') {
            words.next();
        }
    }
    None
}

/// Converts command-line words to arguments: options by name, every value as a question.
fn arguments(words: &[&str]) -> Vec<PackageArgument> {
    let mut arguments: Vec<PackageArgument> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let is_name = |name: &str| {
            name.len() <= 40
                && name.trim_start_matches('-').chars().all(|c| c.is_ascii_lowercase() || c == '-')
        };
        let required = ValueInput { is_required: true, is_secret: false, ..ValueInput::default() };
        let named = word
            .starts_with("--")
            .then(|| word.split_once('=').map_or((*word, false), |(name, _)| (name, true)));
        match named {
            Some((name, has_value)) if is_name(name) => {
                let next_is_value =
                    !has_value && words.get(index + 1).is_some_and(|next| !next.starts_with('-'));
                let input = if has_value || next_is_value {
                    ValueInput { format: Some("string".to_owned()), ..required }
                } else {
                    ValueInput::default()
                };
                arguments.push(PackageArgument {
                    kind: "named".to_owned(),
                    name: Some(name.to_owned()),
                    input,
                    ..PackageArgument::default()
                });
            }
            _ => {
                let takes_it = index
                    .checked_sub(1)
                    .and_then(|before| words.get(before))
                    .is_some_and(|before| {
                        before.starts_with("--") && !before.contains('=') && is_name(before)
                    });
                if !takes_it || word.starts_with('-') {
                    arguments.push(PackageArgument {
                        kind: "positional".to_owned(),
                        value_hint: Some(format!("argument-{}", index + 1)),
                        input: required,
                        ..PackageArgument::default()
                    });
                }
            }
        }
    }
    arguments
}

/// Returns the entry as JSON.
pub(super) fn to_json(listed: &ListedServer) -> Value {
    json!({"server": listed.server, "_meta": listed.meta})
}
