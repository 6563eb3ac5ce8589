//! JSON objects in the order of the text, including duplicate names; values stay unchanged.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::fmt::Write;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::canonical::to_json_string;

/// Maximum depth of pretty-printing; deeper values are printed unchanged.
// Each level parses its text again, so the cost grows with the depth times the length.
const MAX_DEPTH: usize = 64;

/// A type that is read from an object, member by member in the order of the text.
///
/// [`deserialize_members`] is the body of its `Deserialize` implementation.
pub trait FromMembers<'de>: Default {
    /// The expected input, as named in error messages.
    const EXPECTED: &'static str = "an object";

    /// Reads the value of the member `name` from `map`. The implementation decides whether a
    /// duplicate name is an error.
    fn read_member<A: MapAccess<'de>>(
        &mut self,
        name: Cow<'de, str>,
        map: &mut A,
    ) -> Result<(), A::Error>;
}

/// Deserializes an object member by member.
pub fn deserialize_members<'de, T: FromMembers<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    struct MembersVisitor<T>(PhantomData<T>);
    impl<'de, T: FromMembers<'de>> Visitor<'de> for MembersVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let mut read = T::default();
            while let Some(MemberName(name)) = map.next_key()? {
                read.read_member(name, &mut map)?;
            }
            Ok(read)
        }
    }
    from.deserialize_map(MembersVisitor(PhantomData))
}

/// A name, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
pub(crate) struct MemberName<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// The members of an object in the order of the text, including duplicate names.
#[derive(Debug)]
pub struct Members<'a, V>(pub Vec<(Cow<'a, str>, V)>);

/// Members whose values are raw JSON text.
pub type RawMembers<'a> = Members<'a, &'a RawValue>;

impl<V> Default for Members<'_, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> FromMembers<'de> for Members<'a, V> {
    fn read_member<A: MapAccess<'de>>(
        &mut self,
        name: Cow<'de, str>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        self.0.push((name, map.next_value()?));
        Ok(())
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Members<'a, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_members(from)
    }
}

impl<'a> RawMembers<'a> {
    /// Parses an object; `None` if the text is not one.
    pub fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the first member of that name.
    pub fn first(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Returns the last member of that name, unless it is `null`.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        // Most JSON parsers use the last duplicate. `null` counts as absent: many servers write it
        // for optional fields.
        let found = self.0.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| *value).filter(|value| value.get() != "null")
    }

    /// Returns the member as a string, if it is one.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text)
    }

    /// Pretty-prints the object without one member.
    pub fn pretty_without(&self, left_out: &str) -> String {
        let mut out = String::new();
        write_object(&mut out, self.0.iter().filter(|(name, _)| name != left_out), 0);
        out
    }
}

/// Returns the distinct names of a schema's `properties` in the order of the text.
pub fn property_names(schema: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Outline<'a> {
        #[serde(borrow)]
        properties: Option<Members<'a, IgnoredAny>>,
    }
    // A malformed schema has no properties that could be listed.
    let outline = serde_json::from_str::<Outline<'_>>(schema).ok();
    let Members(members) = outline.and_then(|outline| outline.properties).unwrap_or_default();
    let mut seen = HashSet::new();
    let names = members.iter().filter(|(name, _)| seen.insert(name));
    names.map(|(name, _)| name.clone().into_owned()).collect()
}

/// Returns the value of a JSON string; `None` for any other value.
pub fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Pretty-prints a value; members keep their order.
pub fn pretty(value: &RawValue) -> String {
    let mut out = String::new();
    write_value(&mut out, value, 0);
    out
}

fn write_value(out: &mut String, value: &RawValue, depth: usize) {
    if depth < MAX_DEPTH {
        if let Some(Members(members)) = RawMembers::parse(value.get()) {
            write_object(out, members.iter(), depth);
            return;
        }
        if let Ok(values) = serde_json::from_str::<Vec<&RawValue>>(value.get()) {
            write_array(out, &values, depth);
            return;
        }
        if let Some(text) = text(value) {
            out.push_str(&to_json_string(&text));
            return;
        }
    }
    out.push_str(value.get());
}

