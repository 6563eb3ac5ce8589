//! Tests of real clients through the gateway: the SDKs of TypeScript and Python, `FastMCP` and the
//! Inspector.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::Gateway;
use crate::running::{RunningProcess, TEST_TIMEOUT, poll};
use crate::switchboard::Switchboard;
use crate::testenv::{self, installed_path};

/// Timeout of a whole client run: a client starts an interpreter, and the gateway two servers with
/// theirs, which is slow on a busy machine; no single step deserves a limit.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(300);

/// The client's era: forced to the first, negotiated, and forced to the second.
const ERAS: [&str; 3] = ["legacy", "auto", "2026-07-28"];

/// Arguments that select the servers behind the gateway.
const SERVED: [&str; 4] = ["--server", "everything", "--server", "time"];

fn configured_home() -> Switchboard {
    Switchboard::with(&json!({"everything": testenv::everything(), "time": testenv::time()}))
}

/// Returns the command of a client that lists, calls and prints the results.
fn client(script: &str) -> Vec<String> {
    let path = format!("{}/../testkit/clients/{script}", env!("CARGO_MANIFEST_DIR"));
    let python = match script {
        "python1.py" => "python-legacy/bin/python",
        _ => "python/bin/python",
    };
    if script.ends_with(".mjs") {
        return vec![installed_path(testenv::NODE), path, installed_path("npm/node_modules")];
    }
    vec![installed_path(python), path]
}

/// Runs a client to its end and returns its output.
fn client_output(switchboard: &Switchboard, words: &[String]) -> Value {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    switchboard.surround(&mut command);
    let mut running = RunningProcess::start(&mut command);
    running.close_input();
    running.finish_within(CLIENT_TIMEOUT).expect(0).json()
}

