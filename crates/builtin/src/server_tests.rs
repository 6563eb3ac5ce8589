//! Tests the protocol in both eras.

use serde_json::{Value, json};

use crate::error::BuiltinRpcError;
use crate::server::Builtin;
use crate::test_folder::{TestFolder, ask, call, clock, structured_content};

fn bare() -> Builtin {
    Builtin::new(Vec::new(), clock)
}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    params
}

async fn error_code(server: &Builtin, method: &str, params: Value) -> i64 {
    ask(server, method, params.clone()).await.expect_err(&format!("{method} {params}")).code
}

#[tokio::test]
async fn a_legacy_client_gets_the_revision_it_asks_for_or_the_newest() {
    for (asked, expected) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let result = ask(&bare(), "initialize", json!({ "protocolVersion": asked })).await.unwrap();
        let expected = json!({
            "protocolVersion": expected,
            "capabilities": { "tools": {}, "resources": {}, "prompts": {} },
            "serverInfo": {
                "name": "switchboard-builtin",
                "title": "Switchboard built-in tools",
                "version": env!("CARGO_PKG_VERSION")
            },
            "instructions": "Tools for the time and for reading files; no folder is shared, so \
                the file tools have nothing to read. All tools are read-only."
        });
        assert_eq!(result, expected);
    }
}

#[tokio::test]
async fn a_modern_client_discovers_what_there_is() {
    let result = ask(&bare(), "server/discover", modern(json!({}))).await.unwrap();
    let expected = json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": { "tools": {}, "resources": {}, "prompts": {} },
        "instructions": "Tools for the time and for reading files; no folder is shared, so \
            the file tools have nothing to read. All tools are read-only.",
        "ttlMs": 3_600_000,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": {
            "name": "switchboard-builtin",
            "title": "Switchboard built-in tools",
            "version": env!("CARGO_PKG_VERSION")
        } }
    });
    assert_eq!(result, expected);
}

#[tokio::test]
async fn every_result_is_dressed_for_the_era_that_asked() {
    let folder = TestFolder::new();
    let server = folder.server();
    let file = format!("file://{}", folder.shared.join("hello.txt").display());
    for (method, params, cached) in [
        ("tools/list", json!({}), Some("public")),
        ("resources/list", json!({}), Some("public")),
        ("resources/templates/list", json!({}), Some("public")),
        ("prompts/list", json!({}), Some("public")),
        ("resources/read", json!({ "uri": "switchboard://builtin/help" }), Some("private")),
        ("resources/read", json!({ "uri": file }), Some("private")),
        (
            "prompts/get",
            json!({ "name": "summarize_file", "arguments": { "path": "hello.txt" } }),
            None,
        ),
        ("tools/call", json!({ "name": "echo", "arguments": { "text": "hi" } }), None),
        ("tools/call", json!({ "name": "echo" }), None),
    ] {
        let old = ask(&server, method, params.clone()).await.unwrap();
        for new_member in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert_eq!(old.get(new_member), None, "{method}");
        }
        let new = ask(&server, method, modern(params)).await.unwrap();
        assert_eq!(new["resultType"], "complete", "{method}");
        assert_eq!(new["cacheScope"].as_str(), cached, "{method}");
        assert_eq!(new["ttlMs"].is_u64(), cached.is_some(), "{method}");
        assert!(new["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].is_string());
        let mut stripped = new.clone();
        for new_member in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            stripped.as_object_mut().unwrap().remove(new_member);
        }
        assert_eq!(stripped, old, "{method}: both eras get the same");
    }
}

#[tokio::test]
async fn a_revision_that_is_not_spoken_is_answered_with_those_that_are() {
    for requested in ["2025-11-25", "2030-01-01"] {
        let params = json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": requested,
            "io.modelcontextprotocol/clientCapabilities": {}
        } });
        let error = ask(&bare(), "tools/list", params).await.unwrap_err();
        let expected = BuiltinRpcError {
            code: -32022,
            message: format!("revision `{requested}` is not supported"),
            data: Some(json!({ "supported": ["2026-07-28"], "requested": requested })),
        };
        assert_eq!(error, expected);
    }
}

