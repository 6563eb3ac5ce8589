//! One request of a client, and its parsed parameters.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_access::Access;
use switchboard_core::{Target, TargetKind};
use switchboard_host::no_arguments;
use switchboard_json::{decode_string, for_each_member};
use switchboard_text::excerpt_text;
use switchboard_wire::{Era, Json, Revision, RpcError};
use tokio_util::sync::CancellationToken;

use crate::catalog_view::CatalogView;
use crate::client::{ClientCapabilities, McpClient, ReplyChannel, is_log_level};
use crate::meta::RawMeta;
use crate::reply::{RESOURCE_NOT_FOUND, invalid_params};

pub(crate) struct ClientRequest {
    pub(crate) client: Arc<McpClient>,
    pub(crate) out: ReplyChannel,
    pub(crate) id: Json,
    pub(crate) method: String,
    pub(crate) params: Option<Json>,
    pub(crate) parsed_params: OnceLock<Result<ClientRequestParams, RpcError>>,
    pub(crate) cancel: CancellationToken,
}

/// The parameters that the gateway reads. JSON values share the buffer of the message.
#[derive(Clone, Default)]
pub(crate) struct ClientRequestParams {
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    pub(crate) arguments: Option<Json>,
    pub(crate) cursor: Option<String>,
    pub(crate) level: Option<String>,
    pub(crate) task: Option<Json>,
    pub(crate) input_responses: Option<Json>,
    pub(crate) request_state: Option<String>,
    pub(crate) notifications: Option<Json>,
    pub(crate) meta: Option<ClientRequestMeta>,
}

#[derive(Clone, Default)]
pub(crate) struct ClientRequestMeta {
    pub(crate) progress_token: Option<Json>,
    pub(crate) protocol_version: Option<String>,
    pub(crate) client_capabilities: Option<Json>,
    pub(crate) client_info: Option<Json>,
    pub(crate) log_level: Option<String>,
    /// Members that are forwarded to the server, as JSON text without braces.
    pub(crate) others: Option<String>,
}

impl ClientRequest {
    /// Parses the parameters on the first call and caches the result.
    pub(crate) fn params(&self) -> Result<&ClientRequestParams, RpcError> {
        self.parsed_params
            .get_or_init(|| parse_params(self.params.as_ref()))
            .as_ref()
            .map_err(Clone::clone)
    }
}

/// Parses parameters. A member of the wrong type is an error, not treated as absent.
pub(crate) fn parse_params(params: Option<&Json>) -> Result<ClientRequestParams, RpcError> {
    let Some(params) = params else { return Ok(ClientRequestParams::default()) };
    let mut read = ClientRequestParams::default();
    let mut problem = None;
    let part = |value: &str| Ok(params.slice(value));
    let text =
        |value| decode_string(value).map(Cow::into_owned).ok_or("is not a string".to_owned());
    let walked = for_each_member(params.as_str(), |name, value| {
        let set = match &*name {
            "name" => set_once(&mut read.name, value, text),
            "uri" => set_once(&mut read.uri, value, text),
            "arguments" => set_once(&mut read.arguments, value, part),
            "cursor" => set_once(&mut read.cursor, value, text),
            "level" => set_once(&mut read.level, value, text),
            "task" => set_once(&mut read.task, value, part),
            "inputResponses" => set_once(&mut read.input_responses, value, part),
            "requestState" => set_once(&mut read.request_state, value, text),
            "notifications" => set_once(&mut read.notifications, value, part),
            "_meta" => {
                set_once(&mut read.meta, value, |value| ClientRequestMeta::parse(params, value))
            }
            _ => Ok(()),
        };
        // The walk continues after a problem, so that broken JSON is reported as such.
        if let Err(why) = set {
            problem.get_or_insert_with(|| format!("`{name}` {why}"));
        }
    });
    let why = match (walked, problem) {
        (Ok(()), None) => return Ok(read),
        (Ok(()), Some(why)) => format!("invalid parameters: {why}"),
        (Err(_), _) => "the parameters are not an object".to_owned(),
    };
    Err(invalid_params(why))
}

/// Sets a member. `null` counts as absent; a duplicate is an error.
fn set_once<'a, T>(
    member: &mut Option<T>,
    value: &'a str,
    read: impl FnOnce(&'a str) -> Result<T, String>,
) -> Result<(), String> {
    if value == "null" {
        return Ok(());
    }
    match member.replace(read(value)?) {
        None => Ok(()),
        // The gateway and the server might use different ones of the two.
        Some(_) => Err("appears twice".to_owned()),
    }
}

