//! Parses URLs so strictly that every other parser agrees about their parts.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::host_policy::split_port;

/// A URL with an unambiguous host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlParts<'a> {
    pub scheme: String,
    /// In lower case; an IPv6 address with its brackets.
    pub host: String,
    /// The port, unless it is the default of the scheme.
    pub port: Option<u16>,
    /// Path, query and fragment, unchanged.
    pub rest: &'a str,
}

impl<'a> UrlParts<'a> {
    /// Parses a URL; rejects a user name, an ambiguous host, and ambiguous characters.
    pub fn parse(address: &'a str) -> Result<Self, &'static str> {
        // Browsers drop tabs and line feeds, and treat a backslash as a slash.
        if address.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err("the URL contains white space, control characters or a backslash");
        }
        let (scheme, after) = address.split_once("://").ok_or("the URL has no scheme")?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        if !is_scheme {
            return Err("the URL has no valid scheme");
        }
        let scheme = scheme.to_ascii_lowercase();
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (authority, rest) = after.split_at_checked(end).unwrap_or((after, ""));
        // `https://trusted.example@evil.example/` leads to the second host.
        if authority.contains('@') {
            return Err("the URL contains a user name");
        }
        let (host, port) = split_port(authority).ok_or("the URL has no valid port")?;
        let host = match host.strip_prefix('[') {
            Some(inner) => {
                let address = inner.strip_suffix(']').and_then(|inner| inner.parse().ok());
                let address: Ipv6Addr = address.ok_or("the URL has no valid host")?;
                // Formatting normalizes it: `[0:0::1]` and `[::1]` are the same host.
                format!("[{address}]")
            }
            None => normalize_host(host)?,
        };
        let usual = match scheme.as_str() {
            "http" | "ws" => Some(80),
            "https" | "wss" => Some(443),
            _ => None,
        };
        Ok(Self { scheme, host, port: port.filter(|_| port != usual), rest })
    }
}

/// Normalizes a host: labels of letters, digits, `-` and `_`, or a dotted-decimal IPv4 address.
fn normalize_host(host: &str) -> Result<String, &'static str> {
    let host = host.to_ascii_lowercase();
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_".contains(&c))
    };
    if !host.split('.').all(is_label) {
        return Err("the URL has no plain host name");
    }
    // Rejects other notations of IPv4 addresses: `2130706433` and `0x7f.1` are `127.0.0.1`.
    let is_number = |label: &str| {
        label.bytes().all(|digit| digit.is_ascii_digit())
            || label
                .strip_prefix("0x")
                .is_some_and(|hex| hex.bytes().all(|c| c.is_ascii_hexdigit()))
    };
    if host.rsplit('.').next().is_some_and(is_number) && host.parse::<Ipv4Addr>().is_err() {
        return Err("the URL has an IPv4 address in an unusual notation");
    }
    Ok(host)
}

/// Returns whether a host matches a pattern: a name, `*` for any host, or `*.name` for subdomains.
pub fn host_matches(host: &str, pattern: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    match pattern.strip_prefix("*.") {
        Some(parent) => host
            .strip_suffix(parent)
            .and_then(|before| before.strip_suffix('.'))
            .is_some_and(|before| !before.is_empty()),
        None => pattern == "*" || host == pattern,
    }
}

/// Checks that a host pattern is valid.
pub fn check_host_pattern(pattern: &str) -> Result<(), &'static str> {
    let name = pattern.strip_prefix("*.").unwrap_or(pattern);
    if pattern == "*" || name.starts_with('[') || normalize_host(name).is_ok() {
        Ok(())
    } else {
        Err("has a host that is not a name, `*` or `*.name`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_host_or_is_refused() {
        for (address, expected) in [
            ("https://api.example.com/x", Some("api.example.com")),
            ("HTTPS://API.Example.COM:443", Some("api.example.com")),
            ("https://evil.tld#.example.com", Some("evil.tld")),
            ("https://evil.tld?.example.com", Some("evil.tld")),
            ("https://example.com.evil.tld", Some("example.com.evil.tld")),
            ("http://127.0.0.1/", Some("127.0.0.1")),
            ("http://[::1]:8080/", Some("[::1]")),
            ("https://api.example.com@evil.tld/", None),
            ("https://evil.tld\\.example.com/", None),
            ("https://example.com./", None),
            ("https://example..com/", None),
            ("https://exаmple.com/", None),
            ("https://ex%61mple.com/", None),
            ("http://2130706433/", None),
            ("http://0x7f000001/", None),
            ("http://127.1/", None),
            ("//example.com/", None),
            ("example.com", None),
            ("https:///example.com", None),
            ("https://a.example.com:99999/", None),
            ("https://a.example.com\t/", None),
            ("https://api.example.com%2eevil.tld/", None),
            ("https://api.example.com%00.evil.tld/", None),
            ("https://api.example.com:443@evil.tld/", None),
            ("https://api.example.com\u{3002}evil.tld/", None),
            ("https://api.example.com\u{200b}/", None),
            ("https://ａpi.example.com/", None),
            ("http://0177.0.0.1/", None),
            ("http://127.0.0.0x1/", None),
            ("http://[::1%25lo]/", None),
            ("https:/api.example.com/", None),
            ("javascript://api.example.com/%0aalert(1)", Some("api.example.com")),
            ("https://api.example.com;evil.tld/", None),
            ("https://api.example.com,evil.tld/", None),
        ] {
            let got = UrlParts::parse(address).ok().map(|parts| parts.host);
            assert_eq!(got.as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn a_star_stands_for_whole_names_in_front() {
        for (host, pattern, expected) in [
            ("api.example.com", "*.example.com", true),
            ("a.b.example.com", "*.example.com", true),
            ("example.com", "*.example.com", false),
            ("evilexample.com", "*.example.com", false),
            ("example.com.evil.tld", "*.example.com", false),
            ("example.com", "EXAMPLE.com", true),
            ("anything", "*", true),
        ] {
            assert_eq!(host_matches(host, pattern), expected, "{host} {pattern}");
        }
        assert!(check_host_pattern("*.example.com").is_ok());
        assert!(check_host_pattern("example.com*").is_err());
        assert!(check_host_pattern("a*b.com").is_err());
    }
}
