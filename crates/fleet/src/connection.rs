//! One task per instance of a server: starts it, lists it, keeps it and ends it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use switchboard_catalog::{Failure, Health, Offers, Run, Status};
use switchboard_config::{ServerConfig, Transport};
use switchboard_oauth::Account;
use switchboard_wire::handshake::Agreement;
use switchboard_wire::{Era, Peer, Request};
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::back_off::back_off;
use crate::change_listener::{Listening, unheard};
use crate::connect_context::Surroundings;
use crate::establish::{Live, NotEstablished, address, ended, establish, needs_login};
use crate::listing::{EVERYTHING, Listed, list};
use crate::open_requests::Asked;
use crate::process::Process;
use crate::relist::{Changed, Found};
use crate::server_sync::{Informing, Told};

/// A server that lived as long starts afresh: its next failure is the first.
const STEADY: Duration = Duration::from_secs(10);
/// How long the output of a server that has ended is still read.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long a server may think about which messages are wanted before it is announced.
const LEVEL_PATIENCE: Duration = Duration::from_millis(200);
/// How long calls on a connection that is replaced may still run.
const DRAIN: Duration = Duration::from_secs(30);
/// How often a server that wants a login looks whether somebody has logged in.
const LOOK: Duration = Duration::from_secs(2);

/// What a connection tells the supervisor.
#[derive(Debug)]
pub(crate) enum Report {
    /// It is not usable, for this reason.
    Down(Status),
    /// It is usable.
    Ready {
        /// How to talk to it.
        peer: Peer,
        /// What was agreed on.
        agreement: Arc<Agreement>,
        /// What it offers.
        offers: Arc<Offers>,
    },
    /// What it offers has changed.
    Offers(Arc<Offers>),
}

impl Report {
    fn ready(peer: &Peer, agreement: &Arc<Agreement>, offers: Arc<Offers>) -> Self {
        Self::Ready { peer: peer.clone(), agreement: Arc::clone(agreement), offers }
    }

    fn offers(_peer: &Peer, _agreement: &Arc<Agreement>, offers: Arc<Offers>) -> Self {
        Self::Offers(offers)
    }
}

/// The reins of a connection's task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reins {
    /// End now.
    pub(crate) stop: CancellationToken,
    /// End when the calls under way have ended.
    pub(crate) retire: CancellationToken,
    /// Start again.
    pub(crate) restart: Arc<Notify>,
}

/// One instance of a server.
pub(crate) struct Connection {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) number: usize,
    /// What the server offered last, in case it cannot be listed.
    pub(crate) before: Arc<Offers>,
    /// Tells this connection's reports from those of the one it replaced.
    pub(crate) generation: u64,
    pub(crate) health: Arc<Health>,
    pub(crate) around: Arc<Surroundings>,
    pub(crate) reins: Reins,
    pub(crate) reports: mpsc::Sender<(u64, Report)>,
}

enum End {
    Stopped,
    Restarted,
    Lost(Failure),
    NeedsLogin(Failure),
}

impl Connection {
    /// Keeps the server alive until the reins say otherwise.
    pub(crate) async fn run(self) {
        let (mut failures, account) = (0, self.account());
        let account = account.as_ref();
        let mut offers = Arc::clone(&self.before);
        loop {
            self.report(Report::Down(Status::Starting)).await;
            let started = Instant::now();
            let establishing = establish(&self.config, self.number, &self.around, account);
            let outcome = tokio::select! {
                biased;
                () = self.reins.stop.cancelled() => return,
                () = self.reins.retire.cancelled() => return,
                outcome = establishing => outcome,
            };
            let mut was_ready = false;
            let end = match outcome {
                Ok(live) => {
                    was_ready = true;
                    self.note_calls(&live.peer);
                    let process = live.process.as_ref().and_then(Process::id);
                    self.health.set_run(Some(Run { process, since: Instant::now() }));
                    let end = self.tend(live, &mut offers, account).await;
                    self.health.set_run(None);
                    end
                }
                Err(NotEstablished::Failed(failure)) => End::Lost(failure),
                Err(NotEstablished::NeedsLogin(failure)) => End::NeedsLogin(failure),
            };
            let failure = match end {
                End::Stopped => return,
                End::Restarted => {
                    failures = 0;
                    continue;
                }
                End::NeedsLogin(failure) => {
                    self.report(Report::Down(Status::NeedsLogin(failure))).await;
                    if !self.wait_for_login(account).await {
                        return;
                    }
                    failures = 0;
                    continue;
                }
                End::Lost(failure) => failure,
            };
            if was_ready && started.elapsed() > STEADY {
                failures = 0;
            }
            failures += 1;
            // A crash is most often a single one: the first restart does not wait.
            if was_ready && failures == 1 {
                continue;
            }
            let wait = back_off(failures, self.generation);
            let until = Instant::now() + wait;
            self.report(Report::Down(Status::Waiting { until, failure })).await;
            if !self.pause(wait).await {
                return;
            }
        }
    }

