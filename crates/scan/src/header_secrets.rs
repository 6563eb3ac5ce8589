//! Arguments that a tool wants repeated in HTTP headers, and that look like secrets.

use serde_json::Value;

/// Words that a secret's name holds.
const SECRET_WORDS: [&str; 16] = [
    "apikey",
    "api_key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "authorization",
    "private_key",
    "privatekey",
    "access_key",
    "accesskey",
    "cookie",
    "session",
    "bearer",
];

/// Place and name of every argument of a tool's definition that is marked for a header and looks
/// like a secret, by its own name or by that of the header.
#[must_use]
pub fn secret_headers(definition: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Ok(definition) = serde_json::from_str::<Value>(definition)
        && let Some(schema) = definition.get("inputSchema")
    {
        collect_secret_headers("/inputSchema", schema, &mut found);
    }
    found
}

/// Whether a name is one that secrets have.
#[must_use]
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase().replace(['-', ' ', '.'], "_");
    SECRET_WORDS.iter().any(|secret| name.contains(secret)) || name == "auth" || name == "key"
}

fn collect_secret_headers(place: &str, schema: &Value, found: &mut Vec<(String, String)>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        let place = format!("{place}/properties/{}", name.replace('~', "~0").replace('/', "~1"));
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str)
            && (is_secret_name(name) || is_secret_name(header))
        {
            found.push((place.clone(), name.clone()));
        }
        collect_secret_headers(&place, property, found);
    }
}
