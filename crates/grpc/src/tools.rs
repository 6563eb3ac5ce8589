//! Tool calls, in each of the forms that editors and agents use.

use std::time::Duration;

use serde_json::{Map, Value};
use switchboard_catalog::Lease;
use switchboard_core::{ProposedCall, Target, TargetKind};
use switchboard_store::Record;
use switchboard_wire::Json;
use tonic::Status;

use crate::access::AuthorizedCaller;
use crate::calls::CallRunOptions;
use crate::generated::agent::v1::mcp_result::Result as Ended;
use crate::generated::agent::v1::{McpArgs, McpError, McpResult};
use crate::generated::v1::call_tool_request::Call;
use crate::generated::v1::call_tool_response::Form;
use crate::generated::v1::{
    CallMcpToolParams, CallMcpToolResult, CallToolRequest, CallToolResponse, McpParams,
    McpResult as LegacyResult,
};
use crate::grpc_service::GrpcService;
use crate::outputs::{MAX_INLINE_BYTES, Outputs};
use crate::results::{self, ToolReply};
use crate::stream_reviewer::ElicitationTarget;
use crate::values::{from_fields, from_struct, to_struct};

/// Maximum number of tools in a call of the older form.
const MAX_CANDIDATES: usize = 10_000;

/// A call in any of the forms, which name the tool once or twice.
struct ParsedCall {
    server: String,
    names: [String; 2],
    arguments: Result<Json, String>,
    answer: ResultForm,
}

#[derive(Clone, Copy)]
enum ResultForm {
    Direct,
    Legacy,
    Plain,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ToolCallOptions {
    pub(crate) tool_call_id: String,
    pub(crate) threshold: Option<i64>,
    pub(crate) timeout_ms: Option<i64>,
    pub(crate) lease: Option<ElicitationTarget>,
}

impl GrpcService {
    pub(crate) async fn call_tool(
        &self,
        visitor: &AuthorizedCaller,
        request: CallToolRequest,
    ) -> Result<CallToolResponse, Status> {
        let CallToolRequest { call, stream_id, .. } = request;
        let call = call.ok_or_else(|| Status::invalid_argument("missing `call`"))?;
        let of_args = match &call {
            Call::Args(args) => args.tool_call_id.as_str(),
            Call::Direct(_) | Call::Legacy(_) => "",
        };
        let tool_call_id = match request.tool_call_id.as_str() {
            "" => of_args.to_owned(),
            given => given.to_owned(),
        };
        let lease = request.use_lease_elicitation.then(|| {
            let stream = self.inner.hub.find_stream(visitor, &stream_id);
            stream.map_or(ElicitationTarget::Nobody, ElicitationTarget::Stream)
        });
        let around = ToolCallOptions {
            tool_call_id,
            threshold: request.file_output_threshold_bytes,
            timeout_ms: request.timeout_ms,
            lease,
        };
        self.call_tool_with(visitor, call, around).await
    }

    pub(crate) async fn call_tool_with(
        &self,
        visitor: &AuthorizedCaller,
        call: Call,
        around: ToolCallOptions,
    ) -> Result<CallToolResponse, Status> {
        let threshold = match &call {
            Call::Legacy(legacy) => around.threshold.or(legacy.file_output_threshold_bytes),
            Call::Direct(_) | Call::Args(_) => around.threshold,
        };
        let threshold_bytes = parse_threshold(threshold)?;
        let limit = parse_timeout(around.timeout_ms)?;
        let tool_call_id = around.tool_call_id;
        let meant = ParsedCall::parse(call)?;
        let lease = self.host().lease();
        let target = find_tool(&lease, visitor, &meant.server, &meant.names);
        let (target, arguments) = match (target, meant.arguments) {
            (Ok(target), Ok(arguments)) => (target, arguments),
            // In the response and not as a status: a model can read it and call again.
            (Err(error), _) | (_, Err(error)) => return Ok(not_called(error, tool_call_id)),
        };
        let full_name = full_name(&lease, &target);
        let proposed = ProposedCall { target: target.clone(), arguments };
        let how = CallRunOptions { tool_call_id: tool_call_id.clone(), limit, lease: around.lease };
        let record = self.run(visitor, lease, proposed, how).await?;
        let told = self.tool_reply(&record, threshold_bytes).await?;
        let form = told.value.and_then(|value| match meant.answer {
            ResultForm::Plain => None,
            ResultForm::Direct => Some(Form::Direct(CallMcpToolResult {
                server: target.server.clone(),
                tool_name: target.name.clone(),
                result: value.as_object().map(to_struct),
            })),
            ResultForm::Legacy => {
                let result = value.to_string();
                Some(Form::Legacy(LegacyResult { selected_tool: full_name, result }))
            }
        });
        Ok(CallToolResponse {
            result: Some(told.result),
            form,
            tool_call_id,
            call_id: record.id.map(|id| id.to_string()).unwrap_or_default(),
            outcome: record.outcome.kind.as_str().to_owned(),
            hint: record.outcome.hint.unwrap_or_default(),
        })
    }

    async fn tool_reply(
        &self,
        record: &Record,
        threshold_bytes: usize,
    ) -> Result<ToolReply, Status> {
        let outputs = self.outputs(record, threshold_bytes);
        let outcome = record.outcome.clone();
        // On a blocking thread, because long output is written to files.
        let telling = tokio::task::spawn_blocking(move || results::tool_reply(&outcome, &outputs));
        telling.await.map_err(|error| Status::internal(error.to_string()))?
    }

