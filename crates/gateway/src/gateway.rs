//! The handle on the gateway: a host, and what clients are shown of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use foldhash::HashMap;
use switchboard_catalog::Lease;
use switchboard_host::Host;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::limits::{CallerLimits, Callers, Full, Pass};
use crate::listeners::Listeners;
use crate::listing::Listing;
use crate::named::Collision;
use crate::naming::{NameMode, Naming};
use crate::notices::Notices;
use crate::owners::Owners;
use crate::parked::Parked;
use crate::session::{Sessions, locked};
use crate::tasks::Tasks;
use crate::used::Used;
use crate::view::View;

/// Lists of views are kept as long as there are no more names in all of them together.
const KEPT_NAMES: usize = 500_000;
/// How often is looked for what nobody needs any more.
const SWEEP: Duration = Duration::from_secs(30);
/// How long the first clients wait for servers that start: less than they have patience.
const FIRST_LIST: Duration = Duration::from_secs(10);

/// How clients are served.
#[derive(Clone, Debug)]
pub struct Options {
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
    /// All of them.
    All,
    /// Three that find, describe and call all others.
    Search,
}

impl Default for Options {
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
    inner: Arc<Inner>,
}

struct Inner {
    host: Host,
    options: Options,
    listings: Mutex<Listings>,
    callers: Callers,
    sessions: Sessions,
    parked: Parked,
    tasks: Tasks,
    notices: Notices,
    listeners: Listeners,
    used: Used,
    collided: watch::Sender<Vec<Collision>>,
    stop: CancellationToken,
    /// Is cancelled when nothing is waited for any more.
    over: CancellationToken,
    /// Is cancelled once the servers have had their time to start.
    ready: CancellationToken,
}

/// What the views show of one edition of the catalog.
#[derive(Default)]
struct Listings {
    edition: u64,
    by_view: HashMap<String, Arc<Listing>>,
    /// How many names there are in all of them.
    names: usize,
    /// Whose the names are that two servers use.
    owners: Owners,
}

impl Gateway {
    /// Serves `host`. Tasks of its own run until [`Gateway::stop`].
    #[must_use]
    pub fn new(host: Host, options: Options) -> Self {
        let stop = CancellationToken::new();
        let limits = options.caller;
        let inner = Inner {
            host,
            options,
            listings: Mutex::default(),
            callers: Callers::new(limits),
            sessions: Sessions::new(limits.sessions),
            parked: Parked::new(limits.waiting),
            tasks: Tasks::new(limits.waiting),
            notices: Notices::default(),
            listeners: Listeners::default(),
            used: Used::default(),
            collided: watch::Sender::default(),
            stop,
            over: CancellationToken::new(),
            ready: CancellationToken::new(),
        };
        let gateway = Self { inner: Arc::new(inner) };
        tokio::spawn(gateway.clone().watch());
        tokio::spawn(gateway.clone().sweep());
        tokio::spawn(gateway.clone().settle());
        gateway
    }

    /// Ends everything but what only the host can end, which comes next: then the record says of
    /// calls that are still at their servers what is known about them.
    pub fn stop(&self) {
        self.end_streams();
        self.inner.over.cancel();
    }

    /// Ends what would never end by itself, such as calls whose client cannot come back; others
    /// go on.
    pub fn end_streams(&self) {
        // Clients come back to whoever is started next, and so do their questions.
        self.inner.host.waiting().leave_open();
        self.inner.stop.cancel();
        self.inner.parked.give_up(|_| true);
        for session in self.inner.sessions.all() {
            session.end_stream();
        }
    }

