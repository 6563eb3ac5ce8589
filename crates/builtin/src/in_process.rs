//! A server within the embedding program: its tools are functions.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::content::ToolResult;
use crate::error::{BuiltinRpcError, ToolRefusal};
use crate::request::{BuiltinRequest, LEGACY_REVISIONS, MODERN_REVISION, RequestEra};
use crate::server::{BuiltinReply, single_member};

/// A server without a process or an address: its tools are functions of the embedding program.
///
/// Its calls are validated, decided by the rules and recorded like all others. As a part of the
/// program, it is trusted like the built-in server.
///
/// ```
/// use serde_json::json;
/// use switchboard_builtin::InProcess;
///
/// let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
/// let server = InProcess::new("greeter", "1.0");
/// let server = server.with_tool("greet", "Greets a person.", schema, |given| async move {
///     let name = given["name"].as_str().unwrap_or("you").to_owned();
///     Ok(json!(format!("Hello, {name}!")))
/// });
/// ```
#[derive(Clone)]
pub struct InProcess {
    identity: Value,
    instructions: Option<String>,
    tools: Vec<InProcessTool>,
}

/// A running tool: its result, or the error message for the caller.
pub(crate) type ToolFuture = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

#[derive(Clone)]
struct InProcessTool {
    name: String,
    definition: Value,
    run: Arc<dyn Fn(Value) -> ToolFuture + Send + Sync>,
}

impl InProcess {
    /// Creates a server with this name and version, without tools.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        let identity = json!({"name": name, "version": version});
        Self { identity, instructions: None, tools: Vec::new() }
    }

    /// Sets the instructions for models.
    #[must_use]
    pub fn with_instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Adds a tool, replacing one of the same name. Arguments are validated by `schema` first.
    #[must_use]
    pub fn with_tool<F, W>(self, name: &str, description: &str, schema: Value, run: F) -> Self
    where
        F: Fn(Value) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let definition = json!({"name": name, "description": description, "inputSchema": schema});
        self.with_definition(definition, run)
    }

    /// Adds a tool by its whole definition, for tools with annotations or an output schema.
    #[must_use]
    pub fn with_definition<F, W>(mut self, definition: Value, run: F) -> Self
    where
        F: Fn(Value) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let name = definition.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.tools.retain(|tool| tool.name != name);
        self.tools.push(InProcessTool {
            name,
            definition,
            run: Arc::new(move |given| Box::pin(run(given))),
        });
        self
    }

    /// Answers one request with the JSON text of its result.
    pub async fn answer(
        &self,
        method: &str,
        params: Option<&str>,
    ) -> Result<String, BuiltinRpcError> {
        let mut request = BuiltinRequest::parse(method, params)?;
        let reply = match (method, request.era) {
            ("initialize", _) => {
                let asked = request.text("protocolVersion")?;
                // The specification: offer the latest revision if the requested one is unknown.
                let [newest, ..] = LEGACY_REVISIONS;
                let revision =
                    LEGACY_REVISIONS.into_iter().find(|known| *known == asked).unwrap_or(newest);
                let mut body = self.self_description();
                body.insert("protocolVersion".to_owned(), json!(revision));
                body.insert("serverInfo".to_owned(), self.identity.clone());
                BuiltinReply::new(body)
            }
            ("server/discover", RequestEra::Modern) => {
                let mut body = self.self_description();
                body.insert("supportedVersions".to_owned(), json!([MODERN_REVISION]));
                // Not cacheable: the embedding program may change its tools.
                BuiltinReply::private(body, 0)
            }
            ("ping", RequestEra::Legacy) => BuiltinReply::new(Map::new()),
            ("tools/list", _) => {
                request.refuse_cursor()?;
                let tools = self.tools.iter().map(|tool| tool.definition.clone()).collect();
                BuiltinReply::private(single_member("tools", tools), 0)
            }
            ("tools/call", _) => {
                let name = request.text("name")?;
                let tool = self.tools.iter().find(|tool| tool.name == name);
                let tool = tool.ok_or_else(|| BuiltinRpcError::invalid_params("unknown tool"))?;
                let working = (tool.run)(Value::Object(request.arguments()?));
                BuiltinReply::new(to_tool_result(working.await).into_body())
            }
            _ => return Err(BuiltinRpcError::unknown_method(method)),
        };
        serde_json::to_string(&reply.into_result(request.era, &self.identity)).map_err(|problem| {
            BuiltinRpcError::internal(format!("cannot serialize the result: {problem}"))
        })
    }

    fn self_description(&self) -> Map<String, Value> {
        let mut body = single_member("capabilities", json!({"tools": {}}));
        if let Some(text) = &self.instructions {
            body.insert("instructions".to_owned(), json!(text));
        }
        body
    }
}

fn to_tool_result(given: Result<Value, String>) -> ToolResult {
    match given {
        Ok(Value::String(text)) => ToolResult::text(text),
        // The text too: clients of older revisions do not read structured content.
        Ok(object @ Value::Object(_)) => {
            ToolResult::text(object.to_string()).with_structured(object)
        }
        Ok(other) => ToolResult::text(other.to_string()),
        Err(why) => ToolResult::from_refusal(&ToolRefusal::new(why)),
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        f.debug_struct("InProcess")
            .field("identity", &self.identity)
            .field("tools", &tools)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::InProcess;

    fn server() -> InProcess {
        let schema = json!({"type": "object"});
        InProcess::new("own", "1.2")
            .with_instructions("Be kind.")
            .with_tool("give", "Gives it back.", schema.clone(), |given| async move {
                Ok(given["it"].clone())
            })
            .with_tool("fail", "Fails.", schema, |_| async { Err("on fire".to_owned()) })
    }

    async fn ask(method: &str, params: Value) -> Value {
        let answer = server().answer(method, Some(&params.to_string())).await;
        match answer {
            Ok(text) => serde_json::from_str(&text).unwrap(),
            Err(error) => json!(error.code),
        }
    }

    #[tokio::test]
    async fn a_server_of_the_program_introduces_itself_in_both_eras() {
        assert_eq!(
            ask("initialize", json!({"protocolVersion": "2025-06-18"})).await,
            json!({
                "capabilities": {"tools": {}}, "instructions": "Be kind.",
                "protocolVersion": "2025-06-18", "serverInfo": {"name": "own", "version": "1.2"},
            })
        );
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let told = ask("server/discover", json!({"_meta": meta})).await;
        assert_eq!(told["supportedVersions"], json!(["2026-07-28"]));
        assert_eq!(
            told["_meta"]["io.modelcontextprotocol/serverInfo"],
            json!({"name": "own", "version": "1.2"})
        );
        assert_eq!(ask("resources/list", json!({})).await, json!(-32601));
    }

    #[tokio::test]
    async fn what_a_function_gives_is_the_result_of_its_tool() {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        for (it, expected) in [
            (json!("a"), json!({"content": text("a"), "isError": false})),
            (json!([1]), json!({"content": text("[1]"), "isError": false})),
            (
                json!({"a": 1}),
                json!({"content": text(r#"{"a":1}"#), "isError": false, "structuredContent": {"a": 1}}),
            ),
        ] {
            let params = json!({"name": "give", "arguments": {"it": it}});
            assert_eq!(ask("tools/call", params).await, expected);
        }
        assert_eq!(
            ask("tools/call", json!({"name": "fail"})).await,
            json!({"content": text("on fire"), "isError": true})
        );
        assert_eq!(ask("tools/call", json!({"name": "gone"})).await, json!(-32602));
    }
}
