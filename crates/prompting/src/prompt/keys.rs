//! Renaming of arguments to names that a vendor accepts, and back.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

const MAX_KEY_LEN: usize = 64;
// Leaves space for a leading underscore and a number that makes the name unique.
const TRUNCATED_LEN: usize = 58;

/// The characters that a vendor accepts in names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// Also `.` and `-`.
    Dotted,
    /// ASCII letters, digits and `_`, not starting with a digit.
    Plain,
}

impl Alphabet {
    pub(crate) fn accepts(self, name: &str) -> bool {
        (1..=MAX_KEY_LEN).contains(&name.len())
            && name.chars().all(|c| self.accepts_char(c))
            && !(self == Self::Plain && name.starts_with(|c: char| c.is_ascii_digit()))
    }

    fn accepts_char(self, c: char) -> bool {
        c.is_ascii_alphanumeric() || c == '_' || (self == Self::Dotted && matches!(c, '.' | '-'))
    }

    /// Returns a similar accepted name that is not taken.
    pub(crate) fn nearest(self, name: &str, taken: impl Fn(&str) -> bool) -> String {
        let mut base: String = name
            .chars()
            .map(|c| if self.accepts_char(c) { c } else { '_' })
            .take(TRUNCATED_LEN)
            .collect();
        if !self.accepts(&base) {
            base.insert(0, '_');
        }
        let mut candidate = base.clone();
        let mut number = 2_u32;
        while taken(&candidate) {
            candidate = format!("{base}_{number}");
            number += 1;
        }
        candidate
    }

    pub(crate) fn accepts_all(self, schema: &Value) -> bool {
        match schema {
            Value::Object(fields) => {
                let own = fields.get("properties").and_then(Value::as_object);
                own.is_none_or(|own| own.keys().all(|name| self.accepts(name)))
                    && fields.values().all(|value| self.accepts_all(value))
            }
            Value::Array(items) => items.iter().all(|item| self.accepts_all(item)),
            _ => true,
        }
    }
}

/// An argument that the model is `shown` under another name than the server has `given` it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedKey {
    /// The tool's name as shown to the model.
    pub tool: String,
    /// Path of the containing object: shown names after `/`, `*` for items; empty at the top.
    pub place: String,
    pub shown: String,
    pub given: String,
}

#[derive(Debug, Clone)]
pub(crate) struct KeyTable {
    alphabet: Alphabet,
    /// From path and shown name to the server's name.
    given: BTreeMap<String, BTreeMap<String, String>>,
}

impl KeyTable {
    pub(crate) const fn new(alphabet: Alphabet) -> Self {
        Self { alphabet, given: BTreeMap::new() }
    }

    /// Renames rejected properties in a schema without references.
    pub(crate) fn rename(&mut self, schema: &mut Value, place: &str) {
        let Some(fields) = schema.as_object_mut() else { return };
        if let Some(Value::Object(own)) = fields.remove("properties") {
            let renamed = self.rename_properties(own, place);
            fields.insert("properties".to_owned(), Value::Object(renamed));
        }
        // After the properties, so that their names are assigned already.
        if let Some(Value::Array(required)) = fields.get_mut("required") {
            for name in required {
                if let Some(given) = name.as_str() {
                    *name = Value::from(self.assign_name(place, given));
                }
            }
        }
        let below = format!("{place}/*");
        for (keyword, value) in fields.iter_mut() {
            // Alternatives describe the same object, so they share its path and its names.
            let at = match keyword.as_str() {
                "items" | "prefixItems" | "additionalProperties" | "contains" => &below,
                "anyOf" | "oneOf" | "allOf" | "not" | "if" | "then" | "else" => place,
                _ => continue,
            };
            match value {
                Value::Array(parts) => {
                    for part in parts {
                        self.rename(part, at);
                    }
                }
                one => self.rename(one, at),
            }
        }
    }

