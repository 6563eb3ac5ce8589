//! Servers that are known by the sites they belong to, as a service.

use tonic::{Request, Response, Status};

use crate::generated::v1::mcp_registry_service_server::McpRegistryService;
use crate::generated::v1::{
    GetKnownServersRequest, GetKnownServersResponse, McpKnownServerInfo, McpServerRegistration,
};
use crate::grpc_service::GrpcService;

/// A server that somebody might want, and the sites that it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default)]
pub struct SuggestedServer {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The address of a picture.
    pub icon: String,
    /// Where it is.
    pub endpoint: String,
    /// Whether it is to be shown first.
    pub featured: bool,
    /// The sites.
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
