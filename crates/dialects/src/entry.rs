//! `ServerEntry`: one server, independent of any product's format.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::text::{VariablePiece, VariableText};

/// One server with the settings that products share.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerEntry {
    pub name: String,
    pub reach: EntryTransport,
    pub timeout_ms: Option<u64>,
    pub startup_timeout_ms: Option<u64>,
    pub disabled: bool,
    pub tools: ToolRules,
    pub oauth: OauthFields,
    /// Product-specific members, by product id. They are written back only to that product.
    pub extra: ProductExtras,
}

/// Product-specific members of an entry, by product id.
pub type ProductExtras = BTreeMap<String, Map<String, Value>>;

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryTransport {
    Stdio {
        command: VariableText,
        args: Vec<VariableText>,
        env: BTreeMap<String, VariableText>,
        env_file: Option<VariableText>,
        cwd: Option<VariableText>,
    },
    Http {
        kind: EntryHttpKind,
        url: VariableText,
        headers: BTreeMap<String, VariableText>,
    },
}

/// The HTTP transport of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryHttpKind {
    /// Detected: streamable HTTP first, then HTTP+SSE.
    Auto,
    Streamable,
    Sse,
}

/// Availability and approval of a server's tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolRules {
    pub approved: BTreeSet<String>,
    pub approve_all: bool,
    /// The allow-list of tools; empty means all.
    pub allowed: BTreeSet<String>,
    pub denied: BTreeSet<String>,
}

/// How to log in to a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OauthFields {
    pub client: Option<OauthClientEntry>,
    pub scopes: Vec<String>,
    pub callback_port: Option<u16>,
}

/// An OAuth client that was registered manually.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthClientEntry {
    pub id: VariableText,
    pub secret: Option<VariableText>,
}

impl ServerEntry {
    /// Creates a server with default settings.
    pub fn new(name: impl Into<String>, reach: EntryTransport) -> Self {
        Self {
            name: name.into(),
            reach,
            timeout_ms: None,
            startup_timeout_ms: None,
            disabled: false,
            tools: ToolRules::default(),
            oauth: OauthFields::default(),
            extra: ProductExtras::new(),
        }
    }

    /// Creates a server that is a program with these arguments.
    pub fn program(name: impl Into<String>, command: &str, args: &[&str]) -> Self {
        let args = args.iter().map(|arg| VariableText::literal(*arg)).collect();
        Self::new(name, EntryTransport::stdio(VariableText::literal(command), args))
    }

    /// Creates a server at a URL.
    pub fn address(name: impl Into<String>, url: &str, kind: EntryHttpKind) -> Self {
        let url = VariableText::literal(url);
        Self::new(name, EntryTransport::Http { kind, url, headers: BTreeMap::new() })
    }

    /// Returns whether both have the same URL, or the same program with the same arguments.
    pub fn reaches_same(&self, other: &Self) -> bool {
        if let (Some(one), Some(other)) = (self.final_address(), other.final_address()) {
            return one.trim_end_matches('/') == other.trim_end_matches('/');
        }
        match (&self.reach, &other.reach) {
            (
                EntryTransport::Stdio { command, args, .. },
                EntryTransport::Stdio { command: other, args: others, .. },
            ) => command == other && args == others,
            _ => false,
        }
    }

    /// Returns the URL that is reached directly or through `npx mcp-remote`, in our own syntax.
    fn final_address(&self) -> Option<String> {
        match &self.reach {
            EntryTransport::Http { url, .. } => Some(url.to_own_syntax()),
            EntryTransport::Stdio { .. } => self.bridged_address().map(VariableText::to_own_syntax),
        }
    }

    /// Returns the URL of an entry that only bridges to it with `npx mcp-remote URL`.
    pub fn bridged_address(&self) -> Option<&VariableText> {
        let EntryTransport::Stdio { command, args, env, .. } = &self.reach else { return None };
        let is_bridge = |word: &VariableText| {
            let name = word.as_literal().unwrap_or_default();
            name == "mcp-remote" || name.starts_with("mcp-remote@")
        };
        let is_npx = matches!(command.as_literal(), Some("npx" | "npx.cmd"));
        let args = match args.as_slice() {
            [first, rest @ ..] if first.as_literal() == Some("-y") => rest,
            all => all,
        };
        match args {
            // Only without variables and options: the plain URL would lose them.
            [bridge, url] if is_npx && env.is_empty() && is_bridge(bridge) => Some(url),
            _ => None,
        }
    }

    /// Returns the environment values or headers, with the keys that lead to them.
    pub fn named_values(&self) -> Vec<(String, &VariableText)> {
        let (start, values) = match &self.reach {
            EntryTransport::Stdio { env, .. } => ("env", env),
            EntryTransport::Http { headers, .. } => ("headers", headers),
        };
        values.iter().map(|(name, text)| (format!("{start}.{name}"), text)).collect()
    }

    /// Returns the names of the stored secrets in all texts of the entry.
    pub fn secrets(&self) -> BTreeSet<String> {
        // Cloned, since the only list of all texts is a mutable one.
        let mut entry = self.clone();
        let texts = entry.texts_mut();
        let pieces = texts.iter().flat_map(|text| text.pieces());
        let secret = |piece: &VariablePiece| match piece {
            VariablePiece::Secret(name) => Some(name.clone()),
            VariablePiece::Literal(_)
            | VariablePiece::Variable { .. }
            | VariablePiece::Folder(_) => None,
        };
        pieces.filter_map(secret).collect()
    }

    pub(crate) fn texts_mut(&mut self) -> Vec<&mut VariableText> {
        let mut texts: Vec<&mut VariableText> = Vec::new();
        match &mut self.reach {
            EntryTransport::Stdio { command, args, env, env_file, cwd } => {
                texts.push(command);
                texts.extend(args.iter_mut().chain(env.values_mut()).chain(env_file).chain(cwd));
            }
            EntryTransport::Http { url, headers, .. } => {
                texts.push(url);
                texts.extend(headers.values_mut());
            }
        }
        if let Some(client) = &mut self.oauth.client {
            texts.push(&mut client.id);
            texts.extend(&mut client.secret);
        }
        texts
    }

    pub(crate) fn product_extra(&self, id: &str) -> Option<&Map<String, Value>> {
        self.extra.get(id).filter(|extra| !extra.is_empty())
    }
}

impl EntryTransport {
    pub(crate) const fn stdio(command: VariableText, args: Vec<VariableText>) -> Self {
        Self::Stdio { command, args, env: BTreeMap::new(), env_file: None, cwd: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_to_an_address_reaches_what_the_address_reaches() {
        let url = "https://example.com/mcp";
        let address = ServerEntry::address("a", "https://example.com/mcp/", EntryHttpKind::Sse);
        let bridge = |args: &[&str]| ServerEntry::program("b", "npx", args);
        assert!(address.reaches_same(&bridge(&["-y", "mcp-remote@1.2.3", url])));
        assert!(bridge(&["mcp-remote", url]).reaches_same(&bridge(&["-y", "mcp-remote", url])));
        assert!(!address.reaches_same(&bridge(&["mcp-remote", url, "--header", "A: b"])));
        assert!(!address.reaches_same(&bridge(&["other", url])));
        let mut with_key = bridge(&["mcp-remote", url]);
        if let EntryTransport::Stdio { env, .. } = &mut with_key.reach {
            env.insert("KEY".to_owned(), VariableText::literal("k"));
        }
        assert!(!address.reaches_same(&with_key));
    }
}