    pub(crate) fn outputs(&self, record: &Record, threshold_bytes: usize) -> Outputs {
        let folder = self.inner.options.outputs.clone();
        // Calls without a record are distinguished by time.
        let number = record.id.map_or_else(
            || format!("at-{}", record.created_at.as_nanosecond()),
            |id| id.to_string(),
        );
        Outputs { folder, threshold_bytes, name: format!("call-{number}") }
    }
}

impl ParsedCall {
    fn parse(call: Call) -> Result<Self, Status> {
        match call {
            Call::Direct(CallMcpToolParams { server, tool_name, tool_args }) => {
                let names = [tool_name, String::new()];
                let arguments = Ok(json(tool_args.map(from_struct).unwrap_or_default()));
                Ok(Self { server, names, arguments, answer: ResultForm::Direct })
            }
            Call::Legacy(McpParams { tools, .. }) => {
                if tools.len() > MAX_CANDIDATES {
                    return Err(Status::invalid_argument("too many tools in the call"));
                }
                let first = tools.into_iter().next();
                let first = first.ok_or_else(|| Status::invalid_argument("missing tool"))?;
                let arguments = match first.parameters.trim() {
                    "" => Ok(json(Map::new())),
                    text => Json::parse(text.to_owned().into())
                        .map_err(|error| format!("the arguments are not JSON: {error}")),
                };
                let names = [first.name, String::new()];
                Ok(Self { server: first.server_name, names, arguments, answer: ResultForm::Legacy })
            }
            Call::Args(McpArgs { name, args, provider_identifier, tool_name, .. }) => Ok(Self {
                server: provider_identifier,
                names: [name, tool_name],
                arguments: Ok(json(from_fields(args))),
                answer: ResultForm::Plain,
            }),
        }
    }
}

/// Returns the response to a call that could not be proposed.
fn not_called(error: String, tool_call_id: String) -> CallToolResponse {
    let error = McpError { error, needs_auth: false };
    CallToolResponse {
        result: Some(McpResult { result: Some(Ended::Error(error)) }),
        tool_call_id,
        outcome: "not_sent".to_owned(),
        ..CallToolResponse::default()
    }
}

fn json(members: Map<String, Value>) -> Json {
    Json::from(&Value::Object(members))
}

/// Returns the name that models use.
fn full_name(lease: &Lease, target: &Target) -> String {
    let catalog = lease.catalog();
    let entry = catalog.tools().find(|entry| {
        entry.server.id.as_str() == target.server && entry.tool.name() == target.name
    });
    let name = entry.and_then(|entry| catalog.names().get(entry.place));
    name.unwrap_or(&target.name).to_owned()
}

/// Parses the threshold for file output, limited to [`MAX_INLINE_BYTES`].
pub(crate) fn parse_threshold(given: Option<i64>) -> Result<usize, Status> {
    let Some(given) = given else { return Ok(MAX_INLINE_BYTES) };
    let bytes = usize::try_from(given)
        .map_err(|_| Status::invalid_argument("`file_output_threshold_bytes` is negative"))?;
    Ok(bytes.min(MAX_INLINE_BYTES))
}

/// Parses a timeout; 0 means none.
pub(crate) fn parse_timeout(given: Option<i64>) -> Result<Option<Duration>, Status> {
    let Some(given) = given.filter(|given| *given != 0) else { return Ok(None) };
    let milliseconds =
        u64::try_from(given).map_err(|_| Status::invalid_argument("`timeout_ms` is negative"))?;
    Ok(Some(Duration::from_millis(milliseconds)))
}

/// Finds the tool that a caller means, or reports why the reference is unknown or ambiguous.
///
/// An unknown name with an explicit server is passed to the pipeline if the caller sees everything:
/// the pipeline records the call and suggests similar names.
fn find_tool(
    lease: &Lease,
    visitor: &AuthorizedCaller,
    server: &str,
    names: &[String; 2],
) -> Result<Target, String> {
    let names: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    let Some(first) = names.first() else { return Err("missing tool name".to_owned()) };
    let catalog = lease.catalog();
    let seen = || {
        catalog.tools().filter(|entry| {
            let id = entry.server.id.as_str();
            (server.is_empty() || server == id) && visitor.sees(id, entry.tool.name())
        })
    };
    let full = |place: usize| catalog.names().get(place).unwrap_or_default();
    let joined = |id: &str, own: &str| format!("{id}-{own}");
    let mut found: Vec<Target> = Vec::new();
    // Qualified names are tried before plain ones, which may be ambiguous.
    for pass in 0..3 {
        for entry in seen() {
            let id = entry.server.id.as_str();
            let own = entry.tool.name();
            let is_meant = names.iter().any(|name| match pass {
                0 if !server.is_empty() => *name == own,
                0 => *name == full(entry.place),
                1 if !server.is_empty() => *name == full(entry.place) || *name == joined(id, own),
                1 => *name == joined(id, own),
                _ => *name == own,
            });
            // A server may list a tool twice, which does not make the name ambiguous.
            let target = Target::new(TargetKind::Tool, id, own);
            if is_meant && !found.contains(&target) {
                found.push(target);
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    match found.len() {
        1 => found.pop().ok_or_else(String::new),
        0 if !server.is_empty() && visitor.sees_all() => {
            Ok(Target::new(TargetKind::Tool, server, first))
        }
        0 => Err(format!("unknown tool `{first}`")),
        _ => {
            let servers: Vec<&str> = found.iter().map(|target| target.server.as_str()).collect();
            let servers = servers.join("`, `");
            Err(format!("several servers offer the tool `{first}`: `{servers}`; name the server"))
        }
    }
}
