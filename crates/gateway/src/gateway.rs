//! The handle on the gateway: a host, and what clients are shown of it.

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

/// Lists of views are kept as long as there are no more names in all of them together.
const MAX_CACHED_NAMES: usize = 500_000;
/// How often is looked for what nobody needs any more.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// How long the first clients wait for servers that start: less than they have patience.
const FIRST_LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// How clients are served.
#[derive(Clone, Debug)]
pub struct GatewayOptions {
    /// How tools and prompts are named.
    pub names: NameMode,
    /// Which tools are listed.
    pub tools: ToolMode,
    /// The largest message that is read, in bytes.
    pub body_limit_bytes: usize,
    /// How long a client may take to send its headers or a message, or to take something of an answer.
    pub read_limit: Duration,
    /// How long calls may go on after we were asked to end.
    pub drain: Duration,
    /// How much one caller may do at once.
    pub caller: CallerLimits,
}

/// Which tools are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolMode {
    /// All, as long as they are not too many; else three that find, describe and call the others.
    #[default]
    Auto,
    All,
    /// Three that find, describe and call all others.
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

/// A host as an MCP server. Clones are handles on the same one.
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
    /// The tools that each caller calls most.
    pub(crate) tool_usage: ToolUsage,
    collisions: watch::Sender<Vec<Collision>>,
    /// Is cancelled when the gateway stops.
    pub(crate) stop: CancellationToken,
    /// Is cancelled when nothing is waited for any more.
    pub(crate) abort: CancellationToken,
    /// Is cancelled once the servers have had their time to start.
    ready: CancellationToken,
}

/// What the views show of one edition of the catalog.
#[derive(Default)]
struct ViewCache {
    edition: u64,
    by_view: HashMap<String, Arc<CatalogView>>,
    /// How many names there are in all of them.
    names: usize,
    /// Whose the names are that two servers use.
    owners: NameOwners,
}

