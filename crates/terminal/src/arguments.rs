//! Converts arguments as typed on the command line to a JSON object.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde_json::Value;
use switchboard_catalog::value_from_text;
use switchboard_wire::Json;

use crate::error::CliError;

const JSON_HINT: &str = "write them as {\"key\": value}";

/// Parses `key=value`, `key:=JSON` and `key=@FILE` words according to the tool's schema.
pub fn arguments_from_words(words: &[String], schema: Option<&Value>) -> Result<Json, CliError> {
    let mut object = BTreeMap::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(CliError::usage(format!("the argument `{word}` has no `=`"))
                .with_hint("write it as key=value, key:=JSON or key=@FILE"));
        };
        let (key, value) = match key.strip_suffix(':') {
            Some(key) => {
                let value = Json::parse(value.trim().to_owned().into()).map_err(|error| {
                    CliError::usage(format!("the value of `{key}` is not JSON: {error}"))
                        .with_hint("strings in JSON need quotes; `key=value` needs none")
                })?;
                // Kept as written: a number may have more digits than a parsed one can hold.
                (key, value.as_str().to_owned())
            }
            None => {
                let property =
                    schema.and_then(|schema| schema.get("properties")).and_then(|all| all.get(key));
                let text = match value.strip_prefix('@') {
                    Some(file) => std::fs::read_to_string(file).map_err(|error| {
                        CliError::usage(format!(
                            "the file `{file}` for `{key}` cannot be read: {error}"
                        ))
                        .with_hint("use `key:=JSON` for a text that begins with `@`")
                    })?,
                    None => value.to_owned(),
                };
                (key, value_from_text(&text, property).to_string())
            }
        };
        if object.insert(key.to_owned(), value).is_some() {
            return Err(CliError::usage(format!("the argument `{key}` is given twice"))
                .with_hint("write a list as key:=[1,2]"));
        }
    }
    let members =
        object.iter().map(|(key, value)| format!("{}:{value}", Value::from(key.as_str())));
    arguments_from_json(&format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// Parses a JSON object from the command line, or from standard input if `text` is `-`.
pub fn arguments_from_json(text: &str) -> Result<Json, CliError> {
    let mut input = String::new();
    let text = if text == "-" {
        std::io::stdin().read_to_string(&mut input).map_err(|error| {
            CliError::usage(format!("the arguments on standard input cannot be read: {error}"))
                .with_hint("pass one JSON object in UTF-8")
        })?;
        input
    } else {
        text.to_owned()
    };
    // Some editors and shells prepend a byte order mark.
    let text = text.trim_start_matches('\u{feff}').trim();
    let json = Json::parse(text.to_owned().into()).map_err(|error| {
        CliError::usage(format!("the arguments are not JSON: {error}")).with_hint(JSON_HINT)
    })?;
    if json.as_str().starts_with('{') {
        Ok(json)
    } else {
        Err(CliError::usage("the arguments are not a JSON object").with_hint(JSON_HINT))
    }
}

/// Builds the arguments of a prompt from `key=value` words; every value is a string.
pub fn text_arguments(words: &[String]) -> Result<Json, CliError> {
    let mut object = serde_json::Map::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(CliError::usage(format!("the argument `{word}` has no `=`"))
                .with_hint("write it as key=value"));
        };
        object.insert(key.to_owned(), Value::from(value));
    }
    Ok(Json::from(&Value::Object(object)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::arguments_from_words;

    #[test]
    fn words_become_values_by_the_schema() {
        let schema = json!({"properties": {
            "count": {"type": "integer"}, "text": {"type": "string"}, "flag": {"type": "boolean"},
        }});
        for (words, expected) in [
            (vec!["count=3", "text=3", "flag=true"], Ok(r#"{"count":3,"flag":true,"text":"3"}"#)),
            (vec!["text=a=b"], Ok(r#"{"text":"a=b"}"#)),
            (vec!["list:=[1,2]"], Ok(r#"{"list":[1,2]}"#)),
            (
                vec!["n:=123456789012345678901234567890", "m:= 1.10", "a\"b:={\"z\":1, \"a\":2}"],
                Ok(r#"{"a\"b":{"z":1, "a":2},"m":1.10,"n":123456789012345678901234567890}"#),
            ),
            (vec!["list:=[1,"], Err("the value of `list` is not JSON")),
            (vec!["plain"], Err("the argument `plain` has no `=`")),
            (vec!["a=1", "a=2"], Err("the argument `a` is given twice")),
            (vec!["a=@/no/such/file"], Err("the file `/no/such/file` for `a` cannot be read")),
        ] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            match (arguments_from_words(&words, Some(&schema)), expected) {
                (Ok(json), Ok(expected)) => assert_eq!(json.as_str(), expected),
                (Err(error), Err(expected)) => assert!(error.message.starts_with(expected)),
                (got, expected) => panic!("{got:?} is not {expected:?}"),
            }
        }
    }
}
