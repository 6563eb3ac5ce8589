//! HTTP requests for logins: every URL and redirect is checked, and responses are limited in size.

use std::error::Error as _;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url, redirect};
use serde::de::DeserializeOwned;
use switchboard_net::{AddressScope, display_url};
use switchboard_wire::Authorities;

use crate::error::LoginError;
use crate::resolver::{AddressNotAllowed, Resolver};
use crate::secret::Secret;

/// Maximum number of redirects that are followed for a document.
const MAX_REDIRECTS: usize = 5;
const MAX_BODY_BYTES: usize = 1 << 20;
/// Timeouts for connecting, and for the whole request.
const TIMEOUTS: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(20));

/// An HTTP client that is restricted to an address scope.
#[derive(Clone)]
pub(crate) struct OauthFetcher {
    pub(crate) reach: AddressScope,
    client: Client,
}

pub(crate) struct Post {
    pub(crate) body: String,
    pub(crate) kind: &'static str,
    pub(crate) authorization: Option<Secret>,
}

impl OauthFetcher {
    /// Creates a client that trusts these certificate authorities and those of the system.
    pub(crate) fn with_authorities(
        reach: AddressScope,
        more: &Authorities,
    ) -> Result<Self, LoginError> {
        Self::with_resolver(Resolver::new(reach), more)
    }

    pub(crate) fn with_resolver(
        resolver: Resolver,
        more: &Authorities,
    ) -> Result<Self, LoginError> {
        let reach = resolver.reach();
        switchboard_wire::prepare_tls();
        let client = Client::builder()
            .tls_certs_merge(more.certificates())
            .connect_timeout(TIMEOUTS.0)
            .timeout(TIMEOUTS.1)
            // `get_json` follows redirects itself, to check every URL on the way.
            .redirect(redirect::Policy::none())
            // A proxy would resolve and dial for us, which bypasses the address checks.
            .no_proxy()
            .dns_resolver(resolver)
            .user_agent(concat!("switchboard/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| LoginError::NotVisited(error.to_string()))?;
        Ok(Self { reach, client })
    }

    /// Fetches a document; `None` if the server responds that it does not exist.
    pub(crate) async fn get_json<T: DeserializeOwned>(
        &self,
        what: &'static str,
        mut url: Url,
    ) -> Result<Option<T>, LoginError> {
        for _ in 0..=MAX_REDIRECTS {
            self.reach.check_url(what, &url)?;
            let request = self.client.get(url.clone()).header(ACCEPT, "application/json");
            let response = request.send().await.map_err(|error| send_error(what, &url, &error))?;
            let status = response.status().as_u16();
            match status {
                200 => {
                    let body = read_body(what, &url, response).await?;
                    return parse_json(what, &url, &body).map(Some);
                }
                301 | 302 | 303 | 307 | 308 => {
                    let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
                    url = to.and_then(|to| url.join(to).ok()).ok_or_else(|| {
                        fetch_error(what, &url, "redirects without a valid `Location`")
                    })?;
                }
                // A server that guards every path returns 401 or 403 here instead of 404.
                400..=499 => return Ok(None),
                _ => return Err(fetch_error(what, &url, format!("returned status {status}"))),
            }
        }
        Err(fetch_error(what, &url, format!("redirects more than {MAX_REDIRECTS} times")))
    }

    /// Sends a POST request, and follows no redirects: the body contains codes and tokens.
    pub(crate) async fn post(
        &self,
        what: &'static str,
        url: &Url,
        post: Post,
    ) -> Result<(u16, Bytes), LoginError> {
        self.reach.check_url(what, url)?;
        let mut request = self
            .client
            .post(url.clone())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, post.kind);
        if let Some(authorization) = &post.authorization {
            let mut value = HeaderValue::from_str(authorization.reveal())
                .map_err(|_| fetch_error(what, url, "cannot be sent the client's secret"))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let response =
            request.body(post.body).send().await.map_err(|error| send_error(what, url, &error))?;
        let status = response.status().as_u16();
        if (300..400).contains(&status) {
            return Err(fetch_error(what, url, "redirects the request, which is not followed"));
        }
        let body = read_body(what, url, response).await?;
        Ok((status, body))
    }
}

/// Parses JSON; the error does not quote it, because it may contain tokens.
pub(crate) fn parse_json<T: DeserializeOwned>(
    what: &'static str,
    url: &Url,
    body: &[u8],
) -> Result<T, LoginError> {
    serde_json::from_slice(body).map_err(|_| fetch_error(what, url, "is not the expected JSON"))
}

pub(crate) fn fetch_error(what: &'static str, url: &Url, why: impl Into<String>) -> LoginError {
    LoginError::Failed { what, place: display_url(url.as_str()), why: why.into() }
}

async fn read_body(
    what: &'static str,
    url: &Url,
    mut response: Response,
) -> Result<Bytes, LoginError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| send_error(what, url, &error))? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(fetch_error(what, url, "sent more than 1 MiB"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn send_error(what: &'static str, url: &Url, error: &reqwest::Error) -> LoginError {
    let mut causes: Vec<String> = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        if cause.downcast_ref::<AddressNotAllowed>().is_some() {
            let place = display_url(url.as_str());
            return LoginError::Blocked { what, place, why: cause.to_string() };
        }
        causes.push(cause.to_string());
        next = cause.source();
    }
    if error.is_timeout() {
        return fetch_error(what, url, "did not respond in time");
    }
    let why = causes.pop().unwrap_or_else(|| "the request failed".to_owned());
    fetch_error(what, url, format!("did not respond: {why}"))
}
