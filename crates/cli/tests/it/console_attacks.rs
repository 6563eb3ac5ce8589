//! Attacks on the web console; a test's name begins with its row in the list of attacks.

use serde_json::{Value, json};

use crate::console_person::{Person, link_path};
use crate::serve_client::{Request, ServingGateway, message, until};
use crate::switchboard::{Switchboard, fixture};

const TEXT: &str = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>";

/// The pages and the readable paths of the API.
const LOOKED_AT: &[&str] = &[
    "/",
    "/servers",
    "/servers/one",
    "/tools",
    "/tools/one/echo",
    "/resources",
    "/prompts/one/x",
    "/calls",
    "/calls/1",
    "/reviews",
    "/sessions",
    "/sessions/x",
    "/add-server",
    "/servers/one/edit",
    "/policy",
    "/api/v1/openapi.json",
    "/api/v1/overview",
    "/api/v1/servers",
    "/api/v1/servers/one",
    "/api/v1/servers/one/entry",
    "/api/v1/policy",
    "/api/v1/pins",
    "/api/v1/tools",
    "/api/v1/tools/one/echo",
    "/api/v1/catalog/tools",
    "/api/v1/catalog/tools/one/echo",
    "/api/v1/catalog/resources",
    "/api/v1/catalog/prompts",
    "/api/v1/resources",
    "/api/v1/prompts/one/x",
    "/api/v1/calls",
    "/api/v1/calls/1",
    "/api/v1/calls/1/result",
    "/api/v1/calls/1/parts/0",
    "/api/v1/calls/export",
    "/api/v1/reviews",
    "/api/v1/sessions",
    "/api/v1/sessions/x",
    "/api/v1/events",
    "/api/v1/sessions/x/events",
];

/// The paths of the API that perform actions.
const ACTS: &[&str] = &[
    "/api/v1/servers/one/restart",
    "/api/v1/servers/one/enable",
    "/api/v1/servers/one/disable",
    "/api/v1/servers",
    "/api/v1/configurations/read",
    "/api/v1/configurations/installed",
    "/api/v1/configurations/take",
    "/api/v1/registry/search",
    "/api/v1/registry/show",
    "/api/v1/registry/look",
    "/api/v1/registry/add",
    "/api/v1/complete",
    "/api/v1/servers/one/edit",
    "/api/v1/servers/one/remove",
    "/api/v1/servers/one/approve",
    "/api/v1/servers/one/login",
    "/api/v1/servers/one/logout",
    "/api/v1/calls",
    "/api/v1/calls/1/answer",
    "/api/v1/calls/1/give-up",
    "/api/v1/calls/1/again",
    "/api/v1/sessions",
    "/api/v1/sessions/x/say",
    "/api/v1/sessions/x/direct",
    "/api/v1/policy/explain",
    "/api/v1/policy/what-if",
    "/api/v1/pins/approve",
    "/api/v1/pins/revoke",
    "/api/v1/tools/one/write/call",
    "/api/v1/tools/one/echo/app",
    "/api/v1/tools/one/echo/app/call",
    "/api/v1/tools/one/echo/app/read",
    "/api/v1/resources/read",
    "/api/v1/prompts/one/x/get",
    "/api/v1/reviews/x/answer",
    "/api/v1/sign-out",
];

/// Returns every request that the API's own document describes, and the pages.
fn every_place() -> Vec<Request> {
    let get = LOOKED_AT.iter().map(|path| Request::new("GET", path));
    let post = ACTS.iter().map(|path| {
        Request::new("POST", path).with("Content-Type", "application/json").body(&json!({}))
    });
    get.chain(post).collect()
}

/// Returns requests to public paths; their `Host` and `Origin` headers are checked as well.
fn open_places() -> Vec<Request> {
    vec![
        Request::new("GET", "/assets/style.css"),
        Request::new("GET", "/assets/script.js"),
        Request::new("GET", "/callback?code=x&state=y"),
        Request::new("GET", "/frame/x"),
        Request::new("POST", "/sign-in/link"),
        Request::new("PUT", "/servers"),
    ]
}

fn traced_console() -> (Switchboard, Person) {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    switchboard.configure(&json!({"one": fixture(&["echo", "--trace", &trace])}));
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/one")["state"] == "ready");
    (switchboard, person)
}

