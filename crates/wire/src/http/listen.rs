//! Long-lived event streams: notifications of a legacy server, and the older HTTP+SSE.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::header::{ACCEPT, HeaderValue};
use tokio::sync::{mpsc, oneshot};

use super::answer;
use super::client::HttpEndpoint;
use super::events::SseEvents;
use super::link::{HttpLink, HttpTransport, attempt_with_client};
use crate::error::RequestError;
use crate::limits::WireLimits;
use crate::peer::{Inbound, Peer, PeerLink, PeerShared};

/// Minimum and maximum delay before an ended stream is reopened.
const RETRY_DELAY_RANGE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// How long `listen` waits for the event stream to open. Messages sent before that are lost, but a
/// server that opens it late must not delay the connection.
const OPEN_TIMEOUT: Duration = Duration::from_millis(500);

impl Peer {
    /// Opens the event stream of a legacy HTTP server, if it has one, and keeps it open.
    pub async fn listen(&self) {
        if let PeerLink::Http(link) = &self.shared.link
            && link.kind == HttpTransport::Streamable
        {
            let (opened, open) = oneshot::channel();
            let shared = Arc::clone(&self.shared);
            tokio::spawn(async move {
                let over = shared.over.clone();
                over.run_until_cancelled(keep_listening(&shared, opened)).await;
            });
            // The task continues to open the stream after the timeout.
            _ = tokio::time::timeout(OPEN_TIMEOUT, open).await;
        }
    }
}

async fn keep_listening(shared: &Arc<PeerShared>, opened: oneshot::Sender<()>) {
    let PeerLink::Http(link) = &shared.link else { return };
    let mut opened = Some(opened);
    let mut last_id: Option<String> = None;
    let mut wait = RETRY_DELAY_RANGE.0;
    loop {
        match link.open_event_stream(shared, last_id.as_deref()).await {
            Ok(response) if response.status().is_success() => {
                if let Some(opened) = opened.take() {
                    // `listen` has stopped waiting if this took longer than `OPEN_TIMEOUT`.
                    _ = opened.send(());
                }
                let mut events = SseEvents::new(response, shared.limits.frame_bytes);
                while let Ok(Some(event)) = events.next().await {
                    if !event.data.is_empty() {
                        // Events that are not messages are skipped; the stream still works.
                        _ = shared.dispatch(&event.data);
                        wait = RETRY_DELAY_RANGE.0;
                    }
                }
                last_id = events.last_id().map(str::to_owned).or(last_id);
                wait = events.retry().map_or(wait, |asked| wait.max(asked));
            }
            // The stream is optional: a server without it responds with 405 or another status.
            Ok(response) if opened.is_some() || response.status() == 405 => return,
            // The session is being renewed, or a proxy failed temporarily.
            Ok(_) => last_id = None,
            Err(_) => {}
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(RETRY_DELAY_RANGE.1);
    }
}

/// Starts a peer over the older HTTP+SSE: opens the event stream and reads the address to post to.
pub async fn start_sse(
    client: Client,
    endpoint: HttpEndpoint,
    limits: WireLimits,
    timeout: Duration,
) -> Result<(Peer, mpsc::Receiver<Inbound>), RequestError> {
    let mut headers = endpoint.headers.clone();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let opening = async {
        let builder = || client.get(endpoint.url.clone()).headers(headers.clone());
        let response = endpoint.send(attempt_with_client(builder)).await?;
        if !response.status().is_success() {
            return Err(answer::read_refusal(response).await);
        }
        let mut events = SseEvents::new(response, limits.frame_bytes);
        while let Some(event) = events.next().await? {
            if event.name == "endpoint" {
                let place = String::from_utf8_lossy(&event.data).into_owned();
                return Ok((events, place));
            }
        }
        Err(RequestError::NotSent("the event stream names no endpoint".to_owned()))
    };
    let (events, place) = tokio::time::timeout(timeout, opening).await.map_err(|_| {
        RequestError::NotSent("the event stream named no endpoint in time".to_owned())
    })??;
    let invalid = |error| RequestError::NotSent(format!("invalid endpoint: {error}"));
    let url = endpoint.url.join(place.trim()).map_err(invalid)?;
    // Another origin must not receive the calls and the credentials in their headers.
    if url.origin() != endpoint.url.origin() {
        let origin = url.origin().ascii_serialization();
        return Err(RequestError::NotSent(format!("the endpoint has another origin, `{origin}`")));
    }
    let link = HttpLink::new(client, HttpEndpoint { url, ..endpoint }, HttpTransport::Sse, &limits);
    let (peer, inbound) = Peer::new(PeerLink::Http(Box::new(link)), limits);
    tokio::spawn(forward_events(Arc::clone(&peer.shared), events));
    Ok((peer, inbound))
}

async fn forward_events(shared: Arc<PeerShared>, mut events: SseEvents) {
    let reading = async {
        loop {
            match events.next().await {
                Ok(Some(event)) if event.data.is_empty() => {}
                Ok(Some(event)) => {
                    // An event that is not a message does not end the connection.
                    _ = shared.dispatch(&event.data);
                }
                Ok(None) => return "the server ended the event stream".to_owned(),
                Err(error) => return error.to_string(),
            }
        }
    };
    if let Some(reason) = shared.over.run_until_cancelled(reading).await {
        shared.close(&reason);
    }
}
