//! The allow-list of servers of an organisation: commands and URLs with wildcards.

use switchboard_net::{UrlParts, check_host_pattern, host_matches};
use switchboard_text::Glob;

/// The servers that a policy allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedServers {
    pub disable_all: bool,
    /// The allow-list. `None` allows all servers, an empty list none.
    pub allowed: Option<Vec<AllowedServer>>,
    pub line: usize,
}

/// An entry of the allow-list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedServer {
    /// A pattern over the command line: command and arguments, separated by single spaces.
    Command(String),
    Url(UrlPattern),
}

/// The command or URLs of a server, which the allow-list is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint<'a> {
    Builtin,
    /// The command line: command and arguments, separated by single spaces.
    Command(String),
    Urls(&'a [String]),
}

/// A URL pattern. In the host, `*` is the whole or the first label; after the host, any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    scheme: String,
    host: String,
    port: Option<String>,
    /// The pattern of everything after the host; `None` matches anything.
    path: Option<String>,
}

impl AllowedServers {
    /// Returns whether a server is allowed. The built-in server always is.
    pub fn allows(&self, endpoint: &Endpoint<'_>) -> bool {
        if *endpoint == Endpoint::Builtin {
            return true;
        }
        let listed =
            |allowed: &Vec<AllowedServer>| allowed.iter().any(|allowed| allowed.covers(endpoint));
        !self.disable_all && self.allowed.as_ref().is_none_or(listed)
    }
}

impl AllowedServer {
    fn covers(&self, endpoint: &Endpoint<'_>) -> bool {
        match (self, endpoint) {
            (Self::Command(pattern), Endpoint::Command(line)) => {
                Glob::with_stars(pattern).matches(line)
            }
            // Calls may go to any of the URLs, so all must be allowed.
            (Self::Url(pattern), Endpoint::Urls(urls)) => {
                urls.iter().all(|url| pattern.covers(url))
            }
            (Self::Command(_) | Self::Url(_), _) => false,
        }
    }
}

impl UrlPattern {
    /// Parses a pattern of the allow-list.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text == "*" {
            let any = || "*".to_owned();
            return Ok(Self { scheme: any(), host: any(), port: Some(any()), path: None });
        }
        let (scheme, after) = text.split_once("://").ok_or("has no `https://`")?;
        if scheme != "*" && !matches!(scheme, "http" | "https") {
            return Err("is neither `http://` nor `https://`");
        }
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (authority, path) = after.split_at_checked(end).unwrap_or((after, ""));
        let (host, port) = match authority.rsplit_once(':') {
            // The last colon of `[::1]` is inside the brackets.
            Some((host, port)) if !port.contains(']') => (host, Some(port.to_owned())),
            _ => (authority, None),
        };
        check_host_pattern(host)?;
        // `https://*` and `https://*.corp` allow every path.
        let path = (!path.is_empty()).then(|| path.to_owned());
        Ok(Self { scheme: scheme.to_owned(), host: host.to_owned(), port, path })
    }

    fn covers(&self, url: &str) -> bool {
        let Ok(parts) = UrlParts::parse(url) else { return false };
        let port = match (&self.port, parts.port) {
            (None, None) => true,
            (Some(pattern), _) if pattern == "*" => true,
            (Some(pattern), Some(port)) => *pattern == port.to_string(),
            // `UrlParts` omits the default port of the scheme.
            (Some(pattern), None) => {
                let pair = (parts.scheme.as_str(), pattern.as_str());
                matches!(pair, ("http", "80") | ("https", "443"))
            }
            (None, Some(_)) => false,
        };
        let path = match &self.path {
            None => true,
            Some(pattern) if pattern == "/*" => true,
            Some(pattern) => {
                !has_parent_segment(parts.rest) && Glob::with_stars(pattern).matches(parts.rest)
            }
        };
        let scheme = self.scheme == "*" || self.scheme == parts.scheme;
        scheme && port && path && host_matches(&parts.host, &self.host)
    }
}

impl std::fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let port = self.port.as_deref().map(|port| format!(":{port}")).unwrap_or_default();
        let path = self.path.as_deref().unwrap_or_default();
        write!(f, "{}://{}{port}{path}", self.scheme, self.host)
    }
}

/// Returns whether a path contains `..`, plain or percent-encoded.
fn has_parent_segment(path: &str) -> bool {
    // The server may resolve it: `/mcp/../admin` matches `/mcp/*`, but leads to `/admin`.
    let plain =
        path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    plain.split(['/', '?', '#']).any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_fits_by_its_parts() {
        for (pattern, url, expected) in [
            ("*", "http://localhost:3000/mcp", true),
            ("https://*.corp/*", "https://mcp.corp/x", true),
            ("https://*.corp/*", "https://mcp.corp", true),
            ("https://*.corp/*", "http://mcp.corp/x", false),
            ("https://*.corp/*", "https://evil.tld/a.corp/x", false),
            ("https://*.corp/*", "https://evil.tld/?.corp/", false),
            ("https://*.corp/*", "https://a.corp@evil.tld/", false),
            ("https://*.corp/*", "https://a.corp.evil.tld/", false),
            ("https://*.corp/*", "https://a.corp:8443/", false),
            ("https://*.corp:*/*", "https://a.corp:8443/", true),
            ("https://mcp.corp/api/*", "https://mcp.corp/api/v1", true),
            ("https://mcp.corp/api/*", "https://mcp.corp/api/../admin", false),
            ("https://mcp.corp/api/*", "https://mcp.corp/api/%2E%2e/admin", false),
            ("https://mcp.corp/api/*", "https://mcp.corp/other", false),
            ("https://mcp.corp", "https://mcp.corp/anything", true),
            ("https://mcp.corp:443/*", "https://mcp.corp/", true),
        ] {
            let pattern = UrlPattern::parse(pattern).unwrap();
            assert_eq!(pattern.covers(url), expected, "{pattern:?} {url}");
        }
        for bad in ["mcp.corp/*", "https://mcp.corp*", "ftp://x/*", "https://m*p.corp/"] {
            assert!(UrlPattern::parse(bad).is_err(), "{bad}");
        }
    }
}
