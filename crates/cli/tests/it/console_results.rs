//! Results in the web console by kind: Markdown, trees, tables, pictures, sounds, files.

use serde_json::{Value, json};

use crate::console_person::Person;
use crate::serve_client::until;
use crate::switchboard::Switchboard;
use crate::told_server;

/// The beginning of a sound file, recognizable by its bytes.
const WAVE: &str = "UklGRiQAAABXQVZFZm10IA==";
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

fn says(method: &str, params: &Value) -> Result<Value, String> {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    match method {
        "tools/list" => Ok(json!({"tools": [{"name": "give", "inputSchema": {
            "type": "object", "properties": {"kind": {"type": "string"}}}}]})),
        "resources/list" => {
            Ok(json!({"resources": [{"uri": "file:///notes/read.md", "name": "notes"}]}))
        }
        "resources/read" => Ok(json!({"contents": [{"uri": params["uri"],
            "text": "# Notes\n\n<script>alert(1)</script>\n\n[here](https://evil.example)"}]})),
        "tools/call" => Ok(match params["arguments"]["kind"].as_str().unwrap_or_default() {
            "markdown" => {
                text("# Title\n\n- one **bold**\n- two\n\n![x](https://evil.example/p.png)")
            }
            "tree" => json!({"content": [], "structuredContent": {"z": 1, "a": {"deep": [true]}}}),
            "table" => text(r#"[{"name":"a","tags":["x"]},{"name":"b","tags":[]}]"#),
            "sound" => json!({"content": [{"type": "audio", "mimeType": "audio/wav", "data": WAVE},
                {"type": "audio", "mimeType": "audio/wav", "data": "PGh0bWw+"}]}),
            "file" => {
                json!({"content": [{"type": "image", "mimeType": "image/png", "data": PICTURE},
                {"type": "resource", "resource": {"uri": "file:///a/b.bin", "blob": "AAEC"}}]})
            }
            other => text(other),
        }),
        other => Err(format!("`{other}` is not known")),
    }
}

fn ready() -> (Switchboard, Person) {
    let switchboard = Switchboard::with(&json!({"kinds": {"url": told_server::start_whole(says)}}));
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/kinds")["state"] == "ready");
    (switchboard, person)
}

fn piece(person: &Person, path: &str, body: &Value) -> String {
    let reply = person.serving.send(&person.action(path, body).with("Accept", "text/html"));
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.body
}

#[test]
fn a_result_is_shown_as_what_it_is() {
    let (_switchboard, person) = ready();
    for (kind, parts) in [
        (
            "markdown",
            &["<h4>Title</h4>", "<strong>bold</strong>", "https://evil.example/p.png"][..],
        ),
        ("tree", &["<div class=\"tree\">", "<span class=\"key-name\">deep</span>"]),
        ("table", &["<th>name</th>", "<code>[&quot;x&quot;]</code>"]),
        ("sound", &["<audio controls", "data:audio/wav;base64,", "not played"]),
        ("file", &["<img class=\"picture\" src=\"data:image/png;base64,", "Binary data, 3 B."]),
        ("plain words", &["<pre class=\"text\" tabindex=\"0\">plain words</pre>"]),
    ] {
        let body = json!({"arguments": {"kind": kind}});
        let shown = piece(&person, "tools/kinds/give/call", &body);
        for part in parts {
            assert!(shown.contains(part), "no `{part}` in {shown}");
        }
        assert!(!shown.contains("src=\"https"), "{shown}");
    }
    let read = json!({"server": "kinds", "uri": "file:///notes/read.md"});
    let shown = piece(&person, "resources/read", &read);
    assert!(shown.contains("<h4>Notes</h4>") && !shown.contains("<script"), "{shown}");
    assert!(!shown.contains("href=\"https"), "{shown}");
    let page = person.get("/");
    let rules = page.header("content-security-policy").unwrap();
    assert!(rules.contains("media-src data:;") && rules.contains("default-src 'none'"), "{rules}");
}

#[test]
fn what_a_call_gave_can_be_downloaded_and_is_never_shown_by_the_browser() {
    let (_switchboard, person) = ready();
    let id = person.call("kinds", "give", &json!({"kind": "file"}))["id"].clone();
    let id = id.as_str().unwrap();
    let page = person.get(&format!("/calls/{id}")).body;
    assert!(page.contains(&format!("/api/v1/calls/{id}/parts/1")), "{page}");
    for (path, kind, name) in [
        (format!("calls/{id}/parts/0"), "application/octet-stream", ".png"),
        (format!("calls/{id}/parts/1"), "application/octet-stream", ".bin"),
        (format!("calls/{id}/result"), "application/json", ".json"),
    ] {
        let reply = person.get(&format!("/api/v1/{path}"));
        assert_eq!((reply.status, reply.header("content-type")), (200, Some(kind)), "{path}");
        let kept = reply.header("content-disposition").unwrap();
        assert!(kept.starts_with("attachment; filename=\"") && kept.contains(name), "{kept}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    }
    for path in [
        format!("calls/{id}/parts/9"),
        "calls/99999/result".to_owned(),
        "calls/x/parts/0".to_owned(),
    ] {
        assert_eq!(person.get(&format!("/api/v1/{path}")).status, 404, "{path}");
    }
}
