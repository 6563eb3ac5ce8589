//! Outgoing messages over HTTP: one POST each, with the answer in its response.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder};
use tokio::sync::{Semaphore, mpsc};

use super::answer::{self, ResponseOutcome};
use super::client::{HttpEndpoint, request_error_before_answer};
use super::direct::DirectClient;
use super::headers::encode_header;
use super::reply::WireResponse;
use crate::error::RequestError;
use crate::limits::WireLimits;
use crate::peer::{Inbound, Peer, PeerLink, PeerShared};
use crate::request::{DeliveryResult, Request};
use crate::revision::{Era, Revision};

const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");
const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

pub(crate) struct HttpLink {
    pub(super) client: Client,
    /// A faster client for POST requests, if the server needs neither TLS nor a proxy.
    direct: Option<Arc<DirectClient>>,
    pub(super) endpoint: HttpEndpoint,
    pub(super) kind: HttpTransport,
    pub(super) session: Mutex<HttpSession>,
    pub(super) renewal: Semaphore,
    identity: ServerIdentity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HttpTransport {
    /// Streamable HTTP: the answer is in the response.
    Streamable,
    /// HTTP+SSE: the answer arrives on the event stream.
    Sse,
}

#[derive(Clone, Default)]
pub(super) struct HttpSession {
    pub(super) id: Option<HeaderValue>,
    /// The parameters of the handshake, to repeat it if the server loses the session.
    pub(super) handshake: String,
}

/// Starts a peer over streamable HTTP. Sends nothing until the first request.
#[must_use]
pub fn start_http(
    client: Client,
    endpoint: HttpEndpoint,
    limits: WireLimits,
) -> (Peer, mpsc::Receiver<Inbound>) {
    let link = HttpLink::new(client, endpoint, HttpTransport::Streamable, &limits);
    Peer::new(PeerLink::Http(Box::new(link)), limits)
}

impl HttpLink {
    pub(super) fn new(
        client: Client,
        endpoint: HttpEndpoint,
        kind: HttpTransport,
        limits: &WireLimits,
    ) -> Self {
        let session = Mutex::default();
        let identity = ServerIdentity::default();
        let direct = DirectClient::for_url(&endpoint.url, limits.connect);
        Self { client, direct, endpoint, kind, session, renewal: Semaphore::new(1), identity }
    }

    /// Sends a request and returns its answer, unless that arrives elsewhere.
    pub(crate) async fn exchange(
        &self,
        shared: &Arc<PeerShared>,
        id: u64,
        text: String,
        request: &Request<'_>,
    ) -> Result<DeliveryResult, RequestError> {
        let opening = request.method == "initialize";
        if opening {
            *self.session.lock() = HttpSession { id: None, handshake: request.params.to_owned() };
        }
        let mut renewed = false;
        // `Bytes`, so that a second attempt needs no copy.
        let text = Bytes::from(text);
        loop {
            let known = self.session.lock().id.clone();
            let headers = self.request_headers(shared, request)?;
            let response = self.post(text.clone(), headers).await?;
            if self.identity.has_changed(&response) {
                shared.enqueue_inbound(Inbound::IdentityChanged);
            }
            if response.status() == 404 && known.is_some() && !opening && !renewed {
                // The server has lost the session, so it has not run the request.
                renewed = true;
                // Boxed, like all rare paths: a future is as large as its largest branch.
                Box::pin(self.renew_session(shared, known)).await?;
                continue;
            }
            if opening && response.status().is_success() {
                self.session.lock().id = response.headers().get("mcp-session-id").cloned();
            }
            if self.kind == HttpTransport::Sse && response.status().is_success() {
                return Ok(DeliveryResult::Elsewhere);
            }
            return match answer::read_response(shared, id, response).await? {
                ResponseOutcome::Here(settled) => settled.map(DeliveryResult::Answered),
                ResponseOutcome::Elsewhere => Ok(DeliveryResult::Elsewhere),
                ResponseOutcome::CutOff { last_id, retry } => {
                    let resumed = Box::pin(self.resume(shared, id, last_id, retry)).await;
                    resumed.map(|()| DeliveryResult::Elsewhere)
                }
            };
        }
    }

    pub(crate) async fn send_message(
        &self,
        shared: &Arc<PeerShared>,
        text: String,
        method: &str,
    ) -> Result<(), RequestError> {
        let request = Request::new(method, "", shared.limits.connect);
        let headers = self.request_headers(shared, &request)?;
        let response = self.post(text.into(), headers).await?;
        if response.status().is_success() {
            Ok(())
        } else {
            Err(answer::read_refusal(response).await)
        }
    }

    pub(super) async fn post(
        &self,
        text: Bytes,
        headers: HeaderMap,
    ) -> Result<WireResponse, RequestError> {
        let headers = &headers;
        let text = &text;
        let attempt = |authorization: Option<HeaderValue>| {
            let mut headers = headers.clone();
            if let Some(value) = authorization {
                headers.insert(AUTHORIZATION, value);
            }
            async move {
                if let Some(direct) = &self.direct {
                    return direct.post(headers, text).await;
                }
                let builder = self.client.post(self.endpoint.url.clone());
                send(builder.headers(headers).body(text.clone())).await
            }
        };
        self.endpoint.send(attempt).await
    }

