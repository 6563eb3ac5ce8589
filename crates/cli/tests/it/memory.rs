//! The memory server: an entry stored by one call is found by another process of the server.

use serde_json::json;

use crate::switchboard::Switchboard;
use crate::testenv;
use crate::transcript::transcript;

#[test]
fn memory_keeps_what_a_call_stored() {
    let switchboard = Switchboard::new();
    let file = switchboard.path("memory.jsonl");
    switchboard.configure(&json!({"memory": testenv::memory(&file)}));
    assert_eq!(switchboard.status("memory"), ["ready", "2025-11-25"]);
    assert_eq!(
        switchboard.tools("memory"),
        [
            "create_entities", "create_relations", "add_observations", "delete_entities",
            "delete_observations", "delete_relations", "read_graph", "search_nodes", "open_nodes",
        ]
    );
    switchboard.check_shown("memory", "create_entities", "entities");

    let ada = json!({"name": "Ada", "entityType": "person", "observations": ["writes programs"]});
    let entities = format!("entities:={}", json!([ada]));
    let made = switchboard.call(&["memory", "create_entities", &entities], 0);
    assert_eq!(made["result"]["structuredContent"], json!({"entities": [ada]}));
    let graph = switchboard.call(&["memory", "read_graph"], 0);
    assert_eq!(graph["result"]["structuredContent"], json!({"entities": [ada], "relations": []}));
    let read = switchboard
        .run(&["resources", "read", "memory", "memory://knowledge-graph", "--output", "graph"])
        .expect(0);
    assert_eq!(read.stdout, "");
    let graph = std::fs::read_to_string(switchboard.path("graph")).unwrap();
    let graph: serde_json::Value = serde_json::from_str(&graph).unwrap();
    assert_eq!(graph, json!({"entities": [ada], "relations": []}));

    let observations = r#"observations:=[{"entityName":"Bob","contents":["is not there"]}]"#;
    let failed = switchboard.call(&["memory", "add_observations", observations], 1);
    assert_eq!(failed["outcome"], "tool_error");
    let wrong = r#"entities:=[{"name":"Bob","entityType":"person","observations":"no list"}]"#;
    let wrong = switchboard.run(&["call", "memory", "create_entities", wrong]).expect(2);
    insta::assert_snapshot!(transcript(&wrong), @"
    exit status 2
    --- stderr
    error: the arguments for `memory/create_entities` do not fit: `/entities/0/observations` must be an array, got a string
    hint: `switchboard tools show memory create_entities` shows its arguments
    ");

    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool memory/create_entities: ok",
            "tool memory/read_graph: ok",
            "resource memory/memory://knowledge-graph: ok",
            "tool memory/add_observations: tool_error",
            "tool memory/create_entities: not_sent (bad_arguments)",
        ]
    );
}
