//! Lowers `enum` and `const`: a fixed set of strings becomes an enum.

use serde_json::{Map, Value};

use crate::lower::{SchemaLowering, TypePosition, doc_members, doc_text};
use crate::model::{EnumValue, ItemBody, Ty};
use crate::names::NameScope;

/// Maximum number of enum values; a larger set becomes a string.
const MAX_ENUM_VALUES: usize = 256;

impl SchemaLowering<'_> {
    pub(crate) fn literal_type(&mut self, schema: &Map<String, Value>, place: &TypePosition) -> Ty {
        let single = schema.get("const").cloned().map(|value| vec![value]);
        let values = schema.get("enum").and_then(Value::as_array).cloned();
        let Some(values) = single.or(values) else { return Ty::Any };
        let nullable = values.contains(&Value::Null);
        let words: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        let texts: Vec<&str> = words.iter().filter_map(|value| value.as_str()).collect();
        let ty = if texts.len() == words.len() && !texts.is_empty() {
            let docs = doc_text(&doc_members(schema));
            let words = texts.into_iter().map(|text| (text.to_owned(), None)).collect();
            self.enum_type(words, docs, place)
        } else if words.iter().all(|value| value.is_boolean()) && !words.is_empty() {
            Ty::Flag
        } else if words.iter().all(|value| value.is_u64()) && !words.is_empty() {
            Ty::Natural
        } else if words.iter().all(|value| value.is_i64()) && !words.is_empty() {
            Ty::Integer
        } else {
            Ty::Any
        };
        if nullable { ty.optional() } else { ty }
    }

    pub(crate) fn enum_type(
        &mut self,
        texts: Vec<(String, Option<String>)>,
        docs: Option<String>,
        place: &TypePosition,
    ) -> Ty {
        let mut unique: Vec<(String, Option<String>)> = Vec::new();
        // A duplicate would be an unreachable variant with the same `rename`.
        for (text, about) in texts.into_iter().take(MAX_ENUM_VALUES + 1) {
            if !unique.iter().any(|(known, _)| *known == text) {
                unique.push((text, about));
            }
        }
        if unique.len() > MAX_ENUM_VALUES {
            return Ty::Text;
        }
        let mut identifiers = NameScope::default();
        let word = |(value, docs): (String, Option<String>)| EnumValue {
            identifier: identifiers.camel(&value, "Empty"),
            value,
            docs,
        };
        let words = unique.into_iter().map(word).collect();
        self.define(place, docs, ItemBody::Words(words))
    }
}
