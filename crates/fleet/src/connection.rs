//! The task of one server instance: starts it, lists its offers, maintains it and stops it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use switchboard_catalog::{Health, Offers, ServerFailure, ServerRun, ServerStatus};
use switchboard_config::{ServerConfig, Transport};
use switchboard_oauth::Account;
use switchboard_wire::{Agreement, Era, Peer, Request};
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::change_listener::{ChangeListener, unannounced_ttls};
use crate::connect_context::ConnectContext;
use crate::establish::{
    EstablishError, LiveConnection, establish, exit_failure, instance_url, login_failure,
};
use crate::listing::{ALL_KINDS, ListedOffers, list_offers};
use crate::open_requests::OpenRequests;
use crate::process::Process;
use crate::relist::{RelistResult, RelistSchedule};
use crate::server_sync::{ServerSync, SyncOptions};

/// Uptime after which the failure count is reset.
const STABLE_UPTIME: Duration = Duration::from_secs(10);
/// How long the output of an exited server is still read.
const OUTPUT_DRAIN: Duration = Duration::from_millis(200);
/// How long to wait for the log level to be set before the server is announced.
const LOG_LEVEL_TIMEOUT: Duration = Duration::from_millis(200);
/// How long calls on a retiring connection may continue.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// How often to look for a new login, which another process may store.
const LOGIN_POLL_INTERVAL: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) enum ConnectionReport {
    Down(ServerStatus),
    Ready { peer: Peer, agreement: Arc<Agreement>, offers: Arc<Offers> },
    Offers(Arc<Offers>),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionControl {
    pub(crate) stop: CancellationToken,
    /// Stops the connection after its calls in flight have ended.
    pub(crate) retire: CancellationToken,
    pub(crate) restart: Arc<Notify>,
}

/// The task of one instance of a server.
pub(crate) struct ServerConnection {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) number: usize,
    /// The last known offers, used if a list cannot be fetched.
    pub(crate) previous_offers: Arc<Offers>,
    /// Distinguishes the reports of this connection from those of its predecessor.
    pub(crate) generation: u64,
    pub(crate) health: Arc<Health>,
    pub(crate) context: Arc<ConnectContext>,
    pub(crate) control: ConnectionControl,
    pub(crate) reports: mpsc::Sender<(u64, ConnectionReport)>,
}

enum ConnectionEnd {
    Stopped,
    Restarted,
    Lost(ServerFailure),
    NeedsLogin(ServerFailure),
}

enum ControlSignal {
    Stop,
    Retire,
    Restart,
}

impl ServerConnection {
    /// Keeps the server running until it is stopped or retired.
    pub(crate) async fn run(self) {
        let mut failures = 0;
        let account = self.account();
        let account = account.as_ref();
        let mut offers = Arc::clone(&self.previous_offers);
        loop {
            self.report(ConnectionReport::Down(ServerStatus::Starting)).await;
            let started = Instant::now();
            let establishing = establish(&self.config, self.number, &self.context, account);
            let outcome = tokio::select! {
                biased;
                () = self.control.stop.cancelled() => return,
                () = self.control.retire.cancelled() => return,
                outcome = establishing => outcome,
            };
            let mut was_ready = false;
            let end = match outcome {
                Ok(live) => {
                    was_ready = true;
                    self.observe_calls(&live.peer);
                    let process = live.process.as_ref().and_then(Process::id);
                    self.health.set_run(Some(ServerRun { process, since: Instant::now() }));
                    let end = self.maintain(live, &mut offers, account).await;
                    self.health.set_run(None);
                    end
                }
                Err(EstablishError::Failed(failure)) => ConnectionEnd::Lost(failure),
                Err(EstablishError::NeedsLogin(failure)) => ConnectionEnd::NeedsLogin(failure),
            };
            let failure = match end {
                ConnectionEnd::Stopped => return,
                ConnectionEnd::Restarted => {
                    failures = 0;
                    continue;
                }
                ConnectionEnd::NeedsLogin(failure) => {
                    self.report(ConnectionReport::Down(ServerStatus::NeedsLogin(failure))).await;
                    if !self.wait_for_login(account).await {
                        return;
                    }
                    failures = 0;
                    continue;
                }
                ConnectionEnd::Lost(failure) => failure,
            };
            // A server that crashes soon after each start must reach the longer back-off times.
            if was_ready && started.elapsed() > STABLE_UPTIME {
                failures = 0;
            }
            failures += 1;
            // A crash is usually an isolated event, so the first restart is immediate.
            if was_ready && failures == 1 {
                continue;
            }
            let wait = back_off(failures, self.generation);
            let until = Instant::now() + wait;
            self.report(ConnectionReport::Down(ServerStatus::Waiting { until, failure })).await;
            if !self.pause(wait).await {
                return;
            }
        }
    }

    /// Returns the account that authorizes requests, if the server supports logins.
    fn account(&self) -> Option<Arc<Account>> {
        let Transport::Http { urls, .. } = &self.config.transport else { return None };
        self.context.logins.account(&self.config, instance_url(urls, self.number))
    }

