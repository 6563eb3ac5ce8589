//! Checks the URL of a remote server: HTTP or HTTPS, with a host, unambiguous.

use crate::host_policy::split_port;

/// Checks a URL. The error does not repeat the URL, which may contain a key.
pub fn check_url(address: &str) -> Result<(), &'static str> {
    if address.is_empty() {
        return Err("is empty");
    }
    if address.contains(|character: char| character.is_whitespace() || character.is_control()) {
        return Err("contains white space or control characters");
    }
    // Some parsers treat a backslash as a slash and see another host.
    if address.contains('\\') {
        return Err("contains a backslash");
    }
    let (scheme, rest) = address.split_once("://").ok_or("has no `http://` or `https://`")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err("is neither `http://` nor `https://`");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("contains a user name or password, which belongs in `headers`");
    }
    check_host_and_port(authority)
}

fn check_host_and_port(authority: &str) -> Result<(), &'static str> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, _) = rest.split_once(']').ok_or("has an unclosed `[`")?;
        host.parse::<std::net::Ipv6Addr>().map_err(|_| "has no valid IPv6 address in `[]`")?;
    }
    let (host, _) = split_port(authority).ok_or("has no valid port")?;
    if host.is_empty() {
        return Err("has no host");
    }
    let forbidden = ['<', '>', '"', '^', '`', '{', '|', '}', '%', '[', ']'];
    let is_ip = host.starts_with('[');
    if !is_ip && host.contains(forbidden) { Err("has no valid host") } else { Ok(()) }
}

/// Returns the URL without user, query and fragment, which may contain secrets.
pub fn url_without_secrets(address: &str) -> String {
    let visible = address.split(['?', '#']).next().unwrap_or_default();
    let hidden = if visible.len() < address.len() { "?…" } else { "" };
    let visible = match visible.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) =
                rest.split_at_checked(rest.find('/').unwrap_or(rest.len())).unwrap_or((rest, ""));
            // The last `@`, since a password may contain one unencoded.
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => visible.to_owned(),
    };
    format!("{visible}{hidden}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_addresses_with_a_host_are_taken() {
        let good = [
            "http://localhost:3000/mcp",
            "https://example.com",
            "HTTPS://example.com/a?b=c#d",
            "http://[::1]:8080/",
            "http://[::1]",
            "https://日本.example/x",
        ];
        for address in good {
            assert_eq!(check_url(address), Ok(()), "{address}");
        }
        let bad = [
            "",
            "example.com/mcp",
            "ftp://example.com",
            "file:///etc/passwd",
            "http://",
            "http:///path",
            "http://:80",
            "http://host:port",
            "http://host:",
            "http://host:70000",
            "http://host:+80",
            "http://[::1",
            "http://[nonsense]/",
            "http://[::1]x",
            "http://a b/",
            " http://a",
            "http://a\n",
            "http://good.example\\@evil.example/",
            "http://user:pass@example.com/",
            "http://${HOST}/",
        ];
        for address in bad {
            assert!(check_url(address).is_err(), "{address}");
        }
    }

    #[test]
    fn secrets_in_an_address_are_left_out() {
        let cases = [
            ("https://a.example/mcp", "https://a.example/mcp"),
            ("https://a.example/mcp?key=s3cret", "https://a.example/mcp?…"),
            ("https://me:s3cret@a.example/x@y", "https://a.example/x@y"),
            ("https://a.example?k=https://b.example/s3cret", "https://a.example?…"),
        ];
        for (address, shown) in cases {
            assert_eq!(url_without_secrets(address), shown);
        }
    }
}
