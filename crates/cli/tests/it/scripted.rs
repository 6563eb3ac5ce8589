//! A home with a scripted model, whose answers come from a file.

use serde_json::{Value, json};

use crate::running::Ran;
use crate::switchboard::Switchboard;

/// Returns a home in which one scripted model, `main`, answers with these turns; `config` has
/// everything else.
pub(crate) fn scripted_home(config: &Value, turns: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    configure(&switchboard, config, turns);
    switchboard
}

/// Configures a scripted model in an existing home.
pub(crate) fn configure(switchboard: &Switchboard, config: &Value, turns: &Value) {
    let mut config = config.clone();
    let profile = profile(switchboard, "main", turns);
    config["models"]["main"] = profile;
    if config["settings"]["chat"]["model"].is_null() {
        config["settings"]["chat"]["model"] = json!("main");
    }
    switchboard.write_config(&config.to_string());
}

/// Returns the profile of a model that answers with these turns.
pub(crate) fn profile(switchboard: &Switchboard, name: &str, turns: &Value) -> Value {
    let script = json!({ "turns": turns }).to_string();
    let file = switchboard.write(&format!("{name}.script.json"), &script);
    json!({"provider": "scripted", "file": file})
}

/// Returns the id of the most recently changed session.
pub(crate) fn last_session(switchboard: &Switchboard) -> String {
    let sessions = switchboard.json(&["sessions", "list", "--limit", "1"]);
    sessions[0]["session"].as_str().unwrap_or_else(|| panic!("none in {sessions}")).to_owned()
}

/// Returns the stored steps of a session.
pub(crate) fn steps(switchboard: &Switchboard, session: &str) -> Vec<Value> {
    let exported = switchboard.run(&["sessions", "export", session, "--form", "json"]).expect(0);
    let steps = exported.json()["steps"].take();
    let Value::Array(steps) = steps else { panic!("no steps in {exported:?}") };
    steps.into_iter().map(|mut step| step["input"].take()).collect()
}

/// Returns the results that the model received for finished calls, in order.
pub(crate) fn results(switchboard: &Switchboard, session: &str) -> Vec<String> {
    let steps = steps(switchboard, session);
    let ended = steps.iter().filter(|step| step["what"] == "ended");
    ended.map(|step| step["end"]["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Runs a task that is expected to succeed, and returns its output.
pub(crate) fn task(switchboard: &Switchboard, words: &[&str]) -> Ran {
    switchboard.run(&[&["run"], words].concat()).expect(0)
}
