//! The web console over HTTP: signing in, reading, trying, approving.

use std::thread;

use serde_json::json;

use crate::console_person::{Person, between, client_call, link_path, sign_in};
use crate::serve_client::{Request, ServingGateway, until};
use crate::switchboard::{Switchboard, fixture};

fn echo() -> Switchboard {
    Switchboard::with(&json!({"echo": fixture(&["echo"])}))
}

fn ready(person: &Person, server: &str) {
    until(|| person.ask(&format!("servers/{server}"))["state"] == "ready");
}

#[test]
fn a_link_signs_one_browser_in_once_and_a_new_one_comes_in_the_terminal() {
    let switchboard = echo();
    let serving = ServingGateway::start(&switchboard, &[]);
    let stranger = serving.send(&Request::new("GET", "/"));
    assert_eq!(stranger.status, 401);
    assert!(stranger.body.contains("Sign in") && !stranger.body.contains("echo"));
    let link = link_path(&serving.console_link());
    let ahead = Request::new("GET", &link).with("Sec-Purpose", "prefetch;prerender");
    assert_eq!(serving.send(&ahead).status, 204, "a browser that looks ahead does not use it up");
    let cookie = sign_in(&serving, &link);
    let again = serving.send(&Request::new("GET", &link));
    assert_eq!((again.status, again.header("set-cookie")), (401, None));
    let page = serving.send(&Request::new("GET", "/").with("Cookie", &cookie));
    assert!(page.status == 200 && page.body.contains("<h1>Overview</h1>"), "{page:?}");
    let asked = Request::new("POST", "/sign-in/link")
        .with("Origin", &format!("http://127.0.0.1:{}", serving.port));
    let told = serving.send(&asked);
    assert!(told.status == 200 && !told.body.contains("key="), "{told:?}");
    let second = link_path(&serving.console_links(2)[1]);
    assert_ne!(second, link);
    sign_in(&serving, &second);
}

