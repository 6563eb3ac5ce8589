//! One request of a client, with what its parameters say.

use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_host::call::no_arguments;
use switchboard_host::catalog::shown_text;
use switchboard_host::{Target, TargetKind};
use switchboard_wire::{Era, Json, Revision, RpcError};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::client::{Abilities, Client, Out};
use crate::listing::Listing;
use crate::meta::WrittenMeta;

/// One request.
pub(crate) struct Asked {
    pub(crate) client: Arc<Client>,
    pub(crate) out: Out,
    pub(crate) id: Json,
    pub(crate) method: String,
    pub(crate) params: Option<Json>,
    /// What they say, once they were read.
    pub(crate) read: OnceLock<Result<Params, RpcError>>,
    /// Gives the request up.
    pub(crate) cancel: CancellationToken,
}

/// The parameters that we look at, shared with the message that they came in.
#[derive(Clone, Default)]
pub(crate) struct Params {
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    pub(crate) arguments: Option<Json>,
    pub(crate) cursor: Option<String>,
    pub(crate) level: Option<String>,
    pub(crate) input_responses: Option<Json>,
    pub(crate) request_state: Option<String>,
    pub(crate) notifications: Option<Json>,
    pub(crate) meta: Option<Meta>,
}

/// What a request says about itself.
#[derive(Clone, Default)]
pub(crate) struct Meta {
    pub(crate) progress_token: Option<Json>,
    pub(crate) protocol_version: Option<String>,
    pub(crate) client_capabilities: Option<Json>,
    pub(crate) client_info: Option<Json>,
    pub(crate) log_level: Option<String>,
    /// What is for the server: members as JSON text without braces.
    pub(crate) others: Option<String>,
}

/// The parameters as they are written. One of another type is an error, not an absence.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Written<'a> {
    name: Option<String>,
    uri: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    cursor: Option<String>,
    level: Option<String>,
    #[serde(borrow)]
    input_responses: Option<&'a RawValue>,
    request_state: Option<String>,
    #[serde(borrow)]
    notifications: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<WrittenMeta<'a>>,
}

impl Asked {
    /// The parameters, read once however often they are asked for: they may be long.
    pub(crate) fn params(&self) -> Result<&Params, RpcError> {
        self.read.get_or_init(|| read(self.params.as_ref())).as_ref().map_err(Clone::clone)
    }

    /// How its client is reached, and what tells that there is no need to any more.
    pub(crate) fn way(&self) -> (Out, CancellationToken) {
        (self.out.clone(), self.cancel.clone())
    }
}

/// Reads parameters.
pub(crate) fn read(params: Option<&Json>) -> Result<Params, RpcError> {
    let Some(params) = params else { return Ok(Params::default()) };
    // A list would be read as its members in their order.
    if params.as_str().trim_start().starts_with('[') {
        return Err(RpcError::new(RpcError::INVALID_PARAMS, "the parameters are a list"));
    }
    let written: Written<'_> = params.read().map_err(|error| {
        RpcError::new(RpcError::INVALID_PARAMS, format!("the parameters cannot be read: {error}"))
    })?;
    let part = |raw: Option<&RawValue>| raw.map(|raw| params.part(raw));
    Ok(Params {
        name: written.name,
        uri: written.uri,
        arguments: part(written.arguments),
        cursor: written.cursor,
        level: written.level,
        input_responses: part(written.input_responses),
        request_state: written.request_state,
        notifications: part(written.notifications),
        meta: written.meta.map(|meta| Meta {
            progress_token: part(meta.progress_token),
            protocol_version: meta.protocol_version,
            client_capabilities: part(meta.client_capabilities),
            client_info: part(meta.client_info),
            log_level: meta.log_level,
            others: Some(meta.others).filter(|others| !others.is_empty()),
        }),
    })
}

/// The client that a modern request describes.
pub(crate) fn modern_client(meta: &Meta, access: &Access) -> Result<Client, RpcError> {
    let version = meta
        .protocol_version
        .as_deref()
        .ok_or_else(|| missing("_meta.io.modelcontextprotocol/protocolVersion"))?;
    if version != Revision::NEWEST.as_str() {
        let data = serde_json::json!({
            "supported": [Revision::NEWEST.as_str()],
            "requested": version,
        });
        let why = format!("the revision `{}` is not spoken here", shown_text(version, 40));
        return Err(RpcError {
            data: Some(Json::from(&data)),
            ..RpcError::new(RpcError::UNSUPPORTED_REVISION, why)
        });
    }
    let capabilities = meta
        .client_capabilities
        .as_ref()
        .ok_or_else(|| missing("_meta.io.modelcontextprotocol/clientCapabilities"))?;
    let abilities = Abilities::read(Some(capabilities.as_str()));
    Ok(Client::new(
        access,
        name_in(meta.client_info.as_ref().map(Json::as_str)),
        Revision::NEWEST,
        abilities,
    ))
}

/// The name in a `clientInfo`.
pub(crate) fn name_in(info: Option<&str>) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
    }
    info.and_then(|info| serde_json::from_str::<Named>(info).ok()?.name)
}

/// What is missing from a request.
pub(crate) fn missing(what: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, format!("the request has no `{what}`"))
}

/// What a request names, among what its client is shown.
pub(crate) fn find(
    listing: &Listing,
    kind: TargetKind,
    params: &Params,
    era: Era,
) -> Result<Target, RpcError> {
    let unknown = |what: &str, name: &str| {
        RpcError::new(RpcError::INVALID_PARAMS, format!("there is no {what} `{name}`"))
    };
    match kind {
        TargetKind::Tool => {
            let name = params.name.as_deref().ok_or_else(|| missing("name"))?;
            listing.tool(name).ok_or_else(|| unknown("tool", name))
        }
        TargetKind::Prompt => {
            let name = params.name.as_deref().ok_or_else(|| missing("name"))?;
            listing.prompt(name).ok_or_else(|| unknown("prompt", name))
        }
        TargetKind::Resource => {
            let uri = params.uri.as_deref().ok_or_else(|| missing("uri"))?;
            listing.resource(uri).ok_or_else(|| RpcError {
                // The legacy era has a code of its own for it.
                code: if era == Era::Legacy { -32_002 } else { RpcError::INVALID_PARAMS },
                data: Some(Json::from(&serde_json::json!({"uri": uri}))),
                ..unknown("resource", uri)
            })
        }
    }
}

/// The arguments of a call.
pub(crate) fn arguments(params: &Params) -> Json {
    match &params.arguments {
        Some(arguments) if *arguments != Json::NULL => arguments.clone(),
        _ => no_arguments(),
    }
}
