//! Tests of named tokens: created at the command line, required by a running gateway, and the view
//! that they grant.

use serde_json::{Value, json};

use crate::serve_client::{
    Request, ServingGateway, Site, greeting, message, modern, tool_call, until,
};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn two_servers() -> Switchboard {
    Switchboard::with(&json!({"one": fixture(&["echo"]), "two": fixture(&["weather"])}))
}

/// Creates a token and returns its text.
pub(crate) fn token(switchboard: &Switchboard, words: &[&str]) -> String {
    let made = switchboard.run(&[&["tokens", "add"], words].concat()).expect(0).stdout;
    made.trim_end().to_owned()
}

#[test]
fn tokens_are_made_listed_and_taken_back() {
    let switchboard = two_servers();
    let made = switchboard.json(&["tokens", "add", "laptop", "-s", "one", "--expires", "30d"]);
    let text = made["token"].as_str().unwrap();
    assert!(text.starts_with("sb_") && text.len() == 46, "{text}");
    token(&switchboard, &["script", "--tool", "*/get_*", "--tool", "one/echo"]);
    let listed = switchboard.json(&["tokens"]);
    let shown: Vec<Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!([one["name"], one["sees"], one["expired"]]))
        .collect();
    assert_eq!(
        shown,
        [json!(["laptop", ["one/*"], false]), json!(["script", ["*/get_*", "one/echo"], false]),]
    );
    assert!(!listed.to_string().contains(text));
    let days = listed[0]["expiresAt"].as_u64().unwrap() - listed[0]["createdAt"].as_u64().unwrap();
    assert_eq!((days / 86_400, &listed[1]["expiresAt"]), (30, &Value::Null));
    let table = switchboard.run(&["tokens", "list"]).expect(0).stdout;
    assert!(table.starts_with("laptop\tone/*\t"), "{table}");
    switchboard.run(&["tokens", "revoke", "laptop"]).expect(0);
    for (words, message) in [
        (&["revoke", "laptop"][..], "error: no token named `laptop`\n"),
        (&["add", "script"], "error: a token named `script` already exists\n"),
        (&["add", "a b"], "error: invalid token name `a b`\n"),
        (&["add", "x", "--server", "three"], "error: unknown server `three`\n"),
        (&["add", "x", "--tool", "echo"], "error: invalid value 'echo' for"),
        (&["add", "x", "--expires", "soon"], "error: invalid value 'soon' for"),
    ] {
        let ran = switchboard.run(&[&["tokens"], words].concat()).expect(2);
        assert!(ran.stderr.starts_with(message), "{ran:?}");
    }
}

#[test]
fn a_running_gateway_notices_new_tokens_and_those_taken_back() {
    let switchboard = two_servers();
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    let status = |token: &str| serving.send(&modern(Some(token), "tools/list", json!({}))).status;
    assert_eq!(status("sb_wrong"), 401);
    let first = token(&switchboard, &["a"]);
    until(|| status(&first) == 200);
    switchboard.run(&["tokens", "revoke", "a"]).expect(0);
    until(|| status(&first) == 401);
    let second = token(&switchboard, &["a", "--expires", "5s"]);
    until(|| status(&second) == 200);
    until(|| status(&second) == 401);
}

#[test]
fn a_token_shows_and_runs_only_what_it_names_and_the_record_names_it() {
    let switchboard = two_servers();
    let whole = token(&switchboard, &["whole"]);
    let narrow = token(&switchboard, &["narrow", "--tool", "one/e*"]);
    let other = token(&switchboard, &["other", "--server", "two"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&whole), "one__echo");
    serving.wait_for_tool(Some(&other), "two__get_forecast");
    assert_eq!(serving.tools(Some(&narrow)), ["one__echo", "one__environment"]);
    assert!(serving.tools(Some(&other)).iter().all(|name| name.starts_with("two__")));
    let call = |token: &str| {
        let arguments = json!({"text": "hello"});
        serving.send(&tool_call(Some(token), "one__echo", &arguments)).json()
    };
    assert_eq!(call(&narrow)["result"]["content"][0]["text"], "hello");
    let refused = call(&other);
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.starts_with("unknown tool `one__echo`"), "{why}");
    let calls = switchboard.json(&["calls"]);
    let callers: Vec<&Value> =
        calls.as_array().unwrap().iter().map(|call| &call["caller"]).collect();
    assert_eq!(callers, ["client:narrow (tester)"]);
}

