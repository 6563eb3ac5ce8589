//! How messages leave over HTTP: one request each, with the answer in its response.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder};
use tokio::sync::{Semaphore, mpsc};

use super::answer::{self, Answered};
use super::client::{Endpoint, failure_before_answer};
use super::direct::Direct;
use super::headers::encoded;
use super::identity::Identity;
use super::reply::Reply;
use crate::error::RequestError;
use crate::limits::Limits;
use crate::peer::{Inbound, Link, Peer, Shared};
use crate::request::{Delivered, Request};
use crate::revision::{Era, Revision};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The HTTP side of a peer.
pub(crate) struct HttpLink {
    pub(super) client: Client,
    /// A shorter way for what is posted, where there is one.
    direct: Option<Arc<Direct>>,
    pub(super) endpoint: Endpoint,
    pub(super) kind: Kind,
    pub(super) session: Mutex<Session>,
    /// One renewal of the session at a time.
    pub(super) renewal: Semaphore,
    identity: Identity,
}

/// Which of the two HTTP transports it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The answer comes in the response.
    Streamable,
    /// The answer comes on the event stream that was opened first.
    Sse,
}

/// What a legacy server remembers about us.
#[derive(Clone, Default)]
pub(super) struct Session {
    pub(super) id: Option<HeaderValue>,
    /// The parameters of the handshake, to repeat it when the server has forgotten us.
    pub(super) handshake: String,
}

/// Starts a peer over streamable HTTP. Nothing is sent until the first request.
#[must_use]
pub fn start(
    client: Client,
    endpoint: Endpoint,
    limits: Limits,
) -> (Peer, mpsc::Receiver<Inbound>) {
    let link = HttpLink::new(client, endpoint, Kind::Streamable, &limits);
    Peer::new(Link::Http(Box::new(link)), limits)
}

impl HttpLink {
    pub(super) fn new(client: Client, endpoint: Endpoint, kind: Kind, limits: &Limits) -> Self {
        let (session, identity) = (Mutex::default(), Identity::default());
        let direct = Direct::to(&endpoint.url, limits.connect);
        Self { client, direct, endpoint, kind, session, renewal: Semaphore::new(1), identity }
    }

    /// Sends a request and, unless it comes by another way, returns its answer.
    pub(crate) async fn exchange(
        &self,
        shared: &Arc<Shared>,
        id: u64,
        text: String,
        request: &Request<'_>,
    ) -> Result<Delivered, RequestError> {
        let opening = request.method == "initialize";
        if opening {
            *self.session() = Session { id: None, handshake: request.params.to_owned() };
        }
        let mut renewed = false;
        // Shared, so that a second attempt costs no copy.
        let text = Bytes::from(text);
        loop {
            let known = self.session().id.clone();
            let headers = self.request_headers(shared, request)?;
            let response = self.post(text.clone(), headers).await?;
            if self.identity.is_another(&response) {
                shared.tell_of_another();
            }
            if response.status() == 404 && known.is_some() && !opening && !renewed {
                // The server has forgotten the session, so it has not run the request.
                renewed = true;
                // Boxed, as all that is rare: a future has the size of its largest part.
                Box::pin(self.renew(shared, known)).await?;
                continue;
            }
            if opening && response.status().is_success() {
                self.session().id = response.headers().get("mcp-session-id").cloned();
            }
            if self.kind == Kind::Sse && response.status().is_success() {
                return Ok(Delivered::Elsewhere);
            }
            return match answer::read(shared, id, response).await? {
                Answered::Here(settled) => settled.map(Delivered::Answered),
                Answered::Elsewhere => Ok(Delivered::Elsewhere),
                Answered::CutOff { last_id, retry } => {
                    let resumed = Box::pin(self.resume(shared, id, last_id, retry)).await;
                    resumed.map(|()| Delivered::Elsewhere)
                }
            };
        }
    }

    /// Sends a notification or an answer.
    pub(crate) async fn tell(
        &self,
        shared: &Arc<Shared>,
        text: String,
        method: &str,
    ) -> Result<(), RequestError> {
        let request = Request::new(method, "", shared.limits.connect);
        let headers = self.request_headers(shared, &request)?;
        let response = self.post(text.into(), headers).await?;
        if response.status().is_success() { Ok(()) } else { Err(answer::refusal(response).await) }
    }

    pub(super) async fn post(
        &self,
        text: Bytes,
        headers: HeaderMap,
    ) -> Result<Reply, RequestError> {
        let (headers, text) = (&headers, &text);
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

    /// The headers of one request: the configured ones, then the protocol's own.
    pub(super) fn request_headers(
        &self,
        shared: &Shared,
        request: &Request<'_>,
    ) -> Result<HeaderMap, RequestError> {
        let mut headers = self.endpoint.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let stance = shared.stance();
        if stance.revision.era() == Era::Modern {
            for (name, value) in request.headers {
                let key = HeaderName::from_bytes(name.as_bytes());
                put(&mut headers, key.map_err(|_| unfit(name))?, value)?;
            }
            headers.insert(VERSION, HeaderValue::from_static(stance.revision.as_str()));
            if !request.method.is_empty() {
                put(&mut headers, METHOD, request.method)?;
            }
            if let Some(name) = request.name {
                put(&mut headers, NAME, &encoded(name))?;
            }
            return Ok(headers);
        }
        if request.method != "initialize" {
            self.add_session(&mut headers, stance.revision);
        }
        Ok(headers)
    }

    /// Adds what tells a legacy server who we are.
    pub(super) fn add_session(&self, headers: &mut HeaderMap, revision: Revision) {
        if revision >= Revision::V2025_06_18 {
            headers.insert(VERSION, HeaderValue::from_static(revision.as_str()));
        }
        if let Some(id) = self.session().id.clone() {
            headers.insert(SESSION, id);
        }
    }

    pub(super) fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends what was built; the error says whether it may have arrived.
async fn send(builder: RequestBuilder) -> Result<Reply, RequestError> {
    builder.send().await.map(Reply::from).map_err(|error| failure_before_answer(&error))
}

/// An attempt by the client that all servers share, with the `Authorization` it is given.
pub(super) fn by_client(
    builder: impl Fn() -> RequestBuilder,
) -> impl Fn(Option<HeaderValue>) -> Attempt {
    move |authorization| {
        let builder = builder();
        Box::pin(send(match authorization {
            Some(value) => builder.header(AUTHORIZATION, value),
            None => builder,
        }))
    }
}

/// A request that is being sent.
type Attempt = Pin<Box<dyn Future<Output = Result<Reply, RequestError>> + Send>>;

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) -> Result<(), RequestError> {
    let value = HeaderValue::from_str(value).map_err(|_| unfit(name.as_str()))?;
    headers.insert(name, value);
    Ok(())
}

fn unfit(name: &str) -> RequestError {
    RequestError::NotSent(format!("the header `{name}` cannot be sent"))
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
