//! The handle on the gateway: a host and the state of its clients.

use std::sync::{Arc, Weak};
use std::time::Duration;

use foldhash::HashMap;
use parking_lot::Mutex;
use switchboard_access::View;
use switchboard_catalog::Lease;
use switchboard_host::Host;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::catalog_view::CatalogView;
use crate::limits::{AdmissionError, CallerLimiter, CallerLimits, RequestPermit};
use crate::name_owners::NameOwners;
use crate::name_table::{Collision, NameMode, NamingScheme};
use crate::notices::NoticeBus;
use crate::parked_calls::ParkedCalls;
use crate::session::LegacySessions;
use crate::tasks::ClientTasks;
use crate::tool_usage::ToolUsage;

/// Maximum number of names in all cached catalog views; beyond it the cache is cleared.
const MAX_CACHED_NAMES: usize = 500_000;
/// Interval between removals of expired sessions, parked calls and tasks.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// How long the first lists wait for starting servers; shorter than the usual client timeout.
const FIRST_LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// Settings of a [`Gateway`].
#[derive(Clone, Debug)]
pub struct GatewayOptions {
    pub names: NameMode,
    pub tools: ToolMode,
    /// Maximum size of a message, in bytes.
    pub body_limit_bytes: usize,
    /// How long a client may take to send its headers or a message, or to read part of an answer.
    pub read_limit: Duration,
    /// How long calls in flight may take to finish after a stop was requested.
    pub drain: Duration,
    pub caller: CallerLimits,
}

/// Selects the tools in `tools/list`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolMode {
    /// All tools up to a limit; beyond it, the three of [`ToolMode::Search`].
    #[default]
    Auto,
    All,
    /// Three tools, which find, describe and call all others.
    Search,
}

impl Default for GatewayOptions {
    fn default() -> Self {
        Self {
            names: NameMode::default(),
            tools: ToolMode::default(),
            body_limit_bytes: 4 << 20,
            read_limit: Duration::from_secs(60),
            drain: Duration::from_secs(30),
            caller: CallerLimits::default(),
        }
    }
}

/// A host as an MCP server. Clones are handles on the same gateway.
#[derive(Clone)]
pub struct Gateway {
    pub(crate) inner: Arc<GatewayState>,
}

pub(crate) struct GatewayState {
    host: Host,
    pub(crate) options: GatewayOptions,
    views: Mutex<ViewCache>,
    callers: CallerLimiter,
    pub(crate) sessions: LegacySessions,
    pub(crate) parked_calls: ParkedCalls,
    pub(crate) tasks: ClientTasks,
    pub(crate) notices: NoticeBus,
    pub(crate) listeners: NoticeListeners,
    pub(crate) tool_usage: ToolUsage,
    collisions: watch::Sender<Vec<Collision>>,
    /// Cancelled when streams have to end and no further request is admitted.
    pub(crate) stop: CancellationToken,
    /// Cancelled when calls in flight are no longer awaited.
    pub(crate) abort: CancellationToken,
    /// Cancelled once the servers have started, or after [`FIRST_LIST_TIMEOUT`].
    ready: CancellationToken,
}

/// The catalog views of one edition of the catalog.
#[derive(Default)]
struct ViewCache {
    edition: u64,
    by_view: HashMap<String, Arc<CatalogView>>,
    names: usize,
    owners: NameOwners,
}

impl Gateway {
    /// Creates a gateway for `host` and spawns its tasks, which run until [`Gateway::stop`].
    #[must_use]
    pub fn new(host: Host, options: GatewayOptions) -> Self {
        let limits = options.caller;
        let inner = GatewayState {
            host,
            options,
            views: Mutex::default(),
            callers: CallerLimiter::new(limits),
            sessions: LegacySessions::new(limits.sessions),
            parked_calls: ParkedCalls::new(limits.waiting),
            tasks: ClientTasks::new(limits.waiting),
            notices: NoticeBus::default(),
            listeners: NoticeListeners::default(),
            tool_usage: ToolUsage::default(),
            collisions: watch::Sender::default(),
            stop: CancellationToken::new(),
            abort: CancellationToken::new(),
            ready: CancellationToken::new(),
        };
        let gateway = Self { inner: Arc::new(inner) };
        // Each task holds the state, so it lives until `stop`, even if every handle is dropped.
        tokio::spawn(gateway.clone().forward_host_events());
        tokio::spawn(gateway.clone().sweep());
        tokio::spawn(gateway.clone().signal_ready());
        gateway
    }

    /// Stops everything except calls that are still at their servers. Stopping the host ends those,
    /// so that the record contains what is known about them.
    pub fn stop(&self) {
        self.end_streams();
        self.inner.abort.cancel();
    }

    /// Ends streams and parked calls, which would never end otherwise. Other calls continue.
    pub fn end_streams(&self) {
        // Pending questions stay in the queue: clients reconnect to the next process.
        self.inner.host.reviews().begin_shutdown();
        self.inner.stop.cancel();
        self.inner.parked_calls.cancel_where(|_| true);
        for session in self.inner.sessions.all() {
            session.end_stream();
        }
    }