impl ClientRequestMeta {
    fn parse(params: &Json, text: &str) -> Result<Self, String> {
        let written: RawMeta<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let part = |raw: Option<&RawValue>| raw.map(|raw| params.slice(raw.get()));
        Ok(Self {
            progress_token: part(written.progress_token),
            protocol_version: written.protocol_version,
            client_capabilities: part(written.client_capabilities),
            client_info: part(written.client_info),
            log_level: written.log_level,
            others: Some(written.others).filter(|others| !others.is_empty()),
        })
    }
}

/// Builds the client from the `_meta` of a modern request, which describes it completely.
pub(crate) fn modern_client(
    meta: &ClientRequestMeta,
    access: &Access,
) -> Result<McpClient, RpcError> {
    let version = meta
        .protocol_version
        .as_deref()
        .ok_or_else(|| missing_param("_meta.io.modelcontextprotocol/protocolVersion"))?;
    if version != Revision::NEWEST.as_str() {
        let data = serde_json::json!({
            "supported": [Revision::NEWEST.as_str()],
            "requested": version,
        });
        let why = format!("unsupported protocol revision `{}`", excerpt_text(version, 40));
        return Err(RpcError {
            data: Some(Json::from(&data)),
            ..RpcError::new(RpcError::UNSUPPORTED_REVISION, why)
        });
    }
    let capabilities = meta
        .client_capabilities
        .as_ref()
        .ok_or_else(|| missing_param("_meta.io.modelcontextprotocol/clientCapabilities"))?;
    if !capabilities.as_str().starts_with('{') {
        let why = "`_meta.io.modelcontextprotocol/clientCapabilities` is not an object";
        return Err(invalid_params(why));
    }
    if meta.client_info.as_ref().is_some_and(|info| !info.as_str().starts_with('{')) {
        return Err(invalid_params("`_meta.io.modelcontextprotocol/clientInfo` is not an object"));
    }
    if let Some(level) = meta.log_level.as_deref().filter(|level| !is_log_level(level)) {
        let level = excerpt_text(level, 40);
        let why = format!("`_meta.io.modelcontextprotocol/logLevel`: unknown log level `{level}`");
        return Err(invalid_params(why));
    }
    let abilities = ClientCapabilities::parse(Some(capabilities.as_str()));
    let name = client_name(meta.client_info.as_ref().map(Json::as_str));
    Ok(McpClient::new(access, name, Revision::NEWEST, abilities))
}

pub(crate) fn client_name(info: Option<&str>) -> Option<String> {
    #[derive(Deserialize)]
    struct ClientInfo {
        name: Option<String>,
    }
    info.and_then(|info| serde_json::from_str::<ClientInfo>(info).ok()?.name)
}

pub(crate) fn missing_param(what: &str) -> RpcError {
    invalid_params(format!("missing parameter `{what}`"))
}

/// Looks up the target of a request in the client's view.
pub(crate) fn find_target(
    listing: &CatalogView,
    kind: TargetKind,
    params: &ClientRequestParams,
    era: Era,
) -> Result<Target, RpcError> {
    let unknown = |what: &str, name: &str| invalid_params(format!("unknown {what} `{name}`"));
    match kind {
        TargetKind::Tool => {
            let name = params.name.as_deref().ok_or_else(|| missing_param("name"))?;
            listing.tool(name).ok_or_else(|| unknown("tool", name))
        }
        TargetKind::Prompt => {
            let name = params.name.as_deref().ok_or_else(|| missing_param("name"))?;
            listing.prompt(name).ok_or_else(|| unknown("prompt", name))
        }
        TargetKind::Resource => {
            let uri = params.uri.as_deref().ok_or_else(|| missing_param("uri"))?;
            listing.resource(uri).ok_or_else(|| RpcError {
                code: match era {
                    Era::Legacy => RESOURCE_NOT_FOUND,
                    Era::Modern => RpcError::INVALID_PARAMS,
                },
                data: Some(Json::from(&serde_json::json!({"uri": uri}))),
                ..unknown("resource", uri)
            })
        }
    }
}

/// Returns the arguments of a call; an empty object if there are none.
pub(crate) fn arguments(params: &ClientRequestParams) -> Json {
    match &params.arguments {
        Some(arguments) if *arguments != Json::NULL => arguments.clone(),
        _ => no_arguments(),
    }
}
