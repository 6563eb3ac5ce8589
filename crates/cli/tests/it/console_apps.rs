//! Apps of tools in the web console: a page of the server in a frame of a foreign origin.

use serde_json::{Value, json};

use crate::console_person::{Person, link_path};
use crate::serve_client::{Request, until};
use crate::switchboard::Switchboard;
use crate::told_server;

/// A page that greets, shows the messages it receives, calls a tool, and tries forbidden actions.
pub(crate) const PAGE: &str = r#"<!doctype html><title>app</title><p id="said">nothing yet</p>
<p id="called"></p><p id="tried"></p><script>
let next = 1;
const open = new Map();
function ask(method, params) {
  const id = next++;
  parent.postMessage({ jsonrpc: "2.0", id, method, params }, "*");
  return new Promise((done) => open.set(id, done));
}
addEventListener("message", async ({ data }) => {
  if (open.has(data.id)) { open.get(data.id)(data); return; }
  if (data.method === "ui/notifications/tool-input") document.title = JSON.stringify(data.params);
  if (data.method === "ui/notifications/tool-result") {
    document.getElementById("said").textContent = data.params.content[0].text;
    const called = await ask("tools/call", { name: "other", arguments: {} });
    document.getElementById("called").textContent = called.result?.content[0].text ?? called.error.message;
    parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { height: 222 } }, "*");
  }
});
let tried = "";
try { tried += parent.document.title; } catch { tried += "no parent"; }
try { tried += document.cookie; } catch { tried += ", no cookie"; }
document.getElementById("tried").textContent = tried;
ask("ui/initialize", { protocolVersion: "2026-01-26", appInfo: { name: "a", version: "1" }, appCapabilities: {} })
  .then(() => parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/initialized" }, "*"));
</script>"#;

/// Answers as a server with an app.
pub(crate) fn says(method: &str, params: &Value) -> Result<Value, String> {
    let schema = json!({"type": "object", "properties": {"who": {"type": "string"}}});
    match method {
        "tools/list" => Ok(json!({"tools": [
            {"name": "show", "description": "Shows it.", "inputSchema": schema,
                "_meta": {"ui": {"resourceUri": "ui://app/show"}}},
            {"name": "other", "inputSchema": schema, "annotations": {"readOnlyHint": true}},
            {"name": "hidden", "inputSchema": schema, "_meta": {"ui": {"visibility": ["model"]}}},
        ]})),
        "resources/list" => Ok(json!({"resources": [
            {"uri": "ui://app/show", "name": "page", "mimeType": "text/html;profile=mcp-app"},
            {"uri": "file:///plain", "name": "plain"},
        ]})),
        "resources/read" if params["uri"] == "ui://app/show" => Ok(json!({"contents": [{
            "uri": "ui://app/show", "mimeType": "text/html;profile=mcp-app", "text": PAGE,
            "_meta": {"ui": {"csp": {"connectDomains": ["https://api.example.com"]}}},
        }]})),
        "resources/read" => {
            Ok(json!({"contents": [{"uri": params["uri"], "text": "plain words"}]}))
        }
        "tools/call" => {
            let text = format!("{} for {}", params["name"], params["arguments"]["who"]);
            Ok(json!({"content": [{"type": "text", "text": text}]}))
        }
        other => Err(format!("`{other}` is not known")),
    }
}

#[test]
fn the_page_of_an_app_is_given_once_under_another_name_with_rules_of_its_own() {
    let switchboard = Switchboard::with(&json!({"apps": {"url": told_server::start_whole(says)}}));
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/apps")["state"] == "ready");
    let page = person.get("/tools/apps/show");
    assert!(page.body.contains("Call in its app"), "{page:?}");
    let rules = page.header("content-security-policy").unwrap();
    let port = person.serving.port;
    assert!(rules.ends_with(&format!("frame-src http://localhost:{port} http://127.0.0.1:{port}")));
    assert!(!person.get("/tools/apps/other").body.contains("Call in its app"));
    assert_eq!(person.act("tools/apps/other/app", &json!({})).status, 404);
    let opened = person.act("tools/apps/show/app", &json!({}));
    assert_eq!(opened.status, 200, "{opened:?}");
    let src = opened.json()["src"].as_str().unwrap().to_owned();
    assert!(src.starts_with(&format!("http://localhost:{port}/frame/")), "{src}");
    let fetched = |host: &str| {
        let request = Request::new("GET", &link_path(&src)).with("Host", &format!("{host}:{port}"));
        person
            .serving
            .send(&request.with("Sec-Fetch-Site", "cross-site").with("Sec-Fetch-Mode", "navigate"))
    };
    let frame = fetched("localhost");
    assert_eq!((frame.status, frame.body.as_str()), (200, PAGE));
    let rules = frame.header("content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "sandbox allow-scripts allow-forms",
        "connect-src https://api.example.com;",
        &format!("frame-ancestors http://127.0.0.1:{port}"),
    ] {
        assert!(rules.contains(part), "{rules}");
    }
    assert_eq!(frame.header("x-frame-options"), None);
    assert_eq!(fetched("localhost").status, 404, "it is given once");
    let again = person.act("tools/apps/show/app", &json!({})).json();
    let path = link_path(again["src"].as_str().unwrap());
    assert_eq!(person.get(&path).status, 404, "not where the cookie is");
}

#[test]
fn what_an_app_wants_takes_the_line_of_a_client_and_stays_with_its_server() {
    let switchboard = Switchboard::with(&json!({"apps": {"url": told_server::start_whole(says)}}));
    switchboard.write_policy(
        "user",
        &json!({"rules": [
            {"effect": "allow", "target": "apps/other"},
            {"effect": "allow", "target": "apps/file:///plain"},
            {"effect": "deny", "target": "apps/show"},
        ]}),
    );
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/apps")["state"] == "ready");
    let call = |name: &str| {
        let body = json!({"name": name, "arguments": {"who": "me"}});
        person.act("tools/apps/show/app/call", &body)
    };
    assert_eq!(call("other").json()["content"][0]["text"], "\"other\" for \"me\"");
    assert_eq!(call("hidden").status, 403, "it is not for apps");
    assert_eq!(call("show").status, 502, "the rules say no");
    assert_eq!(call("time_now").status, 404, "another server's tool is no tool of its server");
    let read = person.act("tools/apps/show/app/read", &json!({"uri": "file:///plain"}));
    assert_eq!(read.json()["contents"][0]["text"], "plain words");
    let calls = person.ask("calls?caller=client:app-show&outcome=ok")["calls"].clone();
    assert_eq!(calls.as_array().unwrap().len(), 2, "{calls}");
}
