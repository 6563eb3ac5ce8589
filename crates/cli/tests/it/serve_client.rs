//! `switchboard serve` in a separate process, and a plain HTTP client that sends arbitrary
//! requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::running::{Ran, RunningProcess, TEST_TIMEOUT};
use crate::switchboard::Switchboard;

/// A running gateway; killed when the value is dropped.
pub(crate) struct ServingGateway {
    pub(crate) running: RunningProcess,
    site: Site,
}

/// Address of a listener on this machine.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    pub(crate) port: u16,
}

impl std::ops::Deref for ServingGateway {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

impl ServingGateway {
    /// Starts the gateway on a free port with these arguments, and waits until it listens.
    pub(crate) fn start(switchboard: &Switchboard, arguments: &[&str]) -> Self {
        let fixed = ["serve", "--json", "--listen", "127.0.0.1:0"];
        Self::from_running(switchboard.start(&[&fixed, arguments].concat()))
    }

    /// Takes over a running `serve --json`, and waits until it listens.
    pub(crate) fn from_running(running: RunningProcess) -> Self {
        let site = Site::from_line(&running.first_line());
        Self { running, site }
    }

    /// Returns the sign-in link of the console from standard error.
    pub(crate) fn console_link(&self) -> String {
        self.console_links(1).remove(0)
    }

    /// Waits until standard error contains `count` sign-in links, and returns them.
    pub(crate) fn console_links(&self, count: usize) -> Vec<String> {
        let found = self.running.wait_for_error(|so_far| {
            let whole = so_far.rsplit_once('\n').map(|(whole, _)| whole)?;
            let links = whole.lines().filter_map(|line| line.strip_prefix("console: "));
            let links: Vec<String> = links.map(str::to_owned).collect();
            (links.len() >= count).then_some(links)
        });
        found.expect("a link is shown")
    }

    /// Waits for a line on standard error with this beginning.
    pub(crate) fn wait_for_error(&self, beginning: &str) -> String {
        let whole = |so_far: &str| {
            let lines = so_far.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
            lines.map(str::to_owned).find(|line| line.starts_with(beginning))
        };
        self.running.wait_for_error(whole).expect("it is said before it ends")
    }

    pub(crate) fn signal(&self, name: &str) {
        self.running.signal(name);
    }

    pub(crate) fn finish(self) -> Ran {
        self.running.finish_within(TEST_TIMEOUT)
    }
}

impl Site {
    /// Parses the address from a gateway's JSON line.
    pub(crate) fn from_line(line: &str) -> Self {
        let told: Value = serde_json::from_str(line).unwrap();
        let url = told["url"].as_str().unwrap();
        let port = url.strip_prefix("http://127.0.0.1:").and_then(|rest| rest.split('/').next());
        Self { port: port.unwrap().parse().unwrap() }
    }

    /// Waits until a caller's tool list contains this tool.
    pub(crate) fn wait_for_tool(&self, token: Option<&str>, name: &str) {
        until(|| self.tools(token).iter().any(|tool| tool == name));
    }

    /// Returns the names in a caller's tool list.
    pub(crate) fn tools(&self, token: Option<&str>) -> Vec<String> {
        let listed = self.ask(token, "tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Opens a connection to the gateway.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        stream
    }

    /// Sends a request and reads the whole response.
    pub(crate) fn send(&self, request: &Request) -> Reply {
        let mut stream = self.connect();
        // A gateway that refuses early may not read the whole request.
        _ = stream.write_all(request.text(self.port).as_bytes());
        Reply::read(stream)
    }

    /// Sends a request and returns the response as it arrives.
    pub(crate) fn open(&self, request: &Request) -> Events {
        let mut stream = self.connect();
        stream.write_all(request.text(self.port).as_bytes()).unwrap();
        Events::new(stream)
    }

    /// Returns the result of a modern request, or its error.
    pub(crate) fn ask(&self, token: Option<&str>, method: &str, params: Value) -> Value {
        self.send(&modern(token, method, params)).json()
    }
}

/// An HTTP request to send.
#[derive(Clone)]
pub(crate) struct Request {
    verb: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    pub(crate) fn new(verb: &str, path: &str) -> Self {
        let verb = verb.to_owned();
        let path = path.to_owned();
        Self { verb, path, headers: Vec::new(), body: String::new() }
    }

