//! Tests of the SQLite server, which only supports an older SDK: a table is created, filled and
//! read.

use serde_json::json;

use crate::switchboard::Switchboard;
use crate::testenv;
use crate::transcript::transcript;

#[test]
fn sqlite_makes_fills_and_reads_a_table() {
    let switchboard = Switchboard::new();
    switchboard.configure(&json!({"sqlite": testenv::sqlite(&switchboard.path("birds.db"))}));
    assert_eq!(switchboard.status("sqlite"), ["ready", "2025-11-25"]);
    assert_eq!(
        switchboard.tools("sqlite"),
        [
            "read_query", "write_query", "create_table", "list_tables", "describe_table",
            "append_insight"
        ]
    );
    switchboard.check_shown("sqlite", "create_table", "query");

    for (tool, query, expected) in [
        (
            "create_table",
            "CREATE TABLE birds (name TEXT, legs INTEGER)",
            "Table created successfully\n",
        ),
        ("write_query", "INSERT INTO birds VALUES ('crane', 2)", "[{'affected_rows': 1}]\n"),
        ("read_query", "SELECT name, legs FROM birds", "[{'name': 'crane', 'legs': 2}]\n"),
    ] {
        let query = format!("query={query}");
        assert_eq!(switchboard.run(&["call", "sqlite", tool, &query]).expect(0).stdout, expected);
    }
    switchboard
        .run(&["call", "sqlite", "append_insight", "insight=cranes have two legs"])
        .expect(0);
    let prompts = switchboard.json(&["prompts", "--server", "sqlite"]);
    assert_eq!(prompts[0]["definition"]["name"], "mcp-demo");
    let unknown = switchboard.run(&["call", "sqlite", "write_querry", "query=x"]).expect(2);
    insta::assert_snapshot!(transcript(&unknown), @"
    exit status 2
    --- stderr
    error: server `sqlite` lists no tool `write_querry`
    hint: did you mean `write_query`?
    ");

    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool sqlite/create_table: ok",
            "tool sqlite/write_query: ok",
            "tool sqlite/read_query: ok",
            "tool sqlite/append_insight: ok",
            "tool sqlite/write_querry: not_sent (not_listed)",
        ]
    );
}