    /// Waits, unless a restart is requested; returns whether to continue.
    async fn pause(&self, wait: Duration) -> bool {
        tokio::select! {
            () = sleep(wait) => true,
            () = self.control.restart.notified() => true,
            () = self.control.stop.cancelled() => false,
            () = self.control.retire.cancelled() => false,
        }
    }

    /// Waits for a login; returns whether to continue.
    async fn wait_for_login(&self, account: Option<&Arc<Account>>) -> bool {
        loop {
            let look = async {
                match account {
                    Some(account) => {
                        sleep(LOGIN_POLL_INTERVAL).await;
                        account.has_new_login().await
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                found = look => if found { return true },
                () = self.control.restart.notified() => return true,
                () = self.control.stop.cancelled() => return false,
                () = self.control.retire.cancelled() => return false,
            }
        }
    }

    async fn report(&self, report: ConnectionReport) {
        // The supervisor ends only with the host, which needs no reports then.
        _ = self.reports.send((self.generation, report)).await;
    }

    /// Lists a new connection, announces it and maintains it until it ends.
    async fn maintain(
        &self,
        live: LiveConnection,
        offers: &mut Arc<Offers>,
        account: Option<&Arc<Account>>,
    ) -> ConnectionEnd {
        let LiveConnection { peer, mut inbound, agreement, mut process, log, declared_roots } =
            live;
        let peer = &peer;
        let agreement = &Arc::new(agreement);
        let server = &self.config.id;
        let context = &*self.context;
        let listens_to_resources = self.number == 0;
        let unsupported = &AtomicBool::new(false);
        let level_sent = &CancellationToken::new();
        let (missed, mut missed_changes) = mpsc::channel(1);
        let listener =
            ChangeListener { peer, server, context, listens_to_resources, missed, unsupported };
        let listening = listener.run(agreement);
        let options = SyncOptions { declared_roots, listens_to_resources, level_sent };
        let syncing = ServerSync { peer, agreement, server, context, options }.run();
        tokio::pin!(listening, syncing);
        let asked = OpenRequests::default();
        let mut changed = RelistSchedule::new(self.generation);
        let start_listing = |kinds, before: &Arc<Offers>| {
            let before = Arc::clone(before);
            let listing = list_offers(peer, agreement, self.config.timeout, kinds, before);
            Some(Box::pin(after_log_level(level_sent, listing)))
        };
        // Not awaited here: a server may wait for an answer of ours before it answers.
        let mut listing = start_listing(ALL_KINDS, offers);
        // After an exit, the pipe may still hold output; read it until `last_words`.
        let mut announced = false;
        let mut last_words = None;
        let end = loop {
            tokio::select! {
                biased;
                signal = self.control_signal() => break self.obey(signal, peer).await,
                reason = peer.wait_until_closed() => {
                    self.report(ConnectionReport::Down(ServerStatus::Starting)).await;
                    return ConnectionEnd::Lost(match &mut process {
                        Some(process) => exit_failure(server, process, &log, &reason.0).await,
                        None => ServerFailure::new(reason.0),
                    });
                }
                () = wait_for_exit(process.as_mut()), if last_words.is_none() =>
                    last_words = Some(tokio::time::Instant::now() + OUTPUT_DRAIN),
                () = sleep_until_optional(last_words) => peer.close("the server closed its output"),
                received = inbound.recv() => match received {
                    Some(received) => self.ingest(peer, received, &asked, &mut changed),
                    None => peer.close("the message queue is closed"),
                },
                // After the queue in this biased order: it is empty when this branch is reached.
                () = self.health.catch_up_requested() => self.health.notify_caught_up(),
                listed = await_optional(&mut listing) => {
                    listing = None;
                    if !announced && let Some(failure) = self.check_login(&listed, account).await {
                        break ConnectionEnd::NeedsLogin(failure);
                    }
                    let lasts = unannounced_ttls(agreement, unsupported, listed.ttls);
                    let before = announced.then_some(&**offers);
                    if changed.record_listing(&listed, lasts, before) == RelistResult::Unchanged {
                        continue;
                    }
                    *offers = listed.into_offers(offers);
                    self.announce(peer, agreement, offers, announced).await;
                    announced = true;
                }
                () = changed.wait_until_due(), if listing.is_none() =>
                    listing = start_listing(changed.take(), offers),
                () = &mut listening, if announced => {}
                () = &mut syncing => {}
                Some(()) = missed_changes.recv() => changed.mark(ALL_KINDS),
                () = self.health.probe_requested() => self.spawn_probe(peer),
            }
        };
        shut_down(peer, process, self.stop_reason()).await;
        end
    }

    async fn control_signal(&self) -> ControlSignal {
        tokio::select! {
            biased;
            () = self.control.stop.cancelled() => ControlSignal::Stop,
            () = self.control.retire.cancelled() => ControlSignal::Retire,
            () = self.control.restart.notified() => ControlSignal::Restart,
        }
    }

    async fn obey(&self, signal: ControlSignal, peer: &Peer) -> ConnectionEnd {
        match signal {
            ControlSignal::Stop => return ConnectionEnd::Stopped,
            ControlSignal::Retire => {}
            ControlSignal::Restart => {
                self.report(ConnectionReport::Down(ServerStatus::Starting)).await;
            }
        }
        self.drain(peer).await;
        match signal {
            ControlSignal::Restart => ConnectionEnd::Restarted,
            ControlSignal::Stop | ControlSignal::Retire => ConnectionEnd::Stopped,
        }
    }

    /// Reports the server's offers: as a change if it was announced before, otherwise as ready.
    async fn announce(
        &self,
        peer: &Peer,
        agreement: &Arc<Agreement>,
        offers: &Arc<Offers>,
        was_announced: bool,
    ) {
        let offers = Arc::clone(offers);
        let report = if was_announced {
            ConnectionReport::Offers(offers)
        } else {
            self.health.record_success();
            ConnectionReport::Ready { peer: peer.clone(), agreement: Arc::clone(agreement), offers }
        };
        self.report(report).await;
    }

    fn stop_reason(&self) -> &'static str {
        match self.control.stop.is_cancelled() {
            true => "Switchboard is shutting down",
            false => "the server is being stopped",
        }
    }

    async fn check_login(
        &self,
        listed: &ListedOffers,
        account: Option<&Arc<Account>>,
    ) -> Option<ServerFailure> {
        login_failure(&self.config, account, listed.tools_error.as_ref()?).await
    }

    /// Probes a server whose breaker is open until it answers. Never sends a call.
    fn spawn_probe(&self, peer: &Peer) {
        let peer = peer.clone();
        let health = Arc::clone(&self.health);
        let stop = self.control.stop.clone();
        let seed = self.generation;
        self.context.tasks.spawn(async move {
            for turn in 1_u32.. {
                if stop.run_until_cancelled(sleep(back_off(turn, seed))).await.is_none()
                    || peer.is_closed()
                    || health.breaker_reason().is_none()
                {
                    return;
                }
                if responds_to_probe(&peer).await {
                    health.record_success();
                    return;
                }
            }
        });
    }

    async fn drain(&self, peer: &Peer) {
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        while self.health.in_flight() > 0 && !peer.is_closed() && Instant::now() < deadline {
            tokio::select! {
                () = self.control.stop.cancelled() => return,
                () = sleep(Duration::from_millis(20)) => {}
            }
        }
    }
}

async fn shut_down(peer: &Peer, process: Option<Process>, why: &str) {
    peer.shutdown(why).await;
    if let Some(mut process) = process {
        process.stop().await;
    }
}

/// Waits until the log level has been set as well, so that no request of ours is in flight when the
/// server is announced. The wait is bounded by `LOG_LEVEL_TIMEOUT`.
async fn after_log_level<T>(level_told: &CancellationToken, listing: impl Future<Output = T>) -> T {
    let listed = listing.await;
    // A server that has not confirmed the level by then is announced anyway.
    _ = tokio::time::timeout(LOG_LEVEL_TIMEOUT, level_told.cancelled()).await;
    listed
}

async fn await_optional<F: Future + Unpin>(under_way: &mut Option<F>) -> F::Output {
    match under_way {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn wait_for_exit(process: Option<&mut Process>) {
    match process {
        Some(process) => {
            process.wait_for_exit().await;
        }
        None => std::future::pending().await,
    }
}

async fn sleep_until_optional(moment: Option<tokio::time::Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn responds_to_probe(peer: &Peer) -> bool {
    let method = match peer.protocol().revision.era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    peer.request(Request::new(method, "", Duration::from_secs(5))).await.is_ok()
}

const BACK_OFF_RANGE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Returns an exponential back-off with jitter, so that servers do not all restart at once.
pub(crate) fn back_off(failures: u32, seed: u64) -> Duration {
    let doubled = BACK_OFF_RANGE.0 * 2_u32.saturating_pow(failures.saturating_sub(1).min(10));
    let wait = doubled.min(BACK_OFF_RANGE.1);
    let step =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(failures) * 97) >> 32;
    wait.mul_f64(0.8 + 0.2 * f64::from(u32::try_from(step % 1_000).unwrap_or(0)) / 1_000.0)
}

/// Lengthens a delay by up to 10 %, so that timers do not all fire at once.
pub(crate) fn add_jitter(wait: Duration, seed: u64) -> Duration {
    let step = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    wait.mul_f64(1.0 + 0.1 * f64::from(u32::try_from(step % 1_000).unwrap_or(0)) / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::back_off;

    #[test]
    fn waits_double_up_to_a_minute_and_differ_a_little() {
        let seconds = |failures, seed| back_off(failures, seed).as_secs_f64();
        for (failures, longest) in [(1, 1.0), (2, 2.0), (3, 4.0), (7, 60.0), (99, 60.0)] {
            for seed in 0..50 {
                let wait = seconds(failures, seed);
                assert!(wait >= longest * 0.8 && wait <= longest, "{failures} {wait}");
            }
        }
        assert_ne!(back_off(3, 1), back_off(3, 2));
    }
}