fn calls_that_arrived(switchboard: &Switchboard) -> usize {
    let heard = std::fs::read_to_string(switchboard.path("trace")).unwrap_or_default();
    heard.lines().filter(|line| line.contains("tools/call")).count()
}

fn with_session(person: &Person, request: Request) -> Request {
    let cookie = person.request("GET", "/").text(1);
    let cookie = cookie.lines().find_map(|line| line.strip_prefix("Cookie: ")).unwrap().to_owned();
    request.with("Cookie", &cookie).with("X-Switchboard-Token", &person.token)
}

#[test]
fn lb_01_the_console_is_refused_under_another_host_everywhere() {
    let (switchboard, person) = traced_console();
    for request in every_place().into_iter().chain(open_places()) {
        let request = with_session(&person, request).with("Host", "evil.example");
        assert_eq!(person.serving.send(&request).status, 403, "{}", request.text(1));
    }
    assert_eq!(calls_that_arrived(&switchboard), 0);
}

#[test]
fn lb_02_a_page_of_another_origin_gets_nothing_from_the_console() {
    let (switchboard, person) = traced_console();
    // Another port of this machine is another origin, too.
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost:8808"] {
        for request in every_place().into_iter().chain(open_places()) {
            let request = with_session(&person, request).with("Origin", origin);
            assert_eq!(person.serving.send(&request).status, 403, "{}", request.text(1));
        }
    }
    let fetched = with_session(&person, Request::new("GET", "/api/v1/calls"));
    let fetched = fetched.with("Sec-Fetch-Site", "same-site").with("Sec-Fetch-Mode", "no-cors");
    assert_eq!(person.serving.send(&fetched).status, 403);
    assert_eq!(calls_that_arrived(&switchboard), 0);
}

#[test]
fn lb_03_without_a_session_everything_is_closed_and_no_token_in_an_address_opens_it() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let known = crate::serve_tokens::token(&switchboard, &["known"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    let key = link_path(&serving.console_link()).replace("/?key=", "");
    for request in every_place() {
        let reply = serving.send(&request);
        assert_eq!(reply.status, 401, "{}", request.text(1));
        assert!(!reply.body.contains("echo"), "{reply:?}");
        let bearer = request.clone().token(&known);
        assert_eq!(serving.send(&bearer).status, 401, "a client's token is no person's");
    }
    for path in [
        format!("/servers?key={key}"),
        format!("/api/v1/servers?key={key}"),
        format!("/?token={known}"),
        format!("/api/v1/servers?token={known}"),
        "/?key=".to_owned(),
        "/?key=wrong".to_owned(),
    ] {
        let reply = serving.send(&Request::new("GET", &path));
        assert_eq!((reply.status, reply.header("set-cookie")), (401, None), "{path}");
    }
    let link = serving.send(&Request::new("GET", &format!("/?key={key}")));
    assert!(!link.body.contains(&key), "the key is not in what comes after it");
}

#[test]
fn the_cookie_of_the_console_does_not_open_the_gateway() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    crate::serve_tokens::token(&switchboard, &["known"]);
    let person = Person::at(&switchboard, &["--require-token"]);
    let ping = message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(person.serving.send(&with_session(&person, ping)).status, 401);
}

#[test]
fn lb_05_what_any_page_can_post_has_no_effect_on_the_console() {
    let (switchboard, person) = traced_console();
    let call = Request::new("POST", "/api/v1/tools/one/write/call")
        .body(&json!({"arguments": {"key": "x"}}));
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    {
        let request = with_session(&person, call.clone().with("Content-Type", kind));
        assert_eq!(person.serving.send(&request).status, 415, "{kind}");
    }
    assert_eq!(person.serving.send(&with_session(&person, call.clone())).status, 415);
    let json = call.with("Content-Type", "application/json");
    let bare = with_session(&person, json).without("X-Switchboard-Token");
    for request in [bare.clone(), bare.with("X-Switchboard-Token", "another")] {
        assert_eq!(person.serving.send(&request).status, 403, "{}", request.text(1));
    }
    assert_eq!(calls_that_arrived(&switchboard), 0);
}