    /// Adds a header; `Host` is written unless one is given.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.with("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn at(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self
    }

    pub(crate) fn body(mut self, body: &Value) -> Self {
        self.body = body.to_string();
        self
    }

    /// Sets a body that need not be JSON.
    pub(crate) fn raw_body(mut self, body: String) -> Self {
        self.body = body;
        self
    }

    pub(crate) fn body_text(&self) -> &str {
        &self.body
    }

    /// Returns the `_meta` of the body.
    pub(crate) fn meta(&self) -> Value {
        let body: Value = serde_json::from_str(&self.body).unwrap();
        body["params"]["_meta"].clone()
    }

    pub(crate) fn text(&self, port: u16) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.verb, self.path);
        let has =
            |name: &str| self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        if !has("host") {
            text += &format!("Host: 127.0.0.1:{port}\r\n");
        }
        if !has("connection") {
            text += "Connection: close\r\n";
        }
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        if !has("content-length") {
            text += &format!("Content-Length: {}\r\n", self.body.len());
        }
        text + "\r\n" + &self.body
    }
}

/// Returns a POST of a JSON message to `/mcp`.
pub(crate) fn message(body: &Value) -> Request {
    Request::new("POST", "/mcp")
        .with("Content-Type", "application/json")
        .with("Accept", "application/json, text/event-stream")
        .body(body)
}

/// Returns a complete request of revision 2026-07-28 with the id 1.
pub(crate) fn modern(token: Option<&str>, method: &str, params: Value) -> Request {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut request =
        message(&body).with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", method);
    if let Some(name) = name {
        request = request.with("Mcp-Name", &name);
    }
    match token {
        Some(token) => request.token(token),
        None => request,
    }
}

/// Returns a call of a tool with revision 2026-07-28.
pub(crate) fn tool_call(token: Option<&str>, tool: &str, arguments: &Value) -> Request {
    modern(token, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// Returns the `initialize` request of a legacy client.
pub(crate) fn greeting() -> Request {
    message(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tester", "version": "1"},
    }}))
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    fn read(stream: TcpStream) -> Self {
        let mut events = Events::new(stream);
        let body = events.rest();
        Self { status: events.status, headers: events.headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Parses the body as JSON; of an event stream, the last event.
    pub(crate) fn json(&self) -> Value {
        let last = self.body.lines().rev().find_map(|line| line.strip_prefix("data: "));
        let text = last.unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|cause| panic!("no JSON ({cause}): {self:?}"))
    }
}

/// A response that is read as it arrives.
pub(crate) struct Events {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    reader: BufReader<TcpStream>,
}

impl Events {
    fn new(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        // A connection that was closed without a response has no status.
        _ = reader.read_line(&mut line);
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let mut headers = Vec::new();
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                break;
            }
            let (name, value) = line.split_once(':').unwrap();
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        Self { status, headers, reader }
    }

    /// Returns the next line that contains a text; `None` if the response ends first.
    pub(crate) fn line_with(&mut self, text: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.contains(text) {
                return Some(line.trim_end().to_owned());
            }
        }
    }

    /// Reads up to the end, without the marks between chunks.
    fn rest(&mut self) -> String {
        let mut text = Vec::new();
        // A reset connection has no further data.
        _ = self.reader.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let chunked = self.headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("transfer-encoding") && value == "chunked"
        });
        if chunked { without_chunks(&text) } else { text }
    }
}

fn without_chunks(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        let Some(chunk) = after.get(..size).filter(|chunk| !chunk.is_empty()) else { break };
        out.push_str(chunk);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    out
}

/// Waits until a condition holds.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    let happened = crate::running::poll(Duration::from_secs(10), || is_so().then_some(()));
    assert!(happened.is_some(), "it did not happen within ten seconds");
}