impl Gateway {
    /// Serves `host`. Tasks of its own run until [`Gateway::stop`].
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
        tokio::spawn(gateway.clone().forward_host_events());
        tokio::spawn(gateway.clone().sweep());
        tokio::spawn(gateway.clone().signal_ready());
        gateway
    }

    /// Ends everything but what only the host can end, which comes next: then the record says of
    /// calls that are still at their servers what is known about them.
    pub fn stop(&self) {
        self.end_streams();
        self.inner.abort.cancel();
    }

    /// Ends what would never end by itself, such as calls whose client cannot come back; others
    /// go on.
    pub fn end_streams(&self) {
        // Clients come back to whoever is started next, and so do their questions.
        self.inner.host.reviews().begin_shutdown();
        self.inner.stop.cancel();
        self.inner.parked_calls.cancel_where(|_| true);
        for session in self.inner.sessions.all() {
            session.end_stream();
        }
    }

    /// The host behind it.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.inner.host
    }

    /// Names that two servers use, when names are plain.
    #[must_use]
    pub fn collisions(&self) -> Vec<Collision> {
        self.catalog_view(&Arc::default()).collisions().to_vec()
    }

    /// The same as servers come and change.
    #[must_use]
    pub fn collision_changes(&self) -> watch::Receiver<Vec<Collision>> {
        self.inner.collisions.subscribe()
    }

    /// Looks again for names that two servers use.
    pub(crate) fn update_collisions(&self, lease: &Lease) {
        let mode = self.inner.options.names;
        let mut servers = lease.catalog().servers().iter();
        // Where all are named after themselves there are none, and nothing to be listed for it.
        let may_meet =
            servers.any(|server| NamingScheme::for_server(server, mode) != NamingScheme::Server);
        let found = if may_meet { self.collisions() } else { Vec::new() };
        self.inner.collisions.send_if_modified(|known| {
            let is_other = *known != found;
            *known = found;
            is_other
        });
    }

    /// Whether any request is worked on.
    pub(crate) fn is_busy(&self) -> bool {
        !self.inner.callers.active_callers().is_empty()
    }

    /// Counts a request of a caller, if it may have one more.
    pub(crate) fn admit_request(
        &self,
        identity: &Arc<str>,
    ) -> Result<RequestPermit, AdmissionError> {
        if self.inner.stop.is_cancelled() {
            return Err(AdmissionError::ShuttingDown);
        }
        self.inner.callers.admit(identity)
    }

    /// Ends what belongs to callers who may no longer call.
    pub(crate) fn end_revoked_callers(&self, holds: impl Fn(&str) -> bool) {
        for identity in
            self.inner.callers.active_callers().iter().filter(|identity| !holds(identity))
        {
            self.inner.callers.revoke(identity);
        }
        self.inner.sessions.close_where(|identity| !holds(identity));
        self.inner.parked_calls.cancel_where(|identity| !holds(identity));
        self.inner.tasks.cancel_where(|identity| !holds(identity));
    }

    /// Ends the streams of callers whose proof has run out. Their calls go on, and who renews its
    /// proof finds its sessions and tasks again.
    pub(crate) fn end_expired_streams(&self, is_current: impl Fn(&str) -> bool) {
        self.inner.sessions.end_streams(|identity| !is_current(identity));
        self.inner.listeners.end_streams(|identity| !is_current(identity));
    }

    /// What a view shows of the catalog of this moment.
    pub(crate) fn catalog_view(&self, view: &Arc<View>) -> Arc<CatalogView> {
        let edition = self.inner.host.fleet().load().edition;
        let key = view.key();
        let mut listings = self.inner.views.lock();
        // Most requests come to a catalog that has not changed: they need no lease of their own.
        if listings.edition == edition
            && let Some(listing) = listings.by_view.get(&key)
        {
            return Arc::clone(listing);
        }
        let lease = self.inner.host.lease();
        let edition = lease.fleet().edition;
        let mode = self.inner.options.names;
        if listings.edition != edition || listings.names > MAX_CACHED_NAMES {
            // Before the first list is given out, who comes up sooner gets no name by that.
            let known = Some(&listings.owners).filter(|_| self.inner.ready.is_cancelled());
            let owners = known.unwrap_or(&NameOwners::default()).for_catalog(&lease, mode);
            *listings = ViewCache { edition, owners, ..ViewCache::default() };
        }
        let listing = Arc::new(CatalogView::new(lease, view, mode, &listings.owners));
        listings.names += listing.size();
        listings.by_view.insert(key, Arc::clone(&listing));
        listing
    }

    /// Waits until the servers have had their time to start: many clients list only once.
    pub(crate) async fn wait_until_ready(&self) {
        self.inner.ready.cancelled().await;
    }

    async fn signal_ready(self) {
        // A server that needs longer is listed when it is ready.
        _ = tokio::time::timeout(FIRST_LIST_TIMEOUT, self.inner.host.wait_settled(None)).await;
        self.inner.ready.cancel();
    }

    async fn sweep(self) {
        while self
            .inner
            .stop
            .run_until_cancelled(tokio::time::sleep(SWEEP_INTERVAL))
            .await
            .is_some()
        {
            self.inner.callers.sweep();
            self.inner.sessions.sweep();
            self.inner.parked_calls.sweep();
            self.inner.tasks.sweep();
        }
    }
}

#[derive(Default)]
pub(crate) struct NoticeListeners {
    open: Mutex<Vec<Weak<NoticeListener>>>,
}

/// One who listens, as long as this is there.
pub(crate) struct NoticeListener {
    identity: Arc<str>,
    /// Is cancelled when there is no more to listen to.
    pub(crate) over: CancellationToken,
}

impl NoticeListeners {
    /// Notes that a caller listens.
    pub(crate) fn add(&self, identity: &Arc<str>) -> Arc<NoticeListener> {
        let over = CancellationToken::new();
        let listener = Arc::new(NoticeListener { identity: Arc::clone(identity), over });
        let mut open = self.open.lock();
        open.retain(|one| one.strong_count() > 0);
        open.push(Arc::downgrade(&listener));
        listener
    }

    /// Ends those of some callers.
    pub(crate) fn end_streams(&self, of: impl Fn(&str) -> bool) {
        for listener in self.open.lock().iter().filter_map(Weak::upgrade) {
            if of(&listener.identity) {
                listener.over.cancel();
            }
        }
    }
}
