//! One request of a client, with what its parameters say.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_host::catalog::shown_text;
use switchboard_wire::{Json, Revision, RpcError};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::client::{Abilities, Client, Out};

/// One request.
pub(crate) struct Asked {
    pub(crate) client: Arc<Client>,
    pub(crate) out: Out,
    pub(crate) id: Json,
    pub(crate) method: String,
    pub(crate) params: Option<Json>,
    /// Gives the request up.
    pub(crate) cancel: CancellationToken,
}

/// The parameters that we look at. One of another type is an error, not an absence.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Params<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) uri: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) cursor: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) level: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) request_state: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) notifications: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    pub(crate) meta: Option<Meta<'a>>,
}

/// What a request says about itself.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) protocol_version: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) client_capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    pub(crate) client_info: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/logLevel")]
    pub(crate) log_level: Option<Cow<'a, str>>,
}

impl Asked {
    /// Reads the parameters.
    pub(crate) fn params(&self) -> Result<Params<'_>, RpcError> {
        read(self.params.as_ref())
    }
}

/// Reads parameters.
pub(crate) fn read(params: Option<&Json>) -> Result<Params<'_>, RpcError> {
    let Some(params) = params else { return Ok(Params::default()) };
    params.read().map_err(|error| {
        RpcError::new(RpcError::INVALID_PARAMS, format!("the parameters cannot be read: {error}"))
    })
}

/// The client that a modern request describes.
pub(crate) fn modern_client(meta: &Meta<'_>, access: &Access) -> Result<Client, RpcError> {
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
        .ok_or_else(|| missing("_meta.io.modelcontextprotocol/clientCapabilities"))?;
    let abilities = Abilities::read(Some(capabilities));
    Ok(Client::new(access, name_in(meta.client_info), Revision::NEWEST, abilities))
}

/// The name in a `clientInfo`.
pub(crate) fn name_in(info: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
    }
    info.and_then(|raw| serde_json::from_str::<Named>(raw.get()).ok()?.name)
}

/// What is missing from a request.
pub(crate) fn missing(what: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, format!("the request has no `{what}`"))
}
