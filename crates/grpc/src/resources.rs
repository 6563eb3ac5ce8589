//! Resources and prompts: lists, reads and fetches them, and writes downloads inside the roots.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_catalog::{ServerStatus as State, definition};
use switchboard_core::{Item, ProposedCall, Reply};
use switchboard_files::{DownloadRoots, IfExists, write_download};
use switchboard_store::Record;
use switchboard_wire::{Json, ListedItem as Listed};
use tonic::Status;

use crate::access::AuthorizedCaller;
use crate::calls::CallRunOptions;
use crate::generated::agent::v1::list_mcp_resources_exec_result::{McpResource, Result as List};
use crate::generated::agent::v1::read_mcp_resource_exec_result::Result as Read;
use crate::generated::agent::v1::read_mcp_resource_success::Content;
use crate::generated::agent::v1::{
    ListMcpResourcesError, ListMcpResourcesRejected, ListMcpResourcesSuccess, ReadMcpResourceError,
    ReadMcpResourceExecArgs, ReadMcpResourceNotFound, ReadMcpResourceRejected,
    ReadMcpResourceSuccess,
};
use crate::generated::v1::get_prompt_response::Message;
use crate::generated::v1::{GetPromptRequest, GetPromptResponse};
use crate::grpc_service::GrpcService;
use crate::outputs::MAX_INLINE_BYTES;
use crate::results::{self, EditorStatus};
use crate::values::string_members;

/// Maximum size of a downloaded resource, in bytes.
const FILE_LIMIT_BYTES: usize = 256 << 20;

impl GrpcService {
    /// Lists the visible resources, or reports why the named server has no list.
    pub(crate) fn list(&self, visitor: &AuthorizedCaller, server: Option<&str>) -> List {
        let named = server.filter(|name| !name.is_empty());
        named.and_then(|name| self.missing_list(visitor, name)).unwrap_or_else(|| {
            List::Success(ListMcpResourcesSuccess { resources: self.resources(visitor, server) })
        })
    }

    fn missing_list(&self, visitor: &AuthorizedCaller, name: &str) -> Option<List> {
        let fleet = self.host().fleet().load();
        let Some(server) = fleet.servers.get(name).filter(|server| visitor.sees_server(server))
        else {
            let error = format!("unknown server `{name}`");
            return Some(List::Error(ListMcpResourcesError { error }));
        };
        let held = self.host().quarantine().load();
        if let Some(why) = held.servers.get(name).and_then(|held| held.whole.as_ref()) {
            let reason =
                format!("server `{name}` is in quarantine until a person approves it: {why}");
            return Some(List::Rejected(ListMcpResourcesRejected { reason }));
        }
        let failure = server.status.failure().filter(|_| visitor.is_owner());
        let detail = failure.map(|failure| format!(": {}", failure.message)).unwrap_or_default();
        let why = format!("server `{name}` is not ready ({}){detail}", server.status.word());
        match server.status {
            State::Ready => None,
            State::NeedsApproval | State::NotAllowed(_) => {
                Some(List::Rejected(ListMcpResourcesRejected { reason: why }))
            }
            State::Disabled
            | State::Starting
            | State::NeedsLogin(_)
            | State::Waiting { .. }
            | State::Failed(_) => Some(List::Error(ListMcpResourcesError { error: why })),
        }
    }

    pub(crate) fn resources(
        &self,
        visitor: &AuthorizedCaller,
        server: Option<&str>,
    ) -> Vec<McpResource> {
        let lease = self.host().lease();
        let mut all = Vec::new();
        for of in lease.catalog().servers() {
            let id = of.id.as_str();
            if server.is_some_and(|wanted| !wanted.is_empty() && wanted != id) {
                continue;
            }
            let seen = of.offers.resources.iter().filter(|item| visitor.sees(id, &item.key));
            all.extend(seen.map(|item| resource_entry(id, item)));
        }
        all
    }

    /// Reads a resource, and writes it to a file if the request has a `download_path`.
    pub(crate) async fn read(
        &self,
        visitor: &AuthorizedCaller,
        args: ReadMcpResourceExecArgs,
    ) -> Result<Read, Status> {
        let ReadMcpResourceExecArgs { server, uri, download_path, tool_call_id } = args;
        let lease = self.host().lease();
        // Before any other check, so that a guest cannot tell hidden from missing.
        if !visitor.sees_resource(&lease, &server, &uri) {
            return Ok(Read::NotFound(ReadMcpResourceNotFound { uri }));
        }
        if download_path.is_some() {
            visitor.require_owner("writing a file")?;
        }
        let about = lease.fleet().servers.get(server.as_str()).and_then(|of| {
            let item = of.offers.resources.iter().find(|item| *item.key == *uri)?;
            Some(resource_entry(&server, item))
        });
        let proposed = ProposedCall::resource(&server, &uri);
        let how = CallRunOptions { tool_call_id, ..CallRunOptions::default() };
        let record = self.run(visitor, lease, proposed, how).await?;
        if let Some(ended) = read_failure(&record, &uri) {
            return Ok(ended);
        }
        let success = match about {
            Some(about) => ReadMcpResourceSuccess {
                uri: about.uri,
                name: about.name,
                description: about.description,
                mime_type: about.mime_type,
                annotations: about.annotations,
                ..ReadMcpResourceSuccess::default()
            },
            None => ReadMcpResourceSuccess { uri, ..ReadMcpResourceSuccess::default() },
        };
        let host = self.host().clone();
        let roots = host.roots();
        let protected = self.inner.options.protected.clone();
        let outputs = self.outputs(&record, MAX_INLINE_BYTES);
        // Decoding and writing may take long for up to 256 MiB.
        let working = tokio::task::spawn_blocking(move || {
            let mut success = success;
            let content = contents(&record, &mut success)?;
            let Some(content) = content else { return Ok(success) };
            match (download_path, content) {
                (Some(wanted), content) => {
                    let path = write(&roots, &protected, &wanted, &content)?;
                    success.download_path = Some(path.display().to_string());
                }
                (None, Content::Text(text)) if text.len() > outputs.threshold_bytes => {
                    let location = outputs.write(&text, "resource.txt");
                    success.output_location = Some(location.map_err(|error| error.to_string())?);
                }
                (None, content) => success.content = Some(content),
            }
            Ok::<_, String>(success)
        });
        let read = working.await.map_err(|error| Status::internal(error.to_string()))?;
        Ok(match read {
            Ok(success) => Read::Success(success),
            Err(error) => Read::Error(ReadMcpResourceError { error }),
        })
    }