#[tokio::test]
async fn wrong_requests_are_protocol_errors() {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    for (method, params, code) in [
        ("ping", modern(json!({})), -32601),
        ("logging/setLevel", json!({ "level": "info" }), -32601),
        ("completion/complete", json!({}), -32601),
        ("subscriptions/listen", modern(json!({})), -32601),
        ("resources/subscribe", json!({}), -32601),
        ("tools/CALL", json!({}), -32601),
        ("", json!({}), -32601),
        ("server/discover", json!({}), -32602),
        ("tools/list", json!({ "_meta": { version: "2026-07-28" } }), -32602),
        ("tools/list", json!({ "_meta": { version: "2026-07-28", capabilities: 1 } }), -32602),
        ("tools/list", json!({ "_meta": { version: 2026 } }), -32602),
        ("tools/list", json!({ "cursor": "" }), -32602),
        ("resources/list", json!({ "cursor": "x" }), -32602),
        ("prompts/list", json!([]), -32602),
        ("initialize", json!({}), -32602),
        ("initialize", json!({ "protocolVersion": 5 }), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({ "name": 1 }), -32602),
        ("tools/call", json!({ "name": "no_such_tool" }), -32602),
        ("tools/call", json!({ "name": "echo", "arguments": [] }), -32602),
        ("tools/call", json!({ "name": "echo", "arguments": "text" }), -32602),
        ("prompts/get", json!({ "name": "no_such_prompt" }), -32602),
        ("prompts/get", json!({ "name": "summarize_file" }), -32602),
        ("prompts/get", json!({ "name": "summarize_file", "arguments": { "path": 1 } }), -32602),
        ("resources/read", json!({}), -32602),
        ("resources/read", json!({ "uri": "switchboard://builtin/other" }), -32002),
        ("resources/read", modern(json!({ "uri": "switchboard://builtin/other" })), -32602),
    ] {
        assert_eq!(error_code(&bare(), method, params.clone()).await, code, "{method} {params}");
    }
    let error = bare().answer("tools/list", Some("{")).await.unwrap_err();
    assert_eq!(error.code, -32602);
}

#[tokio::test]
async fn a_handshake_is_legacy_whatever_it_carries() {
    let params = modern(json!({ "protocolVersion": "2025-06-18" }));
    let result = ask(&bare(), "initialize", params).await.unwrap();
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result.get("resultType"), None);
}

#[tokio::test]
async fn parameters_may_be_left_out() {
    assert_eq!(bare().answer("ping", None).await.unwrap(), "{}");
    assert!(bare().answer("tools/list", None).await.unwrap().contains("time_now"));
    assert!(bare().answer("tools/list", Some("null")).await.unwrap().contains("time_now"));
}

