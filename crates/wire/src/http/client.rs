//! The HTTP client shared by all servers, with its redirect policy.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, StatusCode, Url, redirect};

use super::authorize::Authorize;
use super::trust::{Authorities, Distrust, find_cause};
use crate::error::RequestError;
use crate::limits::WireLimits;

/// Maximum number of redirects per request.
pub(super) const MAX_REDIRECTS: usize = 10;

/// The `User-Agent` of all requests.
pub(super) const USER_AGENT_NAME: &str = concat!("switchboard/", env!("CARGO_PKG_VERSION"));

/// The HTTP client shared by all peers.
pub type HttpClient = Client;

/// The address of a server, with the headers to send there.
#[derive(Clone)]
pub struct HttpEndpoint {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) authorization: Option<Arc<dyn Authorize>>,
}

impl HttpEndpoint {
    /// Validates an address and the headers to send there.
    pub fn new<'a>(
        url: &str,
        headers: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Result<Self, RequestError> {
        let unusable = RequestError::NotSent;
        let url: Url = url.parse().map_err(|error| unusable(format!("invalid URL: {error}")))?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            // The value may be a secret, so neither the message nor debug output shows it.
            let bad = || unusable(format!("invalid header `{name}`"));
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            map.insert(key, value);
        }
        Ok(Self { url, headers: map, authorization: None })
    }

    /// Sets the provider of `Authorization`, unless that header is configured.
    #[must_use]
    pub fn with_authorization(mut self, authorization: Arc<dyn Authorize>) -> Self {
        if !self.headers.contains_key(reqwest::header::AUTHORIZATION) {
            self.authorization = Some(authorization);
        }
        self
    }
}

/// Builds a client with pooled connections, HTTP/1.1 and 2, gzip and proxies of the environment.
pub fn new_http_client(limits: &WireLimits) -> Result<Client, RequestError> {
    new_trusting_http_client(limits, &Authorities::default())
}

/// Builds a client that trusts additional certificate authorities.
pub fn new_trusting_http_client(
    limits: &WireLimits,
    more: &Authorities,
) -> Result<Client, RequestError> {
    client_builder(limits, more)
        .build()
        .map_err(|error| RequestError::NotSent(format!("no HTTP client: {}", error_chain(&error))))
}

fn client_builder(limits: &WireLimits, more: &Authorities) -> ClientBuilder {
    prepare_tls();
    Client::builder()
        .tls_certs_merge(more.certificates())
        // A changed certificate is noticed by its bytes.
        .tls_info(true)
        .connect_timeout(limits.connect)
        .pool_idle_timeout(Duration::from_secs(90))
        .tcp_nodelay(true)
        .redirect(redirect::Policy::custom(follow_redirect))
        .user_agent(USER_AGENT_NAME)
}

/// Installs the TLS crypto provider of this process.
pub fn prepare_tls() {
    // Another part of the process may have installed a provider already, which works as well.
    _ = rustls::crypto::ring::default_provider().install_default();
}

/// Returns whether a redirect repeats the method and body. After other redirects, the server may
/// already have executed the request.
pub(super) fn keeps_body(status: StatusCode) -> bool {
    matches!(status.as_u16(), 307 | 308)
}

/// Follows redirects that keep the method, body and origin.
fn follow_redirect(attempt: redirect::Attempt<'_>) -> redirect::Action {
    // Another origin must not receive the headers, which may contain credentials.
    let keeps_body = keeps_body(attempt.status());
    let same_origin =
        attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
    if keeps_body && same_origin && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// Classifies a transport failure by whether the request may have been sent.
pub(crate) fn request_error(error: &reqwest::Error) -> RequestError {
    if let Some(distrust) = Distrust::from_error(error) {
        return RequestError::Untrusted(distrust);
    }
    let text = error_chain(error);
    if error.is_connect() || error.is_builder() {
        RequestError::NotSent(text)
    } else {
        RequestError::Unknown(text)
    }
}

/// Classifies a failure before any part of the response arrived, when HTTP/2 may also prove that
/// the server did not process the request.
pub(crate) fn request_error_before_answer(error: &reqwest::Error) -> RequestError {
    match find_cause::<h2::Error>(error) {
        Some(told) if told.is_remote() && proves_untouched(told) => {
            RequestError::NotSent(format!("the server turned the request away: {told}"))
        }
        _ => request_error(error),
    }
}

/// Returns whether the server did not process the stream (RFC 9113, section 8.7).
fn proves_untouched(told: &h2::Error) -> bool {
    told.is_go_away() || (told.is_reset() && told.reason() == Some(h2::Reason::REFUSED_STREAM))
}

/// Formats an error with its causes but without the URL, which may contain secrets.
pub(crate) fn error_chain(error: &reqwest::Error) -> String {
    let mut causes = Vec::new();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        let text = cause.to_string();
        if !causes.contains(&text) {
            causes.push(text);
        }
        next = cause.source();
    }
    if causes.is_empty() {
        let kind =
            if error.is_timeout() { "the connection timed out" } else { "the request failed" };
        causes.push(kind.to_owned());
    }
    causes.join(": ")
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Instant;

    use reqwest::dns::{Name, Resolve, Resolving};

    use super::*;

    /// A DNS server that fails or never answers.
    enum NameServer {
        Fail(&'static str),
        Hang,
    }

    impl Resolve for NameServer {
        fn resolve(&self, _name: Name) -> Resolving {
            match self {
                Self::Fail(why) => {
                    let error = io::Error::other(*why);
                    Box::pin(async move { Err(error.into()) })
                }
                Self::Hang => Box::pin(std::future::pending()),
            }
        }
    }

    async fn ask(names: NameServer) -> RequestError {
        let limits = WireLimits { connect: Duration::from_millis(300), ..WireLimits::default() };
        let builder =
            client_builder(&limits, &Authorities::default()).no_proxy().dns_resolver(names);
        let request = builder.build().unwrap().post("http://server.example/mcp").send();
        request_error_before_answer(&request.await.unwrap_err())
    }

    #[tokio::test]
    async fn f40_a_name_server_that_fails_is_told_and_nothing_was_sent() {
        let why = "Temporary failure in name resolution";
        let RequestError::NotSent(told) = ask(NameServer::Fail(why)).await else { panic!() };
        assert!(told.contains(why), "{told}");
    }

    #[tokio::test]
    async fn f40_a_name_server_that_hangs_is_given_up_with_the_connection() {
        let begun = Instant::now();
        let told = ask(NameServer::Hang).await;
        assert!(matches!(told, RequestError::NotSent(_)), "{told:?}");
        assert!(begun.elapsed() < Duration::from_secs(5), "it took {:?}", begun.elapsed());
    }
}
