//! Hand-written JSON-RPC: incoming messages, answers, and their serialization.

use serde_json::{Map, Value, json};

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
pub(crate) const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Name of the logged-in caller, set by the OAuth endpoint for the tool `whoami`.
pub(crate) const META_CALLER: &str = "switchboard-testkit/caller";

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const NOT_FOUND_BEFORE_MODERN: i64 = -32002;
pub(crate) const HEADER_MISMATCH: i64 = -32020;
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// A request, or a notification if there is no id.
#[derive(Clone, Debug)]
pub(crate) struct IncomingMessage {
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    pub(crate) params: Value,
}

#[derive(Debug)]
pub(crate) enum ReceivedMessage {
    Message(IncomingMessage),
    /// A reply to a request of the fixture, as the whole message.
    Reply(Value),
    Batch(Vec<Value>),
    Nonsense,
}

impl ReceivedMessage {
    pub(crate) fn read(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::Batch(items),
            Value::Object(mut object) => match object.remove("method") {
                Some(Value::String(method)) => Self::Message(IncomingMessage {
                    id: object.remove("id"),
                    method,
                    params: object.remove("params").unwrap_or_else(|| json!({})),
                }),
                None if object.contains_key("id") => Self::Reply(Value::Object(object)),
                _ => Self::Nonsense,
            },
            _ => Self::Nonsense,
        }
    }
}

impl IncomingMessage {
    pub(crate) fn meta(&self, key: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(key)
    }

    pub(crate) fn version(&self) -> Option<&str> {
        self.meta(META_VERSION)?.as_str()
    }

    /// Returns a text parameter, or `None` if it is absent or of another type.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.params.get(name)?.as_str()
    }

    pub(crate) fn arguments(&self) -> &Value {
        self.params.get("arguments").unwrap_or(&Value::Null)
    }

    pub(crate) fn id(&self) -> &Value {
        self.id.as_ref().unwrap_or(&Value::Null)
    }
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub(crate) enum RpcAnswer {
    Result(Value),
    /// A result as text, because `Value` cannot represent it.
    Text(String),
    Refusal {
        code: i64,
        message: String,
        data: Option<Value>,
    },
}

impl RpcAnswer {
    pub(crate) fn refuse(code: i64, message: impl Into<String>) -> Self {
        Self::Refusal { code, message: message.into(), data: None }
    }

    pub(crate) fn refuse_with(code: i64, message: impl Into<String>, data: Value) -> Self {
        Self::Refusal { code, message: message.into(), data: Some(data) }
    }

    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let data = json!({"supported": [MODERN], "requested": requested});
        Self::refuse_with(UNSUPPORTED_VERSION, "unsupported protocol version", data)
    }

    pub(crate) fn code(&self) -> Option<i64> {
        if let Self::Refusal { code, .. } = self { Some(*code) } else { None }
    }

    /// Returns the member of the answer with its name: `"result":{}` or `"error":{}`.
    pub(crate) fn member(&self) -> String {
        match self {
            Self::Result(result) => format!("\"result\":{result}"),
            Self::Text(text) => format!("\"result\":{text}"),
            Self::Refusal { code, message, data } => {
                let mut error = Map::new();
                error.insert("code".to_owned(), json!(code));
                error.insert("message".to_owned(), json!(message));
                if let Some(data) = data {
                    error.insert("data".to_owned(), data.clone());
                }
                format!("\"error\":{}", Value::Object(error))
            }
        }
    }

    pub(crate) fn render(&self, id: &Value) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{}}}", self.member())
    }
}

pub(crate) fn notice(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

pub(crate) fn question(id: &Value, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}
