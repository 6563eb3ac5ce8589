//! Attacks on a person at the console, in a real browser; a test's name begins with its rows in the
//! list of attacks.

use serde_json::{Value, json};

use crate::console_browser::browse;
use crate::serve_client::ServingGateway;
use crate::switchboard::{Switchboard, fixture};
use crate::told_server;

/// A picture of a single point.
const POINT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// A drawing that would run a script, in base64.
const DRAWING: &str = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjxzY3JpcHQ+YWxlcnQoMSk8L3NjcmlwdD48L3N2Zz4=";

/// Answers as a server whose every text tries to be more than text.
fn says(method: &str, params: &Value) -> Result<Value, String> {
    let markup = "<img src=x onerror=alert(1)><script>alert(2)</script>";
    let schema = json!({"type": "object", "properties": {markup: {
        "type": "string", "title": markup, "description": markup, "enum": [markup]}}});
    let tool = |name: &str| {
        json!({"name": name, "title": markup, "description": format!("{markup} [a](javascript:b)"),
            "inputSchema": schema, "icons": [{"src": "data:text/html,<script>alert(3)</script>"}]})
    };
    let content = |content: Value| Ok(json!({ "content": [content] }));
    match (method, params["name"].as_str().unwrap_or_default()) {
        ("tools/list", _) => Ok(json!({"tools": [tool("linked"), tool("drawn"), tool("drawing")]})),
        ("resources/list", _) => Ok(json!({"resources": [
            {"uri": "told://<script>alert(4)</script>", "name": markup, "description": markup},
        ]})),
        ("tools/call", "linked") => content(json!({"type": "resource_link", "name": markup,
            "uri": "file:///etc/passwd", "description": markup})),
        ("tools/call", "drawn") => {
            content(json!({"type": "image", "mimeType": "image/png", "data": POINT}))
        }
        ("tools/call", "drawing") => {
            content(json!({"type": "image", "mimeType": "image/svg+xml", "data": DRAWING}))
        }
        (other, _) => Err(format!("`{other}` is not known")),
    }
}

fn serve(switchboard: &Switchboard) -> ServingGateway {
    let serving = ServingGateway::start(switchboard, &["--review", "ask"]);
    serving.wait_for_tool(None, "echo__add");
    serving
}

#[test]
fn rs_02_rs_05_rs_08_ux_02_ux_04_ux_08_lb_06_lb_07_what_others_say_is_text_and_fetches_nothing() {
    let switchboard = Switchboard::with(&json!({
        "echo": fixture(&["echo"]),
        "asker": fixture(&["asker"]),
        "told": {"url": told_server::start_whole(says)},
    }));
    let serving = serve(&switchboard);
    serving.wait_for_tool(None, "asker__say");
    let expected = json!({
        "wrong": [],
        "drawn": 1,
        "drawing": 0,
        "message": "<b>bold</b> ⟦U+001B⟧[31mred",
        "visits": [],
    });
    assert_eq!(browse(&serving, "console_attacks", &["text"]), expected);
    let read =
        switchboard.recorded_calls().iter().filter(|call| call.starts_with("resource ")).count();
    assert_eq!(read, 0, "a link in a result is followed by nobody");
}

#[test]
fn ux_06_ux_07_a_call_runs_only_if_its_end_was_seen_and_no_key_or_click_answers_the_next() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let expected = json!({
        "long": ["scroll to the end of the arguments first (20,726 bytes)", true],
        "left": [3, 2, 1],
    });
    assert_eq!(browse(&serve(&switchboard), "console_attacks", &["haste"]), expected);
}

#[test]
fn lb_02_lb_05_lb_08_lb_10_another_page_in_the_same_browser_gets_nothing_and_does_nothing() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let expected = json!({"other": {
        "text": "refused", "json": "refused", "read": "refused", "events": "refused",
        "socket": "refused", "frame": "hidden", "framed": false, "calls": 0,
    }});
    assert_eq!(browse(&serve(&switchboard), "console_attacks", &["other"]), expected);
}
