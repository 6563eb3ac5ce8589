//! Tests of a caller's view: it excludes hidden resources, notifications, names and search results.

use serde_json::{Value, json};

use crate::serve_client::{Request, ServingGateway, greeting, modern};
use crate::serve_tokens::token;
use crate::switchboard::{Switchboard, fixture};

#[test]
fn a_view_of_a_template_shows_nothing_else_of_its_server() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let whole = token(&switchboard, &["whole"]);
    let narrow = token(&switchboard, &["narrow", "--tool", "one/test://template/*"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&whole), "one__echo");
    let read = |token: &str, uri: &str| {
        serving.ask(Some(token), "resources/read", json!({"uri": uri}))["error"]["code"].clone()
    };
    let subscribe = |uri: &str| {
        let wanted = json!({"notifications": {"resourceSubscriptions": [uri]}});
        let mut events = serving.open(&modern(Some(&narrow), "subscriptions/listen", wanted));
        events.line_with("acknowledged").unwrap().contains(uri)
    };
    for (uri, is_seen) in [("test://template/1", true), ("test://static-text", false)] {
        assert_eq!(read(&whole, uri), Value::Null, "{uri}");
        let expected = if is_seen { Value::Null } else { json!(-32_602) };
        assert_eq!(read(&narrow, uri), expected, "{uri}");
        assert_eq!(subscribe(uri), is_seen, "{uri}");
    }
}

#[test]
fn nobody_is_told_of_changes_at_a_server_that_it_does_not_see() {
    // Both servers have resources with the same addresses.
    let asker = fixture(&["asker", "--era", "legacy"]);
    let switchboard = Switchboard::with(&json!({"hidden": asker, "seen": asker}));
    let whole = token(&switchboard, &["whole"]);
    let narrow = token(&switchboard, &["narrow", "--server", "seen"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&whole), "hidden__touch");
    serving.wait_for_tool(Some(&whole), "seen__touch");
    let text = "test://static-text";
    let binary = "test://static-binary";
    let listen = |token: &str| {
        let wanted = json!({"notifications": {"resourceSubscriptions": [text, binary]}});
        let mut events = serving.open(&modern(Some(token), "subscriptions/listen", wanted));
        events.line_with("acknowledged").unwrap();
        events
    };
    let mut of_whole = listen(&whole);
    let mut of_narrow = listen(&narrow);
    let touch = |tool: &str, uri: &str| {
        let call = json!({"name": tool, "arguments": {"uri": uri}});
        let touched = serving.ask(Some(&whole), "tools/call", call);
        assert_eq!(touched["result"]["content"][0]["text"], "touched", "{touched}");
    };
    touch("hidden__touch", text);
    let told = of_whole.line_with("resources/updated").unwrap();
    assert!(told.contains(text), "{told}");
    touch("seen__touch", binary);
    // The first notification is about the last change, so the earlier one was filtered out.
    let told = of_narrow.line_with("resources/updated").unwrap();
    assert!(told.contains(binary), "{told}");
}

