//! The members of a JSON object in the order in which they came, some of them replaced.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in order, with their values untouched.
pub(crate) struct RawMembers<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for RawMembers<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(MemberName(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(members)
            }
        }
        from.deserialize_map(MembersVisitor).map(RawMembers)
    }
}

/// A name that is borrowed where it has no escapes.
#[derive(Deserialize)]
struct MemberName<'a>(#[serde(borrow)] Cow<'a, str>);

/// The same object with the string `name` as its member `key`; all other bytes stay.
///
/// Nothing comes of text that is not an object.
pub(crate) fn with_string_member(object: &str, key: &str, text: &str) -> Option<String> {
    with_raw_member(object, key, &serde_json::Value::from(text).to_string())
}

/// The same with any JSON text as the member.
pub(crate) fn with_raw_member(object: &str, key: &str, text: &str) -> Option<String> {
    let RawMembers(members) = serde_json::from_str(object).ok()?;
    let mut out = String::with_capacity(object.len() + text.len());
    out.push('{');
    for (name, value) in &members {
        if out.len() > 1 {
            out.push(',');
        }
        push_json_string(&mut out, name);
        out.push(':');
        out.push_str(if name == key { text } else { value.get() });
    }
    out.push('}');
    Some(out)
}

/// Appends `text` as a JSON string.
pub(crate) fn push_json_string(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// Puts `members` in front of those of an object; both are text without braces around `members`.
pub(crate) fn with_leading_members(members: &str, object: &str) -> Option<String> {
    let rest = object.trim_start().strip_prefix('{')?;
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    Some(format!("{{{members}{comma}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::{with_leading_members, with_string_member};

    #[test]
    fn a_member_is_replaced_and_all_else_stays_as_it_was() {
        let object =
            r#"{"z": 1e400, "name":"a", "a\u0062":{"name" :"x"},"n":12345678901234567890}"#;
        assert_eq!(
            with_string_member(object, "name", "s__\"a").as_deref(),
            Some(r#"{"z":1e400,"name":"s__\"a","ab":{"name" :"x"},"n":12345678901234567890}"#)
        );
        assert_eq!(with_string_member("[]", "name", "x"), None);
    }

    #[test]
    fn members_are_put_in_front() {
        assert_eq!(with_leading_members(r#""a":1"#, " { }").as_deref(), Some(r#"{"a":1 }"#));
        assert_eq!(
            with_leading_members(r#""a":1"#, r#"{"b":2}"#).as_deref(),
            Some(r#"{"a":1,"b":2}"#)
        );
        assert_eq!(with_leading_members(r#""a":1"#, "7"), None);
    }
}
