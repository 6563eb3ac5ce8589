//! Who is let in: the right `Host`, no foreign `Origin`, and whatever proof is asked for.

use std::pin::Pin;
use std::sync::Arc;

use axum::http::header::{ALLOW, AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};

use crate::access::Access;

/// Checks what a caller presents.
pub trait Authenticator: Send + Sync {
    /// Who it is that presents `bearer`.
    fn authenticate<'a>(&'a self, bearer: Option<&'a str>) -> AuthenticateFuture<'a>;

    /// Whether somebody who was let in before still would be.
    fn is_still_valid(&self, identity: &str) -> bool {
        let _ = identity;
        true
    }

    /// Whether the last proof of somebody who was let in before has not run out. Who comes with a
    /// new one goes on where it was, so only its streams end.
    fn is_current(&self, identity: &str) -> bool {
        let _ = identity;
        true
    }

    /// What is told about how to get in: protected-resource metadata, as JSON.
    fn metadata(&self) -> Option<&str> {
        None
    }
}

/// A check under way.
pub type AuthenticateFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Access, AuthRefusal>> + Send + 'a>>;

/// Why somebody is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthRefusal {
    /// The HTTP status.
    pub status: u16,
    /// Why, in a sentence that gives nothing away.
    pub message: String,
    /// What to present instead, as `WWW-Authenticate` says it.
    pub challenge: Option<String>,
}

/// What is checked before a request is read.
#[derive(Clone, Default)]
pub struct AccessControl {
    /// Names under which we are reached beside those of this machine.
    pub hosts: Vec<String>,
    /// Origins of pages that may talk to us beside those of this machine.
    pub origins: Vec<String>,
    /// What proof is asked for; without it, everybody who reaches us is let in.
    pub authenticator: Option<Arc<dyn Authenticator>>,
}

impl AccessControl {
    /// Who it is, if they are let in.
    pub(crate) async fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<Access, Response> {
        self.check_host_and_origin(uri, headers).map_err(refusal_response)?;
        let Some(keys) = &self.authenticator else { return Ok(Access::local()) };
        // Two of them are none: whoever is in between may have looked at the other one.
        let bearer = single_header(headers, &AUTHORIZATION).ok().flatten();
        let bearer = bearer.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        keys.authenticate(bearer).await.map_err(refusal_response)
    }

    /// Refuses what is not meant for us, or comes from a page of somebody else.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Box<Response>> {
        self.check_host_and_origin(uri, headers)
            .map_err(|refusal| Box::new(refusal_response(refusal)))
    }

    /// The answer to a request in a way that there is not. Whoever is not let in does not learn in
    /// which ways it could be asked.
    pub(crate) fn method_not_allowed(
        &self,
        allowed: &'static str,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Response {
        match self.check(uri, headers) {
            Ok(()) => (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, allowed)]).into_response(),
            Err(refused) => *refused,
        }
    }

    /// A page of another origin must not reach us through the browser of somebody who may.
    fn check_host_and_origin(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), AuthRefusal> {
        let forbidden = |what: &str| AuthRefusal {
            status: 403,
            message: format!("this `{what}` is not allowed"),
            challenge: None,
        };
        // A request says its place in a header, in its target, or in both; then they must agree.
        let host = single_header(headers, &HOST).map_err(|()| forbidden("Host"))?;
        let target = uri.authority().map(axum::http::uri::Authority::as_str);
        let agree = match (host, target) {
            (Some(host), Some(target)) => host.eq_ignore_ascii_case(target),
            (Some(_), None) | (None, Some(_)) => true,
            (None, None) => false,
        };
        if !agree || !host.or(target).is_some_and(|place| self.is_own_host(place)) {
            return Err(forbidden("Host"));
        }
        if let Some(origin) = single_header(headers, &ORIGIN).map_err(|()| forbidden("Origin"))? {
            let place = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            let ours = place.is_some_and(|place| self.is_own_host(place));
            if !ours && !self.origins.iter().any(|allowed| allowed == origin) {
                return Err(forbidden("Origin"));
            }
        }
        Ok(())
    }

    fn is_own_host(&self, authority: &str) -> bool {
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if is_port(port) => host,
            _ => authority,
        };
        ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| host.eq_ignore_ascii_case(name))
            || self
                .hosts
                .iter()
                .any(|name| host.eq_ignore_ascii_case(name) || authority.eq_ignore_ascii_case(name))
    }
}

/// Digits and nothing else: numbers are read more kindly than addresses are.
fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

/// The value of a header that may come once: an error if it comes twice or is no text.
pub(super) fn single_header<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| ()),
        (Some(_), Some(_)) => Err(()),
    }
}

fn refusal_response(refusal: AuthRefusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
    let error = switchboard_wire::RpcError::new(-32_600, refusal.message);
    let mut response = (status, crate::reply::error_without_id(&error)).into_response();
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

    use super::AccessControl;

    fn is_admitted(door: &AccessControl, uri: &str, pairs: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        door.check_host_and_origin(&uri.parse().unwrap(), &headers).is_ok()
    }

    #[test]
    fn only_our_own_names_and_origins_are_let_in() {
        let door = AccessControl {
            hosts: vec!["tools.example".to_owned()],
            origins: vec!["https://pages.example".to_owned()],
            authenticator: None,
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
            assert_eq!(is_admitted(&door, "/mcp", pairs), expected, "{pairs:?}");
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
            assert_eq!(
                is_admitted(&AccessControl::default(), uri, pairs),
                expected,
                "{uri} {pairs:?}"
            );
        }
    }
}