#[tokio::test]
async fn every_tool_describes_itself_fully() {
    let listed = ask(&bare(), "tools/list", json!({})).await.unwrap();
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = ["echo", "files_list", "files_read", "files_search", "time_convert", "time_now"];
    assert_eq!(names, expected);
    for tool in tools {
        let name = &tool["name"];
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false), "{name}");
        for (parameter, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name} {parameter}");
        }
        let hints = json!({
            "title": tool["title"], "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false
        });
        assert_eq!(tool["annotations"], hints, "{name}");
        for schema in ["inputSchema", "outputSchema"] {
            if let Some(schema) = tool.get(schema) {
                jsonschema::validator_for(schema).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn structured_results_keep_the_promise_of_their_schema() {
    let folder = TestFolder::new();
    let server = folder.server();
    let listed = ask(&server, "tools/list", json!({})).await.unwrap();
    for (tool, arguments) in [
        ("files_list", json!({ "depth": 8, "hidden": true })),
        ("files_search", json!({ "pattern": "needle" })),
        ("time_now", json!({})),
        ("time_now", json!({ "timezone": "+05:30" })),
        ("time_convert", json!({ "time": "12:00", "to": "Asia/Tokyo" })),
        ("time_convert", json!({ "time": "2026-03-29 02:30", "to": "UTC" })),
    ] {
        let tools = listed["tools"].as_array().unwrap();
        let definition = tools.iter().find(|one| one["name"] == tool).unwrap();
        let asked = jsonschema::validator_for(&definition["inputSchema"]).unwrap();
        assert!(asked.is_valid(&arguments), "{tool} {arguments}");
        let promised = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
        let result = structured_content(&call(&server, tool, arguments).await);
        assert!(promised.is_valid(&result), "{tool}: {result}");
    }
}

#[tokio::test]
async fn resources_are_the_help_and_the_files() {
    let folder = TestFolder::new();
    let server = folder.server();
    let help = ask(&server, "resources/read", json!({ "uri": "switchboard://builtin/help" }));
    let help = help.await.unwrap()["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(help.contains(&folder.shared.display().to_string()), "{help}");

    let base = format!("file://{}", folder.shared.display());
    for (uri, expected) in [
        (
            format!("{base}/hello.txt"),
            json!({ "mimeType": "text/plain", "text": "one\ntwo Needle\nthree\n" }),
        ),
        (
            format!("{base}/na%C3%AFve%20%E5%90%8D.txt"),
            json!({ "mimeType": "text/plain", "text": "unicode needle\n" }),
        ),
        (
            format!("file:///{}%2Fempty.txt", folder.shared.display()),
            json!({ "mimeType": "text/plain", "text": "" }),
        ),
        (
            format!("{base}/data.bin"),
            json!({ "mimeType": "application/octet-stream", "blob": "bmVlZGxlAG5lZWRsZQ==" }),
        ),
        (format!("{base}/dot.png"), json!({ "mimeType": "image/png", "blob": "iVBORw0KGgpyZXN0" })),
    ] {
        let mut expected = json!({ "contents": [expected] });
        expected["contents"][0]["uri"] = json!(uri);
        let got = ask(&server, "resources/read", json!({ "uri": uri })).await.unwrap();
        assert_eq!(got, expected);
    }

    folder.write("large.txt", "x".repeat(1024 * 1024 + 1));
    for (uri, legacy_code) in [
        (format!("{base}/large.txt"), -32602),
        (format!("{base}/sub"), -32602),
        (format!("{base}/absent"), -32002),
    ] {
        let error = ask(&server, "resources/read", json!({ "uri": uri })).await.unwrap_err();
        assert_eq!((error.code, error.data), (legacy_code, Some(json!({ "uri": uri }))), "{uri}");
        let code = error_code(&server, "resources/read", modern(json!({ "uri": uri }))).await;
        assert_eq!(code, -32602, "{uri}");
    }
}

#[tokio::test]
async fn the_prompt_carries_the_file() {
    let folder = TestFolder::new();
    let server = folder.server();
    let params = json!({ "name": "summarize_file", "arguments": { "path": "naïve 名.txt" } });
    let got = ask(&server, "prompts/get", params).await.unwrap();
    let resource = json!({
        "uri": format!("file://{}/na%C3%AFve%20%E5%90%8D.txt", folder.shared.display()),
        "mimeType": "text/plain",
        "text": "unicode needle\n"
    });
    assert_eq!(
        got["messages"][1],
        json!({
            "role": "user", "content": { "type": "resource", "resource": resource }
        })
    );
    assert_eq!(got["messages"].as_array().unwrap().len(), 2);

    let params = json!({ "name": "summarize_file", "arguments": { "path": "data.bin" } });
    let error = ask(&server, "prompts/get", params).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32602, "`data.bin` is not a text file"));
}

#[tokio::test]
async fn many_calls_at_once_are_all_answered() {
    let folder = TestFolder::new();
    let server = std::sync::Arc::new(folder.server());
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..50 {
        let server = std::sync::Arc::clone(&server);
        calls.spawn(async move {
            let result = call(&server, "echo", json!({ "text": number.to_string() })).await;
            assert_eq!(result["content"][0]["text"], json!(number.to_string()));
        });
    }
    assert_eq!(calls.join_all().await.len(), 50);
}
