//! Servers whose definitions, results and notices come from the test.

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, fixture};

/// Returns the entry of a server with the definitions in `offers`.
pub(crate) fn server_entry(switchboard: &Switchboard, server: &str, offers: &Value) -> Value {
    let file = format!("offers-{}.json", server.len());
    let path = switchboard.write(&file, &offers.to_string());
    let journal = switchboard.text_path("journal");
    fixture(&["given", "--offers", path.to_str().unwrap(), "--journal", &journal])
}

/// Returns a home with one server that has these definitions.
pub(crate) fn offering(server: &str, offers: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    let entry = server_entry(&switchboard, server, offers);
    switchboard.configure(&json!({ server: entry }));
    switchboard
}

/// Returns a tool with a description and these properties.
pub(crate) fn tool(name: &str, description: &str, properties: Value) -> Value {
    let schema = json!({"type": "object", "properties": properties});
    json!({"name": name, "description": description, "inputSchema": schema})
}

/// Returns the definitions that the scanner holds or asks about, one `kind name: severity` each.
pub(crate) fn scan_findings(switchboard: &Switchboard) -> Vec<String> {
    let listed = switchboard.json(&["tools", "list", "--held"]);
    let line = |one: &Value| {
        let [kind, name, severity] =
            ["kind", "name", "severity"].map(|key| one[key].as_str().unwrap().to_owned());
        format!("{kind} {name}: {severity}")
    };
    listed.as_array().unwrap().iter().map(line).collect()
}
