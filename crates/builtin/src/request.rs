//! Reads a request's parameters and finds out which era it belongs to.

use serde_json::{Map, Value};

use crate::error::RpcError;

/// The one revision without a handshake that this server speaks.
pub(crate) const MODERN: &str = "2026-07-28";
/// The revisions that begin with `initialize`, newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Which of the two protocol families a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Revisions up to 2025-11-25.
    Legacy,
    /// Revision 2026-07-28, where each request stands alone.
    Modern,
}

/// The parameters of one request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) era: Era,
    params: Map<String, Value>,
}

impl Request {
    /// Reads the parameters; `initialize` is legacy whatever it carries, `server/discover` modern.
    pub(crate) fn parse(method: &str, params: Option<&str>) -> Result<Self, RpcError> {
        let params = match params.map(serde_json::from_str) {
            None | Some(Ok(Value::Null)) => Map::new(),
            Some(Ok(Value::Object(params))) => params,
            Some(Ok(_)) => return Err(RpcError::invalid("`params` must be an object")),
            Some(Err(problem)) => {
                return Err(RpcError::invalid(format!("`params` is not valid JSON: {problem}")));
            }
        };
        let era = match method {
            "initialize" => Era::Legacy,
            _ => era_of(&params, method == "server/discover")?,
        };
        Ok(Self { era, params })
    }

    /// A text that the method cannot do without.
    pub(crate) fn text(&self, name: &str) -> Result<&str, RpcError> {
        self.params
            .get(name)
            .and_then(Value::as_str)
            .ok_or_else(|| RpcError::invalid(format!("`params.{name}` must be a text")))
    }

    /// The `arguments` of a call or prompt; left out means none.
    pub(crate) fn arguments(&mut self) -> Result<Map<String, Value>, RpcError> {
        match self.params.remove("arguments") {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(arguments)) => Ok(arguments),
            Some(_) => Err(RpcError::invalid("`params.arguments` must be an object")),
        }
    }

    /// Every list fits on one page, so no cursor was ever handed out.
    pub(crate) fn refuse_cursor(&self) -> Result<(), RpcError> {
        match self.params.get("cursor") {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(RpcError::invalid("`params.cursor` was not given out by this server")),
        }
    }
}

fn era_of(params: &Map<String, Value>, modern_only: bool) -> Result<Era, RpcError> {
    let meta = params.get("_meta");
    let about = |key| meta.and_then(|meta| meta.get(key));
    match about(REVISION_KEY) {
        None if modern_only => Err(RpcError::invalid(format!("`_meta` lacks `{REVISION_KEY}`"))),
        None => Ok(Era::Legacy),
        Some(Value::String(revision)) if revision == MODERN => match about(CAPABILITIES_KEY) {
            Some(Value::Object(_)) => Ok(Era::Modern),
            Some(_) => Err(RpcError::invalid(format!("`{CAPABILITIES_KEY}` must be an object"))),
            None => Err(RpcError::invalid(format!("`_meta` lacks `{CAPABILITIES_KEY}`"))),
        },
        Some(Value::String(revision)) => Err(RpcError::unsupported_revision(revision, &[MODERN])),
        Some(_) => Err(RpcError::invalid(format!("`{REVISION_KEY}` must be a text"))),
    }
}