    /// Is cancelled when the gateway stops.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.inner.stop
    }

    /// Is cancelled when nothing is waited for any more.
    pub(crate) fn over(&self) -> &CancellationToken {
        &self.inner.over
    }

    /// The host behind it.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.inner.host
    }

    /// Names that two servers use, when names are plain.
    #[must_use]
    pub fn collisions(&self) -> Vec<Collision> {
        self.listing(&Arc::default()).collisions().to_vec()
    }

    /// The same as servers come and change.
    #[must_use]
    pub fn left_out(&self) -> watch::Receiver<Vec<Collision>> {
        self.inner.collided.subscribe()
    }

    /// Looks again for names that two servers use.
    pub(crate) fn look_for_collisions(&self, lease: &Lease) {
        let mode = self.inner.options.names;
        let mut servers = lease.catalog().servers().iter();
        // Where all are named after themselves there are none, and nothing to be listed for it.
        let may_meet = servers.any(|server| Naming::of(server, mode) != Naming::Server);
        let found = if may_meet { self.collisions() } else { Vec::new() };
        self.inner.collided.send_if_modified(|known| {
            let is_other = *known != found;
            *known = found;
            is_other
        });
    }

    /// Whether any request is worked on.
    pub(crate) fn is_busy(&self) -> bool {
        !self.inner.callers.busy().is_empty()
    }

    /// Counts a request of a caller, if it may have one more.
    pub(crate) fn enter(&self, identity: &Arc<str>) -> Result<Pass, Full> {
        if self.inner.stop.is_cancelled() {
            return Err(Full::Ending);
        }
        self.inner.callers.enter(identity)
    }

    /// Ends what belongs to callers who may no longer call.
    pub(crate) fn dismiss(&self, holds: impl Fn(&str) -> bool) {
        for identity in self.inner.callers.busy().iter().filter(|identity| !holds(identity)) {
            self.inner.callers.dismiss(identity);
        }
        self.inner.sessions.close_all(|identity| !holds(identity));
        self.inner.parked.give_up(|identity| !holds(identity));
        self.inner.tasks.give_up(|identity| !holds(identity));
    }

    /// Ends the streams of callers whose proof has run out. Their calls go on, and who renews its
    /// proof finds its sessions and tasks again.
    pub(crate) fn hang_up(&self, is_current: impl Fn(&str) -> bool) {
        self.inner.sessions.hang_up(|identity| !is_current(identity));
        self.inner.listeners.hang_up(|identity| !is_current(identity));
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.inner.sessions
    }

    pub(crate) fn parked(&self) -> &Parked {
        &self.inner.parked
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        &self.inner.tasks
    }

    pub(crate) fn notices(&self) -> &Notices {
        &self.inner.notices
    }

    pub(crate) fn listeners(&self) -> &Listeners {
        &self.inner.listeners
    }

    /// The tools that each caller calls most.
    pub(crate) fn used(&self) -> &Used {
        &self.inner.used
    }

    /// What a view shows of the catalog of this moment.
    pub(crate) fn listing(&self, view: &Arc<View>) -> Arc<Listing> {
        let edition = self.inner.host.fleet().load().edition;
        let key = view.key();
        let mut listings = locked(&self.inner.listings);
        // Most requests come to a catalog that has not changed: they need no lease of their own.
        if listings.edition == edition
            && let Some(listing) = listings.by_view.get(&key)
        {
            return Arc::clone(listing);
        }
        let lease = self.inner.host.lease();
        let edition = lease.fleet().edition;
        let mode = self.inner.options.names;
        if listings.edition != edition || listings.names > KEPT_NAMES {
            // Before the first list is given out, who comes up sooner gets no name by that.
            let known = Some(&listings.owners).filter(|_| self.inner.ready.is_cancelled());
            let owners = known.unwrap_or(&Owners::default()).after(&lease, mode);
            *listings = Listings { edition, owners, ..Listings::default() };
        }
        let listing = Arc::new(Listing::of(lease, view, (mode, &listings.owners)));
        listings.names += listing.size();
        listings.by_view.insert(key, Arc::clone(&listing));
        listing
    }

    /// Waits until the servers have had their time to start: many clients list only once.
    pub(crate) async fn ready(&self) {
        self.inner.ready.cancelled().await;
    }

    async fn settle(self) {
        tokio::time::timeout(FIRST_LIST, self.inner.host.settled(None)).await.ok();
        self.inner.ready.cancel();
    }

    async fn sweep(self) {
        while self.inner.stop.run_until_cancelled(tokio::time::sleep(SWEEP)).await.is_some() {
            self.inner.callers.sweep();
            self.inner.sessions.sweep();
            self.inner.parked.sweep();
            self.inner.tasks.sweep();
        }
    }
}
