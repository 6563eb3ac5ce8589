//! Responses of a registry: servers by name, with the registry's metadata about them.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::server_json::detail::ServerDetail;

/// The member of `_meta` that contains the registry's own metadata.
const OFFICIAL_META: &str = "io.modelcontextprotocol.registry/official";

/// A server as listed in a registry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedServer {
    pub server: ServerDetail,
    #[serde(rename = "_meta")]
    pub meta: Map<String, Value>,
}

/// The status of a published version, in ascending order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ListingStatus {
    Active,
    Other,
    Deprecated,
    Deleted,
}

/// A page of a list of servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListingPage {
    pub servers: Vec<ListedServer>,
    /// Number of entries that could not be parsed.
    pub unreadable: usize,
    pub next: Option<String>,
}

impl ListingStatus {
    /// Returns the name of the status.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Other => "unknown",
            Self::Deprecated => "deprecated",
            Self::Deleted => "deleted",
        }
    }

    fn from_word(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "active" => Self::Active,
            "deprecated" => Self::Deprecated,
            "deleted" => Self::Deleted,
            _ => Self::Other,
        }
    }
}

impl ListedServer {
    /// Parses an entry. `_meta` is next to the server, or inside it as in older registries.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let meta = members.get("_meta").and_then(Value::as_object).cloned().unwrap_or_default();
        let server = members.get("server").unwrap_or(value);
        let server: ServerDetail = serde_json::from_value(server.clone()).ok()?;
        // Every lookup is by name, so an entry without one is of no use.
        (!server.name.is_empty()).then_some(Self { server, meta })
    }

    /// Returns the worst status that the registry or the publisher states.
    #[must_use]
    pub fn status(&self) -> ListingStatus {
        // A publisher must not be able to undo a deletion by the registry.
        let said = [self.official("status"), self.server.other.get("status")];
        let said =
            said.into_iter().flatten().filter_map(Value::as_str).map(ListingStatus::from_word);
        said.max().unwrap_or(ListingStatus::Active)
    }

    /// Returns the reason for the status.
    #[must_use]
    pub fn status_message(&self) -> Option<&str> {
        self.official("statusMessage").or_else(|| self.official("status_message"))?.as_str()
    }

    /// Returns whether this is the latest version.
    #[must_use]
    pub fn is_latest(&self) -> bool {
        let said = self.official("isLatest").or_else(|| self.official("is_latest"));
        said.and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns the publication time, as written by the registry.
    #[must_use]
    pub fn published_at(&self) -> Option<&str> {
        self.official("publishedAt").or_else(|| self.official("published_at"))?.as_str()
    }

    fn official(&self, member: &str) -> Option<&Value> {
        self.meta.get(OFFICIAL_META)?.get(member)
    }
}

impl ListingPage {
    /// Parses a page; fails with the reason.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let servers = value.get("servers").and_then(Value::as_array);
        let servers = servers.ok_or_else(|| "it has no `servers` list".to_owned())?;
        let read: Vec<ListedServer> = servers.iter().filter_map(ListedServer::read).collect();
        let metadata = value.get("metadata");
        let next = metadata.and_then(|it| it.get("nextCursor").or_else(|| it.get("next_cursor")));
        Ok(Self {
            unreadable: servers.len() - read.len(),
            servers: read,
            next: next.and_then(Value::as_str).filter(|next| !next.is_empty()).map(str::to_owned),
        })
    }
}

/// Returns whether the text is a valid server name in a registry.
#[must_use]
pub fn is_registry_name(text: &str) -> bool {
    let Some((space, name)) = text.split_once('/') else { return false };
    let of = |part: &str, more: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    // A name becomes a segment of a URL, where dots could change the path.
    (3..=200).contains(&text.len()) && of(space, ".-") && of(name, "._-") && !text.contains("..")
}

/// Names that do not tell one server from another.
const GENERIC: &[&str] = &["mcp", "server", "mcp-server", "mcp_server", "mcpserver", "api", "main"];

/// Returns the last part of a name that is not generic, for a configuration entry.
#[must_use]
pub fn short_name(name: &str) -> String {
    let (space, last) = name.rsplit_once('/').unwrap_or(("", name));
    let is_telling = |part: &&str| !part.is_empty() && !GENERIC.contains(part);
    let telling = std::iter::once(last).chain(space.rsplit('.')).find(is_telling).unwrap_or(last);
    let fits = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    telling.chars().map(fits).take(64).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_worst_status_counts() {
        for (official, publisher, expected) in [
            (json!("active"), json!(null), ListingStatus::Active),
            (json!(null), json!(null), ListingStatus::Active),
            (json!("deleted"), json!("active"), ListingStatus::Deleted),
            (json!("active"), json!("deprecated"), ListingStatus::Deprecated),
            (json!("quarantined"), json!(null), ListingStatus::Other),
        ] {
            let listed = ListedServer::read(&json!({
                "server": {"name": "a/b", "status": publisher},
                "_meta": {OFFICIAL_META: {"status": official}},
            }));
            assert_eq!(listed.unwrap().status(), expected, "{official} {publisher}");
        }
    }

    #[test]
    fn a_page_counts_what_it_cannot_read_and_knows_where_it_goes_on() {
        let text = json!({
            "servers": [{"server": {"name": "a/b"}}, {"name": "c/d"}, 5, {"server": {}}],
            "metadata": {"nextCursor": "c/d:1"},
        });
        let page = ListingPage::read(text.to_string().as_bytes()).unwrap();
        let names: Vec<&str> = page.servers.iter().map(|one| one.server.name.as_str()).collect();
        assert_eq!((names, page.unreadable), (vec!["a/b", "c/d"], 2));
        assert_eq!(page.next.as_deref(), Some("c/d:1"));
        assert!(ListingPage::read(b"[]").is_err());
        assert!(ListingPage::read(b"{").is_err());
    }

    #[test]
    fn only_two_plain_parts_are_a_name() {
        for name in ["io.github.a/b", "app.linear/linear", "com.x-y.z/a_b.c-d", "a/b"] {
            assert!(is_registry_name(name), "{name}");
        }
        for name in [
            "", "a", "a/", "/b", "a/b/c", "a b/c", "a/b\n", "../b", "a/..", "a/.b", "-a/b", "a/-b",
            "a..b/c", "a/b%2fc", "ä/b", "./server.mcpb",
        ] {
            assert!(!is_registry_name(name), "{name}");
        }
    }

    #[test]
    fn an_entry_is_named_by_the_last_part_that_says_something() {
        for (name, expected) in [
            ("io.github.a/my.server", "my-server"),
            ("com.notion/mcp", "notion"),
            ("com.figma.mcp/mcp", "figma"),
            ("mcp/mcp", "mcp"),
            ("plain", "plain"),
        ] {
            assert_eq!(short_name(name), expected, "{name}");
        }
    }
}
