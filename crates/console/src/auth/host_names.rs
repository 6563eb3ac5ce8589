//! The host names of the console, and the origins that may send requests to it.

use axum::http::{HeaderMap, Method, Uri};
use switchboard_net::{HostPolicy, OwnPages};

use crate::console::ConsoleAddress;

pub(crate) struct HostNames {
    base: String,
    is_secure: bool,
    port: u16,
    policy: HostPolicy,
}

impl HostNames {
    pub(crate) fn new(address: &ConsoleAddress) -> Self {
        match address {
            ConsoleAddress::Loopback(address) => Self {
                base: format!("http://{address}"),
                is_secure: false,
                port: address.port(),
                policy: HostPolicy { own_pages: OwnPages::SameOrigin, ..HostPolicy::default() },
            },
            ConsoleAddress::Https(url) => {
                let base = url.trim_end_matches('/').to_lowercase();
                let policy = HostPolicy {
                    hosts: base.strip_prefix("https://").map(str::to_owned).into_iter().collect(),
                    origins: vec![base.clone()],
                    own_pages: OwnPages::None,
                };
                Self { base, is_secure: true, port: 443, policy }
            }
        }
    }

    /// Returns the base URL of links, such as `http://127.0.0.1:8808`.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Returns whether browsers reach the console over TLS, so that its cookie can require it.
    pub(crate) fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Returns the port, which distinguishes the cookies of two consoles on one machine.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), String> {
        // The host check stops DNS rebinding: a foreign name that resolves to this machine.
        self.policy.check(uri, headers).map_err(|foreign| foreign.to_string())?;
        if is_cross_site(method, headers) {
            return Err("requests from other sites are rejected".to_owned());
        }
        Ok(())
    }
}

/// Returns whether the browser reports a request from another site.
fn is_cross_site(method: &Method, headers: &HeaderMap) -> bool {
    let says = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match says("sec-fetch-site") {
        // Absent in old browsers and in programs; `none` is an address that a person typed.
        None | Some("same-origin" | "none") => false,
        // A link from another site is fine: a `GET` changes nothing and carries no cookie.
        Some(_) => method != Method::GET || says("sec-fetch-mode") != Some("navigate"),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn is_let_in(names: &HostNames, method: &Method, pairs: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        names.check(method, &"/".parse().unwrap(), &headers).is_ok()
    }

    #[test]
    fn only_our_own_names_and_pages_are_let_in() {
        let here = HostNames::new(&ConsoleAddress::Loopback("127.0.0.1:8808".parse().unwrap()));
        let local = ("host", "127.0.0.1:8808");
        for (method, pairs, expected) in [
            (Method::GET, &[local][..], true),
            (Method::GET, &[("host", "localhost:9000")], true),
            (Method::GET, &[("host", "[::1]:8808")], true),
            (Method::GET, &[("host", "evil.example")], false),
            (Method::GET, &[("host", "localhost.")], false),
            (Method::GET, &[("host", "localhost:+80")], false),
            (Method::GET, &[("host", "0.0.0.0:8808")], false),
            (Method::GET, &[("host", "127.0.0.1:8808.evil.example")], false),
            (Method::GET, &[local, local], false),
            (Method::GET, &[], false),
            (Method::POST, &[local, ("origin", "http://127.0.0.1:8808")], true),
            (Method::POST, &[local, ("origin", "http://127.0.0.1:3000")], false),
            (Method::POST, &[local, ("origin", "http://localhost:8808")], false),
            (Method::POST, &[local, ("origin", "https://127.0.0.1:8808")], false),
            (Method::POST, &[local, ("origin", "null")], false),
            (Method::POST, &[("host", "localhost:+80"), ("origin", "http://localhost:+80")], false),
            (Method::GET, &[local, ("origin", "https://evil.example")], false),
            (Method::GET, &[local, ("sec-fetch-site", "same-origin")], true),
            (Method::GET, &[local, ("sec-fetch-site", "none")], true),
            (Method::GET, &[local, ("sec-fetch-site", "same-site")], false),
            (
                Method::GET,
                &[local, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
                true,
            ),
            (
                Method::POST,
                &[local, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
                false,
            ),
        ] {
            assert_eq!(is_let_in(&here, &method, pairs), expected, "{method} {pairs:?}");
        }
    }

    #[test]
    fn behind_a_proxy_only_its_own_origin_may_act() {
        let names = HostNames::new(&ConsoleAddress::Https("https://Tools.example/".to_owned()));
        for (host, origin, expected) in [
            ("tools.example", "https://tools.example", true),
            ("127.0.0.1:8808", "https://tools.example", true),
            ("tools.example", "http://tools.example", false),
            ("127.0.0.1:8808", "http://127.0.0.1:8808", false),
            ("other.example", "https://tools.example", false),
        ] {
            let pairs = [("host", host), ("origin", origin)];
            assert_eq!(is_let_in(&names, &Method::POST, &pairs), expected, "{host} {origin}");
        }
    }
}
