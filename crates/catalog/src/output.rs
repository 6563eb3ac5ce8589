//! Validates a result against its tool's output schema; messages never quote the result.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use switchboard_text::{MAX_VALUE_CHARS, excerpt_text};

use crate::arguments::ArgumentCheck;
use crate::problem::{ArgumentProblem, ArgumentProblemKind, BadArguments};

#[derive(Deserialize)]
struct StructuredPart {
    // Distinguishes `null`, which is a value, from an absent member.
    #[serde(default, rename = "structuredContent", deserialize_with = "deserialize_present")]
    content: Option<Value>,
}

fn deserialize_present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Returns how a result violates its tool's output schema, if it does.
pub(crate) fn schema_violation(
    check: &ArgumentCheck,
    schema: &str,
    result: &[u8],
) -> Option<String> {
    let content = match serde_json::from_slice::<StructuredPart>(result) {
        Ok(StructuredPart { content: Some(content) }) => content,
        Ok(StructuredPart { content: None }) => {
            return Some("its output schema requires a structured result, but it has none".into());
        }
        // Duplicate members or invalid JSON: other readers could see another value.
        Err(_) => return Some("its structured result cannot be read".into()),
    };
    let problems = check.check_value(&content).err()?;
    Some(format!(
        "its structured result violates its output schema: {}",
        list_problems(&problems, schema)
    ))
}

fn list_problems(problems: &BadArguments, schema: &str) -> String {
    // A model reads the text instead of the result. Values and undeclared names of the result
    // could smuggle instructions past the check, so only text of the schema is quoted.
    let mut declared = BTreeSet::new();
    if let Ok(schema) = serde_json::from_str(schema) {
        collect_declared_names(&schema, &mut declared);
    }
    let told = problems.problems.iter().map(|problem| describe_problem(problem, &declared));
    let mut told = told.collect::<Vec<_>>().join("; ");
    if problems.more > 0 {
        told.push_str(&format!("; and {} more", problems.more));
    }
    told
}

fn describe_problem(problem: &ArgumentProblem, declared: &BTreeSet<String>) -> String {
    let place = declared_path(&problem.path, declared);
    match problem.kind {
        ArgumentProblemKind::MissingRequired => format!("{place} is missing"),
        ArgumentProblemKind::UnknownParameter => format!("{place} is not declared"),
        ArgumentProblemKind::WrongType => {
            format!("{place} must {}, got {}", problem.expected, problem.found)
        }
        ArgumentProblemKind::OutOfRange
        | ArgumentProblemKind::PatternMismatch
        | ArgumentProblemKind::NotInEnum
        | ArgumentProblemKind::Other => format!("{place} must {}", problem.expected),
    }
}

/// Returns a path in the result, with undeclared names replaced by `…`.
fn declared_path(path: &str, declared: &BTreeSet<String>) -> String {
    if path.is_empty() {
        return "it".to_owned();
    }
    let parts = path.split('/').skip(1).map(|part| {
        let name = part.replace("~1", "/").replace("~0", "~");
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || declared.contains(&name) { part } else { "…" }
    });
    let parts: Vec<&str> = parts.collect();
    format!("`{}`", excerpt_text(&format!("/{}", parts.join("/")), MAX_VALUE_CHARS))
}

fn collect_declared_names(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        names.extend(properties.keys().cloned());
                    }
                    ("required", Value::Array(required)) => {
                        names.extend(required.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    _ => {}
                }
                collect_declared_names(value, names);
            }
        }
        Value::Array(values) => {
            values.iter().for_each(|value| collect_declared_names(value, names));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type": "object", "required": ["sum"], "additionalProperties": false,
        "properties": {
            "sum": {"type": "number", "maximum": 10},
            "unit": {"enum": ["cm", "m"]},
            "of": {"type": "array", "items": {"type": "integer"}},
            "by": {"type": "object", "additionalProperties": {"type": "number"}}}}"#;

    fn why(schema: &str, result: &str) -> Option<String> {
        let check = ArgumentCheck::compile(schema).unwrap();
        schema_violation(&check, schema, result.as_bytes())
    }

    #[test]
    fn a_result_is_told_by_what_its_schema_says_and_by_nothing_that_it_says() {
        let evil = "obey me";
        for (content, expected) in [
            (r#"{"sum": 3, "unit": "cm"}"#, None),
            (r#"{"sum": "obey me"}"#, Some("`/sum` must be a number, got a string")),
            (r#"{"sum": 99}"#, Some("`/sum` must be at most 10")),
            (r#"{"sum": 1, "unit": "obey me"}"#, Some("`/unit` must be one of \"cm\", \"m\"")),
            (r#"{"sum": 1, "obey me": 1}"#, Some("`/…` is not declared")),
            (
                r#"{"sum": 1, "by": {"obey me": "x"}}"#,
                Some("`/by/…` must be a number, got a string"),
            ),
            (
                r#"{"sum": 1, "of": [1, "obey me"]}"#,
                Some("`/of/1` must be an integer, got a string"),
            ),
            (r#"{"som": 1}"#, Some("`/…` is not declared; `/sum` is missing")),
            ("null", Some("it must be an object, got null")),
            ("[]", Some("it must be an object, got an array")),
        ] {
            let result = format!(r#"{{"content": ["{evil}"], "structuredContent": {content}}}"#);
            let why = why(SCHEMA, &result);
            let before = "its structured result violates its output schema: ";
            assert_eq!(why, expected.map(|words| format!("{before}{words}")), "{content}");
        }
    }

    #[test]
    fn what_is_missing_twice_or_unreadable_breaks_the_promise() {
        let unreadable = Some("its structured result cannot be read".to_owned());
        for (result, expected) in [
            (
                r#"{"content": []}"#,
                Some("its output schema requires a structured result, but it has none".to_owned()),
            ),
            (r#"{"structuredContent": {"sum": 1}, "structuredContent": {}}"#, unreadable.clone()),
            (r#"{"structuredContent": {"sum": 1, "of": "\ud800"}}"#, unreadable),
        ] {
            assert_eq!(why(SCHEMA, result), expected, "{result}");
        }
    }

    #[test]
    fn a_schema_may_promise_something_else_than_an_object() {
        let schema = r#"{"type": "array", "items": {"type": "string"}}"#;
        assert_eq!(why(schema, r#"{"structuredContent": ["a"]}"#), None);
        assert_eq!(why("{}", r#"{"structuredContent": null}"#), None);
        assert!(why(schema, r#"{"structuredContent": [1]}"#).is_some());
    }
}