#[test]
fn who_searches_hears_only_of_what_it_sees_and_finds_all_of_that() {
    // The hidden tools match the query better, and there are many of them.
    let offers = |name: &str, count: usize, words: &str| {
        let tools: Vec<Value> = (0..count)
            .map(|number| {
                let schema = json!({"type": "object"});
                json!({"name": format!("{name}{number}"), "description": words, "inputSchema": schema})
            })
            .collect();
        json!({"tools": tools}).to_string()
    };
    let switchboard = Switchboard::new();
    let many = switchboard.write("many.json", &offers("paint", 300, "Paints walls, paints doors."));
    let words =
        "Sends somebody who knows how to paint, and much more that has nothing to do with it.";
    let few = switchboard.write("few.json", &offers("hire", 1, words));
    let given = |file: &std::path::Path| fixture(&["given", "--offers", file.to_str().unwrap()]);
    switchboard.configure(&json!({"painters": given(&many), "agency": given(&few)}));
    let whole = token(&switchboard, &["whole"]);
    let narrow = token(&switchboard, &["narrow", "--server", "agency"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token", "--tools", "search"]);
    let list = |token: &str| serving.ask(Some(token), "tools/list", json!({})).to_string();
    crate::serve_client::until(|| list(&whole).contains("Searches 307 tools"));
    let listed = list(&narrow);
    assert!(listed.contains("Searches 1 tool of the server agency and"), "{listed}");
    let own = |tool: &str, arguments: Value| {
        let call = json!({"name": tool, "arguments": arguments});
        let answer = serving.ask(Some(&narrow), "tools/call", call);
        let said = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (said, answer["result"]["isError"] == true)
    };
    let (found, is_error) = own("find_tools", json!({"query": "paint", "limit": 100_000}));
    assert!(found.contains("agency__hire0") && !found.contains("painters"), "{found}");
    assert!(!is_error);
    for (tool, arguments, expected) in [
        ("find_tools", json!({}), "`/query` is required but missing"),
        ("find_tools", json!({"query": " "}), "`/query` is required but missing"),
        ("describe_tool", json!({}), "`/name` is required but missing"),
        ("call_tool", json!({"arguments": {}}), "`/name` is required but missing"),
        ("call_tool", json!({"name": "agency__hier0"}), "did you mean `agency__hire0`?"),
    ] {
        let (said, is_error) = own(tool, arguments);
        assert!(is_error && said.contains(expected), "{tool}: {said}");
    }
    let call = json!({"name": "agency__hier0", "arguments": {}});
    let unknown = serving.ask(Some(&narrow), "tools/call", call);
    let why = "unknown tool `agency__hier0`; did you mean `agency__hire0`?";
    assert_eq!(unknown["error"]["message"], why);
}

#[test]
fn nobody_is_told_that_lists_changed_by_what_it_does_not_see() {
    let switchboard = Switchboard::new();
    let entry = |which: &str, fixture_name: &str| {
        let given = json!({"tools": [{"name": fixture_name, "inputSchema": {"type": "object"}}]});
        let file = switchboard.write(&format!("{which}.json"), &given.to_string());
        fixture(&["given", "--offers", file.to_str().unwrap()])
    };
    let seen = entry("seen", "a");
    let hidden = entry("hidden", "b");
    switchboard.configure(&json!({"seen": seen}));
    let whole = token(&switchboard, &["whole"]);
    let narrow = token(&switchboard, &["narrow", "--tool", "seen*/*"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&narrow), "seen__a");
    let listen = |token: &str| {
        let wanted = json!({"notifications": {"toolsListChanged": true}});
        let mut events = serving.open(&modern(Some(token), "subscriptions/listen", wanted));
        events.line_with("acknowledged").unwrap();
        events
    };
    let session = serving.send(&greeting().token(&narrow));
    let id = session.header("mcp-session-id").unwrap().to_owned();
    let stream = Request::new("GET", "/mcp")
        .with("Accept", "text/event-stream")
        .with("Mcp-Session-Id", &id)
        .token(&narrow);
    let mut of_whole = listen(&whole);
    let mut of_narrow = listen(&narrow);
    let mut of_session = serving.open(&stream);
    switchboard.configure(&json!({"seen": seen, "hidden": hidden}));
    serving.wait_for_tool(Some(&whole), "hidden__b");
    of_whole.line_with("tools/list_changed").unwrap();
    // The next change is visible: an earlier notification would have revealed a hidden one.
    let later = entry("later", "c");
    switchboard.configure(&json!({"seen": seen, "hidden": hidden, "seen-later": later}));
    serving.wait_for_tool(Some(&narrow), "seen-later__c");
    for events in [&mut of_narrow, &mut of_session] {
        events.line_with("tools/list_changed").unwrap();
    }
    let wanted = json!({"name": "seen-later__c", "arguments": {}});
    serving.ask(Some(&narrow), "tools/call", wanted);
    switchboard.configure(&json!({"seen": seen}));
    // One notification for the added server and one for the removed one; none for the hidden one.
    for events in [&mut of_narrow, &mut of_session] {
        events.line_with("tools/list_changed").unwrap();
    }
    serving.signal("TERM");
    for mut events in [of_narrow, of_session] {
        assert_eq!(events.line_with("tools/list_changed"), None);
    }
}
