//! Tests of registries: search, adding and calling a listed server, and entries that are refused.

use serde_json::{Value, json};
use switchboard_testkit::{HttpFixture, RegistryFixture, RegistryMood};

use crate::http_client::send;
#[cfg(target_os = "linux")]
use crate::running::TEST_TIMEOUT;
use crate::scripted::scripted_home;
use crate::serve_client::ServingGateway;
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

const SECRET: &str = "hunter2-hunter2-hunter2";

fn listed_server(name: &str, status: &str, more: &Value) -> Value {
    let mut server =
        json!({"name": name, "version": "1.0.0", "description": format!("about {name}")});
    for (member, value) in more.as_object().unwrap() {
        server[member] = value.clone();
    }
    json!({"server": server, "_meta": {"io.modelcontextprotocol.registry/official": {
        "status": status, "isLatest": true, "statusMessage": format!("it is {status}")}}})
}

fn npm(version: &str, more: &Value) -> Value {
    let mut package = json!({"registryType": "npm", "identifier": "b", "version": version,
        "transport": {"type": "stdio"}});
    for (member, value) in more.as_object().unwrap() {
        package[member] = value.clone();
    }
    json!({"packages": [package]})
}

/// Returns a home whose settings name this registry.
fn home(registry: &RegistryFixture) -> Switchboard {
    let mut switchboard = Switchboard::new();
    switchboard.set("SWITCHBOARD_TOKEN_KEY", "a key of this test");
    switchboard.write_config(&json!({"settings": {"registries": [registry.url]}}).to_string());
    switchboard
}

fn entry(switchboard: &Switchboard, name: &str) -> Value {
    let config: Value = serde_json::from_str(&switchboard.config_text()).unwrap();
    config["mcpServers"][name].clone()
}

