//! The handle on the service: a host, its callers, calls under way and known servers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_host::Host;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};

use crate::access::{AuthorizedCaller, GrpcAccess};
use crate::concurrency::{ConcurrencyLimits, ConcurrencySlot};
use crate::generated::v1::mcp_registry_service_server::McpRegistryService;
use crate::generated::v1::{
    GetKnownServersRequest, GetKnownServersResponse, McpKnownServerInfo, McpServerRegistration,
};
use crate::hub::EventHub;

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

/// A server that somebody might want, and the sites that it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct SuggestedServer {
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The address of a picture.
    pub icon: String,
    pub endpoint: String,
    /// Whether it is to be shown first.
    pub featured: bool,
    pub domains: Vec<String>,
}

#[tonic::async_trait]
impl McpRegistryService for GrpcService {
    async fn get_known_servers(
        &self,
        request: Request<GetKnownServersRequest>,
    ) -> Result<Response<GetKnownServersResponse>, Status> {
        self.authenticate(request).await?;
        let servers = self.inner.options.known.iter().map(registration).collect();
        Ok(Response::new(GetKnownServersResponse { servers }))
    }
}

fn registration(known: &SuggestedServer) -> McpServerRegistration {
    McpServerRegistration {
        domains: known.domains.clone(),
        info: Some(McpKnownServerInfo {
            name: known.name.clone(),
            description: known.description.clone(),
            icon: known.icon.clone(),
            endpoint: known.endpoint.clone(),
            is_featured: known.featured,
        }),
    }
}
