//! Assembly of native calls, which a vendor streams in fragments separately from the text.

use crate::parse::arguments::{ParsedArguments, read_arguments};
use crate::parse::errors::ParseError;

/// Collects the fragments of a message's native calls.
#[derive(Debug, Default)]
pub struct Assembler {
    calls: Vec<CallFragments>,
}

/// A call that the vendor delivered separately from the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeCall {
    /// The vendor's id of the call, which the result must quote.
    pub id: Option<String>,
    /// The tool's name as it was offered.
    pub name: String,
    /// The arguments, or the reason why the call is invalid.
    pub arguments: Result<ParsedArguments, ParseError>,
}

#[derive(Debug)]
struct CallFragments {
    index: usize,
    id: Option<String>,
    name: String,
    arguments: String,
}

impl Assembler {
    /// Creates an empty assembler.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a fragment of the call at `index`.
    pub fn delta(&mut self, index: usize, id: Option<&str>, name: Option<&str>, fragment: &str) {
        let id = id.filter(|id| !id.is_empty());
        let known = self.calls.iter().rposition(|parts| parts.index == index);
        let known = known.and_then(|place| self.calls.get_mut(place));
        // Some vendors use index 0 for every call, so another id at the same index starts a call.
        let same = known.filter(|parts| match (&parts.id, id) {
            (Some(old), Some(new)) => old == new,
            _ => true,
        });
        let name = name.unwrap_or_default();
        let Some(parts) = same else {
            let id = id.map(str::to_owned);
            let name = name.to_owned();
            self.calls.push(CallFragments { index, id, name, arguments: fragment.to_owned() });
            return;
        };
        if parts.id.is_none() {
            parts.id = id.map(str::to_owned);
        }
        // Vendors send the name whole, in parts, or again with each fragment.
        if parts.name != name {
            parts.name.push_str(name);
        }
        parts.arguments.push_str(fragment);
    }

    /// Returns the calls in the order in which they started.
    #[must_use]
    pub fn finish(self) -> Vec<NativeCall> {
        let call = |parts: CallFragments| {
            let arguments = if parts.name.trim().is_empty() {
                Err(ParseError::NoName)
            } else {
                read_arguments(&parts.arguments)
            };
            NativeCall { id: parts.id, name: parts.name, arguments }
        };
        self.calls.into_iter().map(call).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Assembler, NativeCall};
    use crate::parse::arguments::ParsedArguments;
    use crate::parse::errors::ParseError;

    type Delta<'a> = (usize, Option<&'a str>, Option<&'a str>, &'a str);

    fn assemble(deltas: &[Delta<'_>]) -> Vec<NativeCall> {
        let mut assembler = Assembler::new();
        for (index, id, name, fragment) in deltas {
            assembler.delta(*index, *id, *name, fragment);
        }
        assembler.finish()
    }

    fn call(id: Option<&str>, name: &str, text: &str) -> NativeCall {
        let arguments = Ok(ParsedArguments { text: text.to_owned(), repaired: None });
        NativeCall { id: id.map(str::to_owned), name: name.to_owned(), arguments }
    }

    #[test]
    fn fragments_are_put_together_by_index_in_the_order_of_their_beginnings() {
        let cases: [(&[Delta<'_>], Vec<NativeCall>); 5] = [
            (
                &[
                    (0, Some("x"), Some("get"), ""),
                    (0, None, None, "{\"a\""),
                    (0, None, None, ":1}"),
                ],
                vec![call(Some("x"), "get", "{\"a\":1}")],
            ),
            (
                &[
                    (1, Some("b"), Some("two"), "{"),
                    (0, Some("a"), Some("one"), "{\"z\""),
                    (1, None, None, "}"),
                    (0, None, None, ":2}"),
                ],
                vec![call(Some("b"), "two", "{}"), call(Some("a"), "one", "{\"z\":2}")],
            ),
            (
                &[
                    (0, None, Some("get"), ""),
                    (0, Some("x"), Some("get"), ""),
                    (0, None, Some("_it"), ""),
                ],
                vec![call(Some("x"), "get_it", "{}")],
            ),
            (
                &[(0, Some("a"), Some("one"), "{}"), (0, Some("b"), Some("one"), "{\"b\":1}")],
                vec![call(Some("a"), "one", "{}"), call(Some("b"), "one", "{\"b\":1}")],
            ),
            (&[], vec![]),
        ];
        for (deltas, expected) in cases {
            assert_eq!(assemble(deltas), expected, "{deltas:?}");
        }
    }

    #[test]
    fn a_call_that_cannot_be_made_keeps_its_place_and_says_why() {
        let calls = assemble(&[(0, Some("x"), None, "{}"), (1, Some("y"), Some("get"), "{\"a")]);
        assert_eq!(calls[0].arguments, Err(ParseError::NoName));
        assert_eq!(
            calls[1].arguments.as_ref().unwrap_err().to_string(),
            "the arguments are not valid JSON: a string is not closed at line 1, column 2, near `{\"a`"
        );
    }
}
