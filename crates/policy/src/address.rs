//! Normalizes resource URIs, so that rules cover every spelling of one address.

use std::fmt::Write as _;

/// Returns the URI with unreserved characters decoded, dot segments removed and scheme and
/// authority in lower case, if that differs from `address`.
pub(crate) fn normalize(address: &str) -> Option<String> {
    let decoded = decode(address);
    let plain = match decoded.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) =
                rest.split_at_checked(rest.find('/').unwrap_or(rest.len())).unwrap_or((rest, ""));
            let scheme = scheme.to_lowercase();
            let authority = authority.to_lowercase();
            format!("{scheme}://{authority}{}", remove_dot_segments(path))
        }
        None => remove_dot_segments(&decoded),
    };
    (plain != address).then_some(plain)
}

/// Percent-decodes unreserved characters and slashes.
fn decode(address: &str) -> String {
    let mut text = String::with_capacity(address.len());
    let mut rest = address;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        // Slashes too, because servers differ in whether they decode them.
        let code = after.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.map(char::from) {
            Some(character)
                if character.is_ascii_alphanumeric() || "-._~/\\".contains(character) =>
            {
                text.push(character);
            }
            Some(_) => {
                // Writing to a `String` cannot fail.
                _ = write!(text, "%{}", after.get(..2).unwrap_or_default().to_uppercase());
            }
            None => {
                text.push('%');
                rest = after;
                continue;
            }
        }
        rest = after.get(2..).unwrap_or_default();
    }
    text.push_str(rest);
    // Windows and some URL parsers treat a backslash as a slash.
    text.replace('\\', "/")
}

fn remove_dot_segments(path: &str) -> String {
    if !path.split('/').any(|part| matches!(part, "." | "..")) && !path.contains("//") {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    let end = if path.ends_with('/') && !parts.is_empty() { "/" } else { "" };
    format!("{start}{}{end}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn spellings_of_one_place_have_one_plain_form() {
        for (address, expected) in [
            ("file:///data/a", None),
            ("memo://notes/1?x=%20", None),
            ("file:///data/../etc/passwd", Some("file:///etc/passwd")),
            ("file:///data/%2e%2E/etc/passwd", Some("file:///etc/passwd")),
            ("file:///data/..%2fetc/passwd", Some("file:///etc/passwd")),
            ("file:///data/..\\etc", Some("file:///etc")),
            ("FILE:///etc/passwd", Some("file:///etc/passwd")),
            ("file:///etc/./passwd", Some("file:///etc/passwd")),
            ("file:////etc//passwd", Some("file:///etc/passwd")),
            ("file:///%65tc/passwd", Some("file:///etc/passwd")),
            ("https://Host/A", Some("https://host/A")),
            ("a/../b", Some("b")),
            ("100%", None),
        ] {
            assert_eq!(normalize(address).as_deref(), expected, "{address}");
        }
    }
}