fn write_object<'a>(
    out: &mut String,
    members: impl Iterator<Item = &'a (Cow<'a, str>, &'a RawValue)>,
    depth: usize,
) {
    out.push('{');
    let mut empty = true;
    for (name, value) in members {
        out.push_str(if empty { "\n" } else { ",\n" });
        empty = false;
        // Writing to a string cannot fail.
        let _ok = write!(out, "{}{}: ", "  ".repeat(depth + 1), to_json_string(name));
        write_value(out, value, depth + 1);
    }
    write_end(out, empty, depth, '}');
}

fn write_array(out: &mut String, values: &[&RawValue], depth: usize) {
    out.push('[');
    for (index, value) in values.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        write_value(out, value, depth + 1);
    }
    write_end(out, values.is_empty(), depth, ']');
}

fn write_end(out: &mut String, empty: bool, depth: usize, bracket: char) {
    if !empty {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
    out.push(bracket);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn values_keep_their_order_and_their_digits() {
        let value = raw(
            r#"{"b":1.0e+2,"a":[{"x":null},[],{}],"c":"\u00e9\n","b2":12345678901234567890123}"#,
        );
        let expected = "{\n  \"b\": 1.0e+2,\n  \"a\": [\n    {\n      \"x\": null\n    },\n    [],\n    {}\n  ],\n  \"c\": \"é\\n\",\n  \"b2\": 12345678901234567890123\n}";
        assert_eq!(pretty(&value), expected);
    }

    #[test]
    fn of_two_fields_with_one_name_the_last_counts() {
        let value = raw(r#"{"a":1,"a":2}"#);
        let members = RawMembers::parse(value.get()).unwrap();
        assert_eq!(members.get("a").map(RawValue::get), Some("2"));
        assert_eq!(members.first("a").map(RawValue::get), Some("1"));
    }

    #[test]
    fn a_very_deep_value_is_printed_as_it_is() {
        let text = format!("{}{}", "[".repeat(120), "]".repeat(120));
        assert!(pretty(&raw(&text)).contains(&"[".repeat(56)));
    }

    #[test]
    fn members_are_all_there_in_order_and_names_without_escapes_are_borrowed() {
        let text = r#" {"b": 1e400, "a" :[ 1 ], "\u0062":null, "":{"x":{}}} "#;
        let Members(members) = RawMembers::parse(text).unwrap();
        let found: Vec<_> = members.iter().map(|(name, value)| (&**name, value.get())).collect();
        assert_eq!(found, [("b", "1e400"), ("a", "[ 1 ]"), ("b", "null"), ("", r#"{"x":{}}"#)]);
        let is_borrowed = |(name, _): &(_, _)| matches!(name, Cow::Borrowed(_));
        let borrowed: Vec<bool> = members.iter().map(is_borrowed).collect();
        assert_eq!(borrowed, [true, true, false, true]);
        for odd in ["[]", "7", "null", "{", r#"{"a":1}x"#, r#"{"\ud800":1}"#] {
            assert!(RawMembers::parse(odd).is_none(), "{odd}");
        }
        let error = serde_json::from_str::<RawMembers<'_>>("7").unwrap_err().to_string();
        assert_eq!(error, "invalid type: integer `7`, expected an object at line 1 column 1");
    }

    #[test]
    fn properties_are_named_in_the_order_of_the_schema() {
        for (schema, names) in [
            (r#"{"properties":{"z":{},"a":{"properties":{"q":1}},"\u007a":{}}}"#, &["z", "a"][..]),
            (r#"{"properties":null}"#, &[]),
            (r#"{"properties":3}"#, &[]),
            (r#"{"properties":{"a":1},"properties":{}}"#, &[]),
            ("{}", &[]),
            ("[]", &[]),
            ("", &[]),
        ] {
            assert_eq!(property_names(schema), names, "{schema}");
        }
    }
}
