//! The gateway as a process, and raw clients of both eras.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::http_client::{Reply, send};
use crate::running::{RunningProcess, TEST_TIMEOUT, poll};
use crate::switchboard::Switchboard;

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const NEWEST_LEGACY: &str = "2025-11-25";

/// A listening gateway, ended on drop.
pub(crate) struct Gateway {
    pub(crate) url: String,
    pub(crate) running: RunningProcess,
}

impl Gateway {
    /// Serves the configured servers with these options.
    pub(crate) fn start(switchboard: &Switchboard, options: &[&str]) -> Self {
        let words = [&["serve", "--listen", "127.0.0.1:0"], options].concat();
        let running = switchboard.start(&words);
        running.wait_for("/mcp\n");
        let said = running.wait_for_line(|line| line.contains("MCP endpoint"));
        let url = said.split_whitespace().last().unwrap().to_owned();
        Self { url, running }
    }

    /// Serves with these options and waits until a tool of that name is listed.
    pub(crate) fn with_tool(switchboard: &Switchboard, options: &[&str], tool: &str) -> Self {
        let gateway = Self::start(switchboard, options);
        gateway.wait_for_tool(tool);
        gateway
    }

    /// Waits until a tool of that name is listed.
    pub(crate) fn wait_for_tool(&self, tool: &str) {
        let client = self.modern();
        let has = || client.names("tools").iter().any(|name| name == tool).then_some(());
        assert!(poll(TEST_TIMEOUT, has).is_some(), "no `{tool}` in {:?}", client.names("tools"));
    }

    pub(crate) fn modern(&self) -> Modern<'_> {
        Modern { url: &self.url, capabilities: json!({}), next: Cell::new(1) }
    }

    pub(crate) fn legacy(&self, revision: &str) -> Legacy<'_> {
        Legacy::open(&self.url, revision, &json!({}))
    }

    /// Returns the address of another path.
    pub(crate) fn place(&self, path: &str) -> String {
        format!("{}{path}", self.url.trim_end_matches("/mcp"))
    }
}

/// A client of the modern era.
pub(crate) struct Modern<'a> {
    url: &'a str,
    pub(crate) capabilities: Value,
    next: Cell<u64>,
}

impl Modern<'_> {
    /// Returns the parameters with the `_meta` of every request of this era.
    pub(crate) fn with_meta(&self, params: &Value) -> Value {
        modern_params(params, &self.capabilities)
    }

    /// Returns the headers that repeat members of a request.
    pub(crate) fn headers(method: &str, params: &Value) -> Vec<(String, String)> {
        let mut headers = vec![
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("MCP-Protocol-Version".to_owned(), MODERN.to_owned()),
            ("Mcp-Method".to_owned(), method.to_owned()),
        ];
        let name = ["name", "uri", "taskId"].iter().find_map(|key| params.get(key)?.as_str());
        headers.extend(name.map(|name| ("Mcp-Name".to_owned(), name.to_owned())));
        headers
    }

    /// Sends a request and returns the answer unread.
    pub(crate) fn send(&self, method: &str, params: &Value) -> Reply {
        let id = self.next.replace(self.next.get() + 1);
        let params = self.with_meta(params);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let headers = Self::headers(method, &params);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        send("POST", self.url, &headers, &body.to_string())
    }

    /// Sends a request and returns the complete answer.
    pub(crate) fn ask(&self, method: &str, params: &Value) -> Value {
        self.send(method, params).messages().pop().expect("there is an answer")
    }

    pub(crate) fn call(&self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    /// Returns the names in a list: `tools` or `prompts`.
    pub(crate) fn names(&self, kind: &str) -> Vec<String> {
        names(&self.ask(&format!("{kind}/list"), &json!({})), kind)
    }
}

/// A client of the legacy era with its session.
pub(crate) struct Legacy<'a> {
    url: &'a str,
    pub(crate) session: String,
    pub(crate) greeting: Value,
    revision: String,
    next: Cell<u64>,
}

impl<'a> Legacy<'a> {
    pub(crate) fn open(url: &'a str, revision: &str, capabilities: &Value) -> Self {
        let mut legacy = Self {
            url,
            session: String::new(),
            greeting: Value::Null,
            revision: revision.to_owned(),
            next: Cell::new(1),
        };
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": {"name": "raw", "version": "0"},
        });
        let reply = legacy.send("initialize", &params);
        legacy.session = reply.header("mcp-session-id").expect("a session is opened").to_owned();
        legacy.greeting = reply.messages().pop().unwrap();
        let agreed = legacy.greeting["result"]["protocolVersion"].as_str();
        legacy.revision = agreed.expect("a revision is agreed on").to_owned();
        legacy.tell("notifications/initialized", &json!({}));
        legacy
    }

    pub(crate) fn headers(&self) -> Vec<(&str, &str)> {
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", &self.revision),
        ];
        if !self.session.is_empty() {
            headers.push(("Mcp-Session-Id", &self.session));
        }
        headers
    }

    pub(crate) fn send(&self, method: &str, params: &Value) -> Reply {
        let id = self.next.replace(self.next.get() + 1);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.post(&body)
    }

    /// Posts any body.
    pub(crate) fn post(&self, body: &Value) -> Reply {
        send("POST", self.url, &self.headers(), &body.to_string())
    }

    pub(crate) fn tell(&self, method: &str, params: &Value) {
        let reply = self.post(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
        assert_eq!(reply.status, 202, "{method}");
    }

    /// Opens the stream of messages that belong to no request.
    pub(crate) fn listen(&self) -> Reply {
        send("GET", self.url, &self.headers(), "")
    }

    pub(crate) fn leave(&self) -> u16 {
        send("DELETE", self.url, &self.headers(), "").status
    }

    pub(crate) fn ask(&self, method: &str, params: &Value) -> Value {
        self.send(method, params).messages().pop().expect("there is an answer")
    }

    pub(crate) fn call(&self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": name, "arguments": arguments}))
    }

    pub(crate) fn names(&self, kind: &str) -> Vec<String> {
        names(&self.ask(&format!("{kind}/list"), &json!({})), kind)
    }
}

/// Returns parameters with the `_meta` of every request of the modern era.
pub(crate) fn modern_params(params: &Value, capabilities: &Value) -> Value {
    let mut params = params.clone();
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "raw", "version": "0"});
    params
}

/// Returns the names in a list.
pub(crate) fn names(answer: &Value, kind: &str) -> Vec<String> {
    let items = answer["result"][kind].as_array();
    let items = items.unwrap_or_else(|| panic!("no list of {kind} in {answer}"));
    items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

/// Returns the text of the first content item of an answer to a call.
pub(crate) fn answer_text(answer: &Value) -> &str {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text in {answer}"))
}
