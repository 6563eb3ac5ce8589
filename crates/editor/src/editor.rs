//! The handle on the service: a host, who may come in, and what is under way.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_host::Host;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::metadata::MetadataMap;
use tonic::{Request, Status};

use crate::callers::{Callers, Pass};
use crate::door::{Door, Visitor};
use crate::hub::Hub;
use crate::known::KnownServer;

/// How the service is set up.
#[derive(Clone)]
pub struct Options {
    /// How somebody gets in.
    pub door: Door,
    /// The folder for output that is too long to be passed on.
    pub outputs: PathBuf,
    /// The folder of the tool index, if there is one.
    pub index: Option<PathBuf>,
    /// Folders that no download may write to: our own.
    pub protected: Vec<PathBuf>,
    /// The file that servers are added to.
    pub config: Option<PathBuf>,
    /// Servers by the sites they belong to.
    pub known: Vec<KnownServer>,
    /// How much one visitor may have under way at once.
    pub in_flight: usize,
    /// The largest message that is read, in bytes.
    pub message_limit_bytes: usize,
    /// How long calls may go on after we were asked to end.
    pub drain: Duration,
}

/// A host as a gRPC service. Clones are handles on the same one.
#[derive(Clone)]
pub struct Editor {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) host: Host,
    pub(crate) options: Options,
    pub(crate) hub: Arc<Hub>,
    pub(crate) callers: Arc<Callers>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl Editor {
    /// Serves `host`.
    #[must_use]
    pub fn new(host: Host, options: Options) -> Self {
        crate::outputs::clear_old(&options.outputs);
        let inner = Inner {
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
    pub(crate) async fn admit<T>(&self, request: Request<T>) -> Result<(Visitor, T), Status> {
        let (metadata, _, message) = request.into_parts();
        Ok((self.visitor(&metadata).await?, message))
    }

    async fn visitor(&self, metadata: &MetadataMap) -> Result<Visitor, Status> {
        if self.inner.stop.is_cancelled() {
            return Err(Status::unavailable("this switchboard is about to end"));
        }
        self.inner.options.door.admit(metadata).await
    }

    /// Counts something of a visitor, if it may have one more.
    pub(crate) fn enter(&self, visitor: &Visitor) -> Result<Pass, Status> {
        let limit = self.inner.options.in_flight;
        self.inner.callers.enter(&visitor.identity, limit).ok_or_else(|| {
            Status::resource_exhausted(format!("{limit} requests are under way already"))
        })
    }

    pub(crate) fn host(&self) -> &Host {
        &self.inner.host
    }
}