    /// Returns the headers of a request: the configured ones, then those of the protocol.
    pub(super) fn request_headers(
        &self,
        shared: &PeerShared,
        request: &Request<'_>,
    ) -> Result<HeaderMap, RequestError> {
        let mut headers = self.endpoint.headers.clone();
        // After the configured headers, which must not change how the protocol works.
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let stance = shared.protocol();
        if stance.revision.era() == Era::Modern {
            for (name, value) in request.headers {
                let key = HeaderName::from_bytes(name.as_bytes());
                insert_header(&mut headers, key.map_err(|_| invalid_header(name))?, value)?;
            }
            headers.insert(VERSION_HEADER, HeaderValue::from_static(stance.revision.as_str()));
            if !request.method.is_empty() {
                insert_header(&mut headers, METHOD_HEADER, request.method)?;
            }
            if let Some(name) = request.name {
                insert_header(&mut headers, NAME_HEADER, &encode_header(name))?;
            }
            return Ok(headers);
        }
        if request.method != "initialize" {
            self.add_session(&mut headers, stance.revision);
        }
        Ok(headers)
    }

    /// Adds the session id and, where the revision defines it, the version header.
    pub(super) fn add_session(&self, headers: &mut HeaderMap, revision: Revision) {
        if revision >= Revision::V2025_06_18 {
            headers.insert(VERSION_HEADER, HeaderValue::from_static(revision.as_str()));
        }
        if let Some(id) = self.session.lock().id.clone() {
            headers.insert(SESSION_HEADER, id);
        }
    }
}

/// Sends a request; the error says whether it may have been sent.
async fn send(builder: RequestBuilder) -> Result<WireResponse, RequestError> {
    let sent = builder.send().await;
    sent.map(WireResponse::from).map_err(|error| request_error_before_answer(&error))
}

pub(super) fn attempt_with_client(
    builder: impl Fn() -> RequestBuilder,
) -> impl Fn(Option<HeaderValue>) -> AttemptFuture {
    move |authorization| {
        let builder = builder();
        Box::pin(send(match authorization {
            Some(value) => builder.header(AUTHORIZATION, value),
            None => builder,
        }))
    }
}

type AttemptFuture = Pin<Box<dyn Future<Output = Result<WireResponse, RequestError>> + Send>>;

fn insert_header(
    headers: &mut HeaderMap,
    name: HeaderName,
    value: &str,
) -> Result<(), RequestError> {
    let value = HeaderValue::from_str(value).map_err(|_| invalid_header(name.as_str()))?;
    headers.insert(name, value);
    Ok(())
}

fn invalid_header(name: &str) -> RequestError {
    RequestError::NotSent(format!("invalid header `{name}`"))
}

/// Minimum interval between identity changes. A name with several addresses would otherwise report
/// a change on every request.
const MIN_NOTICE_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
struct ServerIdentity(Mutex<IdentityState>);

#[derive(Debug, Default)]
struct IdentityState {
    fingerprint: Option<IdentityFingerprint>,
    noticed: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct IdentityFingerprint {
    address: Option<IpAddr>,
    certificate: Option<Vec<u8>>,
}

impl ServerIdentity {
    /// Returns whether the server's address or certificate has changed. A change within
    /// `MIN_NOTICE_INTERVAL` is reported by a later answer.
    fn has_changed(&self, response: &WireResponse) -> bool {
        let (address, certificate) = response.remote_identity();
        self.record(address, certificate, Instant::now())
    }

    fn record(&self, address: Option<IpAddr>, certificate: Option<&[u8]>, now: Instant) -> bool {
        let mut known = self.0.lock();
        let same = |face: &IdentityFingerprint| {
            face.address == address && face.certificate.as_deref() == certificate
        };
        let is_first = known.fingerprint.is_none();
        let is_early =
            known.noticed.is_some_and(|last| now.duration_since(last) < MIN_NOTICE_INTERVAL);
        if known.fingerprint.as_ref().is_some_and(same) || is_early {
            return false;
        }
        known.fingerprint =
            Some(IdentityFingerprint { address, certificate: certificate.map(<[u8]>::to_vec) });
        if !is_first {
            known.noticed = Some(now);
        }
        !is_first
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;

#[cfg(test)]
mod identity_tests {
    use super::*;

    #[test]
    fn another_certificate_or_address_is_noticed_once_and_not_at_every_turn() {
        let one = "192.0.2.1".parse().ok();
        let two = "192.0.2.2".parse().ok();
        let identity = ServerIdentity::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        for (moment, address, certificate, noticed) in [
            (0, one, &b"a"[..], false),
            (1, one, b"a", false),
            (2, one, b"b", true),
            (3, one, b"b", false),
            (4, two, b"b", false),
            (5, one, b"b", false),
            (63, two, b"b", true),
            (64, one, b"c", false),
            (124, one, b"c", true),
        ] {
            let told = identity.record(address, Some(certificate), at(moment));
            assert_eq!(told, noticed, "after {moment} s");
        }
    }
}
