//! Scans every string of a definition, keys and values, and records its JSON pointer.

use serde_json::Value;
use switchboard_json::{Scalar, Step, TreeReader, read_tree};
use switchboard_text::is_noncanonical;

use crate::finding::{Indicator, ScanFinding};
use crate::judge::FindingSet;

/// The kind of item that a definition describes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DefinitionKind")]
pub enum DefinitionKind {
    /// A tool that can be called.
    Tool,
    /// A resource with a fixed URI.
    Resource,
    /// A template for URIs of resources.
    Template,
    /// A prompt that a user can start.
    Prompt,
    /// The instructions that a server sends about itself.
    Instructions,
}

impl DefinitionKind {
    /// Returns the name of the kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "resource template",
            Self::Prompt => "prompt",
            Self::Instructions => "instructions",
        }
    }
}

/// Scans the JSON text of a definition. Text that is not valid JSON is scanned as a whole.
#[must_use]
pub fn scan_definition(kind: DefinitionKind, raw: &str) -> Vec<ScanFinding> {
    let mut walk = DefinitionWalk {
        kind,
        found: FindingSet::default(),
        path: Vec::new(),
        short: String::new(),
    };
    let mut reader = serde_json::Deserializer::from_str(raw);
    if read_tree(&mut walk, &mut reader).is_err() {
        walk.found.scan(&String::new, raw);
    }
    walk.found.scan_fragments(&walk.short);
    if kind == DefinitionKind::Tool && raw.contains("x-mcp-header") {
        // Proxies log headers, so an argument that is repeated in one can leak.
        for (place, name) in secret_headers(raw) {
            walk.found.add(Indicator::new("secret_in_header", 6, 0), &place, &name);
        }
    }
    walk.found.into_sorted()
}

struct DefinitionWalk {
    kind: DefinitionKind,
    found: FindingSet,
    path: Vec<PathStep>,
    // All short strings: an instruction may be split across several.
    short: String,
}

// Longer strings are only scanned on their own.
const MAX_SHORT_LEN: usize = 48;
const MAX_FRAGMENTS_LEN: usize = 64 * 1024;
// Type names of JSON Schema, which would separate the fragments of an instruction.
const SCHEMA_TYPES: [&str; 7] =
    ["string", "number", "integer", "boolean", "object", "array", "null"];

enum PathStep {
    Key(String),
    Number(usize),
}

impl DefinitionWalk {
    fn scan_string(&mut self, text: &str) {
        let Self { kind, found, path, short } = self;
        if text.len() <= MAX_SHORT_LEN
            && short.len() < MAX_FRAGMENTS_LEN
            && !SCHEMA_TYPES.contains(&text)
        {
            short.push_str(text);
            short.push(' ');
        }
        found.scan(&|| pointer(path), text);
        let is_called_by = matches!(kind, DefinitionKind::Tool | DefinitionKind::Prompt);
        if let [PathStep::Key(key)] = path.as_slice()
            && key == "name"
            && is_called_by
            && let Some(at) = text.find(is_noncanonical)
        {
            // Rules and people know the name in its canonical spelling, so this one evades both.
            found.add(Indicator::new("odd_spelling", 6, at), "/name", text);
        }
    }
}

fn pointer(path: &[PathStep]) -> String {
    path.iter().fold(String::new(), |pointer, step| match step {
        PathStep::Key(key) => format!("{pointer}/{}", escape_pointer(key)),
        PathStep::Number(number) => format!("{pointer}/{number}"),
    })
}

fn escape_pointer(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

// Duplicate keys are scanned as well: a client may read either of them.
impl TreeReader for DefinitionWalk {
    type Node = ();
    type Members = ();

    fn scalar(&mut self, scalar: Scalar<'_>) {
        if let Scalar::Text(text) = scalar {
            self.scan_string(text);
        }
    }

    fn list(&mut self, _: Vec<()>) {}

    fn object(&mut self, (): ()) {}

    fn enter(&mut self, step: Step<'_>) {
        match step {
            Step::Index(number) => self.path.push(PathStep::Number(number)),
            Step::Name(key) => {
                self.path.push(PathStep::Key(key.to_owned()));
                self.found.scan(&|| pointer(&self.path), key);
            }
        }
    }

    fn leave(&mut self) {
        self.path.pop();
    }
}

// Parts of the names of secrets.
const SECRET_WORDS: [&str; 16] = [
    "apikey", "api_key", "token", "secret", "password", "passwd", "passphrase", "credential",
    "authorization", "private_key", "privatekey", "access_key", "accesskey", "cookie", "session",
    "bearer",
];

/// Returns the JSON pointer and name of each argument that is sent in a header and, by its name or
/// the header's, looks like a secret.
#[must_use]
pub fn secret_headers(definition: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Ok(definition) = serde_json::from_str::<Value>(definition)
        && let Some(schema) = definition.get("inputSchema")
    {
        collect_secret_headers("/inputSchema", schema, &mut found);
    }
    found
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase().replace(['-', ' ', '.'], "_");
    SECRET_WORDS.iter().any(|secret| name.contains(secret)) || name == "auth" || name == "key"
}

fn collect_secret_headers(place: &str, schema: &Value, found: &mut Vec<(String, String)>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        let place = format!("{place}/properties/{}", escape_pointer(name));
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str)
            && (is_secret_name(name) || is_secret_name(header))
        {
            found.push((place.clone(), name.clone()));
        }
        collect_secret_headers(&place, property, found);
    }
}