/// Fails unless the client got everything from both servers.
fn check(script: &str, mode: &str, told: &Value) {
    let what = format!("{script} in mode {mode}: {told}");
    let tools: Vec<&str> =
        told["tools"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    for tool in ["everything__echo", "everything__get-sum", "time__convert_time"] {
        assert!(tools.contains(&tool), "no {tool}: {what}");
    }
    assert_eq!(told["sum"], "The sum of 2 and 40 is 42.", "{what}");
    assert_eq!(told["difference"], "-3.5h", "{what}");
    assert_eq!(told["prompt"], "This is a simple prompt without arguments.", "{what}");
    let resource = told["resource"].as_str().unwrap();
    assert!(resource.starts_with("Resource 7: This is a plaintext resource"), "{what}");
    if let Some(revision) = told["revision"].as_str() {
        let expected = if mode == "legacy" { "2025-11-25" } else { "2026-07-28" };
        assert_eq!(revision, expected, "{what}");
    }
}

fn check_over_http(script: &str, modes: &[&str]) {
    let switchboard = configured_home();
    let gateway = Gateway::with_tool(&switchboard, &SERVED, "time__convert_time");
    gateway.wait_for_tool("everything__get-sum");
    for mode in modes {
        let mut words = client(script);
        words.extend([*mode, "http", &gateway.url].map(str::to_owned));
        check(script, mode, &client_output(&switchboard, &words));
    }
}

fn check_over_stdio(script: &str, mode: &str) {
    let switchboard = configured_home();
    let mut words = client(script);
    let served = [env!("CARGO_BIN_EXE_switchboard"), "serve", "--stdio"];
    words.extend([mode, "stdio"].map(str::to_owned));
    words.extend(served.iter().chain(&SERVED).map(|word| (*word).to_owned()));
    check(script, mode, &client_output(&switchboard, &words));
}

#[test]
fn version_1_of_the_typescript_sdk_lists_and_calls_over_http() {
    check_over_http("typescript1.mjs", &["legacy"]);
}

#[test]
fn version_1_of_the_python_sdk_lists_and_calls_over_http() {
    check_over_http("python1.py", &["legacy"]);
}

#[test]
fn version_2_of_the_typescript_sdk_lists_and_calls_over_http_in_both_eras() {
    check_over_http("typescript2.mjs", &ERAS);
}

#[test]
fn version_2_of_the_python_sdk_lists_and_calls_over_http_in_both_eras() {
    check_over_http("python2.py", &ERAS);
}

#[test]
fn the_client_of_fastmcp_lists_and_calls_over_http_in_both_eras() {
    check_over_http("fastmcp_client.py", &ERAS);
}

#[test]
fn version_1_of_the_typescript_sdk_lists_and_calls_over_stdio() {
    check_over_stdio("typescript1.mjs", "legacy");
}

#[test]
fn version_1_of_the_python_sdk_lists_and_calls_over_stdio() {
    check_over_stdio("python1.py", "legacy");
}

#[test]
fn version_2_of_the_typescript_sdk_lists_and_calls_over_stdio_in_the_legacy_era() {
    check_over_stdio("typescript2.mjs", "legacy");
}

#[test]
fn version_2_of_the_typescript_sdk_lists_and_calls_over_stdio_in_the_era_that_it_finds() {
    check_over_stdio("typescript2.mjs", "auto");
}

#[test]
fn version_2_of_the_typescript_sdk_lists_and_calls_over_stdio_in_the_modern_era() {
    check_over_stdio("typescript2.mjs", "2026-07-28");
}

#[test]
fn version_2_of_the_python_sdk_lists_and_calls_over_stdio_in_the_legacy_era() {
    check_over_stdio("python2.py", "legacy");
}

#[test]
fn version_2_of_the_python_sdk_lists_and_calls_over_stdio_in_the_era_that_it_finds() {
    check_over_stdio("python2.py", "auto");
}

#[test]
fn version_2_of_the_python_sdk_lists_and_calls_over_stdio_in_the_modern_era() {
    check_over_stdio("python2.py", "2026-07-28");
}

#[test]
fn the_client_of_fastmcp_lists_and_calls_over_stdio_in_the_legacy_era() {
    check_over_stdio("fastmcp_client.py", "legacy");
}

#[test]
fn the_client_of_fastmcp_lists_and_calls_over_stdio_in_the_era_that_it_finds() {
    check_over_stdio("fastmcp_client.py", "auto");
}

#[test]
fn the_client_of_fastmcp_lists_and_calls_over_stdio_in_the_modern_era() {
    check_over_stdio("fastmcp_client.py", "2026-07-28");
}

/// Runs the Inspector in one era; `where_to` is an address or a command.
fn run_inspector(
    switchboard: &Switchboard,
    where_to: &[&str],
    era: &str,
    method: &[&str],
) -> Value {
    let node = installed_path(testenv::NODE);
    let inspector = "npm/node_modules/@modelcontextprotocol/inspector/clients/launcher/build";
    let mut words =
        vec![node, installed_path(&format!("{inspector}/index.js")), "--cli".to_owned()];
    let rest = [where_to, &["--protocol-era", era, "--method"], method].concat();
    words.extend(rest.into_iter().map(str::to_owned));
    client_output(switchboard, &words)
}

const SUM: [&str; 7] =
    ["tools/call", "--tool-name", "everything__get-sum", "--tool-arg", "a=2", "--tool-arg", "b=40"];
const TIME: [&str; 9] = [
    "tools/call",
    "--tool-name",
    "time__convert_time",
    "--tool-arg",
    "time=16:30",
    "--tool-arg",
    "source_timezone=Asia/Tokyo",
    "--tool-arg",
    "target_timezone=Asia/Kolkata",
];

/// Lists and calls with the Inspector.
fn inspect(switchboard: &Switchboard, place: &[&str], era: &str) {
    // A stdio gateway is started anew for each attempt, and may be listed before all servers are
    // ready.
    let listed = poll(TEST_TIMEOUT, || {
        let listed = run_inspector(switchboard, place, era, &["tools/list"]);
        let tools = listed["tools"].as_array()?;
        let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
        (has("everything__echo") && has("time__convert_time")).then_some(())
    });
    assert!(listed.is_some(), "{era}");
    let sum = run_inspector(switchboard, place, era, &SUM);
    assert_eq!(sum["content"][0]["text"], "The sum of 2 and 40 is 42.", "{era}");
    let time = run_inspector(switchboard, place, era, &TIME);
    assert_eq!(time["structuredContent"]["time_difference"], "-3.5h", "{era}");
}

fn inspect_over_stdio(era: &str) {
    let switchboard = configured_home();
    // The Inspector starts servers with a reduced environment.
    let home = format!("SWITCHBOARD_HOME={}", switchboard.text_path("../own"));
    let program = env!("CARGO_BIN_EXE_switchboard");
    inspect(&switchboard, &["/usr/bin/env", &home, program, "serve", "--stdio"], era);
}

#[test]
fn the_inspector_lists_and_calls_over_http_in_every_era() {
    let switchboard = configured_home();
    let gateway = Gateway::with_tool(&switchboard, &SERVED, "time__convert_time");
    gateway.wait_for_tool("everything__get-sum");
    for era in ["legacy", "auto", "modern"] {
        inspect(&switchboard, &[&gateway.url, "--transport", "http"], era);
    }
}

#[test]
fn the_inspector_lists_and_calls_over_stdio_in_the_legacy_era() {
    inspect_over_stdio("legacy");
}

#[test]
fn the_inspector_lists_and_calls_over_stdio_in_the_era_that_it_finds() {
    inspect_over_stdio("auto");
}

#[test]
fn the_inspector_lists_and_calls_over_stdio_in_the_modern_era() {
    inspect_over_stdio("modern");
}