#[test]
fn registry_search_and_show_mark_what_is_deprecated_or_deleted() {
    let registry = RegistryFixture::start(&[
        listed_server("a.example/files", "active", &npm("1.0.0", &json!({}))),
        listed_server("b.example/files-old", "deprecated", &npm("latest", &json!({}))),
        listed_server("c.example/files-gone", "deleted", &json!({})),
        listed_server("d.example/mail", "active", &json!({"title": "\u{1b}[31mred"})),
    ]);
    registry.set_page(1);
    let switchboard = home(&registry);
    let found = switchboard.json(&["registry", "search", "files"]);
    let rows: Vec<[&str; 2]> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| ["name", "status"].map(|key| one[key].as_str().unwrap()))
        .collect();
    assert_eq!(
        rows,
        [
            ["a.example/files", "active"],
            ["b.example/files-old", "deprecated"],
            ["c.example/files-gone", "deleted"]
        ]
    );
    let shown = switchboard.run(&["registry", "show", "a.example/files"]).expect(0);
    insta::assert_snapshot!(transcript(&shown), @"
    exit status 0
    --- stdout
    a.example/files 1.0.0 (active)
        it is active
        about a.example/files
        versions 1.0.0

    npm  b 1.0.0
        npx -y b@1.0.0
    ");
    let old = switchboard.run(&["registry", "show", "b.example/files-old"]).expect(0);
    insta::assert_snapshot!(transcript(&old), @"
    exit status 0
    --- stdout
    b.example/files-old 1.0.0 (deprecated)
        it is deprecated
        about b.example/files-old
        versions 1.0.0 (deprecated)

    npm  b latest
        refused: the package `b` has no exact version, only `latest`
    ");
    let escaped = switchboard.run(&["registry", "show", "d.example/mail"]).expect(0);
    assert!(!escaped.stdout.contains('\u{1b}'), "{escaped:?}");
    let unknown = switchboard.run(&["registry", "show", "e.example/none"]).expect(2);
    insta::assert_snapshot!(transcript(&unknown), @"
    exit status 2
    --- stderr
    error: the registry has no server named `e.example/none`
    hint: search by keyword with `switchboard registry search`
    ");
}

#[test]
fn registry_that_cannot_be_reached_is_answered_for_by_the_cache_with_its_age() {
    let registry =
        RegistryFixture::start(&[listed_server("a.example/files", "active", &json!({}))]);
    let switchboard = home(&registry);
    switchboard.run(&["registry", "search", "files"]).expect(0);
    registry.set_mood(RegistryMood::Status(503));
    let kept = switchboard.run(&["registry", "search", "files"]).expect(0);
    insta::assert_snapshot!(transcript(&kept), @"
    exit status 0
    --- stdout
    a.example/files	1.0.0		about a.example/files
    --- stderr
    warning: the registry at `http://127.0.0.1:[port]` cannot be reached; showing cached data, [duration] old
    hint: `switchboard registry show NAME` shows details, `switchboard add NAME` adds it
    ");
    let other = switchboard.run(&["registry", "search", "mail"]).expect(4);
    insta::assert_snapshot!(transcript(&other), @"
    exit status 4
    --- stderr
    error: the registry at `http://127.0.0.1:[port]` responded with HTTP 503
    ");
}

#[test]
fn registry_remote_is_added_and_called_with_its_secret_kept_apart() {
    let server = HttpFixture::start(&["echo", "--transport", "http"]);
    let remote = json!({"remotes": [{"type": "streamable-http", "url": server.url, "headers": [
        {"name": "Authorization", "value": "Bearer {key}",
            "variables": {"key": {"isRequired": true, "isSecret": true}}},
        {"name": "X-Mode", "value": "${HOME}"}]}]});
    let registry = RegistryFixture::start(&[listed_server("a.example/echo", "active", &remote)]);
    let switchboard = home(&registry);
    let asked = switchboard.run(&["add", "a.example/echo", "--yes"]).expect(2);
    insta::assert_snapshot!(transcript(&asked), @"
    exit status 2
    --- stderr
    error: `key` is required but has no value
    hint: set it with `--set key=VALUE`
    ");
    switchboard.write("key.txt", &format!("{SECRET}\n"));
    let add = ["add", "a.example/echo", "--set", "key=@key.txt"];
    let nobody = switchboard.run(&add).expect(5);
    insta::assert_snapshot!(transcript(&nobody), @"
    exit status 5
    --- stderr
    `echo` is at: http://127.0.0.1:[port]/mcp
      Authorization: [redacted]
      X-Mode: $${HOME}
    error: approval needed, but there is no terminal to ask on
    hint: review the entry, then pass `--yes`
    ");
    let dry = switchboard.run(&[&add[..], &["--dry-run"]].concat()).expect(0);
    insta::assert_snapshot!(transcript(&dry), @"
    exit status 0
    --- stderr
    `echo` is at: http://127.0.0.1:[port]/mcp
      Authorization: [redacted]
      X-Mode: $${HOME}
    nothing was added
    ");
    assert_eq!(entry(&switchboard, "echo"), Value::Null);
    let added = switchboard.run(&[&add[..], &["--yes"]].concat()).expect(0);
    assert!(!format!("{added:?}").contains(SECRET), "{added:?}");
    assert_eq!(
        entry(&switchboard, "echo"),
        json!({"type": "http", "url": server.url,
            "headers": {"Authorization": "Bearer ${keyring:key}", "X-Mode": "$${HOME}"}})
    );
    assert_eq!(switchboard.json(&["secrets"]), json!([{"server": "echo", "name": "key"}]));
    let noted = switchboard.json(&["calls", "audit"]);
    let source = format!("version 1.0.0, from {}", registry.url);
    assert_eq!(
        ["event", "server", "name", "detail"].map(|key| &noted[0][key]),
        ["server.added", "echo", "a.example/echo", &source]
    );
    let said = switchboard.run(&["call", "echo", "echo", "text=over the wire"]).expect(0);
    assert_eq!(said.stdout, "over the wire\n");
    let again = switchboard.run(&[&add[..], &["--yes"]].concat()).expect(3);
    insta::assert_snapshot!(transcript(&again), @"
    exit status 3
    --- stderr
    `echo` is at: http://127.0.0.1:[port]/mcp
      Authorization: [redacted]
      X-Mode: $${HOME}
    error: `echo`: a server with this name already exists ([home]/own/config.json)
    hint: `--force` replaces it; `--as NAME` adds it under another name
    ");
}

#[test]
fn registry_packages_are_pinned_and_the_choice_is_the_persons() {
    let both = json!({
        "packages": [
            {"registryType": "npm", "identifier": "@a/b", "version": "1.2.3",
                "environmentVariables": [{"name": "REGION", "default": "eu"}]},
            {"registryType": "oci", "identifier": "docker.io/a/b:1.2.3"}],
        "remotes": [{"type": "sse", "url": "https://b.example/sse"}],
    });
    let registry = RegistryFixture::start(&[listed_server("a.example/b", "active", &both)]);
    let switchboard = home(&registry);
    let several = switchboard.run(&["add", "a.example/b", "--yes"]).expect(2);
    insta::assert_snapshot!(transcript(&several), @"
    exit status 2
    --- stderr
    error: `a.example/b` can be added in 3 ways
    hint: choose one with `--package KIND` or `--remote`
    ");
    let mut seen = Vec::new();
    for (name, choice, expected) in [
        (
            "one",
            &["--package", "npm"][..],
            json!({"command": "npx", "args": ["-y", "@a/b@1.2.3"], "env": {"REGION": "eu"}}),
        ),
        (
            "two",
            &["--package", "oci"],
            json!({"command": "docker", "args": ["run", "-i", "--rm", "docker.io/a/b:1.2.3"]}),
        ),
        ("three", &["--remote"], json!({"type": "sse", "url": "https://b.example/sse"})),
    ] {
        let add = ["add", "a.example/b", "--yes", "--as", name];
        let told = switchboard.run(&[&add[..], choice].concat()).expect(0);
        seen.push(transcript(&told));
        assert_eq!(entry(&switchboard, name), expected);
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 0
    --- stderr
      optional: REGION (default eu)
    `one` runs: npx -y @a/b@1.2.3
      REGION: eu
    added `one` to [home]/own/config.json
    hint: `switchboard doctor one` checks it

    exit status 0
    --- stderr
    `two` runs: docker run -i --rm docker.io/a/b:1.2.3
      note: the image is pinned by a tag, which its owner can move
    added `two` to [home]/own/config.json
    hint: `switchboard doctor two` checks it

    exit status 0
    --- stderr
    `three` is at: https://b.example/sse
    added `three` to [home]/own/config.json
    hint: `switchboard doctor three` checks it
    ");
    let none = switchboard.run(&["add", "a.example/b", "--package", "pypi"]).expect(2);
    insta::assert_snapshot!(transcript(&none), @"
    exit status 2
    --- stderr
    error: `a.example/b` has no `pypi`
    hint: `switchboard registry show a.example/b` lists them
    ");
    let report = switchboard.json(&["add", "a.example/b", "--remote", "--dry-run"]);
    assert_eq!((&report["added"], &report["name"]), (&json!(false), &json!("b")));
}

#[cfg(target_os = "linux")]
#[test]
fn registry_asks_the_person_which_way_and_for_what_is_needed() {
    let ways = json!({"packages": [
        {"registryType": "npm", "identifier": "b", "version": "1.0.0", "environmentVariables": [
            {"name": "KEY", "description": "The key", "isSecret": true, "isRequired": true}]},
        {"registryType": "pypi", "identifier": "b", "version": "1.0.0"}]});
    let registry = RegistryFixture::start(&[listed_server("a.example/b", "deprecated", &ways)]);
    let switchboard = home(&registry);
    let mut running = switchboard.in_terminal(&["add", "a.example/b"]);
    running.wait_for("Which one? [1-2] ");
    running.say("1\n");
    running.wait_for("KEY (required, secret): The key");
    running.wait_for("KEY: ");
    running.say(&format!("{SECRET}\n"));
    running.wait_for("`a.example/b` is deprecated: it is deprecated");
    running.wait_for("`b` runs: npx -y b@1.0.0");
    running.wait_for("Add `b`? [y/N] ");
    assert_eq!(entry(&switchboard, "b"), Value::Null);
    running.say("y\n");
    let ran = running.finish_within(TEST_TIMEOUT).expect(0);
    assert!(!ran.stdout.contains(SECRET), "{ran:?}");
    let expected =
        json!({"command": "npx", "args": ["-y", "b@1.0.0"], "env": {"KEY": "${keyring:KEY}"}});
    assert_eq!(entry(&switchboard, "b"), expected);
    let mut no = switchboard.in_terminal(&["add", "a.example/b", "--package", "pypi", "--as", "c"]);
    no.wait_for("Add `c`? [y/N] ");
    no.say("\n");
    no.finish_within(TEST_TIMEOUT).expect(5);
    assert_eq!(entry(&switchboard, "c"), Value::Null);
}

#[test]
fn registry_entries_that_must_not_run_are_refused_and_nothing_is_written() {
    let preload = json!({"environmentVariables": [{"name": "LD_PRELOAD", "value": "/x.so"}]});
    let shell = json!({"runtimeHint": "bash",
        "runtimeArguments": [{"type": "named", "name": "-c", "value": "touch /x"}]});
    let codes = json!({"packageArguments": [{"type": "positional", "value": "a\u{1b}[2Jb"}]});
    let metadata = json!({"remotes": [{"type": "sse", "url": "http://169.254.169.254/latest"}]});
    let registry = RegistryFixture::start(&[
        listed_server("a.example/gone", "deleted", &npm("1.0.0", &json!({}))),
        listed_server("a.example/latest", "active", &npm("latest", &json!({}))),
        listed_server("a.example/range", "active", &npm("^1.0.0", &json!({}))),
        listed_server("a.example/preload", "active", &npm("1.0.0", &preload)),
        listed_server("a.example/shell", "active", &npm("1.0.0", &shell)),
        listed_server("a.example/codes", "active", &npm("1.0.0", &codes)),
        listed_server("a.example/metadata", "active", &metadata),
    ]);
    let switchboard = home(&registry);
    let before = switchboard.config_text();
    let mut seen = Vec::new();
    for name in ["gone", "latest", "range", "preload", "shell", "codes", "metadata"] {
        let refused = switchboard.run(&["add", &format!("a.example/{name}"), "--yes"]).expect(5);
        seen.push(transcript(&refused));
        assert_eq!(switchboard.config_text(), before, "{name}");
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 5
    --- stderr
    error: `a.example/gone` was deleted from the registry: it is deleted

    exit status 5
    --- stderr
    error: the package `b` has no exact version, only `latest`
    hint: choose a version and add it with `switchboard servers add`

    exit status 5
    --- stderr
    error: the package `b` has no exact version, only `^1.0.0`
    hint: choose a version and add it with `switchboard servers add`

    exit status 5
    --- stderr
    `preload` runs: npx -y b@1.0.0
      LD_PRELOAD: /x.so
      danger: the variable `LD_PRELOAD` can make the server run other code (env:LD_PRELOAD)
    error: `preload` is dangerous: approval needed, but there is no terminal to ask on
    hint: to add it anyway, write the entry yourself with `switchboard servers add`

    exit status 5
    --- stderr
    error: the runner option `-c` is not allowed from a registry
    hint: install it yourself, then run `switchboard servers add`

    exit status 5
    --- stderr
    error: argument 1 contains an invisible character

    exit status 5
    --- stderr
    error: the address leads to a cloud metadata address
    ");
    let nothing = switchboard.run(&["add", "nonsense", "--yes"]).expect(2);
    insta::assert_snapshot!(transcript(&nothing), @"
    exit status 2
    --- stderr
    error: `nonsense` is neither a registry name, nor a bundle, nor a known server
    hint: `switchboard registry search WORDS` finds names; `switchboard servers add NAME -- COMMAND` adds any command
    ");
}

#[test]
fn registry_of_the_organisation_is_not_passed_over_when_it_cannot_be_reached() {
    let own = RegistryFixture::start(&[]);
    let public = RegistryFixture::start(&[listed_server(
        "a.example/b",
        "active",
        &npm("1.0.0", &json!({})),
    )]);
    let switchboard = Switchboard::new();
    let settings = json!({"settings": {"registries": [own.url, public.url]}});
    switchboard.write_config(&settings.to_string());
    switchboard.run(&["add", "a.example/b", "--dry-run"]).expect(0);
    own.set_mood(RegistryMood::Status(500));
    let asked = public.requests().len();
    switchboard.run(&["add", "a.example/b", "--dry-run"]).expect(4);
    assert_eq!(public.requests().len(), asked);
}

#[test]
fn registry_served_by_us_lists_what_is_allowed_and_no_value() {
    let mut ours = Switchboard::with(&json!({
        "echo": fixture(&["echo"]),
        "tool": {"command": "npx", "args": ["-y", "@a/b@1.2.3", "--key", SECRET], "env": {"TOKEN": SECRET}, "disabled": false},
        "off": {"command": "uvx", "args": ["x@1.0.0"], "disabled": true},
        "web": {"url": format!("http://127.0.0.1:9/mcp?key={SECRET}"), "headers": {"X-Key": SECRET}},
    }));
    ours.set("PATH", "/nonexistent");
    let serving = ServingGateway::start(&ours, &["--registry", "--no-console"]);
    let base = format!("http://127.0.0.1:{}", serving.port);
    let url = format!("{base}/v0.1/servers?limit=2");
    let answer = send("GET", &url, &[], "");
    assert_eq!(answer.status, 200);
    let text = answer.text();
    assert!(!text.contains(SECRET), "{text}");
    let page: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(page["metadata"], json!({"count": 2, "nextCursor": "local.switchboard/tool"}));
    for headers in [&[("Origin", "https://evil.example")][..], &[("Host", "evil.example")]] {
        assert_eq!(send("GET", &url, headers, "").status, 403, "{headers:?}");
    }
    assert_eq!(send("GET", &format!("{base}/v0.1/none"), &[], "").status, 404);
    // A client in another home finds the servers there and can add one.
    let theirs = Switchboard::new();
    let found = theirs.json(&["registry", "search", "local", "--registry", &base]);
    let names: Vec<&str> =
        found.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["local.switchboard/echo", "local.switchboard/tool", "local.switchboard/web"]
    );
    let add = [
        "add", "local.switchboard/tool", "--registry", &base, "--yes", "--set", "TOKEN=t", "--set",
        "key=k",
    ];
    let mut theirs = theirs;
    theirs.set("SWITCHBOARD_TOKEN_KEY", "a key of this test");
    theirs.run(&add).expect(0);
    assert_eq!(
        entry(&theirs, "tool"),
        json!({"command": "npx", "args": ["-y", "@a/b@1.2.3", "--key", "k"], "env": {"TOKEN": "${keyring:TOKEN}"}})
    );
}

#[test]
fn registry_served_by_us_asks_for_a_token_where_one_is_needed() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let token = switchboard.json(&["tokens", "add", "me"])["token"].as_str().unwrap().to_owned();
    let serving =
        ServingGateway::start(&switchboard, &["--registry", "--require-token", "--no-console"]);
    let url = format!("http://127.0.0.1:{}/v0.1/servers", serving.port);
    assert_eq!(send("GET", &url, &[], "").status, 401);
    let bearer = format!("Bearer {token}");
    assert_eq!(send("GET", &url, &[("Authorization", &bearer)], "").status, 200);
    let without = ServingGateway::start(&switchboard, &["--no-console"]);
    let url = format!("http://127.0.0.1:{}/v0.1/servers", without.port);
    assert_eq!(send("GET", &url, &[], "").status, 404);
}

#[test]
fn registry_of_known_servers_gives_one_hint_for_an_address_that_nobody_serves() {
    let turns = json!([{"text": "hello"}, {"text": "hello"}]);
    let plain = scripted_home(&json!({}), &turns);
    let said =
        plain.run(&["run", "look at https://github.com/a/b and https://linear.app/c"]).expect(0);
    assert_eq!(said.stderr.matches("hint: ").count(), 1, "{said:?}");
    insta::assert_snapshot!(transcript(&said), @"
    exit status 0
    --- stdout
    hello
    --- stderr
    hint: GitHub has a server for github.com: `switchboard add github`
    session [session]
    ");
    let lookalike = plain.run(&["run", "look at https://evil-github.com/a"]).expect(0);
    assert!(!lookalike.stderr.contains("hint: "), "{lookalike:?}");
    let entry = json!({"url": "https://api.githubcopilot.com/mcp/", "disabled": true});
    let served = scripted_home(&json!({"mcpServers": {"code": entry}}), &turns);
    let said = served.run(&["run", "look at https://github.com/a/b"]).expect(0);
    assert!(!said.stderr.contains("hint: "), "{said:?}");
    let known = plain.json(&["registry", "known", "https://gist.github.com/x"]);
    assert_eq!(known[0]["endpoint"], "https://api.githubcopilot.com/mcp/");
}

#[test]
fn registry_of_known_servers_can_be_replaced_by_a_file() {
    let server = HttpFixture::start(&["echo", "--transport", "http"]);
    let switchboard = Switchboard::new();
    let list = json!({"servers": [{"domains": ["tools.example"], "info": {
        "name": "Our Tools", "description": "ours", "endpoint": server.url, "is_featured": true}}]});
    let file = switchboard.write("known.json", &list.to_string());
    switchboard.write_config(&json!({"settings": {"knownServers": file}}).to_string());
    let known = switchboard.json(&["registry", "known"]);
    assert_eq!(known.as_array().unwrap().len(), 1);
    switchboard.run(&["add", "our-tools", "--yes"]).expect(0);
    let said = switchboard.run(&["call", "our-tools", "echo", "text=known"]).expect(0);
    assert_eq!(said.stdout, "known\n");
}
