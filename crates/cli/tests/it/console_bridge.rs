//! The bridge between the console and a tool's app, in a real browser.

use serde_json::{Value, json};

use crate::console_apps;
use crate::console_browser::browse;
use crate::scripted::scripted_home;
use crate::serve_client::ServingGateway;
use crate::told_server;

/// An app with one button per feature of the extension; it notes the result of each.
const PAGE: &str = r#"<!doctype html><html lang="en"><title>app</title><h1>An app</h1>
<p id="said"></p><p id="modes"></p><p id="mode">new</p><p id="context"></p><p id="answer"></p><p id="error"></p>
<script>
let next = 1;
let who = "";
const open = new Map();
const note = (name, text) => { document.getElementById(name).textContent = text; };
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const log = (data) => send({ method: "notifications/message", params: { level: "info", data } });
function ask(method, params) {
  const id = next++;
  send({ id, method, params });
  return new Promise((done) => open.set(id, done));
}
const said = (answer) => (answer.result ? "agreed" : answer.error.message);
const text = (words) => ({ role: "user", content: [{ type: "text", text: words }] });
const todo = {
  grow: async () => note("mode", (await ask("ui/request-display-mode", { mode: "fullscreen" })).result.mode),
  float: async () => note("mode", (await ask("ui/request-display-mode", { mode: "pip" })).result.mode),
  log: () => { for (let line = 0; line < 300; line += 1) log(line ? `line ${line}` : { bold: "<b>first</b>" }); },
  unknown: async () => note("error", (await ask("ui/unheard-of", {})).error.code),
  context: () => ask("ui/update-model-context", { structuredContent: { rows: 3 } }),
  message: async () => { note("answer", "asked"); note("answer", said(await ask("ui/message", text("Sum the rows up.")))); },
  empty: async () => note("answer", said(await ask("ui/message", text(" ")))),
};
for (const [name, act] of Object.entries(todo)) {
  const button = document.createElement("button");
  button.textContent = button.dataset.do = name;
  button.addEventListener("click", act);
  document.body.append(button);
}
addEventListener("message", ({ data }) => {
  if (open.has(data.id)) { open.get(data.id)(data); return; }
  if (data.method === "ui/notifications/tool-input") who = data.params.arguments.who;
  if (data.method === "ui/notifications/tool-result") note("said", who);
  if (data.method === "ui/notifications/host-context-changed" && data.params.displayMode) note("context", data.params.displayMode);
  if (data.method === "ui/resource-teardown" && who !== "stubborn") {
    log(`taken away: ${data.params.reason}`);
    send({ id: data.id, result: {} });
  }
});
ask("ui/initialize", {
  protocolVersion: "2026-01-26", appInfo: { name: "a", version: "1" },
  appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
}).then(({ result }) => {
  note("modes", result.hostContext.availableDisplayModes.join(" "));
  send({ method: "ui/notifications/initialized" });
});
</script>"#;

fn says(method: &str, params: &Value) -> Result<Value, String> {
    let mut said = console_apps::says(method, params)?;
    if method == "resources/read" && params["uri"] == "ui://app/show" {
        said["contents"][0]["text"] = json!(PAGE);
    }
    Ok(said)
}

#[test]
fn an_app_fills_the_screen_logs_speaks_with_consent_and_is_told_of_its_end() {
    let turns = json!([{"expect": ["Sum the rows up."], "text": "I have understood."}]);
    let servers = json!({"mcpServers": {"apps": {"url": told_server::start_whole(says)}}});
    let switchboard = scripted_home(&servers, &turns);
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "apps__show");
    let seen = browse(&serving, "console_bridge", &[]);
    let context = "{\n  \"rows\": 3\n}";
    let expected = json!({
        "screen": ["inline fullscreen", "fullscreen", true, true, false, false],
        "logs": [200, "info: {\"bold\":\"<b>first</b>\"}", "info: line 199", 0],
        "message": [
            context,
            false,
            "Sum the rows up.",
            0,
            format!("Context from the app:\n{context}\n\nSum the rows up."),
        ],
        "ends": ["taken away: another call", "answered", "taken away: closed", "answered", true],
    });
    assert_eq!(seen, expected);
}
