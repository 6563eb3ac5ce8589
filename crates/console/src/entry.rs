//! Typed and pasted server entries, and the placeholders for secret values in them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use switchboard_config::{PastedEntry, pasted_entries};

use crate::reply::ApiError;

/// Placeholder for a secret value that stays in the file.
pub(crate) const UNCHANGED_PLACEHOLDER: &str = "[kept]";

/// Members of an entry whose values may be secrets.
const SECRET_MEMBERS: [&str; 2] = ["env", "headers"];

/// A typed or pasted server entry. An empty text means that a field is not filled in.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Typed")]
pub(crate) struct TypedEntry {
    /// Configuration file of a supported product, install link, or single entry.
    pub(crate) text: String,
    /// Product that the text comes from, such as `codex`; detected if empty.
    pub(crate) product: String,
    /// Name of the server, if the text has none.
    pub(crate) name: String,
    /// Instead of the text: a command with its arguments, or a URL.
    pub(crate) target: String,
    /// With a command: environment variables, one `NAME=value` per line.
    pub(crate) environment: String,
    /// With a URL: HTTP headers, one `Name: value` per line.
    pub(crate) headers: String,
}

impl TypedEntry {
    pub(crate) fn entries(&self) -> Result<Vec<PastedEntry>, ApiError> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        if let Some(text) = given(&self.text) {
            let mut entries = pasted_entries(&text).map_err(|error| {
                let place = error.line.map(|line| format!(" (line {line})")).unwrap_or_default();
                ApiError::unprocessable(format!("{}{place}", error.message))
                    .maybe_hint(error.hint.as_deref())
            })?;
            // The name field belongs to a pasted entry without a name, not to a file of several.
            if let [alone] = entries.as_mut_slice()
                && alone.name.is_none()
            {
                alone.name = given(&self.name);
            }
            return Ok(entries);
        }
        let entry = Value::Object(self.form_members()?);
        Ok(vec![PastedEntry { name: given(&self.name), entry }])
    }

    fn form_members(&self) -> Result<Map<String, Value>, ApiError> {
        let target = self.target.trim();
        let mut entry = Map::new();
        if target.starts_with("http://") || target.starts_with("https://") {
            entry.insert("url".to_owned(), json!(target));
            add_pairs(&mut entry, "headers", &self.headers, ':')?;
            return Ok(entry);
        }
        let mut words = split_words(target)?.into_iter();
        let command = words.next().ok_or_else(|| {
            ApiError::unprocessable("no command or URL given")
                .with_hint("for example `npx -y some-server` or `https://mcp.example`")
        })?;
        entry.insert("command".to_owned(), json!(command));
        let arguments: Vec<String> = words.collect();
        if !arguments.is_empty() {
            entry.insert("args".to_owned(), json!(arguments));
        }
        add_pairs(&mut entry, "env", &self.environment, '=')?;
        Ok(entry)
    }
}

fn add_pairs(
    entry: &mut Map<String, Value>,
    member: &str,
    lines: &str,
    between: char,
) -> Result<(), ApiError> {
    let mut pairs = Map::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((name, value)) = line.split_once(between) else {
            // The message leaves out the line, which may be a secret.
            let why = format!("a line of `{member}` has no `{between}`");
            return Err(ApiError::unprocessable(why));
        };
        pairs.insert(name.trim().to_owned(), json!(value.trim()));
    }
    if !pairs.is_empty() {
        entry.insert(member.to_owned(), Value::Object(pairs));
    }
    Ok(())
}

/// Splits a line into words. Quotes group words with spaces.
fn split_words(line: &str) -> Result<Vec<String>, ApiError> {
    // No other character is special, because no shell runs the command.
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for sign in line.chars() {
        match quote {
            Some(open) if sign == open => quote = None,
            Some(_) => word.get_or_insert_default().push(sign),
            None if sign == '"' || sign == '\'' => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            None if sign.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(sign),
        }
    }
    if quote.is_some() {
        return Err(ApiError::unprocessable("unclosed quote"));
    }
    words.extend(word);
    Ok(words)
}

/// Returns an object, which may also be given as JSON text.
pub(crate) fn parse_object(value: Value) -> Result<Map<String, Value>, ApiError> {
    let value = match value {
        Value::String(text) => serde_json::from_str(&text)
            .map_err(|error| ApiError::unprocessable(format!("the entry is not JSON: {error}")))?,
        value => value,
    };
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(ApiError::unprocessable("the entry must be a JSON object")),
    }
}

