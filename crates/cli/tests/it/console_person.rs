//! A person at the web console, with requests as a browser would send them.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::console_described::ApiDescription;
use crate::serve_client::{Events, Reply, Request, ServingGateway, Site, tool_call};
use crate::switchboard::Switchboard;

/// A console with a signed-in person.
pub(crate) struct Person {
    pub(crate) serving: ServingGateway,
    cookie: String,
    pub(crate) token: String,
    described: OnceLock<ApiDescription>,
}

impl Person {
    /// Starts `serve` with these arguments and signs in with its link.
    pub(crate) fn at(switchboard: &Switchboard, arguments: &[&str]) -> Self {
        let serving = ServingGateway::start(switchboard, arguments);
        let cookie = sign_in(&serving, &link_path(&serving.console_link()));
        let page = serving.send(&Request::new("GET", "/").with("Cookie", &cookie));
        assert_eq!(page.status, 200, "{page:?}");
        let token = between(&page.body, r#"<meta name="token" content=""#, "\"").to_owned();
        Self { serving, cookie, token, described: OnceLock::new() }
    }

    /// Returns a request of a signed-in page.
    pub(crate) fn request(&self, verb: &str, path: &str) -> Request {
        Request::new(verb, path).with("Cookie", &self.cookie)
    }

    /// Returns the API's description of itself.
    pub(crate) fn api_description(&self) -> &ApiDescription {
        self.described.get_or_init(|| {
            let request = self.request("GET", "/api/v1/openapi.json");
            ApiDescription::new(self.serving.send(&request).json())
        })
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        let reply = self.serving.send(&self.request("GET", path));
        if path.starts_with("/api/v1") && reply.status != 401 {
            let kind = reply.header("content-type").unwrap_or_default();
            self.api_description().check("GET", path, reply.status, kind, &reply.body);
        }
        reply
    }

    /// Returns the API's answer to a `GET`.
    pub(crate) fn ask(&self, path: &str) -> Value {
        let reply = self.get(&format!("/api/v1/{path}"));
        assert_eq!(reply.status, 200, "{path} {reply:?}");
        reply.json()
    }

    /// Returns a request that performs an action, as the page's script sends it.
    pub(crate) fn action(&self, path: &str, body: &Value) -> Request {
        self.request("POST", &format!("/api/v1/{path}"))
            .with("Content-Type", "application/json")
            .with("Origin", &format!("http://127.0.0.1:{}", self.serving.port))
            .with("X-Switchboard-Token", &self.token)
            .body(body)
    }

    pub(crate) fn act(&self, path: &str, body: &Value) -> Reply {
        // Before the action: it may sign the person out, and then the description is refused.
        let described = self.api_description();
        let reply = self.serving.send(&self.action(path, body));
        let kind = reply.header("content-type").unwrap_or_default();
        let path = format!("/api/v1/{path}");
        described.check("POST", &path, reply.status, kind, &reply.body);
        reply
    }

    pub(crate) fn call(&self, server: &str, tool: &str, arguments: &Value) -> Value {
        let reply =
            self.act(&format!("tools/{server}/{tool}/call"), &json!({"arguments": arguments}));
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// Opens the stream of events, from this moment or after an event.
    pub(crate) fn listen(&self, last: Option<&str>) -> Events {
        let mut request =
            self.request("GET", "/api/v1/events").with("X-Switchboard-Token", &self.token);
        if let Some(last) = last {
            request = request.with("Last-Event-ID", last);
        }
        self.serving.open(&request)
    }
}

/// Returns a call of a tool by a client that cannot ask its own person.
pub(crate) fn client_call(tool: &str, arguments: &Value) -> Request {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    tool_call(None, tool, arguments).body(&body)
}

/// Opens a link and returns the cookie as a browser sends it back.
pub(crate) fn sign_in(site: &Site, path: &str) -> String {
    let reply = site.send(&Request::new("GET", path));
    assert_eq!(reply.status, 200, "{reply:?}");
    let cookie = reply.header("set-cookie").unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

/// Returns the path and the query of a link.
pub(crate) fn link_path(link: &str) -> String {
    let (_, rest) = link.split_once("://").unwrap();
    rest.split_once('/').map(|(_, path)| format!("/{path}")).unwrap()
}

pub(crate) fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no `{start}` in {text}"));
    rest.split_once(end).unwrap().0
}
