//! A tool as lists and `show` have it: of our own host, or of the one that runs for this home.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_catalog::{CatalogEntry, Lease};
use switchboard_core::{Target, TargetKind};
use switchboard_wire::list::ListedItem;

use crate::commands::held;

/// A tool with its definition.
#[derive(Debug, Deserialize)]
pub(crate) struct ToolListing {
    pub(crate) server: String,
    pub(crate) name: String,
    /// What models call it.
    pub(crate) model_name: Option<String>,
    pub(crate) fingerprint: String,
    /// What the scanner found in it.
    pub(crate) found: Option<Value>,
    /// The same in words.
    #[serde(skip)]
    pub(crate) found_words: Option<String>,
    /// The rule that forbids it to everybody.
    pub(crate) forbidden_by: Option<String>,
    definition: Box<RawValue>,
}

impl ToolListing {
    /// A tool of a lease.
    pub(crate) fn from_entry(lease: &Lease, entry: CatalogEntry<'_>) -> Self {
        let server = entry.server.id.as_str();
        let name = entry.tool.name();
        let flagged = lease.flagged_definition(&Target::new(TargetKind::Tool, server, name));
        Self {
            server: server.to_owned(),
            name: name.to_owned(),
            model_name: lease.catalog().names().get(entry.place).map(str::to_owned),
            fingerprint: entry.tool.digest().to_string(),
            found: flagged.map(|flagged| json!(flagged)),
            found_words: flagged.map(held::description),
            forbidden_by: lease.forbidding_rule(TargetKind::Tool, server, name).map(str::to_owned),
            definition: entry.tool.item.raw.clone(),
        }
    }

    /// Its definition, as the server sent it.
    pub(crate) fn item(&self) -> ListedItem {
        ListedItem { key: self.name.as_str().into(), raw: self.definition.clone() }
    }

    pub(crate) fn as_json(&self) -> Value {
        json!({
            "server": self.server,
            "name": self.name,
            "model_name": self.model_name,
            "fingerprint": self.fingerprint,
            "found": self.found,
            "forbidden_by": self.forbidden_by,
            "definition": serde_json::from_str::<Value>(self.definition.get()).unwrap_or_default(),
        })
    }
}
