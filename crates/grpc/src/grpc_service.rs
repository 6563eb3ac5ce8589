//! The handle on the service: a host, who may come in, and what is under way.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_host::Host;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::metadata::MetadataMap;
use tonic::{Request, Status};

use crate::access::{AuthorizedCaller, GrpcAccess};
use crate::concurrency::{ConcurrencyLimits, ConcurrencySlot};
use crate::hub::EventHub;
use crate::suggestions::SuggestedServer;

/// How the service is set up.
#[derive(Clone)]
pub struct GrpcOptions {
    /// How somebody gets in.
    pub door: GrpcAccess,
    /// The folder for output that is too long to be passed on.
    pub outputs: PathBuf,
    /// The folder of the tool index, if there is one.
    pub index: Option<PathBuf>,
    /// Folders that no download may write to: our own.
    pub protected: Vec<PathBuf>,
    /// The file that servers are added to.
    pub config: Option<PathBuf>,
    /// Servers by the sites they belong to.
    pub known: Vec<SuggestedServer>,
    /// How much one visitor may have under way at once.
    pub in_flight: usize,
    /// The largest message that is read, in bytes.
    pub message_limit_bytes: usize,
    /// How long calls may go on after we were asked to end.
    pub drain: Duration,
}

/// A host as a gRPC service. Clones are handles on the same one.
#[derive(Clone)]
pub struct GrpcService {
    pub(crate) inner: Arc<GrpcServiceState>,
}

pub(crate) struct GrpcServiceState {
    pub(crate) host: Host,
    pub(crate) options: GrpcOptions,
    pub(crate) hub: Arc<EventHub>,
    pub(crate) callers: Arc<ConcurrencyLimits>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl GrpcService {
    /// Serves `host`.
    #[must_use]
    pub fn new(host: Host, options: GrpcOptions) -> Self {
        crate::outputs::remove_expired(&options.outputs);
        let inner = GrpcServiceState {
            host,
            options,
            hub: Arc::default(),
            callers: Arc::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Who sent a request, if they are let in, and the request itself.
    pub(crate) async fn authenticate<T>(
        &self,
        request: Request<T>,
    ) -> Result<(AuthorizedCaller, T), Status> {
        let (metadata, _, message) = request.into_parts();
        Ok((self.caller(&metadata).await?, message))
    }

    async fn caller(&self, metadata: &MetadataMap) -> Result<AuthorizedCaller, Status> {
        if self.inner.stop.is_cancelled() {
            return Err(Status::unavailable("this switchboard is about to end"));
        }
        self.inner.options.door.authenticate(metadata).await
    }

    /// Counts something of a visitor, if it may have one more.
    pub(crate) fn reserve_slot(
        &self,
        visitor: &AuthorizedCaller,
    ) -> Result<ConcurrencySlot, Status> {
        let limit = self.inner.options.in_flight;
        self.inner.callers.enter(&visitor.identity, limit).ok_or_else(|| {
            Status::resource_exhausted(format!("{limit} requests are under way already"))
        })
    }

    pub(crate) fn host(&self) -> &Host {
        &self.inner.host
    }
}
