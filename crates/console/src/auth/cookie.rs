//! The session cookie of a signed-in browser.
//!
//! `__Host-` and `Secure` require TLS. A console on loopback uses plain HTTP, where some browsers
//! drop such cookies. There the name includes the port, because cookies ignore ports.

use axum::http::HeaderMap;
use axum::http::header::COOKIE;

use super::host_names::HostNames;
use super::sign_ins::SESSION_LIFETIME;

pub(super) fn set(names: &HostNames, word: &str) -> String {
    let secure = if names.is_secure() { "; Secure" } else { "" };
    let seconds = SESSION_LIFETIME.as_secs();
    format!("{}={word}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}", name(names))
}

/// Returns the `Set-Cookie` value that deletes the session.
pub(super) fn clear(names: &HostNames) -> String {
    // The same attributes as in `set`: browsers reject a `__Host-` cookie without them.
    let secure = if names.is_secure() { "; Secure" } else { "" };
    format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0{secure}", name(names))
}

/// Returns the value of the session cookie.
pub(super) fn read(names: &HostNames, headers: &HeaderMap) -> Option<String> {
    let wanted = name(names);
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    // RFC 6265 lets a browser send several cookies of one name, for different paths.
    let mut own = pairs.filter(|(name, _)| name.trim() == wanted).map(|(_, value)| value.trim());
    // Duplicates are rejected, because one of them may have been planted.
    match (own.next(), own.next()) {
        (Some(value), None) => Some(value.to_owned()),
        _ => None,
    }
}

fn name(names: &HostNames) -> String {
    if names.is_secure() {
        "__Host-switchboard".to_owned()
    } else {
        format!("switchboard-{}", names.port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::ConsoleAddress;

    #[test]
    fn a_cookie_is_kept_from_scripts_and_other_sites_and_bound_to_tls_where_there_is_any() {
        let here = HostNames::new(&ConsoleAddress::Loopback("127.0.0.1:8808".parse().unwrap()));
        let there = HostNames::new(&ConsoleAddress::Https("https://tools.example".to_owned()));
        assert_eq!(
            [set(&here, "w"), set(&there, "w")],
            [
                "switchboard-8808=w; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200",
                "__Host-switchboard=w; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure",
            ]
        );
        for (line, expected) in [
            ("switchboard-8808=w", Some("w")),
            ("a=b; switchboard-8808=w; c=d", Some("w")),
            ("switchboard-1=w", None),
            ("switchboard-8808=w; switchboard-8808=x", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, line.parse().unwrap());
            assert_eq!(read(&here, &headers).as_deref(), expected, "{line}");
        }
    }
}
