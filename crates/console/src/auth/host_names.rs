//! Which `Host` and `Origin` are ours. A page of anybody else must not reach us through a browser.

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, Method, Uri};

use crate::console::ConsoleAddress;

/// The names under which we are reached.
pub(crate) struct HostNames {
    /// What links begin with: `http://127.0.0.1:8808`.
    base: String,
    /// The one place beside this machine's own names, where there is one.
    public: Option<String>,
    port: u16,
}

impl HostNames {
    pub(crate) fn new(address: &ConsoleAddress) -> Self {
        match address {
            ConsoleAddress::Loopback(address) => {
                Self { base: format!("http://{address}"), public: None, port: address.port() }
            }
            ConsoleAddress::Https(url) => {
                let base = url.trim_end_matches('/').to_lowercase();
                let public = base.strip_prefix("https://").map(str::to_owned);
                Self { base, public, port: 443 }
            }
        }
    }

    /// What links begin with.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Whether browsers reach us through TLS, so that a cookie can be kept to it.
    pub(crate) fn is_secure(&self) -> bool {
        self.public.is_some()
    }

    /// Tells our cookie from that of another console on this machine.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Refuses what is not meant for us or comes from a page that is not ours.
    pub(crate) fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<(), &'static str> {
        // A request says its place in a header, in its target, or in both; then they must agree.
        let host = single_header(headers, &HOST).ok_or("this `Host` is not allowed")?;
        let target = uri.authority().map(axum::http::uri::Authority::as_str);
        let place = match (host, target) {
            (Some(host), Some(target)) if host.eq_ignore_ascii_case(target) => host,
            (Some(place), None) | (None, Some(place)) => place,
            (Some(_), Some(_)) | (None, None) => return Err("this `Host` is not allowed"),
        };
        if !self.is_own_host(place) {
            return Err("this `Host` is not allowed");
        }
        let origin = single_header(headers, &ORIGIN).ok_or("this `Origin` is not allowed")?;
        if origin.is_some_and(|origin| !self.is_own_page(origin, place)) {
            return Err("this `Origin` is not allowed");
        }
        if is_cross_site(method, headers) {
            return Err("a page of another site may not ask for this");
        }
        Ok(())
    }

    fn is_own_host(&self, place: &str) -> bool {
        let host = match place.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => host,
            _ => place,
        };
        let is = |name: &str| host.eq_ignore_ascii_case(name);
        ["localhost", "127.0.0.1", "[::1]"].into_iter().any(is)
            || self.public.as_ref().is_some_and(|public| place.eq_ignore_ascii_case(public))
    }

    /// A page that came from the very place that is asked now; another port is another page.
    fn is_own_page(&self, origin: &str, place: &str) -> bool {
        match &self.public {
            Some(_) => origin.eq_ignore_ascii_case(&self.base),
            None => origin.strip_prefix("http://").is_some_and(|at| at.eq_ignore_ascii_case(place)),
        }
    }
}

/// What browsers say by themselves about who asks. Following a link from elsewhere is all right:
/// nothing that is only looked at acts, and our cookie stays behind.
fn is_cross_site(method: &Method, headers: &HeaderMap) -> bool {
    let says = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match says("sec-fetch-site") {
        None | Some("same-origin" | "none") => false,
        Some(_) => method != Method::GET || says("sec-fetch-mode") != Some("navigate"),
    }
}

/// The value of a header that may come once: nothing if it comes twice or is no text.
fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Some(None),
        (Some(value), None) => value.to_str().ok().map(Some),
        (Some(_), Some(_)) => None,
    }
}

#[cfg(test)]
mod tests {
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
            (Method::GET, &[("host", "0.0.0.0:8808")], false),
            (Method::GET, &[("host", "127.0.0.1:8808.evil.example")], false),
            (Method::GET, &[local, local], false),
            (Method::GET, &[], false),
            (Method::POST, &[local, ("origin", "http://127.0.0.1:8808")], true),
            (Method::POST, &[local, ("origin", "http://127.0.0.1:3000")], false),
            (Method::POST, &[local, ("origin", "http://localhost:8808")], false),
            (Method::POST, &[local, ("origin", "https://127.0.0.1:8808")], false),
            (Method::POST, &[local, ("origin", "null")], false),
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
