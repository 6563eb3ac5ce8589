//! What an app's page may load and reach: nothing but what its server declared, and never more.

use serde_json::Value;

/// The content security policy of a frame, out of `_meta.ui.csp` of its resource.
pub(super) fn policy(declared: &Value, around: &str) -> String {
    let of = |member: &str| -> String {
        let places = declared[member].as_array().into_iter().flatten();
        let sound = places.filter_map(Value::as_str).filter(|place| is_place(place));
        sound.map(|place| format!(" {place}")).collect()
    };
    let (resources, connections) = (of("resourceDomains"), of("connectDomains"));
    let connections = if connections.is_empty() { " 'none'".to_owned() } else { connections };
    format!(
        "default-src 'none'; sandbox allow-scripts allow-forms; \
         script-src 'unsafe-inline'{resources}; style-src 'unsafe-inline'{resources}; \
         img-src data: blob:{resources}; font-src data:{resources}; \
         media-src data: blob:{resources}; connect-src{connections}; frame-src 'none'; \
         base-uri 'none'; form-action 'none'; frame-ancestors {around}"
    )
}

/// A place on the web and nothing else: no other scheme, no path, nothing that ends the list.
fn is_place(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("wss://"));
    let Some(rest) = rest else { return false };
    let name = rest.strip_prefix("*.").unwrap_or(rest);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.:".contains(c);
    name.contains('.') && name.len() < 256 && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_frame_reaches_what_was_declared_and_nothing_else() {
        let closed = policy(&Value::Null, "http://127.0.0.1:1");
        for part in ["default-src 'none'", "connect-src 'none'", "script-src 'unsafe-inline';"] {
            assert!(closed.contains(part), "{closed}");
        }
        let declared = json!({
            "connectDomains": ["https://api.example.com", "https://x.example; script-src *", "*"],
            "resourceDomains": ["https://*.cdn.example", "http://plain.example", "data:", 7],
        });
        let open = policy(&declared, "http://127.0.0.1:1");
        assert!(open.contains("connect-src https://api.example.com;"), "{open}");
        assert!(open.contains("script-src 'unsafe-inline' https://*.cdn.example;"), "{open}");
        assert!(!open.contains("plain.example") && !open.contains("script-src *"), "{open}");
    }
}
