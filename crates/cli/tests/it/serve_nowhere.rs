//! Tests of requests to paths without an endpoint.

use serde_json::json;

use crate::console_person::Person;
use crate::gateway::Gateway;
use crate::http_client::send;
use crate::serve_client::{Reply, Request, ServingGateway, message};
use crate::serve_tokens::token;
use crate::switchboard::Switchboard;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

fn kind(reply: &Reply) -> (u16, &str) {
    let kind = reply.header("content-type").unwrap_or_default();
    (reply.status, kind.split(';').next().unwrap_or_default())
}

#[test]
fn whoever_is_lost_is_told_in_their_own_language_what_is_served_where() {
    let switchboard = Switchboard::new();
    let person = Person::at(&switchboard, &[]);
    let site = *person.serving;
    let page = site.send(&Request::new("GET", "/nothing/here").with("Accept", BROWSER));
    assert_eq!(kind(&page), (404, "text/html"));
    assert!(page.body.contains("Page not found"), "{page:?}");
    assert!(page.body.contains("/assets/style.css") && page.body.contains("/mcp"), "{page:?}");
    for header in ["content-security-policy", "x-content-type-options", "x-frame-options"] {
        assert!(page.header(header).is_some(), "{header}");
    }
    let plain = site.send(&Request::new("GET", "/nothing").with("Accept", "*/*"));
    assert_eq!(kind(&plain), (404, "text/plain"));
    assert!(plain.body.contains("`/mcp`") && plain.body.contains("console"), "{plain:?}");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (path, status) in [("/MCP", 404), ("/mcp/", 404), ("/", 405)] {
        let reply = site.send(&message(&ping).at(path).with("Accept", "application/json"));
        assert_eq!(kind(&reply), (status, "application/json"), "{path} {reply:?}");
        assert!(reply.json()["error"].to_string().contains("`/mcp`"), "{path} {reply:?}");
    }
    let unknown = person.get("/api/v1/nothing");
    assert_eq!(kind(&unknown), (404, "application/json"));
    assert!(unknown.json()["error"]["hint"].as_str().unwrap().contains("openapi.json"));
    let stranger = site.send(&Request::new("GET", "/api/v1/nothing"));
    assert_eq!(kind(&stranger), (401, "application/json"), "{stranger:?}");
    let otherwise = site.send(&Request::new("PUT", "/api/v1/servers"));
    assert_eq!(kind(&otherwise), (405, "application/json"), "{otherwise:?}");
    assert!(otherwise.json()["error"]["message"].is_string());
}

#[test]
fn a_wrong_host_or_origin_is_refused_where_nothing_is_as_everywhere() {
    let switchboard = Switchboard::new();
    let serving = ServingGateway::start(&switchboard, &[]);
    for (name, value) in [("Host", "evil.example"), ("Origin", "https://evil.example")] {
        for accept in [BROWSER, "application/json"] {
            for path in ["/nothing", "/api/v1/nothing", "/api/nothing"] {
                let request = Request::new("GET", path).with("Accept", accept).with(name, value);
                let reply = serving.send(&request);
                assert_eq!(reply.status, 403, "{path} {name} {reply:?}");
                assert!(!reply.body.contains("/mcp"), "{reply:?}");
            }
        }
    }
}

#[test]
fn without_a_console_there_is_no_page_and_without_proof_nothing_is_told() {
    let switchboard = Switchboard::new();
    let serving = ServingGateway::start(&switchboard, &["--no-console"]);
    let page = serving.send(&Request::new("GET", "/nothing").with("Accept", BROWSER));
    assert_eq!(kind(&page), (404, "text/plain"));
    assert!(page.body.contains("`/mcp`") && !page.body.contains("console"), "{page:?}");
    drop(serving);
    let token = token(&switchboard, &["ada"]);
    let serving = ServingGateway::start(&switchboard, &["--no-console", "--require-token"]);
    let stranger = serving.send(&Request::new("GET", "/nothing"));
    assert_eq!(stranger.status, 401);
    assert!(!stranger.body.contains("/mcp"), "{stranger:?}");
    let known = serving.send(&Request::new("GET", "/nothing").token(&token));
    assert_eq!(known.status, 404);
}

#[test]
fn whoever_asks_in_the_wrong_way_is_told_the_right_ones() {
    let gateway = Gateway::start(&Switchboard::new(), &["--registry"]);
    for (verb, path, allowed) in [
        ("GET", "/mcp", "POST"),
        ("DELETE", "/mcp", "POST"),
        ("PUT", "/mcp", "POST,GET,HEAD,DELETE"),
        ("POST", "/sse", "GET,HEAD"),
        ("GET", "/messages", "POST"),
        ("PUT", "/.well-known/oauth-protected-resource", "GET,HEAD"),
        ("PUT", "/.well-known/oauth-protected-resource/mcp", "GET,HEAD"),
        ("PUT", "/v0.1/servers", "GET,HEAD"),
    ] {
        let kind = ("Content-Type", "application/json");
        let reply = send(verb, &gateway.place(path), &[kind], "");
        assert_eq!((reply.status, reply.header("allow")), (405, Some(allowed)), "{verb} {path}");
        // A rejected client does not learn the allowed methods.
        for foreign in [("Host", "evil.example"), ("Origin", "https://evil.example")] {
            let reply = send(verb, &gateway.place(path), &[kind, foreign], "");
            assert_eq!((reply.status, reply.header("allow")), (403, None), "{verb} {path}");
        }
    }
}
