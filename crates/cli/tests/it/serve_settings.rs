//! Tests of `settings.gateway`: the defaults of `serve` without flags.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::serve_client::{ServingGateway, message, modern};
use crate::serve_oauth::{AUDIENCE, Issuer};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn with(gateway: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    configure(&switchboard, gateway);
    switchboard
}

fn configure(switchboard: &Switchboard, gateway: &Value) {
    let config = json!({
        "mcpServers": {"one": fixture(&["echo"]), "two": fixture(&["weather"])},
        "settings": {"gateway": gateway},
    });
    switchboard.write_config(&config.to_string());
}

#[test]
fn settings_hold_where_no_flag_says_otherwise() {
    let switchboard = with(&json!({
        "servers": ["one"], "names": "plain", "tools": "all", "maxBodyBytes": 2_048,
        "allowHosts": ["tools.example"], "requireToken": false,
    }));
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "echo");
    assert!(serving.tools(None).iter().all(|name| !name.contains("__")));
    let long = message(&json!({"text": "x".repeat(3_000)}));
    assert_eq!(serving.send(&long).status, 413);
    let list = || modern(None, "tools/list", json!({}));
    assert_eq!(serving.send(&list().with("Host", "tools.example")).status, 200);
    drop(serving);
    let flags = ["--server", "two", "--names", "server", "--max-body", "8192"];
    let hosts = ["--allow-host", "other.example"];
    let serving = ServingGateway::start(&switchboard, &[&flags[..], &hosts].concat());
    serving.wait_for_tool(None, "two__get_forecast");
    assert!(serving.tools(None).iter().all(|name| name.starts_with("two__")));
    assert_ne!(serving.send(&long).status, 413);
    assert_eq!(serving.send(&list().with("Host", "tools.example")).status, 403);
    assert_eq!(serving.send(&list().with("Host", "other.example")).status, 200);
}

#[test]
fn the_address_and_the_limits_of_the_settings_count() {
    // A free port; another process could take it in between, but that is rare.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let switchboard = with(&json!({
        "listen": format!("127.0.0.1:{port}"), "maxRate": 1, "requireToken": true,
    }));
    let running = switchboard.start(&["serve", "--json"]);
    assert!(running.first_line().contains(&format!("127.0.0.1:{port}/mcp")));
    let site = crate::serve_client::Site { port };
    assert_eq!(site.send(&modern(None, "tools/list", json!({}))).status, 401);
    configure(&switchboard, &json!({"listen": "0.0.0.0:0"}));
    let refused = switchboard.run(&["serve"]).expect(2);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 2
    --- stderr
    error: other machines can reach `0.0.0.0:0`, but no token exists
    hint: `switchboard tokens add NAME` creates one; or `--oauth-issuer`, or listen on 127.0.0.1
    ");
}