#[test]
fn whoever_signs_out_is_out() {
    let switchboard = echo();
    let person = Person::at(&switchboard, &[]);
    let reply = person.act("sign-out", &json!({}));
    assert!(reply.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(person.get("/servers").status, 401);
}

#[test]
fn every_page_and_every_answer_of_the_api_is_there_and_guarded() {
    let switchboard = echo();
    let person = Person::at(&switchboard, &[]);
    ready(&person, "echo");
    let called = person.call("echo", "echo", &json!({"text": "hi"}));
    let id = called["id"].as_str().unwrap();
    let call = format!("/calls/{id}");
    let api_call = format!("/api/v1/calls/{id}");
    for (path, part) in [
        ("/", "Calls per minute"),
        ("/servers", "/servers/echo"),
        ("/servers/echo", "Restart"),
        ("/tools", "/tools/echo/echo"),
        ("/tools?q=add+numbers&server=echo", "/tools/echo/add"),
        ("/tools/echo/echo", "data-field=\"text\""),
        ("/resources", "Prompts"),
        ("/reviews", "No pending reviews"),
        ("/calls", call.as_str()),
        ("/calls?text=ECH&server=echo&outcome=ok", call.as_str()),
        (call.as_str(), "Timeline"),
        ("/sessions", "No conversations yet"),
        ("/api/v1/overview", "\"waiting\":0"),
        ("/api/v1/servers", "\"state\":\"ready\""),
        ("/api/v1/servers/echo", "\"offered_tools\":["),
        ("/api/v1/tools", "\"name\":\"echo\""),
        ("/api/v1/tools/echo/echo", "\"input_schema\":{"),
        ("/api/v1/resources", "\"prompts\":["),
        ("/api/v1/calls", id),
        (api_call.as_str(), "\"arguments\":{\"text\":\"hi\"}"),
        ("/api/v1/reviews", "[]"),
        ("/api/v1/sessions", "[]"),
        ("/api/v1/openapi.json", "\"/api/v1/overview\""),
    ] {
        let reply = person.get(path);
        assert!(reply.status == 200 && reply.body.contains(part), "{path}: no `{part}` {reply:?}");
        let kind =
            if path.starts_with("/api") { "application/json" } else { "text/html; charset=utf-8" };
        assert_eq!(reply.header("content-type"), Some(kind), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"), "{path}");
    }
    for path in ["/servers/none", "/tools/echo/none", "/calls/999999999", "/calls/x", "/sessions/x"]
    {
        assert_eq!(person.get(path).status, 404, "{path}");
        assert_eq!(person.get(&format!("/api/v1{path}")).status, 404, "{path}");
    }
    assert_eq!(person.get("/calls?outcome=none").status, 422);
}

#[test]
fn calls_come_page_by_page() {
    let switchboard = echo();
    let person = Person::at(&switchboard, &[]);
    ready(&person, "echo");
    for number in 0..3 {
        person.call("echo", "echo", &json!({"text": number.to_string()}));
    }
    let first = person.ask("calls?limit=2");
    let ids = |page: &serde_json::Value| -> Vec<String> {
        let calls = page["calls"].as_array().unwrap().iter();
        calls.map(|call| call["id"].as_str().unwrap().to_owned()).collect()
    };
    let next = first["next"].as_str().unwrap();
    let second = person.ask(&format!("calls?limit=2&before={next}"));
    assert_eq!((ids(&first).len(), ids(&second).len()), (2, 1));
    assert!(second["next"].is_null());
    let page = person.get("/calls?limit=2&text=echo");
    let pages = "<p class=\"pages\"><a class=\"button\" href=\"";
    let older = between(&page.body, pages, "\"").replace("&amp;", "&");
    assert_eq!(older, format!("/calls?before={next}&text=echo&limit=2"));
    assert!(person.get(&older).body.contains(&ids(&second)[0]));
}

#[test]
fn a_tool_is_tried_as_a_person_and_its_result_is_shown_by_kind() {
    let switchboard = echo();
    let person = Person::at(&switchboard, &["--review", "ask"]);
    ready(&person, "echo");
    let called = person.call("echo", "add", &json!({"a": 2, "b": 3}));
    assert_eq!((&called["outcome"], &called["kind"]), (&json!("ok"), &json!("tool")));
    let id = called["id"].as_str().unwrap();
    let recorded = person.ask(&format!("calls/{id}"));
    assert_eq!(
        (&recorded["face"], &recorded["caller"], &recorded["state"]),
        (&json!("console"), &json!("person:person"), &json!("ok"))
    );
    let piece = person.action("tools/echo/echo/call", &json!({"arguments": {"text": "héllo"}}));
    let piece = person.serving.send(&piece.with("Accept", "text/html"));
    assert!(piece.body.contains("<pre class=\"text\" tabindex=\"0\">héllo</pre>"), "{piece:?}");
    let wrong = person.call("echo", "add", &json!({"a": "x"}));
    assert_eq!(wrong["outcome"], "not_sent");
    assert_eq!(person.act("tools/echo/echo/call", &json!([])).status, 422);
}

#[test]
fn a_waiting_call_of_a_client_runs_when_it_is_approved_here_and_not_otherwise() {
    let switchboard = echo();
    let person = Person::at(&switchboard, &["--review", "ask"]);
    ready(&person, "echo");
    let site = *person.serving;
    for (answer, expected) in [
        (json!({"answer": "run"}), "\"text\":\"wanted\""),
        (json!({"answer": "reject", "words": "say please"}), "say please"),
    ] {
        let call = client_call("echo__echo", &json!({"text": "wanted"}));
        let client = thread::spawn(move || site.send(&call));
        until(|| person.ask("reviews").as_array().unwrap().len() == 1);
        let review = person.ask("reviews")[0].clone();
        assert_eq!(review["arguments"], r#"{"text":"wanted"}"#);
        let id = review["id"].as_str().unwrap();
        let page = person.get("/reviews").body;
        assert!(page.contains(&format!("data-review=\"{id}\"")) && page.contains("wanted"));
        let path = format!("reviews/{id}/answer");
        let mut given = answer;
        given["digest"] = json!("00");
        assert_eq!(person.act(&path, &given).status, 409, "an answer to something else");
        given["digest"] = review["digest"].clone();
        let taken = person.act(&path, &given);
        assert_eq!(taken.status, 200, "{taken:?}");
        assert_eq!(person.act(&path, &given).status, 409, "the first answer counts");
        let reply = client.join().unwrap();
        assert!(reply.body.contains(expected), "{reply:?}");
    }
}

#[test]
fn a_server_is_restarted_and_switched_off_and_on() {
    let switchboard = echo();
    let person = Person::at(&switchboard, &[]);
    ready(&person, "echo");
    assert_eq!(person.act("servers/echo/restart", &json!({})).status, 200);
    ready(&person, "echo");
    assert_eq!(person.act("servers/echo/disable", &json!({})).status, 200);
    until(|| person.ask("servers/echo")["state"] == "disabled");
    assert!(switchboard.config_text().contains("\"disabled\""));
    assert!(person.get("/servers/echo").body.contains("/enable\""));
    assert_eq!(person.act("servers/echo/restart", &json!({})).status, 422);
    assert_eq!(person.act("servers/echo/enable", &json!({})).status, 200);
    ready(&person, "echo");
    assert_eq!(person.act("servers/none/restart", &json!({})).status, 404);
    assert_eq!(person.act("servers/builtin/disable", &json!({})).status, 422);
}

#[test]
fn what_happens_is_told_and_goes_on_after_a_break() {
    let switchboard = echo();
    let person = Person::at(&switchboard, &[]);
    ready(&person, "echo");
    let mut events = person.listen(None);
    assert_eq!(events.status, 200);
    assert!(events.line_with("event: hello").is_some());
    person.call("echo", "echo", &json!({"text": "one"}));
    let mut seen = String::new();
    while !seen.contains("call_finished") {
        let id = events.line_with("id: ").unwrap();
        seen = events.line_with("data: ").unwrap();
        seen.push_str(&format!("\n{id}"));
    }
    let (_, last) = seen.rsplit_once("id: ").unwrap();
    let last = last.to_owned();
    drop(events);
    person.call("echo", "add", &json!({"a": 1, "b": 2}));
    let mut again = person.listen(Some(&last));
    let missed = again.line_with("call_finished").unwrap();
    assert!(missed.contains("\"target\":\"add\""), "{missed}");
    let mut unknown = person.listen(Some("other-7"));
    assert!(unknown.line_with("event: all").is_some());
}

#[test]
fn assets_are_fetched_again_only_when_they_differ() {
    let switchboard = echo();
    let serving = ServingGateway::start(&switchboard, &[]);
    for (name, kind) in [
        ("style.css", "text/css; charset=utf-8"),
        ("script.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ] {
        let request = Request::new("GET", &format!("/assets/{name}"));
        let first = serving.send(&request);
        assert_eq!((first.status, first.header("content-type")), (200, Some(kind)));
        let tag = first.header("etag").unwrap().to_owned();
        let second = serving.send(&request.with("If-None-Match", &tag));
        assert_eq!((second.status, second.body.as_str()), (304, ""));
    }
    assert_eq!(serving.send(&Request::new("GET", "/assets/other")).status, 404);
}

#[test]
fn there_is_no_console_where_it_is_not_wanted_or_would_be_open_to_others() {
    let switchboard = echo();
    let without = ServingGateway::start(&switchboard, &["--no-console"]);
    assert_eq!(without.send(&Request::new("GET", "/")).status, 404);
    crate::serve_tokens::token(&switchboard, &["one"]);
    let everywhere = switchboard.start(&["serve", "--json", "--listen", "0.0.0.0:0"]);
    let told: serde_json::Value = serde_json::from_str(&everywhere.first_line()).unwrap();
    assert!(told["console"].is_null(), "{told}");
    everywhere.wait_for_note("so the console is disabled");
}
