//! Parsing of call arguments: JSON, or text that can be repaired to JSON.

use crate::parse::decode::decode;
use crate::parse::errors::{JsonProblem, ParseError};
use crate::parse::json_type::{JsonType, check_json};
use crate::parse::repair;

/// Valid arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedArguments {
    /// The text of a JSON object, unchanged unless `repaired` describes repairs.
    pub text: String,
    pub repaired: Option<String>,
}

impl ParsedArguments {
    pub(crate) fn empty() -> Self {
        Self { text: "{}".to_owned(), repaired: None }
    }
}

/// Parses arguments that should be a JSON object. Empty text is an empty object.
pub fn read_arguments(text: &str) -> Result<ParsedArguments, ParseError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(ParsedArguments::empty());
    }
    match check_json(text) {
        Ok(JsonType::Object) => Ok(ParsedArguments { text: text.to_owned(), repaired: None }),
        // Models write `null` for a tool without arguments.
        Ok(JsonType::Null) => {
            Ok(ParsedArguments { repaired: Some("null".to_owned()), ..ParsedArguments::empty() })
        }
        Ok(JsonType::String) => read_quoted(text),
        Ok(other) => Err(not_an_object(other)),
        Err(error) => repair_arguments(text, &error),
    }
}

// Some models encode the object twice, as the text of a JSON string.
fn read_quoted(text: &str) -> Result<ParsedArguments, ParseError> {
    let inner: String = serde_json::from_str(text).unwrap_or_default();
    match check_json(&inner) {
        Ok(JsonType::Object) => Ok(ParsedArguments {
            text: inner.trim().to_owned(),
            repaired: Some("the object was inside of a string".to_owned()),
        }),
        _ => Err(not_an_object(JsonType::String)),
    }
}

fn repair_arguments(text: &str, error: &serde_json::Error) -> Result<ParsedArguments, ParseError> {
    let mut notes = Vec::new();
    let mut source = std::borrow::Cow::Borrowed(text);
    if let Some(inside) = without_fence(text) {
        source = inside.to_owned().into();
        notes.push("a code fence");
    }
    // Only if the first key is quoted that way: entities in values are data, such as HTML.
    if source.trim_start_matches(['{', '[']).trim_start().starts_with("&quot;") {
        source = decode(&source).into_owned().into();
        notes.push("quotes written as entities");
    }
    let repaired = repair::repair(&source).map_err(ParseError::Json)?;
    match check_json(&repaired.text) {
        Ok(JsonType::Object) => {}
        Ok(other) => return Err(not_an_object(other)),
        // Well formed but invalid: a number out of range, or an unpaired surrogate.
        Err(_) => return Err(ParseError::Json(strict_problem(text, error))),
    }
    notes.extend(repaired.notes);
    let repaired_what = (!notes.is_empty()).then(|| notes.join(", "));
    Ok(ParsedArguments { text: repaired.text, repaired: repaired_what })
}

fn strict_problem(text: &str, error: &serde_json::Error) -> JsonProblem {
    // `serde_json` counts columns in bytes, and they may end inside of a character.
    let before: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let mut offset = (before + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let described = error.to_string();
    let what = described.split(" at line ").next().unwrap_or_default();
    JsonProblem::at(what, text, offset)
}

fn without_fence(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("```")?.strip_suffix("```")?;
    // The info string, such as `json`, ends at the first character of another kind.
    let info = inside.find(|c: char| !c.is_ascii_alphanumeric())?;
    inside.get(info..).map(str::trim)
}

const fn not_an_object(value: JsonType) -> ParseError {
    ParseError::NotAnObject { found: value.name() }
}

#[cfg(test)]
mod tests {
    use super::{ParsedArguments, read_arguments};

    #[test]
    fn good_json_stays_as_it_was_written() {
        for text in ["{}", r#"{"b": 1e2, "a":18446744073709551616, "b":"\u00e9"}"#] {
            let expected = ParsedArguments { text: text.to_owned(), repaired: None };
            assert_eq!(read_arguments(&format!("\n {text} ")), Ok(expected));
        }
        assert_eq!(read_arguments(" \n"), Ok(ParsedArguments::empty()));
    }

    #[test]
    fn what_surrounds_an_object_is_taken_off() {
        let cases = [
            ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#, "a code fence"),
            (r#""{\"a\": 1}""#, r#"{"a": 1}"#, "the object was inside of a string"),
            ("{&quot;a&quot;: &quot;&lt;&quot;}", r#"{"a":"<"}"#, "quotes written as entities"),
            ("null", "{}", "null"),
        ];
        for (written, text, repaired) in cases {
            let expected =
                ParsedArguments { text: text.to_owned(), repaired: Some(repaired.to_owned()) };
            assert_eq!(read_arguments(written), Ok(expected), "{written}");
        }
    }

    #[test]
    fn what_is_no_object_is_refused_with_what_it_is() {
        let cases = [
            ("[1]", "the arguments must be a JSON object, not an array"),
            ("[1,]", "the arguments must be a JSON object, not an array"),
            ("\"a\"", "the arguments must be a JSON object, not a string"),
            ("7", "the arguments must be a JSON object, not a number"),
            (
                "{\"a\": 1e999}",
                "the arguments are not valid JSON: number out of range at line 1, column 11, \
                 near `{\"a\": 1e999}`",
            ),
        ];
        for (written, expected) in cases {
            assert_eq!(read_arguments(written).unwrap_err().to_string(), expected, "{written}");
        }
    }
}
