//! Admission of requests: `Host`, `Origin` and credentials.

use std::sync::Arc;

use axum::http::header::{ALLOW, AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use switchboard_access::{Access, AuthRefusal, Authenticator};
use switchboard_net::{HostPolicy, bearer, single_header};

use super::body::error_response;

/// The checks of a request before its body is read.
#[derive(Clone, Default)]
pub struct AccessControl {
    /// The hosts and origins that requests may name.
    pub policy: HostPolicy,
    /// Checks the credentials; without it, every request with an accepted host is admitted.
    pub authenticator: Option<Arc<dyn Authenticator>>,
}

impl AccessControl {
    /// Returns the caller, or the response that rejects the request.
    pub(crate) async fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<Access, Response> {
        // Before the credentials: a page that rebinds DNS may come with valid ones.
        self.check(uri, headers).map_err(|refused| *refused)?;
        let Some(keys) = &self.authenticator else { return Ok(Access::local()) };
        // Duplicate headers are not credentials: a proxy may have validated the other one.
        let authorization = single_header(headers, AUTHORIZATION).ok().flatten();
        keys.authenticate(authorization.and_then(bearer)).await.map_err(refusal_response)
    }

    /// Rejects a request for another host, or from a foreign page.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Box<Response>> {
        self.policy.check(uri, headers).map_err(|foreign| {
            let message = foreign.to_string();
            Box::new(refusal_response(AuthRefusal { status: 403, message, challenge: None }))
        })
    }

    /// Answers a request with an unsupported method. A caller that is not admitted does not learn
    /// which methods there are.
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
}

fn refusal_response(refusal: AuthRefusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::FORBIDDEN);
    let mut response = error_response(status, -32_600, refusal.message);
    // OAuth clients find the authorization server through the challenge.
    if let Some(challenge) = refusal.challenge.and_then(|text| HeaderValue::from_str(&text).ok()) {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}
