//! Sessions of legacy HTTP servers: resuming streams, renewing and ending sessions.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};

use super::answer::{self, ResponseOutcome};
use super::events::SseEvents;
use super::link::{HttpLink, HttpTransport, attempt_with_client};
use super::reply::WireResponse;
use crate::envelope;
use crate::error::RequestError;
use crate::peer::PeerShared;
use crate::request::Request;
use crate::revision::{Era, Revision};

/// Maximum number of consecutive attempts to resume a stream without a new event.
const MAX_RESUME_ATTEMPTS: u32 = 5;
/// Delay before resuming, unless the server gives one.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// How long to wait for the server to end the session.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

impl HttpLink {
    /// Resumes the stream of request `id` after event `last_id` until the request is settled.
    pub(super) async fn resume(
        &self,
        shared: &Arc<PeerShared>,
        id: u64,
        mut last_id: String,
        mut retry: Option<Duration>,
    ) -> Result<(), RequestError> {
        let mut attempts = 0;
        while attempts < MAX_RESUME_ATTEMPTS {
            tokio::time::sleep(retry.unwrap_or(RETRY_DELAY)).await;
            attempts += 1;
            let Ok(response) = self.open_event_stream(shared, Some(&last_id)).await else {
                continue;
            };
            if !response.status().is_success() {
                let why = answer::read_refusal(response).await;
                let cut_off = "the event stream ended before the answer and could not be resumed";
                return Err(RequestError::Unknown(format!("{cut_off}: {why}")));
            }
            let events = SseEvents::new(response, shared.limits.frame_bytes);
            match answer::follow_events(shared, id, events).await {
                Ok(ResponseOutcome::CutOff { last_id: newer, retry: wait }) => {
                    // A stream that makes progress may be cut any number of times.
                    if newer != last_id {
                        attempts = 0;
                    }
                    (last_id, retry) = (newer, wait.or(retry));
                }
                Ok(ResponseOutcome::Elsewhere | ResponseOutcome::Here(_)) => return Ok(()),
                Err(RequestError::Unknown(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Err(RequestError::Unknown("the event stream ended before the answer".to_owned()))
    }

    /// Opens an event stream, after event `last_id` if given.
    pub(super) async fn open_event_stream(
        &self,
        shared: &PeerShared,
        last_id: Option<&str>,
    ) -> Result<WireResponse, RequestError> {
        let mut headers = self.endpoint.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.add_session(&mut headers, shared.protocol().revision);
        if let Some(value) = last_id.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert("last-event-id", value);
        }
        let builder = || self.client.get(self.endpoint.url.clone()).headers(headers.clone());
        self.endpoint.send(attempt_with_client(builder)).await
    }

    /// Replaces the session `lost`, once for all requests that noticed the loss.
    pub(super) async fn renew_session(
        &self,
        shared: &Arc<PeerShared>,
        lost: Option<HeaderValue>,
    ) -> Result<(), RequestError> {
        let gone = || RequestError::NotSent("the connection is closed".to_owned());
        let _one_at_a_time = self.renewal.acquire().await.map_err(|_| gone())?;
        let session = self.session.lock().clone();
        // Another request has renewed the session while this one waited.
        if session.id != lost {
            return Ok(());
        }
        let request = Request::new("initialize", &session.handshake, shared.limits.connect);
        // Ids of the request table start at 1, so 0 is free.
        let text = envelope::request_text(0, "initialize", &session.handshake, "");
        let response = self.post(text.into(), self.request_headers(shared, &request)?).await?;
        if !response.status().is_success() {
            return Err(answer::read_refusal(response).await);
        }
        let id = response.headers().get("mcp-session-id").cloned();
        answer::drain(response, shared.limits.body_bytes).await?;
        let told = Request::new("notifications/initialized", "", shared.limits.connect);
        let mut headers: HeaderMap = self.request_headers(shared, &told)?;
        headers.remove("mcp-session-id");
        if let Some(id) = &id {
            headers.insert("mcp-session-id", id.clone());
        }
        let text = envelope::notification_text("notifications/initialized", "", "");
        self.post(text.into(), headers).await?;
        // Set last: requests must not use the session before it is initialized.
        self.session.lock().id = id;
        Ok(())
    }

    pub(crate) async fn end_session(&self, shared: &PeerShared) {
        let revision = shared.protocol().revision;
        let has_session = self.session.lock().id.is_some();
        if self.kind == HttpTransport::Sse || revision.era() == Era::Modern || !has_session {
            return;
        }
        let mut headers = self.endpoint.headers.clone();
        self.add_session(&mut headers, revision.max(Revision::V2025_03_26));
        let builder = || self.client.delete(self.endpoint.url.clone()).headers(headers.clone());
        let farewell = self.endpoint.send(attempt_with_client(builder));
        // The server may refuse this or be gone; the session ends on this side either way.
        _ = tokio::time::timeout(CLOSE_GRACE, farewell).await;
    }
}
