//! Which era a server is of, found out without wearing its patience or ours.

use std::time::Duration;

use switchboard_config::{EraSetting, HttpKind};
use switchboard_wire::handshake::{Agreement, Introduction};
use switchboard_wire::http::{Endpoint, HttpClient};
use switchboard_wire::{Inbound, Limits, Peer, RequestError, RpcError, Tentative, handshake, http};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::era_cache::Way;

/// How long a pipe may be silent on the probe before the handshake is tried beside it.
pub(crate) const PROBE: Duration = Duration::from_secs(3);
/// How long a server that has been heard may be silent before it is started again without a probe.
const STUCK: Duration = Duration::from_secs(10);

/// What to try on a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The probe, then the handshake.
    Both,
    /// Only the handshake.
    Handshake,
    /// Only the probe.
    Probe,
}

impl Attempt {
    pub(crate) const fn first(setting: EraSetting, remembered: Option<Way>) -> Self {
        match (setting, remembered) {
            (EraSetting::Legacy, _) | (EraSetting::Auto, Some(Way::Legacy | Way::Sse)) => {
                Self::Handshake
            }
            (EraSetting::Modern, _) => Self::Probe,
            (EraSetting::Auto, Some(Way::Modern) | None) => Self::Both,
        }
    }
}

/// Why there is no agreement on a pipe.
#[derive(Debug)]
pub(crate) enum NoAgreement {
    /// The probe ended or blocked the server: start it again and do not probe.
    StartAgain,
    /// The server does not want us, or is not one.
    Final(RequestError),
}

/// Finds out how to talk over a pipe.
pub(crate) async fn over_stream(
    peer: &Peer,
    us: &Introduction,
    attempt: Attempt,
    limit: Duration,
    heard: impl Fn() -> bool,
) -> Result<(Agreement, Way), NoAgreement> {
    let modern = |agreement| (agreement, Way::Modern);
    match attempt {
        Attempt::Probe => {
            handshake::discover(peer, us, limit).await.map(modern).map_err(NoAgreement::Final)
        }
        Attempt::Handshake => match shake_hands(peer, us, limit).await {
            // The server has been replaced by a modern one since we last met.
            Err(NoAgreement::Final(RequestError::Rpc(error)))
                if error.is_modern() || error.code == RpcError::METHOD_NOT_FOUND =>
            {
                handshake::discover(peer, us, limit).await.map(modern).map_err(NoAgreement::Final)
            }
            outcome => outcome,
        },
        Attempt::Both => {
            let probing = handshake::discover(peer, us, limit);
            tokio::pin!(probing);
            match timeout(PROBE, &mut probing).await {
                Ok(Ok(agreement)) => Ok(modern(agreement)),
                Ok(Err(RequestError::Rpc(error))) if error.is_modern() => {
                    Err(NoAgreement::Final(RequestError::Rpc(error)))
                }
                Ok(Err(_)) if peer.is_closed() => Err(NoAgreement::StartAgain),
                Ok(Err(_)) => shake_hands(peer, us, limit).await.map_err(|error| {
                    if peer.is_closed() { NoAgreement::StartAgain } else { error }
                }),
                Err(_) => race(peer, us, limit, probing, heard).await,
            }
        }
    }
}

async fn shake_hands(
    peer: &Peer,
    us: &Introduction,
    limit: Duration,
) -> Result<(Agreement, Way), NoAgreement> {
    let agreement = handshake::initialize(peer, us, limit).await;
    agreement.map(|agreement| (agreement, Way::Legacy)).map_err(NoAgreement::Final)
}