    /// Who gives requests their login, if this server takes one.
    fn account(&self) -> Option<Arc<Account>> {
        let Transport::Http { urls, .. } = &self.config.transport else { return None };
        self.around.logins.account(&self.config, address(urls, self.number))
    }

    /// Waits; returns whether to go on.
    async fn pause(&self, wait: Duration) -> bool {
        let until = tokio::time::Instant::now() + wait.min(Duration::from_secs(86_400 * 365));
        tokio::select! {
            () = sleep_until(until) => true,
            () = self.reins.restart.notified() => true,
            () = self.reins.stop.cancelled() => false,
            () = self.reins.retire.cancelled() => false,
        }
    }

    /// Waits until somebody has logged in; returns whether to go on.
    async fn wait_for_login(&self, account: Option<&Arc<Account>>) -> bool {
        loop {
            let look = async {
                match account {
                    Some(account) => {
                        sleep(LOOK).await;
                        account.has_new_login().await
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                found = look => if found { return true },
                () = self.reins.restart.notified() => return true,
                () = self.reins.stop.cancelled() => return false,
                () = self.reins.retire.cancelled() => return false,
            }
        }
    }

    async fn report(&self, report: Report) {
        // The supervisor ends only with the host; then nobody needs the report.
        self.reports.send((self.generation, report)).await.ok();
    }

    /// Lists a new connection, announces it and looks after it until it ends.
    async fn tend(
        &self,
        live: Live,
        offers: &mut Arc<Offers>,
        account: Option<&Arc<Account>>,
    ) -> End {
        let Live { peer, mut inbound, agreement, mut process, log, told_of_roots } = live;
        let (peer, agreement) = (&peer, &Arc::new(agreement));
        let (again, mut missed) = mpsc::channel(1);
        let (server, around) = (&self.config.id, &*self.around);
        let hears_of_resources = self.number == 0;
        let (level_told, deaf) = (CancellationToken::new(), AtomicBool::new(false));
        let listening = Listening { peer, server, around, hears_of_resources, again, deaf: &deaf };
        let listening = listening.run(agreement);
        let level = level_told.clone();
        let told = Told { roots: told_of_roots, resources: hears_of_resources, level };
        let informing = Informing { peer, agreement, server, around, told }.run();
        tokio::pin!(listening, informing);
        let (asked, mut changed) = (Asked::default(), Changed::of(self.generation));
        let start_listing = |kinds, before: &Arc<Offers>| {
            let before = Arc::clone(before);
            let listing = list(peer, agreement, self.config.timeout, kinds, before);
            Some(Box::pin(once_told(&level_told, listing)))
        };
        // What the server asks is answered while it is listed: it may wait for that.
        let mut listing = start_listing(EVERYTHING, offers);
        // What the server wrote before it ended may still be in the pipe, until its last words.
        let (mut announced, mut last_words) = (false, None);
        let end = loop {
            tokio::select! {
                biased;
                () = self.reins.stop.cancelled() => break End::Stopped,
                () = self.reins.retire.cancelled() => {
                    self.drain(peer).await;
                    break End::Stopped;
                }
                () = self.reins.restart.notified() => {
                    self.report(Report::Down(Status::Starting)).await;
                    self.drain(peer).await;
                    break End::Restarted;
                }
                reason = peer.closed() => {
                    self.report(Report::Down(Status::Starting)).await;
                    return End::Lost(match &mut process {
                        Some(process) => ended(&self.config.id, process, &log, &reason.0).await,
                        None => Failure::new(reason.0),
                    });
                }
                () = exited(process.as_mut()), if last_words.is_none() => {
                    last_words = Some(tokio::time::Instant::now() + LAST_WORDS);
                }
                () = until(last_words) => peer.close("the server closed its output"),
                received = inbound.recv() => match received {
                    Some(received) => self.take_in(peer, received, &asked, &mut changed),
                    None => peer.close("nobody listens"),
                },
                () = self.health.wants_catching_up() => self.health.is_caught_up(),
                listed = running(&mut listing) => {
                    listing = None;
                    if !announced && let Some(failure) = self.wants_login(&listed, account).await {
                        break End::NeedsLogin(failure);
                    }
                    let lasts = unheard(agreement, &deaf, listed.lasts);
                    let before = announced.then_some(&**offers);
                    if changed.took(&listed, lasts, before) == Found::AsItWas {
                        continue;
                    }
                    *offers = listed.offers_after(offers);
                    if !announced {
                        self.health.succeeded();
                    }
                    let tell = if announced { Report::offers } else { Report::ready };
                    self.report(tell(peer, agreement, Arc::clone(offers))).await;
                    announced = true;
                }
                () = changed.settled(), if listing.is_none() => {
                    listing = start_listing(changed.take(), offers);
                }
                () = &mut listening, if announced => {}
                () = &mut informing => {}
                Some(()) = missed.recv() => changed.mark(EVERYTHING),
                () = self.health.wants_probe() => self.probe_later(peer),
            }
        };
        farewell(peer, process, self.why_it_stops()).await;
        end
    }

    fn why_it_stops(&self) -> &'static str {
        match self.reins.stop.is_cancelled() {
            true => "Switchboard is about to end",
            false => "the server is being stopped",
        }
    }

    /// Why somebody has to log in before anything can be listed.
    async fn wants_login(
        &self,
        listed: &Listed,
        account: Option<&Arc<Account>>,
    ) -> Option<Failure> {
        needs_login(&self.config, account, listed.refused.as_ref()?).await
    }

    /// Asks a server that rests whether it is well again: never with a call.
    fn probe_later(&self, peer: &Peer) {
        let (peer, health, stop) =
            (peer.clone(), Arc::clone(&self.health), self.reins.stop.clone());
        let seed = self.generation;
        self.around.tasks.spawn(async move {
            for turn in 1_u32.. {
                if stop.run_until_cancelled(sleep(back_off(turn, seed))).await.is_none()
                    || peer.is_closed()
                    || health.resting().is_none()
                {
                    return;
                }
                if answers(&peer).await {
                    health.succeeded();
                    return;
                }
            }
        });
    }

    /// Lets the calls on a connection end that is about to.
    async fn drain(&self, peer: &Peer) {
        let deadline = Instant::now() + DRAIN;
        while self.health.in_flight() > 0 && !peer.is_closed() && Instant::now() < deadline {
            tokio::select! {
                () = self.reins.stop.cancelled() => return,
                () = sleep(Duration::from_millis(20)) => {}
            }
        }
    }
}

async fn farewell(peer: &Peer, process: Option<Process>, why: &str) {
    peer.shutdown(why).await;
    if let Some(mut process) = process {
        process.stop().await;
    }
}

/// What was listed, once the server also knows which messages are wanted: nothing of ours is under
/// way when it is announced. A server that is silent about that is not waited for.
async fn once_told<T>(level_told: &CancellationToken, listing: impl Future<Output = T>) -> T {
    let listed = listing.await;
    tokio::time::timeout(LEVEL_PATIENCE, level_told.cancelled()).await.ok();
    listed
}

/// The result of what is under way; nothing is under way, nothing comes.
async fn running<F: Future + Unpin>(under_way: &mut Option<F>) -> F::Output {
    match under_way {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn exited(process: Option<&mut Process>) {
    match process {
        Some(process) => {
            process.ended().await;
        }
        None => std::future::pending().await,
    }
}

async fn until(moment: Option<tokio::time::Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

async fn answers(peer: &Peer) -> bool {
    let method = match peer.stance().revision.era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    peer.request(Request::new(method, "", Duration::from_secs(5))).await.is_ok()
}
