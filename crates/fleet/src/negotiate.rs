//! Era detection, bounded in time, with a cache of the results.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use switchboard_config::{EraSetting, HttpKind};
use switchboard_files::{FileAccess, parent_folder, replace};
use switchboard_wire::{
    Agreement, HttpClient, HttpEndpoint, Inbound, Introduction, Peer, RequestError, RpcError,
    TentativePeer, WireLimits, discover, initialize, set_modern_protocol, start_http, start_sse,
};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

/// How long the probe may be unanswered on a pipe before the handshake is started in parallel.
pub(crate) const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a server that has written output may leave the probe and the handshake unanswered
/// before it is restarted without the probe. Also limits the probe over HTTP.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamAttempt {
    /// The probe, then the handshake.
    Both,
    Handshake,
    Probe,
}

impl StreamAttempt {
    pub(crate) const fn initial(setting: EraSetting, remembered: Option<ConnectMode>) -> Self {
        match (setting, remembered) {
            (EraSetting::Legacy, _)
            | (EraSetting::Auto, Some(ConnectMode::Legacy | ConnectMode::Sse)) => Self::Handshake,
            (EraSetting::Modern, _) => Self::Probe,
            (EraSetting::Auto, Some(ConnectMode::Modern) | None) => Self::Both,
        }
    }
}

#[derive(Debug)]
pub(crate) enum NegotiationError {
    /// The probe killed or blocked the server; restart it and skip the probe.
    StartAgain,
    /// The server refused, or is not an MCP server.
    Final(RequestError),
}

/// Detects the era of a server on a pipe and performs its handshake.
pub(crate) async fn negotiate_stream(
    peer: &Peer,
    us: &Introduction,
    attempt: StreamAttempt,
    limit: Duration,
    heard: impl Fn() -> bool,
) -> Result<(Agreement, ConnectMode), NegotiationError> {
    let modern = |agreement| (agreement, ConnectMode::Modern);
    match attempt {
        StreamAttempt::Probe => {
            discover(peer, us, limit).await.map(modern).map_err(NegotiationError::Final)
        }
        StreamAttempt::Handshake => match run_handshake(peer, us, limit).await {
            // The server was replaced by a modern one since its era was cached.
            Err(NegotiationError::Final(RequestError::Rpc(error)))
                if error.is_modern() || error.code == RpcError::METHOD_NOT_FOUND =>
            {
                discover(peer, us, limit).await.map(modern).map_err(NegotiationError::Final)
            }
            outcome => outcome,
        },
        StreamAttempt::Both => {
            let probing = discover(peer, us, limit);
            tokio::pin!(probing);
            match timeout(PROBE_TIMEOUT, &mut probing).await {
                Ok(Ok(agreement)) => Ok(modern(agreement)),
                // A modern error proves the era, so a legacy handshake cannot help.
                Ok(Err(RequestError::Rpc(error))) if error.is_modern() => {
                    Err(NegotiationError::Final(RequestError::Rpc(error)))
                }
                Ok(Err(_)) if peer.is_closed() => Err(NegotiationError::StartAgain),
                Ok(Err(_)) => run_handshake(peer, us, limit).await.map_err(|error| {
                    if peer.is_closed() { NegotiationError::StartAgain } else { error }
                }),
                Err(_) => race_handshake(peer, us, limit, probing, heard).await,
            }
        }
    }
}

async fn run_handshake(
    peer: &Peer,
    us: &Introduction,
    limit: Duration,
) -> Result<(Agreement, ConnectMode), NegotiationError> {
    let agreement = initialize(peer, us, limit).await;
    agreement.map(|agreement| (agreement, ConnectMode::Legacy)).map_err(NegotiationError::Final)
}

/// Races the handshake against the unanswered probe; the first success decides.
async fn race_handshake(
    peer: &Peer,
    us: &Introduction,
    limit: Duration,
    mut probing: impl Future<Output = Result<Agreement, RequestError>> + Unpin,
    heard: impl Fn() -> bool,
) -> Result<(Agreement, ConnectMode), NegotiationError> {
    let greeting = run_handshake(peer, us, limit);
    tokio::pin!(greeting);
    let mut probe_open = true;
    let mut look = Instant::now() + SILENCE_TIMEOUT.saturating_sub(PROBE_TIMEOUT);
    loop {
        tokio::select! {
            greeted = &mut greeting => return match greeted {
                Err(_) if peer.is_closed() => Err(NegotiationError::StartAgain),
                // The probe may block a server that has written output; restart it without one.
                Err(NegotiationError::Final(RequestError::TimedOut(_))) if heard() => {
                    Err(NegotiationError::StartAgain)
                }
                Err(error) if !probe_open => Err(error),
                Err(_) => {
                    set_modern_protocol(peer, us);
                    let late = probing.await;
                    late.map(|agreement| (agreement, ConnectMode::Modern)).map_err(NegotiationError::Final)
                }
                agreed => agreed,
            },
            probed = &mut probing, if probe_open => {
                if let Ok(agreement) = probed {
                    set_modern_protocol(peer, us);
                    return Ok((agreement, ConnectMode::Modern));
                }
                probe_open = false;
            }
            () = sleep_until(look) => {
                if heard() {
                    return Err(NegotiationError::StartAgain);
                }
                look = Instant::now() + PROBE_TIMEOUT;
            }
        }
    }
}