/// The probe was not answered yet: whichever of the two is answered first decides.
async fn race(
    peer: &Peer,
    us: &Introduction,
    limit: Duration,
    mut probing: impl Future<Output = Result<Agreement, RequestError>> + Unpin,
    heard: impl Fn() -> bool,
) -> Result<(Agreement, Way), NoAgreement> {
    let greeting = shake_hands(peer, us, limit);
    tokio::pin!(greeting);
    let mut probe_open = true;
    let mut look = Instant::now() + STUCK.saturating_sub(PROBE);
    loop {
        tokio::select! {
            greeted = &mut greeting => return match greeted {
                Err(_) if peer.is_closed() => Err(NoAgreement::StartAgain),
                // A server that has been heard may be stuck in the probe; a silent one is just silent.
                Err(NoAgreement::Final(RequestError::TimedOut(_))) if heard() => {
                    Err(NoAgreement::StartAgain)
                }
                Err(error) if !probe_open => Err(error),
                Err(_) => {
                    handshake::speak_modern(peer, us);
                    let late = probing.await;
                    late.map(|agreement| (agreement, Way::Modern)).map_err(NoAgreement::Final)
                }
                agreed => agreed,
            },
            probed = &mut probing, if probe_open => {
                if let Ok(agreement) = probed {
                    handshake::speak_modern(peer, us);
                    return Ok((agreement, Way::Modern));
                }
                probe_open = false;
            }
            () = sleep_until(look) => {
                if heard() {
                    return Err(NoAgreement::StartAgain);
                }
                look = Instant::now() + PROBE;
            }
        }
    }
}

/// A connection over HTTP that both sides agreed on.
pub(crate) struct Agreed {
    pub(crate) peer: Peer,
    pub(crate) inbound: mpsc::Receiver<Inbound>,
    pub(crate) agreement: Agreement,
    pub(crate) way: Way,
}

/// Where and how to talk over HTTP.
pub(crate) struct Door<'a> {
    pub(crate) client: &'a HttpClient,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) kind: HttpKind,
    pub(crate) era: EraSetting,
    pub(crate) us: &'a Introduction,
    pub(crate) limit: Duration,
}

impl Door<'_> {
    /// Finds out how to talk over HTTP: the way that worked last time first, then all others.
    pub(crate) async fn open(&self, remembered: Option<Way>) -> Result<Agreed, RequestError> {
        let ways = self.ways();
        if let Some(way) = remembered
            && ways.contains(&way)
        {
            match self.try_way(way).await {
                Err(error) if may_try_another(&error) => {}
                outcome => return outcome,
            }
        }
        let mut telling: Option<RequestError> = None;
        for way in ways {
            match self.try_way(*way).await {
                Err(error) if may_try_another(&error) => {
                    // What the handshake says is more telling than what the others say.
                    if telling.is_none() || *way == Way::Legacy {
                        telling = Some(error);
                    }
                }
                outcome => return outcome,
            }
        }
        Err(telling.unwrap_or_else(|| RequestError::NotSent("no way is left to try".to_owned())))
    }

    const fn ways(&self) -> &'static [Way] {
        match (self.kind, self.era) {
            (HttpKind::Sse, _) => &[Way::Sse],
            (_, EraSetting::Modern) => &[Way::Modern],
            (HttpKind::Streamable, EraSetting::Legacy) => &[Way::Legacy],
            (HttpKind::Streamable, EraSetting::Auto) => &[Way::Modern, Way::Legacy],
            (HttpKind::Auto, EraSetting::Legacy) => &[Way::Legacy, Way::Sse],
            (HttpKind::Auto, EraSetting::Auto) => &[Way::Modern, Way::Legacy, Way::Sse],
        }
    }

    async fn try_way(&self, way: Way) -> Result<Agreed, RequestError> {
        let (client, endpoint) = (self.client.clone(), self.endpoint.clone());
        let limits = Limits::default();
        let (peer, inbound) = match way {
            Way::Modern | Way::Legacy => http::start(client, endpoint, limits),
            Way::Sse => http::start_sse(client, endpoint, limits, self.limit).await?,
        };
        let tentative = Tentative::new(peer.clone());
        let agreement = match way {
            Way::Modern => {
                // A server that is silent on the probe must not use up the time of a handshake.
                let alone = self.ways() == [Way::Modern];
                let limit = if alone { self.limit } else { self.limit.min(STUCK) };
                handshake::discover(&peer, self.us, limit).await?
            }
            Way::Legacy | Way::Sse => handshake::initialize(&peer, self.us, self.limit).await?,
        };
        tentative.keep();
        Ok(Agreed { peer, inbound, agreement, way })
    }
}

/// Whether the failure may be that of the way, not of the server.
fn may_try_another(error: &RequestError) -> bool {
    match error {
        RequestError::Rpc(error) => !error.is_modern(),
        RequestError::NotSent(_) | RequestError::Untrusted(_) => false,
        RequestError::Http { status, .. } => !matches!(status, 401 | 403 | 429),
        RequestError::Unknown(_) | RequestError::TimedOut(_) | RequestError::Protocol(_) => true,
    }
}