    pub(crate) async fn prompt(
        &self,
        visitor: &AuthorizedCaller,
        request: GetPromptRequest,
    ) -> Result<GetPromptResponse, Status> {
        let GetPromptRequest { server, name, arguments, tool_call_id } = request;
        let lease = self.host().lease();
        let offers = lease.catalog().servers().iter().filter(|of| {
            let id = of.id.as_str();
            (server.is_empty() || server == id)
                && visitor.sees(id, &name)
                && of.offers.prompts.iter().any(|item| *item.key == *name)
        });
        let found: Vec<&str> = offers.map(|of| of.id.as_str()).collect();
        let server = match found.as_slice() {
            [one] => (*one).to_owned(),
            [] => return Err(Status::not_found(format!("unknown prompt `{name}`"))),
            several => {
                let several = several.join("`, `");
                let why =
                    format!("several servers offer the prompt `{name}`: `{several}`; set `server`");
                return Err(Status::invalid_argument(why));
            }
        };
        let proposed = ProposedCall::prompt(&server, &name, Json::from(&json!(arguments)));
        let how = CallRunOptions { tool_call_id, ..CallRunOptions::default() };
        let record = self.run(visitor, lease, proposed, how).await?;
        let why = || results::failure_text(&record.outcome);
        match EditorStatus::from(record.outcome.kind) {
            EditorStatus::Success => {}
            EditorStatus::Error => return Err(Status::failed_precondition(why())),
            EditorStatus::Rejected => return Err(Status::aborted(why())),
            EditorStatus::PermissionDenied => return Err(Status::permission_denied(why())),
        }
        let result_json = results::result_text(&record.outcome);
        let reply = Reply::from_prompt_json(&result_json)
            .map_err(|error| Status::internal(error.to_string()))?;
        let whole: Value = serde_json::from_str(&result_json).unwrap_or_default();
        let description = whole.get("description").and_then(Value::as_str);
        Ok(GetPromptResponse {
            description: description.unwrap_or_default().to_owned(),
            messages: reply.items.iter().map(message).collect(),
            result_json,
            call_id: record.id.map(|id| id.to_string()).unwrap_or_default(),
        })
    }
}

fn message(item: &Item) -> Message {
    match item {
        Item::Message { role, content } => {
            Message { role: role.clone(), content: Some(results::content_item(content, None)) }
        }
        other => Message { role: String::new(), content: Some(results::content_item(other, None)) },
    }
}

fn resource_entry(server: &str, item: &Listed) -> McpResource {
    let about = definition(item);
    McpResource {
        uri: item.key.to_string(),
        name: about.title.or(about.name),
        description: about.description,
        mime_type: about.mime_type,
        server: server.to_owned(),
        annotations: string_members(about.annotations.map(RawValue::get)),
    }
}

fn read_failure(record: &Record, uri: &str) -> Option<Read> {
    let outcome = &record.outcome;
    let words = || results::failure_text(outcome);
    match EditorStatus::from(outcome.kind) {
        EditorStatus::Success => None,
        EditorStatus::Error if outcome.reason.as_deref() == Some("not_listed") => {
            Some(Read::NotFound(ReadMcpResourceNotFound { uri: uri.to_owned() }))
        }
        EditorStatus::Error => Some(Read::Error(ReadMcpResourceError { error: words() })),
        EditorStatus::Rejected | EditorStatus::PermissionDenied => {
            Some(Read::Rejected(ReadMcpResourceRejected { reason: words() }))
        }
    }
}

/// Returns the content of a resource: all texts concatenated, or the first binary content.
fn contents(
    record: &Record,
    success: &mut ReadMcpResourceSuccess,
) -> Result<Option<Content>, String> {
    let reply = Reply::from_resource_json(&results::result_text(&record.outcome))
        .map_err(|error| error.to_string())?;
    let mut text: Option<String> = None;
    for item in reply.items {
        let Item::Resource { mime, text: part, blob, .. } = item else { continue };
        // The server's list takes precedence over the type in the result.
        if let Some(mime) = mime {
            success.mime_type.get_or_insert(mime);
        }
        if let Some(blob) = blob {
            let bytes = STANDARD.decode(blob.trim());
            let bytes = bytes.map_err(|error| format!("the content is not base64: {error}"))?;
            return Ok(Some(Content::Blob(bytes)));
        }
        if let Some(part) = part {
            text.get_or_insert_default().push_str(&part);
        }
    }
    Ok(text.map(Content::Text))
}

fn write(
    roots: &[PathBuf],
    protected: &[PathBuf],
    wanted: &str,
    content: &Content,
) -> Result<PathBuf, String> {
    let ground =
        DownloadRoots { roots, protected, limit_bytes: FILE_LIMIT_BYTES, existing: IfExists::Keep };
    let bytes = match content {
        Content::Text(text) => text.as_bytes(),
        Content::Blob(bytes) => bytes,
    };
    write_download(&ground, Path::new(wanted), bytes).map_err(|error| error.to_string())
}
