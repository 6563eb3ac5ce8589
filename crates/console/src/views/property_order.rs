//! The names of the members of a schema in the order in which its author wrote them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

/// The names of `properties`; none if there are none.
pub(crate) fn names_in_order(schema: &str) -> Vec<String> {
    serde_json::from_str::<PropertySchema>(schema)
        .map(|schema| schema.properties.0)
        .unwrap_or_default()
}

#[derive(Deserialize)]
struct PropertySchema {
    #[serde(default)]
    properties: PropertyNames,
}

#[derive(Default)]
struct PropertyNames(Vec<String>);

impl<'de> Deserialize<'de> for PropertyNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PropertyNamesVisitor)
    }
}

struct PropertyNamesVisitor;

impl<'de> Visitor<'de> for PropertyNamesVisitor {
    type Value = PropertyNames;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PropertyNames, A::Error> {
        let mut names = Vec::new();
        while let Some((name, _)) = map.next_entry::<String, IgnoredAny>()? {
            names.push(name);
        }
        Ok(PropertyNames(names))
    }
}

#[cfg(test)]
mod tests {
    use super::names_in_order;

    #[test]
    fn names_come_in_the_order_of_the_text() {
        let schema = r#"{"type": "object", "properties": {"z": {}, "a": {"properties": {}}}}"#;
        assert_eq!(names_in_order(schema), ["z", "a"]);
        for odd in ["{}", "[]", "", r#"{"properties": 3}"#] {
            assert_eq!(names_in_order(odd), [""; 0], "{odd}");
        }
    }
}
