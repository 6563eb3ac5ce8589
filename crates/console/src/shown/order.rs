//! The names of the members of a schema in the order in which its author wrote them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

/// The names of `properties`; none if there are none.
pub(crate) fn names_in_order(schema: &str) -> Vec<String> {
    serde_json::from_str::<Schema>(schema).map(|schema| schema.properties.0).unwrap_or_default()
}

#[derive(Deserialize)]
struct Schema {
    #[serde(default)]
    properties: Names,
}

#[derive(Default)]
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Names;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some((name, _)) = map.next_entry::<String, IgnoredAny>()? {
            names.push(name);
        }
        Ok(Names(names))
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
