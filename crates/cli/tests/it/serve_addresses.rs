//! Tests of resource addresses that two servers share: those in definitions and results can be
//! read.

use serde_json::{Value, json};

use crate::gateway::{Gateway, NEWEST_LEGACY};
use crate::switchboard::{Switchboard, fixture};

/// Returns a server with a listed page, an unlisted one, and a tool that links to both.
fn paged_server(switchboard: &Switchboard, name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {}});
    let tool = |tool: &str, meta: Value| json!({"name": tool, "description": "Shows.", "inputSchema": schema, "_meta": meta});
    let page = |uri: &str| {
        let text = format!("{uri} of {name}");
        json!([{"uri": uri, "mimeType": "text/html;profile=mcp-app", "text": text}])
    };
    let offers = json!({
        "tools": [
            tool("listed", json!({"ui": {"resourceUri": "ui://app/listed", "x": 1}})),
            tool("hidden", json!({"ui/resourceUri": "ui://app/hidden"})),
            tool("links", json!({})),
        ],
        "resources": [{"uri": "ui://app/listed", "name": "page"}],
        "contents": {
            "ui://app/listed": page("ui://app/listed"), "ui://app/hidden": page("ui://app/hidden"),
        },
        "results": {"links": {"content": [
            {"type": "resource_link", "uri": "ui://app/listed", "name": "a", "n": 12_345_678_901_u64},
            {"type": "resource", "resource": {"uri": "ui://app/hidden", "text": "b"}},
            {"type": "resource_link", "uri": "https://elsewhere.example/", "name": "c"},
            {"type": "text", "text": "ui://app/listed"},
        ]}},
    });
    let path = switchboard.write(&format!("{name}.json"), &offers.to_string());
    fixture(&["given", "--offers", path.to_str().unwrap()])
}

#[test]
fn pages_of_tools_and_links_in_results_lead_to_the_server_that_named_them() {
    let switchboard = Switchboard::new();
    let one = paged_server(&switchboard, "one");
    let two = paged_server(&switchboard, "two");
    switchboard.configure(&json!({"one": one, "two": two}));
    let gateway = Gateway::with_tool(&switchboard, &[], "one__links");
    gateway.wait_for_tool("two__links");
    let client = gateway.modern();
    let listed = client.ask("tools/list", &json!({}));
    let page = |tool: &str| {
        let all = listed["result"]["tools"].as_array().unwrap();
        let meta = &all.iter().find(|one| one["name"] == tool).unwrap()["_meta"];
        let own = meta["ui"]["resourceUri"].as_str().or(meta["ui/resourceUri"].as_str());
        own.unwrap().to_owned()
    };
    for (tool, address) in [
        ("one__listed", "ui://app/listed"),
        ("one__hidden", "ui://app/hidden"),
        ("two__listed", "switchboard:two:ui://app/listed"),
        ("two__hidden", "switchboard:two:ui://app/hidden"),
    ] {
        assert_eq!(page(tool), address, "{tool}");
        let (server, name) = tool.split_once("__").unwrap();
        for read in [
            client.ask("resources/read", &json!({"uri": address})),
            gateway.legacy(NEWEST_LEGACY).ask("resources/read", &json!({"uri": address})),
        ] {
            let contents = &read["result"]["contents"][0];
            assert_eq!(contents["text"], format!("ui://app/{name} of {server}"), "{read}");
            // The response repeats the requested address.
            assert_eq!(contents["uri"], address, "{read}");
        }
    }
    // An unlisted page stays out of the list.
    let resources = client.ask("resources/list", &json!({}));
    assert!(!resources.to_string().contains("ui://app/hidden"), "{resources}");
    for (server, prefix) in [("one", ""), ("two", "switchboard:two:")] {
        let answer = client.call(&format!("{server}__links"), &json!({}));
        let content = &answer["result"]["content"];
        assert_eq!(content[0]["uri"], format!("{prefix}ui://app/listed"), "{answer}");
        assert_eq!(content[0]["n"], 12_345_678_901_u64);
        assert_eq!(content[1]["resource"]["uri"], format!("{prefix}ui://app/hidden"), "{answer}");
        assert_eq!(content[2]["uri"], "https://elsewhere.example/");
        assert_eq!(content[3]["text"], "ui://app/listed");
    }
}