    fn rename_properties(&mut self, own: Map<String, Value>, place: &str) -> Map<String, Value> {
        // Accepted names come first, so that a generated name never displaces one.
        let (fine, other): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|(name, _)| self.alphabet.accepts(name));
        let mut renamed = Map::new();
        for (name, mut property) in fine.into_iter().chain(other) {
            let shown = self.assign_name(place, &name);
            self.rename(&mut property, &format!("{place}/{shown}"));
            renamed.insert(shown, property);
        }
        renamed
    }

    fn assign_name(&mut self, place: &str, given: &str) -> String {
        let here = self.given.entry(place.to_owned()).or_default();
        if let Some((shown, _)) = here.iter().find(|(_, known)| *known == given) {
            return shown.clone();
        }
        let fine = self.alphabet.accepts(given) && !here.contains_key(given);
        let shown = if fine {
            given.to_owned()
        } else {
            self.alphabet.nearest(given, |name| here.contains_key(name))
        };
        here.insert(shown.clone(), given.to_owned());
        shown
    }

    pub(crate) fn renamed_keys(&self, tool: &str) -> Vec<RenamedKey> {
        let mut out = Vec::new();
        for (place, names) in &self.given {
            for (shown, given) in names.iter().filter(|(shown, given)| shown != given) {
                out.push(RenamedKey {
                    tool: tool.to_owned(),
                    place: place.clone(),
                    shown: shown.clone(),
                    given: given.clone(),
                });
            }
        }
        out
    }
}

/// Restores the server's argument names.
pub(crate) fn restore(renamed: &[&RenamedKey], arguments: Value, place: &str) -> Value {
    let below = |name: &str| {
        let exact = format!("{place}/{name}");
        let inside = format!("{exact}/");
        let known = renamed.iter().any(|key| key.place == exact || key.place.starts_with(&inside));
        if known { exact } else { format!("{place}/*") }
    };
    match arguments {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| {
                    let key = renamed.iter().find(|key| key.place == place && key.shown == name);
                    let value = restore(renamed, value, &below(&name));
                    (key.map_or(name, |key| key.given.clone()), value)
                })
                .collect(),
        ),
        Value::Array(items) => {
            let place = format!("{place}/*");
            items.into_iter().map(|item| restore(renamed, item, &place)).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Alphabet, KeyTable, restore};

    #[test]
    fn names_outside_the_alphabet_are_mapped_and_mapped_back() {
        let mut schema = json!({
            "properties": {
                "$top": {"type": "integer"},
                "_top": {"type": "integer"},
                "rows": {"type": "array", "items": {"properties": {"名": {}, "ok": {}}, "required": ["名"]}}
            },
            "required": ["$top"]
        });
        let mut table = KeyTable::new(Alphabet::Dotted);
        table.rename(&mut schema, "");
        let expected = json!({
            "properties": {
                "_top": {"type": "integer"},
                "_top_2": {"type": "integer"},
                "rows": {"type": "array", "items": {"properties": {"_": {}, "ok": {}}, "required": ["_"]}}
            },
            "required": ["_top_2"]
        });
        assert_eq!(schema, expected);
        let renamed = table.renamed_keys("t");
        let restored = restore(
            &renamed.iter().collect::<Vec<_>>(),
            json!({"_top": 1, "_top_2": 2, "rows": [{"_": 3, "ok": 4}]}),
            "",
        );
        assert_eq!(restored, json!({"_top": 1, "$top": 2, "rows": [{"名": 3, "ok": 4}]}));
    }

    #[test]
    fn each_alphabet_knows_its_names() {
        let cases = [
            ("a.b-c", true, false),
            ("1a", true, false),
            ("_a1", true, true),
            ("", false, false),
            ("a b", false, false),
        ];
        for (name, dotted, plain) in cases {
            assert_eq!(
                (Alphabet::Dotted.accepts(name), Alphabet::Plain.accepts(name)),
                (dotted, plain),
                "{name}"
            );
        }
        assert!(!Alphabet::Dotted.accepts(&"a".repeat(65)));
    }
}
