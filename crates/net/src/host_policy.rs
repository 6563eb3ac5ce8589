//! Checks of incoming requests: `Host`, `Origin`, duplicate headers, bearer tokens.

use http::header::{AsHeaderName, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Uri};

/// Hosts that every listener accepts, with any port.
// Other notations of these addresses (`127.1`, `localhost.`) are rejected: clients do not need
// them, and parsers disagree about them.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The header that caused the rejection of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForeignRequest {
    /// `Host`, or the authority of the request's target.
    #[error("this `Host` is not allowed")]
    Host,
    #[error("this `Origin` is not allowed")]
    Origin,
}

/// A header that is repeated, or whose value is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the header is repeated or not text")]
pub struct BadHeader;

/// The hosts that a listener accepts, and the origins of pages that may send requests to it.
///
/// Without this check, a page of a foreign site could reach a listener on this machine through the
/// user's browser, for example by DNS rebinding.
#[derive(Clone, Debug, Default)]
pub struct HostPolicy {
    /// Accepted hosts in addition to the loopback names. A host without a port matches any port.
    pub hosts: Vec<String>,
    pub origins: Vec<String>,
    pub own_pages: OwnPages,
}

/// Pages that may send requests although their origin is not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnPages {
    /// Pages of every accepted host, on any port.
    #[default]
    AcceptedHosts,
    /// Pages loaded over HTTP from the same host and port as the request.
    SameOrigin,
    None,
}

impl HostPolicy {
    /// Rejects a request that is addressed to another host, or to none, or sent by a foreign page.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ForeignRequest> {
        let host = single_header(headers, HOST).map_err(|_| ForeignRequest::Host)?;
        // HTTP/2 and proxies put the authority into the target. If both differ, this check and a
        // later reader could see different hosts.
        let authority = match (host, uri.authority().map(Authority::as_str)) {
            (Some(host), Some(target)) if host.eq_ignore_ascii_case(target) => host,
            (Some(authority), None) | (None, Some(authority)) => authority,
            (Some(_), Some(_)) | (None, None) => return Err(ForeignRequest::Host),
        };
        if !self.accepts_host(authority) {
            return Err(ForeignRequest::Host);
        }
        match single_header(headers, ORIGIN).map_err(|_| ForeignRequest::Origin)? {
            // Browsers send `Origin` with every request that changes something, so a request
            // without it does not come from a page.
            Some(origin) if !self.accepts_page(origin, authority) => Err(ForeignRequest::Origin),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns whether the policy lists an origin.
    pub fn lists_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|listed| listed.eq_ignore_ascii_case(origin))
    }

    fn accepts_host(&self, authority: &str) -> bool {
        let Some((host, _)) = split_port(authority) else { return false };
        let is_host = |name: &str| host.eq_ignore_ascii_case(name);
        LOOPBACK_HOSTS.into_iter().any(is_host)
            || self.hosts.iter().any(|name| is_host(name) || authority.eq_ignore_ascii_case(name))
    }

    fn accepts_page(&self, origin: &str, authority: &str) -> bool {
        let over_http = origin.strip_prefix("http://");
        self.lists_origin(origin)
            || match self.own_pages {
                OwnPages::AcceptedHosts => over_http
                    .or(origin.strip_prefix("https://"))
                    .is_some_and(|host| self.accepts_host(host)),
                OwnPages::SameOrigin => {
                    over_http.is_some_and(|host| host.eq_ignore_ascii_case(authority))
                }
                OwnPages::None => false,
            }
    }
}

/// Splits a host, with the brackets of an IPv6 address, from its port; `None` for a malformed port.
pub fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let end = match authority.strip_prefix('[') {
        Some(_) => authority.find(']').map(|bracket| bracket + 1),
        None => authority.find(':'),
    };
    let (host, port) = authority.split_at_checked(end.unwrap_or(authority.len()))?;
    match port.strip_prefix(':') {
        None if port.is_empty() => Some((host, None)),
        // Checked before `parse`, which also accepts `+80`.
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((host, Some(digits.parse().ok()?)))
        }
        _ => None,
    }
}

/// Returns the value of a header that may appear at most once.
pub fn single_header(
    headers: &HeaderMap,
    name: impl AsHeaderName,
) -> Result<Option<&str>, BadHeader> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| BadHeader),
        // A proxy in front of us may have validated the other value.
        (Some(_), Some(_)) => Err(BadHeader),
    }
}

/// Returns the token of an `Authorization` header with the scheme `Bearer`.
pub fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

#[cfg(test)]
mod tests {
    use http::HeaderName;

    use super::*;