pub(crate) struct HttpAgreement {
    pub(crate) peer: Peer,
    pub(crate) inbound: mpsc::Receiver<Inbound>,
    pub(crate) agreement: Agreement,
    pub(crate) mode: ConnectMode,
}

pub(crate) struct HttpNegotiation<'a> {
    pub(crate) client: &'a HttpClient,
    pub(crate) endpoint: &'a HttpEndpoint,
    pub(crate) kind: HttpKind,
    pub(crate) era: EraSetting,
    pub(crate) us: &'a Introduction,
    pub(crate) limit: Duration,
}

impl HttpNegotiation<'_> {
    /// Negotiates over HTTP: tries the cached mode first, then all others.
    pub(crate) async fn negotiate(
        &self,
        remembered: Option<ConnectMode>,
    ) -> Result<HttpAgreement, RequestError> {
        let ways = self.modes();
        if let Some(way) = remembered
            && ways.contains(&way)
        {
            match self.try_mode(way).await {
                Err(error) if may_try_another(&error) => {}
                outcome => return outcome,
            }
        }
        let mut telling: Option<RequestError> = None;
        for way in ways {
            match self.try_mode(*way).await {
                Err(error) if may_try_another(&error) => {
                    // The error of the handshake is the most informative one.
                    if telling.is_none() || *way == ConnectMode::Legacy {
                        telling = Some(error);
                    }
                }
                outcome => return outcome,
            }
        }
        Err(telling.unwrap_or_else(|| RequestError::NotSent("no transport left to try".to_owned())))
    }

    const fn modes(&self) -> &'static [ConnectMode] {
        match (self.kind, self.era) {
            (HttpKind::Sse, _) => &[ConnectMode::Sse],
            (_, EraSetting::Modern) => &[ConnectMode::Modern],
            (HttpKind::Streamable, EraSetting::Legacy) => &[ConnectMode::Legacy],
            (HttpKind::Streamable, EraSetting::Auto) => &[ConnectMode::Modern, ConnectMode::Legacy],
            (HttpKind::Auto, EraSetting::Legacy) => &[ConnectMode::Legacy, ConnectMode::Sse],
            (HttpKind::Auto, EraSetting::Auto) => {
                &[ConnectMode::Modern, ConnectMode::Legacy, ConnectMode::Sse]
            }
        }
    }

    async fn try_mode(&self, way: ConnectMode) -> Result<HttpAgreement, RequestError> {
        let client = self.client.clone();
        let endpoint = self.endpoint.clone();
        let limits = WireLimits::default();
        let (peer, inbound) = match way {
            ConnectMode::Modern | ConnectMode::Legacy => start_http(client, endpoint, limits),
            ConnectMode::Sse => start_sse(client, endpoint, limits, self.limit).await?,
        };
        let tentative = TentativePeer::new(peer.clone());
        let agreement = match way {
            ConnectMode::Modern => {
                // A server that ignores the probe must not use up the time of the handshake.
                let alone = self.modes() == [ConnectMode::Modern];
                let limit = if alone { self.limit } else { self.limit.min(SILENCE_TIMEOUT) };
                discover(&peer, self.us, limit).await?
            }
            ConnectMode::Legacy | ConnectMode::Sse => {
                initialize(&peer, self.us, self.limit).await?
            }
        };
        tentative.keep();
        Ok(HttpAgreement { peer, inbound, agreement, mode: way })
    }
}

/// Returns whether the failure may be caused by the mode rather than the server.
fn may_try_another(error: &RequestError) -> bool {
    match error {
        RequestError::Rpc(error) => !error.is_modern(),
        RequestError::NotSent(_) | RequestError::Untrusted(_) => false,
        // These statuses are about the caller, not about the endpoint: another mode gets the same.
        RequestError::Http { status, .. } => !matches!(status, 401 | 403 | 429),
        RequestError::Unknown(_) | RequestError::TimedOut(_) | RequestError::Protocol(_) => true,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConnectMode {
    Modern,
    Legacy,
    /// HTTP+SSE of revision 2024-11-05.
    Sse,
}

/// A file that caches the detected modes. Losing it only costs a probe.
#[derive(Debug)]
pub(crate) struct EraCache {
    file: Option<PathBuf>,
    modes: Mutex<BTreeMap<String, ConnectMode>>,
}

impl EraCache {
    /// Loads the file; starts empty if it is missing or invalid.
    pub(crate) fn load(file: Option<PathBuf>) -> Self {
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let ways = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { file, modes: Mutex::new(ways) }
    }

    pub(crate) fn recall(&self, key: &str) -> Option<ConnectMode> {
        self.modes.lock().get(key).copied()
    }

    pub(crate) fn learn(&self, key: &str, way: ConnectMode) {
        let mut ways = self.modes.lock();
        if ways.insert(key.to_owned(), way) == Some(way) {
            return;
        }
        if let (Some(file), Ok(text)) = (&self.file, serde_json::to_string_pretty(&*ways)) {
            // A lost entry costs a probe next time; it must not cost the connection.
            _ = std::fs::create_dir_all(parent_folder(file))
                .and_then(|()| replace(file, text.as_bytes(), FileAccess::Owner));
        }
    }
}
