//! Request handlers of the service; each delegates to the function that answers the request.

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

/// Implements the service: each request is authenticated and answered by one expression.
macro_rules! host_service {
    ($($method:ident: |$service:ident, $caller:ident, $request:ident: $args:ty| -> $response:ty $body:block)+) => {
        #[tonic::async_trait]
        impl HostService for GrpcService {
            type StreamEventsStream = EventStream;

            $(async fn $method(&self, request: Request<$args>) -> Result<Response<$response>, Status> {
                let $service = self;
                let ($caller, $request) = self.authenticate(request).await?;
                let response: Result<$response, Status> = $body;
                response.map(Response::new)
            })+
        }
    };
}

host_service! {
    call_tool: |service, caller, request: CallToolRequest| -> CallToolResponse {
        service.call_tool(&caller, request).await
    }
    run_client_side_tool: |service, caller, request: ClientSideToolV2Call| -> ClientSideToolV2Result {
        service.run_enveloped(&caller, request).await
    }
    list_resources: |service, caller, args: ListMcpResourcesExecArgs| -> ListMcpResourcesExecResult {
        let result = Some(service.list(&caller, args.server.as_deref()));
        Ok(ListMcpResourcesExecResult { result })
    }
    read_resource: |service, caller, args: ReadMcpResourceExecArgs| -> ReadMcpResourceExecResult {
        let result = Some(service.read(&caller, args).await?);
        Ok(ReadMcpResourceExecResult { result })
    }
    get_prompt: |service, caller, request: GetPromptRequest| -> GetPromptResponse {
        service.prompt(&caller, request).await
    }
    list_servers: |service, caller, _request: ListServersRequest| -> ListServersResponse {
        Ok(ListServersResponse { servers: service.servers(&caller) })
    }
    list_offerings: |service, caller, request: ListOfferingsRequest| -> ListOfferingsResponse {
        let servers = service.offerings(&caller, request.server_identifier.as_deref());
        Ok(ListOfferingsResponse { servers })
    }
    list_tools_raw: |service, caller, request: ListToolsRawRequest| -> ListToolsRawResponse {
        let tools_json = service.raw_tools(&caller, &request.server_identifier)?;
        Ok(ListToolsRawResponse { tools_json })
    }
    get_tools: |service, caller, request: GetToolsRequest| -> McpTools {
        Ok(McpTools { mcp_tools: service.tools(&caller, &request.mcp_descriptors) })
    }
    get_descriptors: |service, caller, _request: GetDescriptorsRequest| -> GetDescriptorsResponse {
        Ok(GetDescriptorsResponse { mcp_descriptors: service.descriptors(&caller) })
    }
    get_instructions: |service, caller, request: GetInstructionsRequest| -> GetInstructionsResponse {
        let instructions = service.instructions(&caller, request.server_identifier.as_deref());
        Ok(GetInstructionsResponse { instructions })
    }
    get_controls: |service, caller, _request: GetControlsRequest| -> GetControlsResponse {
        Ok(service.controls(&caller))
    }
    create_client: |service, caller, request: CreateClientRequest| -> CreateClientResponse {
        service.create(&caller, request).await
    }
    delete_client: |service, caller, request: DeleteClientRequest| -> DeleteClientResponse {
        service.delete(&caller, &request.server_identifier).await?;
        Ok(DeleteClientResponse {})
    }
    reload_client: |service, caller, request: ReloadClientRequest| -> ReloadClientResponse {
        service.reload(&caller, &request.server_identifier).await
    }
    logout_server: |service, caller, request: LogoutServerRequest| -> LogoutServerResponse {
        let ended = service.logout(&caller, Some(&request.server_identifier)).await?;
        Ok(LogoutServerResponse { ended })
    }
    clear_all_tokens: |service, caller, _request: ClearAllTokensRequest| -> ClearAllTokensResponse {
        Ok(ClearAllTokensResponse { ended: service.logout(&caller, None).await? })
    }
    stream_events: |service, caller, _request: StreamEventsRequest| -> EventStream {
        service.stream(caller)
    }
    answer_review: |service, caller, request: AnswerReviewRequest| -> AnswerReviewResponse {
        service.answer_review(&caller, request).await?;
        Ok(AnswerReviewResponse {})
    }
    answer_elicitation: |service, caller, request: AnswerElicitationRequest| -> AnswerElicitationResponse {
        service.answer_elicitation(&caller, request).await?;
        Ok(AnswerElicitationResponse {})
    }
}
