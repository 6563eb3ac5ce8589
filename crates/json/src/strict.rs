//! Arguments as a value, unless a name stands twice: then nobody knows which one the server takes.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Reads JSON text, and refuses a member that stands twice.
pub fn read_strictly(text: &[u8]) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = StrictVisitor.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct StrictVisitor;

impl<'de> DeserializeSeed<'de> for StrictVisitor {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(Error::custom(format_args!("`{name}` stands there twice")));
            }
            let value = from.next_value_seed(self)?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::read_strictly;

    #[test]
    fn a_member_that_stands_twice_is_refused_at_any_depth() {
        for (text, expected) in [
            (r#"{"a":1,"b":[{"c":null}]}"#, Ok(())),
            (r#"{"a":1,"a":2}"#, Err("`a` stands there twice at line 1 column 10")),
            (r#"{"b":[{"c":1,"\u0063":2}]}"#, Err("`c` stands there twice at line 1 column 21")),
            ("{} x", Err("trailing characters at line 1 column 4")),
        ] {
            let got = read_strictly(text.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(got, expected.map_err(str::to_owned), "{text}");
        }
    }

    proptest! {
        #[test]
        fn everything_else_is_read_as_always(text in "\\PC{0,40}") {
            let quoted = Value::from(text).to_string();
            let object = format!(r#"{{"a":[1,-2,3.5,true,null,{quoted}],"b":{{"c":{quoted}}}}}"#);
            let expected: Value = serde_json::from_str(&object).unwrap();
            prop_assert_eq!(read_strictly(object.as_bytes()).unwrap(), expected);
        }
    }
}