#[test]
fn a_mistake_in_the_settings_is_no_open_door() {
    let mut seen = Vec::new();
    for gateway in [
        json!({"requireToken": "yes"}),
        json!({"requireTokens": true}),
        json!({"listen": "localhost"}),
        json!({"maxRate": 0}),
        json!({"oauth": {"issuer": "https://a.example"}}),
        json!({"views": {"ada": ["one"]}}),
        json!([]),
    ] {
        let refused = with(&gateway).run(&["serve", "--listen", "127.0.0.1:0"]).expect(3);
        seen.push(transcript(&refused));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @r#"
    exit status 3
    --- stderr
    warning: `settings.gateway.requireToken` must be true or false, not a string ([home]/own/config.json:1)
    hint: write it without quotes
    error: `settings.gateway.requireToken` must be true or false, not a string ([home]/own/config.json:1)
    hint: write it without quotes

    exit status 3
    --- stderr
    warning: `settings.gateway.requireTokens` is not known ([home]/own/config.json:1)
    hint: did you mean `requireToken`?
    error: `settings.gateway.requireTokens` is not known ([home]/own/config.json:1)
    hint: did you mean `requireToken`?

    exit status 3
    --- stderr
    warning: `settings.gateway.listen` must be an address and a port ([home]/own/config.json:1)
    hint: such as `127.0.0.1:[port]`
    error: `settings.gateway.listen` must be an address and a port ([home]/own/config.json:1)
    hint: such as `127.0.0.1:[port]`

    exit status 3
    --- stderr
    warning: `settings.gateway.maxRate` must be a whole number from 1 to 1000000, not 0 ([home]/own/config.json:1)
    hint: use a value in this range, or remove the key
    error: `settings.gateway.maxRate` must be a whole number from 1 to 1000000, not 0 ([home]/own/config.json:1)
    hint: use a value in this range, or remove the key

    exit status 3
    --- stderr
    warning: `settings.gateway.oauth` needs an `issuer` and an `audience` ([home]/own/config.json:1)
    error: `settings.gateway.oauth` needs an `issuer` and an `audience` ([home]/own/config.json:1)

    exit status 3
    --- stderr
    warning: `settings.gateway.views` has the invalid key `ada` ([home]/own/config.json:1)
    hint: use `subject:NAME`, `client:NAME`, `scope:NAME`, or `*` for all others
    error: `settings.gateway.views` has the invalid key `ada` ([home]/own/config.json:1)
    hint: use `subject:NAME`, `client:NAME`, `scope:NAME`, or `*` for all others

    exit status 3
    --- stderr
    warning: `settings.gateway` must be an object, not a list ([home]/own/config.json:1)
    hint: write `{"name": "value"}`
    error: `settings.gateway` must be an object, not a list ([home]/own/config.json:1)
    hint: write `{"name": "value"}`
    "#);
    let switchboard = Switchboard::new();
    for text in [r#"{"settings": {"gateway": {"requireToken": true}}"#, r#"{"settings": 3}"#] {
        switchboard.write_config(text);
        switchboard.run(&["serve", "--listen", "127.0.0.1:0"]).expect(3);
    }
}

#[test]
fn a_project_changes_nothing_about_the_gateway() {
    let switchboard = with(&json!({"requireToken": true}));
    let wide = json!({"settings": {"gateway": {
        "requireToken": false, "listen": "0.0.0.0:8808", "allowOrigins": ["https://evil.example"],
    }}});
    switchboard.write("switchboard.json", &wide.to_string());
    let serving = ServingGateway::start(&switchboard, &[]);
    assert_eq!(serving.send(&modern(None, "tools/list", json!({}))).status, 401);
    serving.signal("TERM");
    let told = serving.finish().stderr;
    assert!(told.contains("`settings.gateway` cannot be widened by a project"), "{told}");
    // A broken project setting has no effect either.
    switchboard.write("switchboard.json", r#"{"settings": {"gateway": 3}}"#);
    let serving = ServingGateway::start(&switchboard, &[]);
    assert_eq!(serving.send(&modern(None, "tools/list", json!({}))).status, 401);
}

#[test]
fn who_comes_with_a_token_of_the_issuer_sees_what_the_views_say() {
    let issuer = Issuer::start();
    let switchboard = with(&json!({
        "oauth": {"issuer": issuer.url, "audience": AUDIENCE, "scopes": ["tools"]},
        "views": {
            "subject:ada": ["one/e*"], "client:ci": ["two"], "scope:all": ["*"],
            "subject:eve": [],
        },
    }));
    let serving = ServingGateway::start(&switchboard, &[]);
    let token = |changes: Value| issuer.token(&changes);
    let all = token(json!({"sub": "root", "scope": "tools all"}));
    serving.wait_for_tool(Some(&all), "one__echo");
    serving.wait_for_tool(Some(&all), "two__get_forecast");
    let ada = token(json!({}));
    assert_eq!(serving.tools(Some(&ada)), ["one__echo", "one__environment"]);
    let both = serving.tools(Some(&token(json!({"client_id": "ci"}))));
    assert!(both.contains(&"one__echo".to_owned()));
    assert!(
        both.contains(&"two__get_forecast".to_owned()) && !both.contains(&"one__add".to_owned())
    );
    for nobody in [json!({"sub": "bob"}), json!({"sub": "eve"}), json!({"sub": "ci"})] {
        let refused = serving.send(&modern(Some(&token(nobody)), "tools/list", json!({})));
        assert_eq!(refused.status, 403, "{refused:?}");
    }
    // A session that was opened with a wider token rejects a narrower one.
    let wide = token(json!({"scope": "tools all"}));
    let opened = serving.send(&crate::serve_client::greeting().token(&wide));
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let status = |token: &str| {
        serving.send(&message(&list).token(token).with("Mcp-Session-Id", &session)).status
    };
    assert_eq!((status(&wide), status(&ada)), (200, 404));
}