    fn is_accepted(policy: &HostPolicy, uri: &str, pairs: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        policy.check(&uri.parse().unwrap(), &headers).is_ok()
    }

    #[test]
    fn only_own_hosts_and_listed_origins_are_accepted() {
        let policy = HostPolicy {
            hosts: vec!["tools.example".to_owned(), "ports.example:8443".to_owned()],
            origins: vec!["https://pages.example".to_owned()],
            own_pages: OwnPages::AcceptedHosts,
        };
        for (pairs, expected) in [
            (&[("host", "localhost:8080")][..], true),
            (&[("host", "LOCALHOST")], true),
            (&[("host", "127.0.0.1:1")], true),
            (&[("host", "[::1]:8080")], true),
            (&[("host", "tools.example:443")], true),
            (&[("host", "ports.example:8443")], true),
            (&[("host", "ports.example:443")], false),
            (&[("host", "evil.example")], false),
            (&[("host", "localhost.evil.example")], false),
            (&[("host", "127.0.0.1.evil.example:80")], false),
            (&[("host", "localhost@evil.example")], false),
            (&[("host", "localhost"), ("origin", "http://localhost:3000")], true),
            (&[("host", "localhost"), ("origin", "https://pages.example")], true),
            (&[("host", "localhost"), ("origin", "https://evil.example")], false),
            (&[("host", "localhost"), ("origin", "null")], false),
            (&[("host", "localhost"), ("origin", "http://localhost.evil.example")], false),
            (&[("host", "localhost"), ("origin", "http://localhost:+80")], false),
            (&[("host", "localhost"), ("origin", "file://localhost")], false),
        ] {
            assert_eq!(is_accepted(&policy, "/mcp", pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn lb_09_places_that_only_look_like_ours_are_refused() {
        let local = ("host", "localhost:8808");
        for (uri, pairs, expected) in [
            ("/mcp", &[local][..], true),
            ("/mcp", &[("host", "127.0.0.1:8808.evil.example")], false),
            ("/mcp", &[("host", "localhost.")], false),
            ("/mcp", &[("host", "localhost.:8808")], false),
            ("/mcp", &[("host", "0.0.0.0:8808")], false),
            ("/mcp", &[("host", "localhost:")], false),
            ("/mcp", &[("host", "localhost:99999")], false),
            ("/mcp", &[("host", "localhost:+80")], false),
            ("/mcp", &[("host", "localhost:80:80")], false),
            ("/mcp", &[("host", "localhost:80@evil.example")], false),
            ("/mcp", &[("host", "localhost/evil.example")], false),
            ("/mcp", &[("host", "localhost, evil.example")], false),
            ("/mcp", &[("host", "LOCALHOST.EVIL.EXAMPLE")], false),
            ("/mcp", &[("host", "127.0.0.1.nip.io:8808")], false),
            ("/mcp", &[("host", "127.1")], false),
            ("/mcp", &[("host", "2130706433")], false),
            ("/mcp", &[("host", "0x7f000001")], false),
            ("/mcp", &[("host", "127.000.000.001")], false),
            ("/mcp", &[("host", "[::ffff:127.0.0.1]:8808")], false),
            ("/mcp", &[("host", "[::1].evil.example")], false),
            ("/mcp", &[("host", "[::1%25lo]")], false),
            ("/mcp", &[("host", "[::1")], false),
            ("/mcp", &[("host", "::1")], false),
            ("/mcp", &[("host", "")], false),
            ("/mcp", &[], false),
            ("/mcp", &[local, ("host", "evil.example")], false),
            ("/mcp", &[local, local], false),
            ("http://localhost:8808/mcp", &[local], true),
            ("http://localhost:8808/mcp", &[], true),
            ("http://evil.example/mcp", &[local], false),
            ("http://localhost:8808/mcp", &[("host", "evil.example")], false),
            ("http://evil.example/mcp", &[], false),
            ("http://evil.example/mcp", &[("host", "evil.example")], false),
            ("/mcp", &[local, ("origin", "http://localhost"), ("origin", "null")], false),
        ] {
            let is_accepted = is_accepted(&HostPolicy::default(), uri, pairs);
            assert_eq!(is_accepted, expected, "{uri} {pairs:?}");
        }
    }

    #[test]
    fn a_bearer_token_has_its_scheme_in_front() {
        for (value, expected) in [
            ("Bearer sb_1", Some("sb_1")),
            ("bearer  sb_1 ", Some("sb_1")),
            ("Basic sb_1", None),
            ("Bearer\tsb_1", None),
            ("sb_1", None),
        ] {
            assert_eq!(bearer(value), expected, "{value}");
        }
    }
}
