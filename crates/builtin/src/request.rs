//! Parses the parameters of a request and detects its era.

use serde_json::{Map, Value};

use crate::error::BuiltinRpcError;

/// The supported revision without a handshake.
pub(crate) const MODERN_REVISION: &str = "2026-07-28";
/// Supported revisions that begin with `initialize`, newest first.
pub(crate) const LEGACY_REVISIONS: [&str; 4] =
    ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestEra {
    Legacy,
    /// Revision 2026-07-28, where each request is self-contained.
    Modern,
}

#[derive(Debug)]
pub(crate) struct BuiltinRequest {
    pub(crate) era: RequestEra,
    params: Map<String, Value>,
}

impl BuiltinRequest {
    /// Parses the parameters. `initialize` is always legacy, `server/discover` always modern.
    pub(crate) fn parse(method: &str, params: Option<&str>) -> Result<Self, BuiltinRpcError> {
        let params = match params.map(serde_json::from_str) {
            None | Some(Ok(Value::Null)) => Map::new(),
            Some(Ok(Value::Object(params))) => params,
            Some(Ok(_)) => {
                return Err(BuiltinRpcError::invalid_params("`params` must be an object"));
            }
            Some(Err(problem)) => {
                return Err(BuiltinRpcError::invalid_params(format!(
                    "`params` is not valid JSON: {problem}"
                )));
            }
        };
        let era = match method {
            // The modern revision has no handshake, so `_meta` does not matter here.
            "initialize" => RequestEra::Legacy,
            _ => request_era(&params, method == "server/discover")?,
        };
        Ok(Self { era, params })
    }

    pub(crate) fn text(&self, name: &str) -> Result<&str, BuiltinRpcError> {
        self.params.get(name).and_then(Value::as_str).ok_or_else(|| {
            BuiltinRpcError::invalid_params(format!("`params.{name}` must be a string"))
        })
    }

    pub(crate) fn arguments(&mut self) -> Result<Map<String, Value>, BuiltinRpcError> {
        match self.params.remove("arguments") {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(arguments)) => Ok(arguments),
            Some(_) => Err(BuiltinRpcError::invalid_params("`params.arguments` must be an object")),
        }
    }

    pub(crate) fn refuse_cursor(&self) -> Result<(), BuiltinRpcError> {
        // Every list fits on one page, so this server never issues a cursor.
        match self.params.get("cursor") {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(BuiltinRpcError::invalid_params("`params.cursor` is invalid")),
        }
    }
}

fn request_era(
    params: &Map<String, Value>,
    modern_only: bool,
) -> Result<RequestEra, BuiltinRpcError> {
    let meta = params.get("_meta");
    let about = |key| meta.and_then(|meta| meta.get(key));
    let lacks = |key: &str| Err(BuiltinRpcError::invalid_params(format!("`_meta` lacks `{key}`")));
    match about(REVISION_KEY) {
        None if modern_only => lacks(REVISION_KEY),
        None => Ok(RequestEra::Legacy),
        Some(Value::String(revision)) if revision == MODERN_REVISION => {
            match about(CAPABILITIES_KEY) {
                Some(Value::Object(_)) => Ok(RequestEra::Modern),
                Some(_) => Err(BuiltinRpcError::invalid_params(format!(
                    "`{CAPABILITIES_KEY}` must be an object"
                ))),
                None => lacks(CAPABILITIES_KEY),
            }
        }
        Some(Value::String(revision)) => {
            Err(BuiltinRpcError::unsupported_revision(revision, &[MODERN_REVISION]))
        }
        Some(_) => {
            Err(BuiltinRpcError::invalid_params(format!("`{REVISION_KEY}` must be a string")))
        }
    }
}
