//! Who is let in: the right `Host`, no foreign `Origin`, and whatever proof is asked for.

use std::pin::Pin;
use std::sync::Arc;

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};

use crate::access::Access;

/// Checks what a caller presents.
pub trait Keys: Send + Sync {
    /// Who it is that presents `bearer`.
    fn admit<'a>(&'a self, bearer: Option<&'a str>) -> Admitting<'a>;
}

/// A check under way.
pub type Admitting<'a> = Pin<Box<dyn Future<Output = Result<Access, Refusal>> + Send + 'a>>;

/// Why somebody is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// Why, in a sentence that gives nothing away.
    pub message: String,
    /// What to present instead, as `WWW-Authenticate` says it.
    pub challenge: Option<String>,
}

/// What is checked before a request is read.
#[derive(Clone, Default)]
pub struct Door {
    /// Names under which we are reached beside those of this machine.
    pub hosts: Vec<String>,
    /// Origins of pages that may talk to us beside those of this machine.
    pub origins: Vec<String>,
    /// What proof is asked for; without it, everybody who reaches us is let in.
    pub keys: Option<Arc<dyn Keys>>,
}

impl Door {
    /// Who it is, if they are let in.
    pub(crate) async fn admit(&self, headers: &HeaderMap) -> Result<Access, Response> {
        self.check_names(headers).map_err(refused)?;
        let Some(keys) = &self.keys else { return Ok(Access::local()) };
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        keys.admit(bearer).await.map_err(refused)
    }

    /// A page of another origin must not reach us through the browser of somebody who may.
    fn check_names(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let forbidden = |what: &str| Refusal {
            status: 403,
            message: format!("this `{what}` is not allowed"),
            challenge: None,
        };
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        // HTTP/2 has the name elsewhere, and no browser speaks it without TLS.
        if headers.contains_key(HOST) {
            let host = text(HOST).ok_or_else(|| forbidden("Host"))?;
            if !self.is_ours(host) {
                return Err(forbidden("Host"));
            }
        }
        if headers.contains_key(ORIGIN) {
            let origin = text(ORIGIN).ok_or_else(|| forbidden("Origin"))?;
            let place = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            let ours = place.is_some_and(|place| self.is_ours(place));
            if !ours && !self.origins.iter().any(|allowed| allowed == origin) {
                return Err(forbidden("Origin"));
            }
        }
        Ok(())
    }

    fn is_ours(&self, authority: &str) -> bool {
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        };
        ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| host.eq_ignore_ascii_case(name))
            || self
                .hosts
                .iter()
                .any(|name| host.eq_ignore_ascii_case(name) || authority.eq_ignore_ascii_case(name))
    }
}

fn refused(refusal: Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
    let error = switchboard_wire::RpcError::new(-32_600, refusal.message);
    let mut response = (status, crate::envelope::refusal(&error)).into_response();
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    if let Some(challenge) = refusal.challenge.and_then(|text| HeaderValue::from_str(&text).ok()) {
        headers.insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderName};

    use super::Door;

    fn is_let_in(door: &Door, pairs: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(HeaderName::from_static(name), value.parse().unwrap());
        }
        door.check_names(&headers).is_ok()
    }

    #[test]
    fn only_our_own_names_and_origins_are_let_in() {
        let door = Door {
            hosts: vec!["tools.example".to_owned()],
            origins: vec!["https://pages.example".to_owned()],
            keys: None,
        };
        for (pairs, expected) in [
            (&[("host", "localhost:8080")][..], true),
            (&[("host", "LOCALHOST")], true),
            (&[("host", "127.0.0.1:1")], true),
            (&[("host", "[::1]:8080")], true),
            (&[("host", "tools.example:443")], true),
            (&[("host", "evil.example")], false),
            (&[("host", "localhost.evil.example")], false),
            (&[("host", "127.0.0.1.evil.example:80")], false),
            (&[("host", "localhost@evil.example")], false),
            (&[("host", "localhost"), ("origin", "http://localhost:3000")], true),
            (&[("host", "localhost"), ("origin", "https://pages.example")], true),
            (&[("host", "localhost"), ("origin", "https://evil.example")], false),
            (&[("host", "localhost"), ("origin", "null")], false),
            (&[("host", "localhost"), ("origin", "http://localhost.evil.example")], false),
            (&[("host", "localhost"), ("origin", "file://localhost")], false),
        ] {
            assert_eq!(is_let_in(&door, pairs), expected, "{pairs:?}");
        }
    }
}
