//! The configuration examples of the guides can be read, without a warning.

use std::path::Path;

use serde_json::{Value, json};

use super::pages::all_pages;
use crate::switchboard::Switchboard;

/// Parses a block. One that shows some members of an object is completed.
fn parse(text: &str) -> Value {
    let parsed = switchboard_document::json_value(Path::new("example"), text);
    let completed = || {
        let text = format!("{{{text}}}");
        switchboard_document::json_value(Path::new("example"), &text)
    };
    parsed.or_else(|_| completed()).unwrap_or_else(|error| panic!("{error:?} in {text}"))
}

/// Configuration file with this example; nothing if the example is not about configuration.
fn config(example: &Value) -> Option<Value> {
    let object = example.as_object()?;
    let is_entry = |value: &Value| value.get("command").or(value.get("url")).is_some();
    if ["mcpServers", "settings", "models"].iter().any(|key| object.contains_key(*key)) {
        Some(example.clone())
    } else if is_entry(example) && object.get("hook_event_name").is_none() {
        Some(json!({"mcpServers": {"example": example}}))
    } else if object.values().all(is_entry) && !object.is_empty() {
        Some(json!({"mcpServers": example}))
    } else {
        None
    }
}

#[test]
fn configuration_examples_can_be_read_without_a_warning() {
    let mut count = 0;
    for (page, block) in all_pages() {
        if !["json", "jsonc"].contains(&block.language.as_str()) {
            continue;
        }
        let mut example = parse(&block.text);
        // The files of a team would be fetched.
        if let Some(settings) = example.get_mut("settings").and_then(Value::as_object_mut) {
            settings.remove("team");
        }
        let switchboard = Switchboard::new();
        let ran = if let Some(config) = config(&example) {
            switchboard.write_config(&config.to_string());
            switchboard.run(&["models", "list"])
        } else if example.get("rules").is_some() {
            let file = switchboard.write("rules.json", &block.text);
            switchboard.run(&["policy", "check", file.to_str().unwrap()])
        } else {
            continue;
        };
        count += 1;
        let complaints: Vec<&str> = ran
            .stderr
            .lines()
            .filter(|line| line.contains("warning: ") || line.contains("error: "))
            .collect();
        assert_eq!(complaints, Vec::<&str>::new(), "{page}:{}", block.line);
    }
    assert!(count >= 12, "only {count} examples were found");
}