/// Replaces values that may be secrets with a placeholder.
pub(crate) fn without_secrets(mut entry: Value) -> Value {
    for member in SECRET_MEMBERS {
        let values = entry.get_mut(member).and_then(Value::as_object_mut);
        for value in values.into_iter().flat_map(Map::values_mut) {
            // References to variables or stored secrets reveal only where a secret is.
            if !value.as_str().is_some_and(is_reference) {
                *value = json!(UNCHANGED_PLACEHOLDER);
            }
        }
    }
    if let Some(secret) = entry.pointer_mut("/oauth/clientSecret")
        && !secret.as_str().is_some_and(is_reference)
    {
        *secret = json!(UNCHANGED_PLACEHOLDER);
    }
    entry
}

fn is_reference(text: &str) -> bool {
    // Exactly one and nothing around it: the rest of the text could be a secret.
    text.starts_with("${") && text.ends_with('}') && text.matches("${").count() == 1
}

/// Replaces the placeholders in an edited entry with the values of the previous entry.
pub(crate) fn with_restored_secrets(
    mut entry: Map<String, Value>,
    before: &Value,
) -> Result<Map<String, Value>, ApiError> {
    // Only at the same path: a placeholder must not move a secret to another member.
    for (name, value) in &mut entry {
        restore_secret(name, value, before.get(name))?;
    }
    Ok(entry)
}

fn restore_secret(name: &str, value: &mut Value, before: Option<&Value>) -> Result<(), ApiError> {
    match value {
        Value::String(text) if text == UNCHANGED_PLACEHOLDER => {
            let old = before.ok_or_else(|| {
                ApiError::unprocessable(format!("no previous value of `{name}` to keep"))
            })?;
            *value = old.clone();
        }
        Value::Object(members) => {
            for (name, value) in members {
                restore_secret(name, value, before.and_then(|before| before.get(name)))?;
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_or_an_address() {
        let typed = |target: &str, environment: &str, headers: &str| {
            let typed = TypedEntry {
                name: "x".to_owned(),
                target: target.to_owned(),
                environment: environment.to_owned(),
                headers: headers.to_owned(),
                ..TypedEntry::default()
            };
            let entries = typed.entries();
            entries.map(|all| all[0].entry.clone()).map_err(|problem| problem.to_string())
        };
        for (given, expected) in [
            (
                ("npx -y 'a b' \"\" $HOME", "A=1=2\n\n B = x ", "ignored"),
                Ok(json!({"command": "npx", "args": ["-y", "a b", "", "$HOME"],
                    "env": {"A": "1=2", "B": "x"}})),
            ),
            (
                ("https://a.example/mcp", "", "X-Key: v:w"),
                Ok(json!({"url": "https://a.example/mcp", "headers": {"X-Key": "v:w"}})),
            ),
            (("a 'b", "", ""), Err("unclosed quote".to_owned())),
            (("a", "SECRET", ""), Err("a line of `env` has no `=`".to_owned())),
            ((" ", "", ""), Err("no command or URL given".to_owned())),
        ] {
            assert_eq!(typed(given.0, given.1, given.2), expected, "{given:?}");
        }
    }

    #[test]
    fn secret_values_stay_in_the_file_and_come_back_unchanged() {
        let entry = json!({
            "command": "a", "env": {"KEY": "s3cret", "REF": "${KEY}", "N": 1},
            "oauth": {"clientId": "me", "clientSecret": "s3cret"},
        });
        let shown = without_secrets(entry.clone());
        assert_eq!(
            shown,
            json!({
                "command": "a", "env": {"KEY": UNCHANGED_PLACEHOLDER, "REF": "${KEY}", "N": UNCHANGED_PLACEHOLDER},
                "oauth": {"clientId": "me", "clientSecret": UNCHANGED_PLACEHOLDER},
            })
        );
        let back = with_restored_secrets(shown.as_object().unwrap().clone(), &entry).unwrap();
        assert_eq!(Value::Object(back), entry);
        let new = json!({"env": {"OTHER": UNCHANGED_PLACEHOLDER}}).as_object().unwrap().clone();
        assert!(with_restored_secrets(new, &entry).is_err());
    }
}
