//! What an app's page may load and reach: nothing but what its server declared, and never more.

use serde_json::Value;

/// What a page may declare: members of `_meta.ui.csp` of its resource.
const CSP_MEMBERS: [&str; 4] =
    ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"];

/// What is approved of what a page declares: places on the web, and nothing else.
pub(crate) fn approved_origins(declared: &Value) -> Value {
    let of = |member: &str| -> Value {
        let places = declared[member].as_array().into_iter().flatten();
        places.filter(|place| place.as_str().is_some_and(is_web_origin)).cloned().collect()
    };
    CSP_MEMBERS.into_iter().map(|member| (member.to_owned(), of(member))).collect()
}

/// The content security policy of a frame, out of what is approved for it.
pub(super) fn content_policy(declared: &Value, around: &str) -> String {
    let approved = approved_origins(declared);
    let of = |member: &str| -> String {
        let places = approved.get(member).and_then(Value::as_array).into_iter().flatten();
        let places = places.filter_map(Value::as_str);
        places.map(|place| format!(" {place}")).collect()
    };
    let or_none = |places: String| if places.is_empty() { " 'none'".to_owned() } else { places };
    let resources = of("resourceDomains");
    let connections = or_none(of("connectDomains"));
    let frames = or_none(of("frameDomains"));
    let bases = or_none(of("baseUriDomains"));
    format!(
        "default-src 'none'; sandbox allow-scripts allow-forms; \
         script-src 'unsafe-inline'{resources}; style-src 'unsafe-inline'{resources}; \
         img-src data: blob:{resources}; font-src data:{resources}; \
         media-src data: blob:{resources}; connect-src{connections}; frame-src{frames}; \
         base-uri{bases}; form-action 'none'; frame-ancestors {around}"
    )
}

/// A place on the web and nothing else: no other scheme, no path, nothing that ends the list.
fn is_web_origin(text: &str) -> bool {
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
        let closed = content_policy(&Value::Null, "http://127.0.0.1:1");
        for part in ["default-src 'none'", "connect-src 'none'", "script-src 'unsafe-inline';"] {
            assert!(closed.contains(part), "{closed}");
        }
        let declared = json!({
            "connectDomains": ["https://api.example.com", "https://x.example; script-src *", "*"],
            "resourceDomains": ["https://*.cdn.example", "http://plain.example", "data:", 7],
            "frameDomains": ["https://video.example", "javascript:alert(1)"],
        });
        let open = content_policy(&declared, "http://127.0.0.1:1");
        assert!(open.contains("connect-src https://api.example.com;"), "{open}");
        assert!(open.contains("script-src 'unsafe-inline' https://*.cdn.example;"), "{open}");
        assert!(open.contains("frame-src https://video.example; base-uri 'none';"), "{open}");
        assert_eq!(approved_origins(&declared)["frameDomains"], json!(["https://video.example"]));
        assert!(!open.contains("plain.example") && !open.contains("script-src *"), "{open}");
    }
}
