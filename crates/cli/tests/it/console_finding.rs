//! Servers that the web console finds: in a text of any product, on this machine, in a registry.

use serde_json::{Value, json};
use switchboard_testkit::RegistryFixture;

use crate::console_person::Person;
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};

fn summary(looked: &Value) -> Vec<Value> {
    let servers = looked["servers"].as_array().unwrap().iter();
    servers
        .map(|one| json!([one["name"], one["source"]["product"], one["needless"].is_string()]))
        .collect()
}

fn state(person: &Person, server: &str) -> Value {
    let found = person.ask("servers");
    let rows = found.as_array().unwrap();
    rows.iter().find(|row| row["name"] == server).map_or(Value::Null, |row| row["state"].clone())
}

#[test]
fn a_text_of_any_product_is_understood_and_says_what_cannot_be_taken() {
    let switchboard = Switchboard::new();
    let person = Person::at(&switchboard, &[]);
    let look = |text: &str, product: &str| {
        person.act("configurations/read", &json!({"text": text, "product": product}))
    };
    for (text, product, expected) in [
        ("[mcp_servers.one]\ncommand = \"a\"", "", json!(["one", "Codex", false])),
        (
            "extensions:\n  two:\n    name: two\n    type: stdio\n    cmd: a\n    enabled: true\n",
            "",
            json!(["two", "Goose", false]),
        ),
        (
            r#"{"servers": {"three": {"command": "a", "env": {"K": "${input:key}"}}}}"#,
            "",
            json!(["three", "VS Code", false]),
        ),
        (r#"{"context_servers": {"four": {"command": "a"}}}"#, "", json!(["four", "Zed", false])),
        (r#"{"mcpServers": {"five": {"command": "a"}}}"#, "", json!(["five", null, false])),
        (r#"{"mcpServers": {"six": {"command": "a"}}}"#, "cursor", json!(["six", "Cursor", false])),
    ] {
        let looked = look(text, product);
        assert_eq!(looked.status, 200, "{text} {looked:?}");
        assert_eq!(summary(&looked.json()), [expected], "{text}");
    }
    let secret = look(r#"{"servers": {"x": {"command": "a", "env": {"K": "${input:key}"}}}}"#, "");
    let notes = secret.json()["servers"][0]["notes"].to_string();
    assert!(notes.contains("switchboard secrets set key --server x"), "{notes}");
    for (text, product) in [("plain words", ""), ("{", ""), ("a: [", "goose"), ("{}", "nobody")] {
        assert_eq!(look(text, product).status, 422, "{text}");
    }
    assert_eq!(switchboard.config_text(), "", "looking changes nothing");
}

#[test]
fn servers_of_other_products_are_found_chosen_and_taken_without_their_secrets_in_the_page() {
    let switchboard = Switchboard::new();
    let home = |name: &str, text: &str| {
        let path = switchboard.folder().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    };
    let mut echo = fixture(&["echo"]);
    echo["env"] = json!({"API_TOKEN": "abcdefgh12345678"});
    home(".cursor/mcp.json", &json!({"mcpServers": {"echo": echo}}).to_string());
    home(
        ".codex/config.toml",
        "[mcp_servers.shell]\ncommand = \"sh\"\nargs = [\"-c\", \"exec x\"]\n",
    );
    home(".config/zed/settings.json", "{ \"context_servers\": ");
    let person = Person::at(&switchboard, &[]);
    let looked = person.act("configurations/installed", &json!({}));
    assert_eq!(looked.status, 200, "{looked:?}");
    let piece = person.action("configurations/installed", &json!({})).with("Accept", "text/html");
    let piece = person.serving.send(&piece).body;
    for text in [&looked.body, &piece] {
        assert!(!text.contains("abcdefgh12345678"), "secrets stay in their file: {text}");
    }
    assert!(piece.contains("data-add-chosen") && piece.contains("env.API_TOKEN"), "{piece}");
    let looked = looked.json();
    assert_eq!(
        summary(&looked),
        [json!(["echo", "Cursor", false]), json!(["shell", "Codex", false])]
    );
    assert_eq!(looked["unreadable"].as_array().unwrap().len(), 1, "{looked}");
    let take = |number: usize, agreed: &Value| {
        let one = &looked["servers"][number];
        let source = &one["source"];
        person.act(
            "configurations/take",
            &json!({"place": source["place"], "name": source["name"],
            "digest": source["digest"], "under": one["name"], "agreed": agreed}),
        )
    };
    assert_eq!(take(0, &json!([])).status, 200);
    until(|| state(&person, "echo") == "ready");
    assert!(switchboard.config_text().contains("abcdefgh12345678"), "it came along");
    assert_eq!(take(1, &json!([])).status, 409, "what is dangerous has to be agreed to");
    assert_eq!(take(1, &json!(["eval"])).status, 200);
    home(".cursor/mcp.json", &json!({"mcpServers": {"echo": {"command": "other"}}}).to_string());
    assert_eq!(take(0, &json!([])).status, 409, "it is not what was shown");
    let again = person.act("configurations/installed", &json!({})).json();
    assert_eq!(
        summary(&again),
        [json!(["echo-2", "Cursor", false]), json!(["shell", "Codex", true])]
    );
}

#[test]
fn a_server_of_a_registry_is_found_shown_to_the_letter_and_added_with_its_secret_kept() {
    let package = json!({"registryType": "npm", "identifier": "b", "version": "1.0.0",
        "transport": {"type": "stdio"},
        "environmentVariables": [{"name": "KEY", "isRequired": true, "isSecret": true}],
        "packageArguments": [{"type": "named", "name": "--dir", "valueHint": "dir",
            "isRequired": true, "format": "filepath"}]});
    let listed = json!({"server": {"name": "a.example/files", "version": "1.0.0",
            "description": "reads <b>files</b>", "packages": [package]},
        "_meta": {"io.modelcontextprotocol.registry/official": {"status": "active", "isLatest": true}}});
    let registry = RegistryFixture::start(&[listed]);
    let mut switchboard = Switchboard::new();
    switchboard.set("SWITCHBOARD_TOKEN_KEY", "a key of this test");
    switchboard.write_config(&json!({"settings": {"registries": [registry.url]}}).to_string());
    let person = Person::at(&switchboard, &[]);
    let found = person.act("registry/search", &json!({"words": "files"})).json();
    assert_eq!(found["servers"][0]["name"], "a.example/files", "{found}");
    let shown = person.act("registry/show", &json!({"name": "a.example/files"})).json();
    let way = &shown["ways"][0];
    assert!(way["runs"].as_str().unwrap().starts_with("npx -y b@1.0.0"), "{shown}");
    let names: Vec<&Value> =
        way["asks"].as_array().unwrap().iter().map(|ask| &ask["name"]).collect();
    assert!(names.contains(&&json!("KEY")), "{names:?}");
    let asked: Vec<&str> = names.iter().map(|name| name.as_str().unwrap()).collect();
    let other = asked.iter().find(|name| **name != "KEY").unwrap();
    let mut chosen = json!({"name": "a.example/files", "version": "1.0.0", "way": 0,
        "answers": {"KEY": "s3cret-s3cret-s3cret", *other: "/tmp/x y"}});
    let missing = json!({"name": "a.example/files", "way": 0, "answers": {}});
    assert_eq!(person.act("registry/look", &missing).status, 422, "something is asked for");
    let looked = person.act("registry/look", &chosen);
    assert_eq!(looked.status, 200, "{looked:?}");
    let piece = person.action("registry/look", &chosen).with("Accept", "text/html");
    let piece = person.serving.send(&piece).body;
    assert!(
        piece.contains("npx -y b@1.0.0") && piece.contains("&#39;/tmp/x y&#39;")
            || piece.contains("'/tmp/x y'"),
        "{piece}"
    );
    let looked = looked.json();
    assert!(!looked.to_string().contains("s3cret-s3cret"), "{looked}");
    chosen["under"] = json!("files");
    chosen["digest"] = json!("another");
    assert_eq!(person.act("registry/add", &chosen).status, 409);
    chosen["digest"] = looked["digest"].clone();
    // An entry that cannot be written leaves no secret behind.
    let config = switchboard.config_text();
    switchboard.write_config("{ not JSON");
    assert_ne!(person.act("registry/add", &chosen).status, 200);
    switchboard.write_config(&config);
    let kept = switchboard.run(&["secrets"]).expect(0).stdout;
    assert!(!kept.contains("KEY"), "{kept}");
    let added = person.act("registry/add", &chosen);
    assert_eq!(added.status, 200, "{added:?}");
    let config: Value = serde_json::from_str(&switchboard.config_text()).unwrap();
    let entry = &config["mcpServers"]["files"];
    assert_eq!(entry["env"]["KEY"], "${keyring:KEY}", "{config}");
    assert!(!config.to_string().contains("s3cret"), "{config}");
    assert_eq!(person.act("registry/add", &chosen).status, 422, "there is one of that name");
    let kept = switchboard.run(&["secrets"]).expect(0).stdout;
    assert!(kept.contains("KEY"), "{kept}");
}
