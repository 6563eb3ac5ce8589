//! The reference server of the protocol: every kind of content, resources, prompts, progress.

use serde_json::json;

use crate::remote_server::RemoteServer;
use crate::switchboard::{Switchboard, result_text};
use crate::testenv;
use crate::transcript::transcript;

const TOOLS: [&str; 15] = [
    "echo",
    "get-annotated-message",
    "get-env",
    "get-resource-links",
    "get-resource-reference",
    "get-structured-content",
    "get-sum",
    "get-tiny-image",
    "gzip-file-as-resource",
    "toggle-simulated-logging",
    "toggle-subscriber-updates",
    "trigger-long-running-operation",
    "trigger-elicitation-request",
    "trigger-url-elicitation",
    "simulate-research-query",
];

#[test]
fn everything_lists_its_tools_and_calls_give_their_results() {
    let switchboard = Switchboard::with(&json!({"everything": testenv::everything()}));
    assert_eq!(switchboard.status("everything"), ["ready", "2025-11-25"]);
    assert_eq!(switchboard.tools("everything"), TOOLS);
    switchboard.check_shown("everything", "get-sum", "a");

    let echoed = switchboard.run(&["call", "everything", "echo", "message=grüß dich"]).expect(0);
    assert_eq!([echoed.stdout, echoed.stderr], ["Echo: grüß dich\n", ""]);
    let sum = switchboard.call(&["everything", "get-sum", "a=2", "b=40"], 0);
    assert_eq!(result_text(&sum), "The sum of 2 and 40 is 42.");
    let weather =
        switchboard.call(&["everything", "get-structured-content", "location=Chicago"], 0);
    assert_eq!(
        weather["result"]["structuredContent"],
        json!({"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82})
    );
    let pictured =
        switchboard.run(&["call", "everything", "get-tiny-image", "--save", "pictures"]).expect(0);
    assert!(pictured.stdout.contains("[image image/png, "), "{pictured:?}");
    let picture = std::fs::read(switchboard.path("pictures/2.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"), "the saved file is no PNG");

    let wrong = switchboard.run(&["call", "everything", "get-sum", "a=x", "b=1"]).expect(2);
    insta::assert_snapshot!(transcript(&wrong), @"
    exit status 2
    --- stderr
    error: the arguments for `everything/get-sum` do not fit: `/a` must be a number, got a string
    hint: `switchboard tools show everything get-sum` shows its arguments
    ");
    let unknown = switchboard.run(&["call", "everything", "get-sm", "a=1"]).expect(2);
    insta::assert_snapshot!(transcript(&unknown), @"
    exit status 2
    --- stderr
    error: server `everything` lists no tool `get-sm`
    hint: did you mean `get-sum`?
    ");

    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool everything/echo: ok",
            "tool everything/get-sum: ok",
            "tool everything/get-structured-content: ok",
            "tool everything/get-tiny-image: ok",
            "tool everything/get-sum: not_sent (bad_arguments)",
            "tool everything/get-sm: not_sent (not_listed)",
        ]
    );
}

#[test]
fn everything_offers_resources_templates_and_prompts() {
    let switchboard = Switchboard::with(&json!({"everything": testenv::everything()}));
    let listed = switchboard.json(&["resources", "--server", "everything"]);
    let addresses: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|item| match item["kind"].as_str().unwrap() {
            "template" => item["definition"]["uriTemplate"].as_str().unwrap(),
            _ => item["definition"]["uri"].as_str().unwrap(),
        })
        .collect();
    assert_eq!(addresses.len(), 9, "{listed}");
    for expected in [
        "demo://resource/static/document/features.md",
        "demo://resource/dynamic/text/{resourceId}",
        "demo://resource/dynamic/blob/{resourceId}",
    ] {
        assert!(addresses.contains(&expected), "no {expected} in {addresses:?}");
    }

    let text = switchboard
        .run(&["resources", "read", "everything", "demo://resource/dynamic/text/7"])
        .expect(0)
        .stdout;
    assert!(text.contains("Resource 7: This is a plaintext resource created at"), "{text}");
    let blob = ["resources", "read", "everything", "demo://resource/dynamic/blob/3"];
    switchboard.run(&[&blob[..], &["--output", "blob"]].concat()).expect(0);
    let blob = std::fs::read_to_string(switchboard.path("blob")).unwrap();
    assert!(blob.starts_with("Resource 3: This is a base64 blob created at"), "{blob}");

    let prompts = switchboard.json(&["prompts", "list", "--server", "everything"]);
    let names: Vec<&str> = prompts
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["definition"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"]);
    let prompt = switchboard.run(&["prompts", "get", "everything", "args-prompt", "city=Paris"]);
    assert_eq!(prompt.expect(0).stdout, "user: What's weather in Paris?\n");

    assert_eq!(
        switchboard.recorded_calls(),
        [
            "resource everything/demo://resource/dynamic/text/7: ok",
            "resource everything/demo://resource/dynamic/blob/3: ok",
            "prompt everything/args-prompt: ok",
        ]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_how_far_a_long_call_is() {
    let switchboard = Switchboard::with(&json!({"everything": testenv::everything()}));
    let words = ["call", "everything", "trigger-long-running-operation", "duration=1", "steps=2"];
    let ran = switchboard.in_terminal(&words).finish_within(crate::running::TEST_TIMEOUT).expect(0);
    assert!(ran.stdout.contains("50%"), "{ran:?}");
    assert!(
        ran.stdout
            .ends_with("Long running operation completed. Duration: 1 seconds, Steps: 2.\r\n"),
        "{ran:?}"
    );
}

#[test]
fn everything_answers_over_streamable_http_and_over_sse() {
    let http = RemoteServer::everything("streamableHttp");
    let sse = RemoteServer::everything("sse");
    let switchboard =
        Switchboard::with(&json!({"http": {"url": http.url}, "sse": {"url": sse.url}}));
    for server in ["http", "sse"] {
        assert_eq!(switchboard.status(server), ["ready", "2025-11-25"], "{server}");
        assert_eq!(switchboard.tools(server), TOOLS, "{server}");
        let echoed = switchboard.call(&[server, "echo", "message=far away"], 0);
        assert_eq!(result_text(&echoed), "Echo: far away", "{server}");
        let long = ["duration=0.4", "steps=2"];
        let long = [&[server, "trigger-long-running-operation"], &long[..]].concat();
        assert_eq!(
            result_text(&switchboard.call(&long, 0)),
            "Long running operation completed. Duration: 0.4 seconds, Steps: 2.",
            "{server}"
        );
    }
    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool http/echo: ok",
            "tool http/trigger-long-running-operation: ok",
            "tool sse/echo: ok",
            "tool sse/trigger-long-running-operation: ok",
        ]
    );
}
