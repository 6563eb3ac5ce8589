//! Calls in the editor's own envelope: unpacked, run like all others, and packed again.

use tonic::Status;

use crate::access::AuthorizedCaller;
use crate::generated::agent::v1::mcp_result::Result as Ended;
use crate::generated::agent::v1::read_mcp_resource_exec_result::Result as Read;
use crate::generated::agent::v1::read_mcp_resource_success::Content;
use crate::generated::agent::v1::{McpResult, ReadMcpResourceExecArgs, ReadMcpResourceSuccess};
use crate::generated::v1::call_tool_request::Call;
use crate::generated::v1::call_tool_response::Form;
use crate::generated::v1::client_side_tool_v2_call::Params;
use crate::generated::v1::client_side_tool_v2_result::Result as Packed;
use crate::generated::v1::list_mcp_resources_result::McpResource;
use crate::generated::v1::read_mcp_resource_result::Content as PackedContent;
use crate::generated::v1::{
    ClientSideToolV2 as Tool, ClientSideToolV2Call, ClientSideToolV2Result, ListMcpResourcesParams,
    ListMcpResourcesResult, ReadMcpResourceParams, ReadMcpResourceResult, ToolResultError,
};
use crate::grpc_service::GrpcService;
use crate::tools::ToolCallOptions;

impl GrpcService {
    /// Runs a call of an editor's model.
    pub(crate) async fn run_enveloped(
        &self,
        visitor: &AuthorizedCaller,
        call: ClientSideToolV2Call,
    ) -> Result<ClientSideToolV2Result, Status> {
        let tool = call.tool;
        let tool_call_id = call.tool_call_id.clone();
        if call.is_streaming {
            return Err(Status::invalid_argument(
                "streamed calls are not supported: send the call as a whole",
            ));
        }
        let params = call.params.ok_or_else(|| {
            Status::unimplemented("only tools and resources of MCP servers are supported")
        })?;
        // If the two differ, it is unknown which of them the model meant.
        let said = envelope_tool(&params);
        if tool != i32::from(Tool::Unspecified) && tool != i32::from(said) {
            return Err(Status::invalid_argument("`tool` does not match `params`"));
        }
        let around = ToolCallOptions {
            tool_call_id: tool_call_id.clone(),
            timeout_ms: call.timeout_ms,
            ..ToolCallOptions::default()
        };
        let packed = match params {
            Params::McpParams(params) => {
                self.enveloped_tool(visitor, Call::Legacy(params), around).await?
            }
            Params::CallMcpToolParams(params) => {
                self.enveloped_tool(visitor, Call::Direct(params), around).await?
            }
            Params::ListMcpResourcesParams(ListMcpResourcesParams { server }) => {
                let resources = self.resources(visitor, server.as_deref());
                // The two packages have their own types with the same fields.
                let resources = resources.into_iter().map(|one| McpResource {
                    uri: one.uri,
                    name: one.name,
                    description: one.description,
                    mime_type: one.mime_type,
                    server: one.server,
                    annotations: one.annotations,
                });
                let resources = resources.collect();
                Ok(Packed::ListMcpResourcesResult(ListMcpResourcesResult { resources }))
            }
            Params::ReadMcpResourceParams(ReadMcpResourceParams { server, uri, download_path }) => {
                let args = ReadMcpResourceExecArgs { server, uri, download_path, tool_call_id };
                pack_read(self.read(visitor, args).await?)
            }
        };
        let (result, error) = match packed {
            Ok(result) => (Some(result), None),
            Err(message) => {
                let error = ToolResultError {
                    client_visible_error_message: message.clone(),
                    model_visible_error_message: message,
                };
                (None, Some(error))
            }
        };
        let tool_call_id = call.tool_call_id;
        Ok(ClientSideToolV2Result { tool: said.into(), error, tool_call_id, result })
    }

    async fn enveloped_tool(
        &self,
        visitor: &AuthorizedCaller,
        call: Call,
        around: ToolCallOptions,
    ) -> Result<Result<Packed, String>, Status> {
        let response = self.call_tool_with(visitor, call, around).await?;
        Ok(match response.form {
            Some(Form::Direct(result)) => Ok(Packed::CallMcpToolResult(result)),
            Some(Form::Legacy(result)) => Ok(Packed::McpResult(result)),
            None => Err(failure_text(response.result)),
        })
    }
}

const fn envelope_tool(params: &Params) -> Tool {
    match params {
        Params::McpParams(_) => Tool::Mcp,
        Params::ListMcpResourcesParams(_) => Tool::ListMcpResources,
        Params::ReadMcpResourceParams(_) => Tool::ReadMcpResource,
        Params::CallMcpToolParams(_) => Tool::CallMcpTool,
    }
}

fn failure_text(result: Option<McpResult>) -> String {
    match result.and_then(|result| result.result) {
        Some(Ended::Error(error)) => error.error,
        Some(Ended::Rejected(rejected)) => {
            format!("User rejected the tool call: {}", rejected.reason)
        }
        Some(Ended::PermissionDenied(denied)) => denied.error,
        Some(Ended::Success(_)) | None => "the call has no result".to_owned(),
    }
}

fn pack_read(read: Read) -> Result<Packed, String> {
    let success = match read {
        Read::Success(success) => success,
        Read::Error(error) => return Err(error.error),
        Read::Rejected(rejected) => return Err(rejected.reason),
        Read::NotFound(missing) => return Err(format!("unknown resource `{}`", missing.uri)),
    };
    let ReadMcpResourceSuccess { uri, name, description, mime_type, content, .. } = success;
    let content = match (content, &success.output_location) {
        (Some(Content::Text(text)), _) => Some(PackedContent::Text(text)),
        (Some(Content::Blob(bytes)), _) => Some(PackedContent::Blob(bytes)),
        // This form has no field for the location of long text.
        (None, Some(location)) => Some(PackedContent::Text(crate::outputs::file_notice(location))),
        (None, None) => None,
    };
    Ok(Packed::ReadMcpResourceResult(ReadMcpResourceResult {
        uri,
        name,
        description,
        mime_type,
        content,
        annotations: success.annotations,
        download_path: success.download_path,
    }))
}
