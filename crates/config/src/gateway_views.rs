//! The `views` section of the gateway settings: the servers and tools that each caller sees.

use std::collections::BTreeMap;
use std::fmt;

use switchboard_document::{ConfigError, Node};
use switchboard_rules::Pattern;
use switchboard_text::sanitize;

use crate::reader::ConfigReader;

/// The callers that a view applies to, by the claims of their token.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViewKey {
    Subject(String),
    Client(String),
    Scope(String),
    /// Every caller that no other key matches.
    Others,
}

impl ViewKey {
    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Others);
        }
        let (kind, name) = text.split_once(':').filter(|(_, name)| !name.is_empty())?;
        match kind {
            "subject" => Some(Self::Subject(name.to_owned())),
            "client" => Some(Self::Client(name.to_owned())),
            "scope" => Some(Self::Scope(name.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for ViewKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subject(name) => write!(formatter, "subject:{name}"),
            Self::Client(name) => write!(formatter, "client:{name}"),
            Self::Scope(name) => write!(formatter, "scope:{name}"),
            Self::Others => formatter.write_str("*"),
        }
    }
}

/// Reads an object whose values are lists of patterns.
pub(crate) fn read(
    reader: &ConfigReader<'_>,
    node: &Node,
    key: &str,
) -> Result<BTreeMap<ViewKey, Vec<String>>, ConfigError> {
    let mut views = BTreeMap::new();
    for member in reader.members(node, key)? {
        let of = ViewKey::parse(&member.name).ok_or_else(|| {
            let name = sanitize(&member.name);
            let error = reader.key_error(member.at, key, &format!("has the invalid key `{name}`"));
            error.hint("use `subject:NAME`, `client:NAME`, `scope:NAME`, or `*` for all others")
        })?;
        let key = format!("{key}.{of}");
        let patterns = reader.texts(&member.value, &key)?;
        // An empty pattern would mean a server without a name.
        if patterns.iter().any(|pattern| pattern.trim().is_empty()) {
            return Err(reader.key_error(member.value.at, &key, "has an empty pattern"));
        }
        if let Some(bad) = patterns.iter().find_map(|text| Pattern::parse(text).err()) {
            let predicate = format!("has a pattern that {bad}");
            return Err(reader.key_error(member.value.at, &key, &predicate).hint(bad.hint));
        }
        views.insert(of, patterns);
    }
    Ok(views)
}
