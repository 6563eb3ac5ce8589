//! A server of revision 2026-07-28 in threads of a test, with answers that the test decides.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

/// Answer to a method with its parameters: a result, or the text of an error.
pub(crate) type Says = fn(&str, &Value) -> Result<Value, String>;

/// Starts the server and returns its address. The server ends with the test process.
pub(crate) fn start(says: Says) -> String {
    start_with(says, Lists::Usual)
}

/// Starts a server whose lists come from the test as well.
pub(crate) fn start_whole(says: Says) -> String {
    start_with(says, Lists::Told)
}

/// The source of the server's lists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lists {
    /// One tool and two templates.
    Usual,
    /// The test's answers.
    Told,
}

fn start_with(says: Says, lists: Lists) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, says, lists));
        }
    });
    url
}

fn answer(mut stream: TcpStream, says: Says, lists: Lists) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    let mut length = 0;
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = asked["method"].as_str().unwrap_or_default();
    let (status, body) = match (asked.get("id"), result(method, &asked["params"], says, lists)) {
        (None, _) => ("202 Accepted", String::new()),
        (Some(id), Ok(result)) => {
            ("200 OK", json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
        }
        (Some(id), Err(text)) => {
            let error = json!({"code": -32_000, "message": text});
            ("200 OK", json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
        }
    };
    let kind = "Content-Type: application/json\r\nConnection: close";
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}").ok()
}

fn result(method: &str, params: &Value, says: Says, lists: Lists) -> Result<Value, String> {
    let mut result = match method {
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "resources": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "told", "version": "1"}},
        }),
        "resources/templates/list" => json!({
            "resourceTemplates": [
                {"uriTemplate": "file:///{+path}", "name": "files"},
                {"uriTemplate": "told://{+path}", "name": "told"},
            ],
        }),
        "tools/list" | "resources/list" if lists == Lists::Told => says(method, params)?,
        "resources/list" => json!({"resources": []}),
        "prompts/list" => json!({"prompts": []}),
        "tools/list" => json!({"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}),
        _ => says(method, params)?,
    };
    result["resultType"] = json!("complete");
    Ok(result)
}