    /// Returns the host that runs the calls.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.inner.host
    }

    /// Returns the names that several servers use; prefixed names are not among them.
    #[must_use]
    pub fn collisions(&self) -> Vec<Collision> {
        self.catalog_view(&Arc::default()).collisions().to_vec()
    }

    /// Watches [`Gateway::collisions`] as servers come and change.
    #[must_use]
    pub fn collision_changes(&self) -> watch::Receiver<Vec<Collision>> {
        self.inner.collisions.subscribe()
    }

    /// Recomputes the collisions and publishes them if they changed.
    pub(crate) fn update_collisions(&self, lease: &Lease) {
        let mode = self.inner.options.names;
        let mut servers = lease.catalog().servers().iter();
        // Servers named by their own id cannot collide, so no view has to be built.
        let may_meet =
            servers.any(|server| NamingScheme::for_server(server, mode) != NamingScheme::Server);
        let found = if may_meet { self.collisions() } else { Vec::new() };
        self.inner.collisions.send_if_modified(|known| {
            let is_other = *known != found;
            *known = found;
            is_other
        });
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.inner.callers.active_callers().is_empty()
    }

    pub(crate) fn admit_request(
        &self,
        identity: &Arc<str>,
    ) -> Result<RequestPermit, AdmissionError> {
        // Connections that were accepted before the stop can still deliver requests.
        if self.inner.stop.is_cancelled() {
            return Err(AdmissionError::ShuttingDown);
        }
        self.inner.callers.admit(identity)
    }

    /// Cancels the requests, sessions, parked calls and tasks of callers that lost their access.
    pub(crate) fn end_revoked_callers(&self, holds: impl Fn(&str) -> bool) {
        let callers = &self.inner.callers;
        for identity in callers.active_callers().iter().filter(|identity| !holds(identity)) {
            callers.revoke(identity);
        }
        self.inner.sessions.close_where(|identity| !holds(identity));
        self.inner.parked_calls.cancel_where(|identity| !holds(identity));
        self.inner.tasks.cancel_where(|identity| !holds(identity));
    }

    /// Ends the streams of callers whose credentials expired. Their calls continue; a caller that
    /// renews its credentials still has its sessions and tasks.
    pub(crate) fn end_expired_streams(&self, is_current: impl Fn(&str) -> bool) {
        self.inner.sessions.end_streams(|identity| !is_current(identity));
        self.inner.listeners.end_streams(|identity| !is_current(identity));
    }

    /// Returns a view of the current catalog, from the cache if possible.
    pub(crate) fn catalog_view(&self, view: &Arc<View>) -> Arc<CatalogView> {
        let edition = self.inner.host.fleet().load().edition;
        let key = view.key();
        let mut listings = self.inner.views.lock();
        // Fast path: the catalog rarely changes, so most requests need no lease of their own.
        if listings.edition == edition
            && let Some(listing) = listings.by_view.get(&key)
        {
            return Arc::clone(listing);
        }
        // The fleet may have changed since the check above; the edition of the lease counts.
        let lease = self.inner.host.lease();
        let edition = lease.fleet().edition;
        let mode = self.inner.options.names;
        if listings.edition != edition || listings.names > MAX_CACHED_NAMES {
            // Before the first list is published, start-up order must not decide who owns a name.
            let known = Some(&listings.owners).filter(|_| self.inner.ready.is_cancelled());
            let owners = known.unwrap_or(&NameOwners::default()).for_catalog(&lease, mode);
            *listings = ViewCache { edition, owners, ..ViewCache::default() };
        }
        // Built under the lock, so that concurrent requests do not build the same view twice.
        let listing = Arc::new(CatalogView::new(lease, view, mode, &listings.owners));
        listings.names += listing.size();
        listings.by_view.insert(key, Arc::clone(&listing));
        listing
    }

    /// Waits until the servers have had time to start; many clients list only once.
    pub(crate) async fn wait_until_ready(&self) {
        self.inner.ready.cancelled().await;
    }

    async fn signal_ready(self) {
        // A server that needs longer is announced when it is ready.
        _ = tokio::time::timeout(FIRST_LIST_TIMEOUT, self.inner.host.wait_settled(None)).await;
        self.inner.ready.cancel();
    }

    async fn sweep(self) {
        let state = &*self.inner;
        while state.stop.run_until_cancelled(tokio::time::sleep(SWEEP_INTERVAL)).await.is_some() {
            state.callers.sweep();
            state.sessions.sweep();
            state.parked_calls.sweep();
            state.tasks.sweep();
        }
    }
}

#[derive(Default)]
pub(crate) struct NoticeListeners {
    open: Mutex<Vec<Weak<NoticeListener>>>,
}

/// A notification stream, registered until this is dropped.
pub(crate) struct NoticeListener {
    identity: Arc<str>,
    /// Cancelled when the stream has to end.
    pub(crate) over: CancellationToken,
}

impl NoticeListeners {
    pub(crate) fn add(&self, identity: &Arc<str>) -> Arc<NoticeListener> {
        let over = CancellationToken::new();
        let listener = Arc::new(NoticeListener { identity: Arc::clone(identity), over });
        let mut open = self.open.lock();
        // A stream that ended has dropped its handle; removing it here keeps the list bounded.
        open.retain(|one| one.strong_count() > 0);
        open.push(Arc::downgrade(&listener));
        listener
    }

    pub(crate) fn end_streams(&self, of: impl Fn(&str) -> bool) {
        for listener in self.open.lock().iter().filter_map(Weak::upgrade) {
            if of(&listener.identity) {
                listener.over.cancel();
            }
        }
    }
}
