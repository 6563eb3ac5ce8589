//! Servers that an organisation does not allow are not started, and report the reason.

use serde_json::{Value, json};

use crate::gateway::Gateway;
use crate::running::{TEST_TIMEOUT, poll, started_pids};
use crate::switchboard::{Switchboard, fixture};

fn home(policy: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    switchboard.configure(&json!({
        "echo": fixture(&["echo", "--trace", &trace]),
        "far": {"url": "http://127.0.0.1:9/mcp"},
    }));
    switchboard.write_policy("enterprise", policy);
    switchboard
}

#[test]
fn a_server_that_is_not_on_the_list_is_not_started() {
    let program = switchboard_testkit::binary();
    let program = program.to_str().unwrap();
    for (servers, is_allowed) in [
        (json!({"allowed": [{"command": format!("{program} echo *")}]}), true),
        (json!({"allowed": [{"command": "*switchboard-testkit echo*"}]}), true),
        (json!({"allowed": null}), true),
        (json!({"allowed": [{"command": "npx *"}, {"url": "*"}]}), false),
        (json!({"allowed_mcp_servers": []}), false),
        (json!({"disable_all": true}), false),
        (json!({"disable_all": true, "allowed": [{"command": "*"}]}), false),
    ] {
        let mut policy = json!({ "servers": servers });
        if servers["allowed"].is_null() && servers.get("allowed").is_some() {
            policy = json!({"servers": {}});
        }
        let switchboard = home(&policy);
        let status = switchboard.status("echo");
        let call = switchboard.run(&["call", "echo", "echo", "text=a"]);
        if is_allowed {
            assert_eq!((status[0].as_str(), call.code), ("ready", 0), "{servers}: {call:?}");
            continue;
        }
        assert_eq!((status[0].as_str(), call.code), ("not allowed", 5), "{servers}: {call:?}");
        let why = "the enterprise policy does not allow this server (";
        assert!(call.stderr.contains(why), "{servers}: {call:?}");
        assert_eq!(started_pids(&switchboard.path("trace")), [0_u32; 0], "{servers}");
        let doctor = switchboard.run(&["doctor"]).expect(4);
        assert!(doctor.stdout.contains(why), "{servers}: {doctor:?}");
        // The built-in server is not subject to the list of allowed servers.
        switchboard.run(&["call", "builtin", "echo", "text=a"]).expect(0);
    }
}

#[test]
fn a_server_that_is_taken_off_the_list_is_ended() {
    let switchboard = home(&json!({}));
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__echo");
    switchboard.write_policy("enterprise", &json!({"servers": {"disable_all": true}}));
    let gone = poll(TEST_TIMEOUT, || {
        let names = gateway.modern().names("tools");
        (!names.iter().any(|name| name == "echo__echo")).then_some(())
    });
    assert!(gone.is_some(), "its tools are still offered");
}