#[test]
fn lb_06_what_servers_and_callers_say_is_text_wherever_it_is_shown() {
    let switchboard = Switchboard::with(&json!({
        "one": fixture(&["echo"]),
        "hostile": fixture(&["hostile", "--only", "bidi,escapes"]),
        "broken": {"command": TEXT, "args": [TEXT]},
    }));
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/hostile")["state"] == "ready");
    until(|| person.ask("servers/one")["state"] == "ready");
    until(|| person.ask("servers/broken")["reason"].is_string());
    let called = person.call("one", "echo", &json!({"text": TEXT}));
    let call = format!("/calls/{}", called["id"].as_str().unwrap());
    let action = person.action("tools/one/echo/call", &json!({"arguments": {"text": TEXT}}));
    let piece = person.serving.send(&action.with("Accept", "text/html")).body;
    let pages = ["/", "/servers", "/servers/broken", "/servers/hostile", "/tools", "/calls", &call];
    let shown = pages.iter().map(|path| person.get(path).body).chain([piece]);
    for page in shown {
        assert!(!page.contains("<img src=x") && !page.contains("<script>alert"), "{page}");
        assert!(!page.contains("href=\"javascript:") && !page.contains("style=\""), "{page}");
        let odd = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(&c)
        };
        assert_eq!(page.find(odd), None, "{page}");
    }
    let policy = person.get("/").header("content-security-policy").unwrap().to_owned();
    for part in ["default-src 'none'", "script-src 'self';", "style-src 'self';", "base-uri 'none'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"));
}

#[test]
fn lb_08_nobody_puts_a_frame_around_the_console() {
    let (_switchboard, person) = traced_console();
    for path in ["/", "/servers", "/assets/style.css", "/api/v1/overview", "/servers/none"] {
        let reply = person.get(path);
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{path} {policy}");
        assert_eq!(reply.header("x-frame-options"), Some("DENY"), "{path}");
    }
    let stranger = person.serving.send(&Request::new("GET", "/"));
    assert!(stranger.header("content-security-policy").is_some());
}

#[test]
fn lb_09_hosts_that_only_look_like_ours_do_not_open_the_console() {
    let (_switchboard, person) = traced_console();
    let local = format!("127.0.0.1:{}", person.serving.port);
    let page = with_session(&person, Request::new("GET", "/"));
    for request in [
        page.clone().with("Host", &format!("{local}.evil.example")),
        page.clone().with("Host", "localhost."),
        page.clone().with("Host", &format!("localhost:+{}", person.serving.port)),
        page.clone().with("Host", &format!("0.0.0.0:{}", person.serving.port)),
        page.clone().with("Host", &local).with("Host", "evil.example"),
        page.clone()
            .with("Host", &local)
            .at(&format!("http://evil.example:{}/", person.serving.port)),
    ] {
        let status = person.serving.send(&request).status;
        assert!([400, 403].contains(&status), "{status} {}", request.text(1));
    }
}

#[test]
fn lb_10_a_stream_of_events_needs_more_than_a_cookie() {
    let (_switchboard, person) = traced_console();
    let stream = with_session(&person, Request::new("GET", "/api/v1/events"));
    let cookie_only = stream.clone().without("X-Switchboard-Token");
    assert_eq!(person.serving.send(&cookie_only).status, 403);
    let foreign = stream.clone().with("Origin", "https://evil.example");
    assert_eq!(person.serving.send(&foreign).status, 403);
    let stranger = stream.clone().without("Cookie");
    assert_eq!(person.serving.send(&stranger).status, 401);
    assert_eq!(person.serving.open(&stream).status, 200);
}

#[test]
fn every_route_of_the_api_is_among_those_that_are_attacked() {
    let (_switchboard, person) = traced_console();
    let document = person.ask("openapi.json");
    let attacked: Vec<String> = every_place().iter().map(|request| request.text(1)).collect();
    let paths: &Value = &document["paths"];
    for (path, methods) in paths.as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let parts: Vec<&str> = path.split('/').collect();
            let is_it = |text: &String| {
                let mut words = text.split(' ');
                let verb = words.next().unwrap();
                let at = words.next().unwrap();
                let at: Vec<&str> = at.split('/').collect();
                verb.eq_ignore_ascii_case(method)
                    && at.len() == parts.len()
                    && parts.iter().zip(&at).all(|(a, b)| a.starts_with('{') || a == b)
            };
            assert!(attacked.iter().any(is_it), "{method} {path} is not attacked");
        }
    }
}
