//! The single visitor for JSON values of any shape.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::object::MemberName;

/// A value other than an array or an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(&'a str),
}

impl From<Scalar<'_>> for Value {
    fn from(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Number(number) => Self::Number(number),
            Scalar::Text(text) => Self::from(text),
        }
    }
}

/// A step from a value to one of its parts.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    Index(usize),
    Name(&'a str),
}

/// Builds a node from each value that [`read_tree`] visits, children before their parent.
pub trait TreeReader {
    type Node;
    /// Collects the members of an object, and decides whether duplicate names are accepted.
    type Members: MemberStore<Self::Node>;

    fn scalar(&mut self, scalar: Scalar<'_>) -> Self::Node;
    fn list(&mut self, items: Vec<Self::Node>) -> Self::Node;
    fn object(&mut self, members: Self::Members) -> Self::Node;

    /// Called before a child is read; also for the index after the last item of an array.
    fn enter(&mut self, _: Step<'_>) {}
    fn leave(&mut self) {}
}

/// A collection of members: a `Vec` keeps duplicate names, a `Map` rejects them, `()` is empty.
pub trait MemberStore<V>: Default {
    fn rejects(&self, _: &str) -> bool {
        false
    }

    fn add(&mut self, name: Cow<'_, str>, value: V);
}

impl<V> MemberStore<V> for Vec<(String, V)> {
    fn add(&mut self, name: Cow<'_, str>, value: V) {
        self.push((name.into_owned(), value));
    }
}

impl MemberStore<Value> for Map<String, Value> {
    fn rejects(&self, name: &str) -> bool {
        self.contains_key(name)
    }

    fn add(&mut self, name: Cow<'_, str>, value: Value) {
        self.insert(name.into_owned(), value);
    }
}

impl<V> MemberStore<V> for () {
    fn add(&mut self, _: Cow<'_, str>, _: V) {}
}

/// Reads one value of any shape.
pub fn read_tree<'de, R: TreeReader, D: Deserializer<'de>>(
    reader: &mut R,
    from: D,
) -> Result<R::Node, D::Error> {
    TreeVisitor(reader).deserialize(from)
}

/// Parses JSON text; rejects duplicate names and trailing input.
pub fn read_strictly(text: &[u8]) -> Result<Value, serde_json::Error> {
    // Parsers differ in which duplicate they use, so two of them would read different documents.
    struct StrictReader;
    impl TreeReader for StrictReader {
        type Node = Value;
        type Members = Map<String, Value>;

        fn scalar(&mut self, scalar: Scalar<'_>) -> Value {
            scalar.into()
        }

        fn list(&mut self, items: Vec<Value>) -> Value {
            Value::Array(items)
        }

        fn object(&mut self, members: Map<String, Value>) -> Value {
            Value::Object(members)
        }
    }
    let mut from = serde_json::Deserializer::from_slice(text);
    let value = read_tree(&mut StrictReader, &mut from)?;
    from.end()?;
    Ok(value)
}

struct TreeVisitor<'r, R>(&'r mut R);

impl<'de, R: TreeReader> DeserializeSeed<'de> for TreeVisitor<'_, R> {
    type Value = R::Node;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<R::Node, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, R: TreeReader> Visitor<'de> for TreeVisitor<'_, R> {
    type Value = R::Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<R::Node, E> {
        Ok(self.0.scalar(Scalar::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<R::Node, E> {
        Ok(self.0.scalar(Scalar::Bool(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<R::Node, E> {
        Ok(self.0.scalar(Scalar::Number(value.into())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<R::Node, E> {
        Ok(self.0.scalar(Scalar::Number(value.into())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<R::Node, E> {
        Ok(self.0.scalar(Number::from_f64(value).map_or(Scalar::Null, Scalar::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<R::Node, E> {
        Ok(self.0.scalar(Scalar::Text(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<R::Node, A::Error> {
        let mut items = Vec::new();
        loop {
            // The end of the array shows only when the next item is read.
            self.0.enter(Step::Index(items.len()));
            let item = values.next_element_seed(TreeVisitor(&mut *self.0))?;
            self.0.leave();
            match item {
                Some(item) => items.push(item),
                None => return Ok(self.0.list(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<R::Node, A::Error> {
        let mut members = R::Members::default();
        while let Some(MemberName(name)) = map.next_key()? {
            if members.rejects(&name) {
                return Err(Error::custom(format_args!("duplicate key `{name}`")));
            }
            self.0.enter(Step::Name(&name));
            let value = map.next_value_seed(TreeVisitor(&mut *self.0))?;
            self.0.leave();
            members.add(name, value);
        }
        Ok(self.0.object(members))
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
            (r#"{"a":1,"a":2}"#, Err("duplicate key `a` at line 1 column 10")),
            (r#"{"b":[{"c":1,"\u0063":2}]}"#, Err("duplicate key `c` at line 1 column 21")),
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
