//! One definition of a new server as it is shown for approval: its text and its risk.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_config::ServerConfig;
use switchboard_core::{Caller, Risk, Target, TargetKind};
use switchboard_policy::{PolicyFacts, SessionFacts, assess_risk};
use switchboard_text::excerpt_text;
use switchboard_trust::{PinKind, QuarantinedDefinition};

/// Maximum number of characters shown of a definition's description.
const MAX_TEXT_CHARS: usize = 300;

/// One definition of a server that waits for its first approval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NewDefinition {
    /// The kind of the definition.
    pub kind: PinKind,
    /// The name of the definition; empty for instructions.
    pub name: String,
    /// The description, truncated if it is long.
    pub says: String,
    /// The server's own annotations of a tool, such as `read-only` and `may destroy`.
    pub hints: Vec<&'static str>,
    /// The risk of calling the tool, as far as it is known without arguments.
    pub risk: Option<Risk>,
    /// The canonical text of the whole definition.
    pub definition: String,
    /// The fingerprint of the canonical text.
    pub digest: String,
}

impl NewDefinition {
    pub(crate) fn new(entry: &ServerConfig, held: &QuarantinedDefinition) -> Self {
        let parsed: Value = serde_json::from_str(&held.now).unwrap_or_default();
        let says = match &parsed {
            // Instructions are a bare text, all other definitions are objects.
            Value::String(said) => said.as_str(),
            other => other.get("description").and_then(Value::as_str).unwrap_or_default(),
        };
        let hints = parsed.get("annotations").cloned().unwrap_or_default();
        Self {
            kind: held.kind,
            name: held.name.clone(),
            says: excerpt_text(says, MAX_TEXT_CHARS),
            hints: hint_words(&hints),
            risk: (held.kind == PinKind::Tool).then(|| risk(entry, &held.name, &hints)),
            definition: held.now.clone(),
            digest: held.digest.clone(),
        }
    }
}

fn hint_words(hints: &Value) -> Vec<&'static str> {
    let says = |name: &str| hints.get(name).and_then(Value::as_bool);
    let read_only = says("readOnlyHint") == Some(true);
    let words = [
        (read_only, "read-only"),
        // MCP defines `destructiveHint` only for tools that are not read-only.
        (!read_only && says("destructiveHint") == Some(true), "may destroy"),
        (says("openWorldHint") == Some(true), "reaches outside"),
    ];
    words.into_iter().filter_map(|(is_said, word)| is_said.then_some(word)).collect()
}

fn risk(entry: &ServerConfig, tool: &str, hints: &Value) -> Risk {
    let target = Target::new(TargetKind::Tool, entry.id.as_str(), tool);
    let caller = Caller::person();
    let session = SessionFacts::default();
    let facts = PolicyFacts::without_definition(&target, "{}", Some(entry), &caller, &session);
    match hints {
        Value::Object(_) => assess_risk(&facts.with_annotations(&hints.to_string(), Some(entry))),
        _ => assess_risk(&facts),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_server_says_of_its_tools_is_told_in_words() {
        for (hints, words) in [
            (json!({}), vec![]),
            (json!({"readOnlyHint": true, "destructiveHint": true}), vec!["read-only"]),
            (json!({"readOnlyHint": "yes", "destructiveHint": true}), vec!["may destroy"]),
            (
                json!({"destructiveHint": true, "openWorldHint": true}),
                vec!["may destroy", "reaches outside"],
            ),
            (json!([true]), vec![]),
        ] {
            assert_eq!(hint_words(&hints), words, "{hints}");
        }
    }
}