#[test]
fn what_a_token_does_not_name_is_not_there_in_any_way_to_ask_for_it() {
    let switchboard = two_servers();
    let whole = token(&switchboard, &["whole"]);
    let narrow = token(&switchboard, &["narrow", "--tool", "two/*"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token", "--tools", "search"]);
    let asked = |token: &str, method: &str, params: Value| {
        serving.ask(Some(token), method, params)["result"].clone()
    };
    let uri = json!({"uri": "test://static-text"});
    until(|| asked(&whole, "resources/read", uri.clone())["contents"].is_array());
    for (method, key) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        assert_ne!(asked(&whole, method, json!({}))[key], json!([]), "{method}");
        assert_eq!(asked(&narrow, method, json!({}))[key], json!([]), "{method}");
    }
    for (method, params) in [
        ("resources/read", uri),
        ("resources/read", json!({"uri": "test://template/1"})),
        ("resources/read", json!({"uri": "file:///etc/hostname"})),
        ("prompts/get", json!({"name": "one__greet", "arguments": {"name": "x"}})),
        ("tools/call", json!({"name": "one__echo", "arguments": {"text": "x"}})),
    ] {
        let refused = serving.ask(Some(&narrow), method, params.clone());
        assert_eq!(refused["error"]["code"], -32_602, "{method} {params} {refused}");
    }
    let own = |tool: &str, arguments: Value| {
        let called = asked(&narrow, "tools/call", json!({"name": tool, "arguments": arguments}));
        called["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    assert!(!own("find_tools", json!({"query": "echo text"})).contains("one__"));
    for tool in ["describe_tool", "call_tool"] {
        let said = own(tool, json!({"name": "one__echo", "arguments": {"text": "x"}}));
        assert!(said.contains("unknown tool `one__echo`"), "{tool}: {said}");
    }
}

#[test]
fn se_02_a_session_belongs_to_the_token_that_opened_it() {
    let switchboard = two_servers();
    let mine = token(&switchboard, &["mine"]);
    let yours = token(&switchboard, &["yours"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    let greeted = serving.send(&greeting().token(&mine));
    let session = greeted.header("mcp-session-id").unwrap();
    // 192 random bits, as text.
    assert_eq!(session.len(), 32);
    let ping = message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let delete = Request::new("DELETE", "/mcp");
    let listen = Request::new("GET", "/mcp").with("Accept", "text/event-stream");
    let within = |request: &Request, session: &str, token: &str| {
        let request = request.clone().with("Mcp-Session-Id", session).token(token);
        serving.send(&request).status
    };
    let guess = "A".repeat(32);
    for request in [&ping, &listen, &delete] {
        assert_eq!(within(request, session, &yours), 404);
        assert_eq!(within(request, &guess, &mine), 404);
    }
    assert_eq!(within(&ping, session, &mine), 200);
    assert_eq!(within(&delete, session, &mine), 204);
    assert_eq!(within(&ping, session, &mine), 404);
}

#[test]
fn what_is_open_ends_when_its_token_is_taken_back() {
    let switchboard = two_servers();
    let gone = token(&switchboard, &["gone"]);
    let stays = token(&switchboard, &["stays"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let listen = |token: &str| {
        let mut events = serving.open(&modern(Some(token), "subscriptions/listen", wanted.clone()));
        assert!(events.line_with("subscriptions/acknowledged").is_some());
        events
    };
    let mut modern_stream = listen(&gone);
    let _other = listen(&stays);
    let greeted = serving.send(&greeting().token(&gone));
    let session = greeted.header("mcp-session-id").unwrap();
    let stream = Request::new("GET", "/mcp").with("Mcp-Session-Id", session).token(&gone);
    let mut legacy_stream = serving.open(&stream);
    assert_eq!(legacy_stream.status, 200);
    switchboard.run(&["tokens", "revoke", "gone"]).expect(0);
    assert_eq!(modern_stream.line_with("no such text"), None);
    assert_eq!(legacy_stream.line_with("no such text"), None);
    assert_eq!(serving.send(&modern(Some(&stays), "tools/list", json!({}))).status, 200);
}

#[test]
fn lb_04_only_this_machine_is_listened_to_unless_callers_prove_who_they_are() {
    let switchboard = two_servers();
    let serving = ServingGateway::start(&switchboard, &[]);
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let here = format!("0100007F:{:04X}", serving.port);
    if !sockets.is_empty() {
        let listening: Vec<&str> = sockets
            .lines()
            .filter(|line| line.contains(&format!(":{:04X} 00000000", serving.port)))
            .collect();
        assert!(listening.len() == 1 && listening[0].contains(&here), "{listening:?}");
    }
    let mut seen = Vec::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let ran = switchboard.run(&["serve", "--listen", address]).expect(2);
        let message = format!("error: other machines can reach `{address}`");
        assert!(ran.stderr.starts_with(&message), "{ran:?}");
        seen.push(transcript(&ran));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 2
    --- stderr
    error: other machines can reach `0.0.0.0:0`, but no token exists
    hint: `switchboard tokens add NAME` creates one; or `--oauth-issuer`, or listen on 127.0.0.1

    exit status 2
    --- stderr
    error: other machines can reach `[::]:0`, but no token exists
    hint: `switchboard tokens add NAME` creates one; or `--oauth-issuer`, or listen on 127.0.0.1
    ");
    let known = token(&switchboard, &["known"]);
    let mut running = switchboard.start(&["serve", "--json", "--listen", "0.0.0.0:0"]);
    let told: Value = serde_json::from_str(&running.first_line()).unwrap();
    let url = told["url"].as_str().unwrap().to_owned();
    let port: u16 = url.rsplit_once(':').unwrap().1.split('/').next().unwrap().parse().unwrap();
    let reached = Site { port };
    assert_eq!(reached.send(&modern(None, "tools/list", json!({}))).status, 401);
    assert_eq!(reached.send(&modern(Some(&known), "tools/list", json!({}))).status, 200);
    running.kill();
}

#[test]
fn lb_03_without_a_token_every_place_is_closed_and_an_address_holds_none() {
    let switchboard = two_servers();
    let known = token(&switchboard, &["known"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    let call = tool_call(None, "one__write", &json!({"key": "x"}));
    for request in [
        call.clone(),
        call.clone().at(&format!("/mcp?token={known}")),
        call.clone().at(&format!("/mcp?access_token={known}")),
        call.clone().with("Cookie", &format!("token={known}")),
        call.clone().with("Authorization", &format!("Basic {known}")),
        call.clone().with("Authorization", &known),
        call.clone().with("Authorization", "Bearer "),
        call.clone().token("sb_wrong").token(&known),
        call.clone().token(&known.to_uppercase()),
        Request::new("GET", "/mcp"),
        Request::new("GET", "/sse"),
        Request::new("DELETE", "/mcp"),
        Request::new("POST", "/messages?session=x"),
        Request::new("GET", "/nowhere"),
        greeting(),
    ] {
        let reply = serving.send(&request);
        assert_eq!(reply.status, 401, "{} {reply:?}", request.text(1));
        assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer "), "{reply:?}");
    }
    assert_eq!(switchboard.recorded_calls(), Vec::<String>::new());
}
