//! The requests of the service, each handed to whoever does it.

use tonic::{Request, Response, Status};

use crate::events::EventStream;
use crate::generated::agent::v1::{
    ListMcpResourcesExecArgs, ListMcpResourcesExecResult, McpTools, ReadMcpResourceExecArgs,
    ReadMcpResourceExecResult,
};
use crate::generated::v1::host_service_server::HostService;
use crate::generated::v1::{
    AnswerElicitationRequest, AnswerElicitationResponse, AnswerReviewRequest, AnswerReviewResponse,
    CallToolRequest, CallToolResponse, ClearAllTokensRequest, ClearAllTokensResponse,
    ClientSideToolV2Call, ClientSideToolV2Result, CreateClientRequest, CreateClientResponse,
    DeleteClientRequest, DeleteClientResponse, GetControlsRequest, GetControlsResponse,
    GetDescriptorsRequest, GetDescriptorsResponse, GetInstructionsRequest, GetInstructionsResponse,
    GetPromptRequest, GetPromptResponse, GetToolsRequest, ListOfferingsRequest,
    ListOfferingsResponse, ListServersRequest, ListServersResponse, ListToolsRawRequest,
    ListToolsRawResponse, LogoutServerRequest, LogoutServerResponse, ReloadClientRequest,
    ReloadClientResponse, StreamEventsRequest,
};
use crate::grpc_service::GrpcService;

/// What a request is answered with.
type RpcResult<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl HostService for GrpcService {
    type StreamEventsStream = EventStream;

    async fn call_tool(&self, request: Request<CallToolRequest>) -> RpcResult<CallToolResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        self.call_tool(&visitor, request).await.map(Response::new)
    }

    async fn run_client_side_tool(
        &self,
        request: Request<ClientSideToolV2Call>,
    ) -> RpcResult<ClientSideToolV2Result> {
        let (visitor, request) = self.authenticate(request).await?;
        self.run_enveloped(&visitor, request).await.map(Response::new)
    }

    async fn list_resources(
        &self,
        request: Request<ListMcpResourcesExecArgs>,
    ) -> RpcResult<ListMcpResourcesExecResult> {
        let (visitor, args) = self.authenticate(request).await?;
        let result = Some(self.list(&visitor, args.server.as_deref()));
        Ok(Response::new(ListMcpResourcesExecResult { result }))
    }

    async fn read_resource(
        &self,
        request: Request<ReadMcpResourceExecArgs>,
    ) -> RpcResult<ReadMcpResourceExecResult> {
        let (visitor, args) = self.authenticate(request).await?;
        let result = Some(self.read(&visitor, args).await?);
        Ok(Response::new(ReadMcpResourceExecResult { result }))
    }

    async fn get_prompt(&self, request: Request<GetPromptRequest>) -> RpcResult<GetPromptResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        self.prompt(&visitor, request).await.map(Response::new)
    }

    async fn list_servers(
        &self,
        request: Request<ListServersRequest>,
    ) -> RpcResult<ListServersResponse> {
        let (visitor, _) = self.authenticate(request).await?;
        Ok(Response::new(ListServersResponse { servers: self.servers(&visitor) }))
    }

    async fn list_offerings(
        &self,
        request: Request<ListOfferingsRequest>,
    ) -> RpcResult<ListOfferingsResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        let servers = self.offerings(&visitor, request.server_identifier.as_deref());
        Ok(Response::new(ListOfferingsResponse { servers }))
    }

    async fn list_tools_raw(
        &self,
        request: Request<ListToolsRawRequest>,
    ) -> RpcResult<ListToolsRawResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        let tools_json = self.raw_tools(&visitor, &request.server_identifier)?;
        Ok(Response::new(ListToolsRawResponse { tools_json }))
    }

    async fn get_tools(&self, request: Request<GetToolsRequest>) -> RpcResult<McpTools> {
        let (visitor, request) = self.authenticate(request).await?;
        let mcp_tools = self.tools(&visitor, &request.mcp_descriptors);
        Ok(Response::new(McpTools { mcp_tools }))
    }

    async fn get_descriptors(
        &self,
        request: Request<GetDescriptorsRequest>,
    ) -> RpcResult<GetDescriptorsResponse> {
        let (visitor, _) = self.authenticate(request).await?;
        let mcp_descriptors = self.descriptors(&visitor);
        Ok(Response::new(GetDescriptorsResponse { mcp_descriptors }))
    }

    async fn get_instructions(
        &self,
        request: Request<GetInstructionsRequest>,
    ) -> RpcResult<GetInstructionsResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        let instructions = self.instructions(&visitor, request.server_identifier.as_deref());
        Ok(Response::new(GetInstructionsResponse { instructions }))
    }

    async fn get_controls(
        &self,
        request: Request<GetControlsRequest>,
    ) -> RpcResult<GetControlsResponse> {
        let (visitor, _) = self.authenticate(request).await?;
        Ok(Response::new(self.controls(&visitor)))
    }

    async fn create_client(
        &self,
        request: Request<CreateClientRequest>,
    ) -> RpcResult<CreateClientResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        self.create(&visitor, request).await.map(Response::new)
    }

    async fn delete_client(
        &self,
        request: Request<DeleteClientRequest>,
    ) -> RpcResult<DeleteClientResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        self.delete(&visitor, &request.server_identifier).await?;
        Ok(Response::new(DeleteClientResponse {}))
    }

    async fn reload_client(
        &self,
        request: Request<ReloadClientRequest>,
    ) -> RpcResult<ReloadClientResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        self.reload(&visitor, &request.server_identifier).await.map(Response::new)
    }

    async fn logout_server(
        &self,
        request: Request<LogoutServerRequest>,
    ) -> RpcResult<LogoutServerResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        let ended = self.logout(&visitor, Some(&request.server_identifier)).await?;
        Ok(Response::new(LogoutServerResponse { ended }))
    }

    async fn clear_all_tokens(
        &self,
        request: Request<ClearAllTokensRequest>,
    ) -> RpcResult<ClearAllTokensResponse> {
        let (visitor, _) = self.authenticate(request).await?;
        let ended = self.logout(&visitor, None).await?;
        Ok(Response::new(ClearAllTokensResponse { ended }))
    }

    async fn stream_events(
        &self,
        request: Request<StreamEventsRequest>,
    ) -> RpcResult<Self::StreamEventsStream> {
        let (visitor, _) = self.authenticate(request).await?;
        self.stream(visitor).map(Response::new)
    }

    async fn answer_review(
        &self,
        request: Request<AnswerReviewRequest>,
    ) -> RpcResult<AnswerReviewResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        self.answer_review(&visitor, request).await?;
        Ok(Response::new(AnswerReviewResponse {}))
    }

    async fn answer_elicitation(
        &self,
        request: Request<AnswerElicitationRequest>,
    ) -> RpcResult<AnswerElicitationResponse> {
        let (visitor, request) = self.authenticate(request).await?;
        self.answer_elicitation(&visitor, request).await?;
        Ok(Response::new(AnswerElicitationResponse {}))
    }
}
