//! A home with a scripted model: what it says stands in a file.

use serde_json::{Value, json};

use crate::running::Ran;
use crate::switchboard::Switchboard;

/// A home in which one scripted model, `main`, says these turns; `config` has everything else.
pub(crate) fn scripted_home(config: &Value, turns: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    configure(&switchboard, config, turns);
    switchboard
}

/// The same in a home that is there already.
pub(crate) fn configure(switchboard: &Switchboard, config: &Value, turns: &Value) {
    let mut config = config.clone();
    let profile = profile(switchboard, "main", turns);
    config["models"]["main"] = profile;
    if config["settings"]["chat"]["model"].is_null() {
        config["settings"]["chat"]["model"] = json!("main");
    }
    switchboard.write_config(&config.to_string());
}

/// The profile of a model that says these turns.
pub(crate) fn profile(switchboard: &Switchboard, name: &str, turns: &Value) -> Value {
    let script = json!({ "turns": turns }).to_string();
    let file = switchboard.write(&format!("{name}.script.json"), &script);
    json!({"provider": "scripted", "file": file})
}

/// The id of the session that was changed last.
pub(crate) fn last_session(switchboard: &Switchboard) -> String {
    let sessions = switchboard.json(&["sessions", "list", "--limit", "1"]);
    sessions[0]["session"].as_str().unwrap_or_else(|| panic!("none in {sessions}")).to_owned()
}

/// The steps of a session, as they were kept.
pub(crate) fn steps(switchboard: &Switchboard, session: &str) -> Vec<Value> {
    let exported = switchboard.run(&["sessions", "export", session, "--form", "json"]).expect(0);
    let steps = exported.json()["steps"].take();
    let Value::Array(steps) = steps else { panic!("no steps in {exported:?}") };
    steps.into_iter().map(|mut step| step["input"].take()).collect()
}

/// What the model was told of each call that has ended, in order.
pub(crate) fn results(switchboard: &Switchboard, session: &str) -> Vec<String> {
    let steps = steps(switchboard, session);
    let ended = steps.iter().filter(|step| step["what"] == "ended");
    ended.map(|step| step["end"]["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Runs a task that is expected to end well, and gives what it printed.
pub(crate) fn task(switchboard: &Switchboard, words: &[&str]) -> Ran {
    switchboard.run(&[&["run"], words].concat()).expect(0)
}
