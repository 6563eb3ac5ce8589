//! Tests of a server of revision 2026-07-28 with unusual metadata, as the gateway forwards it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::serve_client::ServingGateway;
use crate::serve_tokens::token;
use crate::switchboard::Switchboard;

/// A server in threads of the test, which end with the test process.
struct OddServer {
    url: String,
    /// The received methods, and the headers that repeat arguments.
    heard: Arc<Mutex<Vec<String>>>,
}

impl OddServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let into = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let into = Arc::clone(&into);
                std::thread::spawn(move || answer(stream, &into));
            }
        });
        Self { url, heard }
    }

    fn request_count(&self, method: &str) -> usize {
        self.heard.lock().unwrap().iter().filter(|known| *known == method).count()
    }
}

fn answer(mut stream: TcpStream, heard: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    let mut length = 0;
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.to_ascii_lowercase().starts_with("mcp-param-") {
            heard.lock().unwrap().push(line.trim().to_ascii_lowercase());
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = asked["method"].as_str().unwrap_or_default();
    heard.lock().unwrap().push(method.to_owned());
    let (status, body) = match (result(method), asked.get("id")) {
        (Some(result), Some(id)) => {
            ("200 OK", json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
        }
        (None, Some(id)) => {
            let error = json!({"code": -32_601, "message": "there is no such method"});
            ("404 Not Found", json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
        }
        (_, None) => ("405 Method Not Allowed", String::new()),
    };
    let kind = "Content-Type: application/json\r\nConnection: close";
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}").ok()
}

fn result(method: &str) -> Option<Value> {
    let mut result = match method {
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "resources": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "odd", "version": "1"}},
        }),
        "tools/list" => json!({"tools": tools()}),
        "resources/list" => json!({"resources": [{"uri": "odd://mine", "name": "mine"}]}),
        "resources/templates/list" => json!({"resourceTemplates": []}),
        "prompts/list" => json!({"prompts": []}),
        "resources/read" => json!({"contents": [{"uri": "odd://mine", "text": "what is yours"}]}),
        _ => return None,
    };
    result["resultType"] = json!("complete");
    result["cacheScope"] = json!("public");
    result["ttlMs"] = json!(1_000_000_000_000_000_u64);
    Some(result)
}

fn tools() -> Vec<Value> {
    let tool = |name: &str, properties: Value| {
        let schema = json!({"type": "object", "properties": properties});
        json!({"name": name, "inputSchema": schema})
    };
    let marked = |header: &str| json!({"type": "string", "x-mcp-header": header});
    vec![
        tool("good", json!({"region": marked("Region"), "api_key": marked("Key")})),
        tool("line_break", json!({"a": marked("Foo\r\nX-Evil")})),
        tool("items", json!({"a": {"type": "array", "items": marked("A")}})),
        tool("twice", json!({"a": marked("Same"), "b": marked("sAME")})),
        tool("plain", json!({})),
    ]
}

#[test]
fn hd_03_a_secret_is_repeated_in_a_header_only_if_the_operator_says_so() {
    for (consent, expected) in [(json!([]), 0), (json!(["api_key"]), 1)] {
        let odd = OddServer::start();
        let entry = json!({"url": odd.url, "mirrorSecrets": consent});
        let switchboard = Switchboard::with(&json!({"odd": entry}));
        switchboard.run(&["call", "odd", "good", "region=eu", "api_key=s3cret"]);
        assert_eq!(odd.request_count("mcp-param-region: eu"), 1);
        assert_eq!(odd.request_count("mcp-param-key: s3cret"), expected);
        assert_eq!(crate::given::scan_findings(&switchboard), ["tool good: ask"]);
    }
}

#[test]
fn hd_04_tools_with_headers_that_cannot_be_are_left_out_and_the_others_stay() {
    let odd = OddServer::start();
    let switchboard = Switchboard::with(&json!({"odd": {"url": odd.url}}));
    let serving = ServingGateway::start(&switchboard, &["--server", "odd"]);
    serving.wait_for_tool(None, "odd__plain");
    assert_eq!(serving.tools(None), ["odd__good", "odd__plain"]);
    let told = switchboard.run(&["doctor", "odd"]).stdout;
    for name in ["line_break", "items", "twice"] {
        let reason = format!("left out: tools: `{name}` cannot be called over HTTP: ");
        assert!(told.contains(&reason), "{told}");
    }
}

#[test]
fn se_05_what_a_server_calls_public_is_not_kept_for_the_next_caller() {
    let odd = OddServer::start();
    let switchboard = Switchboard::with(&json!({"odd": {"url": odd.url}}));
    let tokens = ["a", "b"].map(|name| token(&switchboard, &[name]));
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&tokens[0]), "odd__plain");
    for (place, known) in tokens.iter().enumerate() {
        let read = serving.ask(Some(known), "resources/read", json!({"uri": "odd://mine"}));
        assert_eq!(read["result"]["contents"][0]["text"], "what is yours", "{read}");
        assert_eq!(odd.request_count("resources/read"), place + 1);
    }
}

#[test]
fn hd_07_what_a_server_says_of_keeping_is_within_reason_when_it_arrives() {
    let odd = OddServer::start();
    let switchboard = Switchboard::with(&json!({"odd": {"url": odd.url}}));
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "odd__plain");
    let read = serving.ask(None, "resources/read", json!({"uri": "odd://mine"}));
    assert_eq!(read["result"]["ttlMs"], 24 * 60 * 60 * 1_000);
    let listed = serving.ask(None, "tools/list", json!({}));
    assert_eq!(listed["result"]["ttlMs"], 10_000);
}
