//! Servers whose definitions, results and notices a test writes down.

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, fixture};

/// The entry of a server that offers what `offers` says; the file bears the server's name.
pub(crate) fn server_entry(switchboard: &Switchboard, server: &str, offers: &Value) -> Value {
    let file = format!("offers-{}.json", server.len());
    let path = switchboard.write(&file, &offers.to_string());
    let journal = switchboard.text_path("journal");
    fixture(&["given", "--offers", path.to_str().unwrap(), "--journal", &journal])
}

/// A home in which one server offers this.
pub(crate) fn offering(server: &str, offers: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    let entry = server_entry(&switchboard, server, offers);
    switchboard.configure(&json!({ server: entry }));
    switchboard
}

/// A tool with a description and these properties.
pub(crate) fn tool(name: &str, description: &str, properties: Value) -> Value {
    let schema = json!({"type": "object", "properties": properties});
    json!({"name": name, "description": description, "inputSchema": schema})
}

/// What the scanner holds or asks about, as `kind name: state` in one line each.
pub(crate) fn scan_findings(switchboard: &Switchboard) -> Vec<String> {
    let listed = switchboard.json(&["tools", "list", "--held"]);
    let line = |one: &Value| {
        let [kind, name, severity] =
            ["kind", "name", "severity"].map(|key| one[key].as_str().unwrap().to_owned());
        format!("{kind} {name}: {severity}")
    };
    listed.as_array().unwrap().iter().map(line).collect()
}
