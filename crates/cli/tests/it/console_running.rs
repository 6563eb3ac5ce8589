//! Commands in a home in which `serve` runs show its state, and its key stays secret.

use serde_json::{Value, json};

use crate::console_person::Person;
use crate::serve_client::{Request, ServingGateway, until};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn pids(switchboard: &Switchboard) -> Vec<String> {
    let traced = std::fs::read_to_string(switchboard.path("trace")).unwrap_or_default();
    traced.lines().filter(|line| line.contains("initialize")).map(str::to_owned).collect()
}

#[test]
fn servers_are_those_of_the_instance_that_runs_and_are_started_once() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    let servers = json!({
        "echo": fixture(&["echo", "--era", "legacy", "--trace", &trace]),
        "broken": {"command": "no-such-program-anywhere"},
    });
    switchboard.configure(&servers);
    let alone = switchboard.json(&["servers"]);
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/echo")["state"] == "ready");
    let started = pids(&switchboard).len();
    let beside = switchboard.json(&["servers"]);
    assert_eq!(pids(&switchboard).len(), started, "nothing is started a second time");
    let told = |list: &Value| -> Vec<Value> {
        let rows = list.as_array().unwrap().iter();
        rows.map(|row| json!([row["name"], row["status"], row["tools"], row["source"]])).collect()
    };
    assert_eq!(told(&beside), told(&alone));
    let table = switchboard.run(&["servers"]).expect(0).stdout;
    assert!(table.contains("echo\tready\t"), "{table}");
    switchboard.run(&["servers", "list", "--config", "other.json"]);
    drop(person);
    let after = switchboard.json(&["servers"]);
    assert_eq!(told(&after), told(&alone), "without it everything is as before");
    assert!(pids(&switchboard).len() > started);
}

#[test]
fn a_server_is_restarted_where_it_runs() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    let echo = fixture(&["echo", "--era", "legacy", "--trace", &trace]);
    let mut disabled = fixture(&["echo"]);
    disabled["disabled"] = json!(true);
    switchboard.configure(&json!({"echo": echo, "off": disabled}));
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/echo")["state"] == "ready");
    let started = pids(&switchboard).len();
    let ran = switchboard.run(&["servers", "restart", "echo"]).expect(0);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 0
    --- stderr
    server `echo` was restarted by the running `serve`
    ");
    // A start leaves two messages: the handshake and its confirmation.
    assert_eq!(pids(&switchboard).len(), started * 2, "once, in the instance that runs");
    assert_eq!(person.ask("servers/echo")["state"], "ready");
    let refused = switchboard.run(&["servers", "restart", "off"]).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stderr
    error: server `off` is disabled
    hint: `switchboard servers enable off`
    ");
    drop(person);
    let ran = switchboard.run(&["servers", "restart", "echo"]).expect(0);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 0
    --- stderr
    server `echo` is ready
    ");
}

#[cfg(unix)]
#[test]
fn the_key_is_for_this_user_alone_and_opens_nothing_for_a_page() {
    use std::os::unix::fs::PermissionsExt as _;
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let serving = ServingGateway::start(&switchboard, &[]);
    let file = switchboard.folder().join("own/state/running/serve.json");
    until(|| file.exists());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let told: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let key = told["key"].as_str().unwrap();
    let asked = Request::new("GET", "/api/v1/servers").token(key);
    assert_eq!(serving.send(&asked).status, 200);
    let own = format!("http://127.0.0.1:{}", serving.port);
    assert_eq!(
        serving.send(&asked.clone().with("Origin", &own)).status,
        401,
        "a page has a cookie"
    );
    assert_eq!(serving.send(&Request::new("GET", "/api/v1/servers").token("guess")).status, 401);
    assert_eq!(serving.send(&Request::new("GET", &format!("/?key={key}"))).status, 401);
    serving.signal("TERM");
    serving.finish();
    assert!(!file.exists(), "it goes with the instance");
}
