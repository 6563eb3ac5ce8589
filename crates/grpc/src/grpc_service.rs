//! The handle on the service: a host, its callers and the calls in flight.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_host::Host;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::{Request, Response, Status};

use crate::access::{AuthorizedCaller, GrpcAccess};
use crate::concurrency::{ConcurrencyLimits, ConcurrencySlot};
use crate::generated::v1::mcp_registry_service_server::McpRegistryService;
use crate::generated::v1::{
    GetKnownServersRequest, GetKnownServersResponse, McpKnownServerInfo, McpServerRegistration,
};
use crate::hub::EventHub;

/// Settings of a [`GrpcService`].
#[derive(Clone)]
pub struct GrpcOptions {
    pub door: GrpcAccess,
    /// The folder for output that is too long for a message.
    pub outputs: PathBuf,
    /// The folder of the tool index, if there is one.
    pub index: Option<PathBuf>,
    /// Folders that downloads may not write to, such as the host's own.
    pub protected: Vec<PathBuf>,
    /// The file that servers are added to.
    pub config: Option<PathBuf>,
    /// Suggested servers, with the sites they are for.
    pub known: Vec<SuggestedServer>,
    /// Maximum requests in flight per caller.
    pub in_flight: usize,
    pub message_limit_bytes: usize,
    /// How long calls in flight may take to finish after a stop was requested.
    pub drain: Duration,
}

/// A host as a gRPC service. Clones are handles on the same service.
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
    /// Creates a service for `host`.
    #[must_use]
    pub fn new(host: Host, options: GrpcOptions) -> Self {
        // At the start, so that files of a process that was killed are removed as well.
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

    pub(crate) async fn authenticate<T>(
        &self,
        request: Request<T>,
    ) -> Result<(AuthorizedCaller, T), Status> {
        // Connections that were accepted before the stop can still deliver requests.
        if self.inner.stop.is_cancelled() {
            return Err(Status::unavailable("the service is shutting down"));
        }
        let (metadata, _, message) = request.into_parts();
        Ok((self.inner.options.door.authenticate(&metadata).await?, message))
    }

    pub(crate) fn reserve_slot(
        &self,
        visitor: &AuthorizedCaller,
    ) -> Result<ConcurrencySlot, Status> {
        let limit = self.inner.options.in_flight;
        self.inner.callers.enter(&visitor.identity, limit).ok_or_else(|| {
            let why = format!("too many requests in flight: the limit is {limit} per caller");
            Status::resource_exhausted(why)
        })
    }

    pub(crate) fn host(&self) -> &Host {
        &self.inner.host
    }
}

/// A suggested server and the sites it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct SuggestedServer {
    pub name: String,
    pub description: String,
    /// The URL of an image.
    pub icon: String,
    pub endpoint: String,
    /// Whether it is shown first.
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
