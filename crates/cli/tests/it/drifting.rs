//! A server whose definitions change from one moment to the next.

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, fixture};

/// A server whose definitions a file overlays, so that a test can change them.
pub(crate) struct DriftingServer {
    pub(crate) switchboard: Switchboard,
}

impl DriftingServer {
    pub(crate) fn new() -> Self {
        Self::with(&json!({}))
    }

    pub(crate) fn with(settings: &Value) -> Self {
        let drifting = Self { switchboard: Switchboard::new() };
        drifting.configure(settings, &json!({}));
        drifting
    }

    pub(crate) fn configure(&self, settings: &Value, more: &Value) {
        let mut entry = self.entry();
        for (key, value) in more.as_object().unwrap() {
            entry[key] = value.clone();
        }
        let config = json!({"mcpServers": {"srv": entry}, "settings": settings});
        self.switchboard.write_config(&config.to_string());
    }

    pub(crate) fn entry(&self) -> Value {
        let overlay = self.switchboard.text_path("overlay");
        let trace = self.switchboard.text_path("trace");
        fixture(&["echo", "--overlay", &overlay, "--trace", &trace])
    }

    /// Sets the overlay on the server's definitions from this point on.
    pub(crate) fn offers(&self, overlay: &Value) {
        self.switchboard.write("overlay", &overlay.to_string());
    }

    /// Returns how many calls have reached the server.
    pub(crate) fn calls_reached(&self) -> usize {
        let trace = std::fs::read_to_string(self.switchboard.path("trace")).unwrap_or_default();
        trace.lines().filter(|line| line.contains(r#"method\":\"tools/call"#)).count()
    }

    /// Calls a separate instance of the server, with the definitions in force now.
    pub(crate) fn echo(&self, code: i32) -> Value {
        self.switchboard.call(&["srv", "echo", "text=a", "--no-running"], code)
    }
}

/// Another description of its tool.
pub(crate) const OTHER: &str = "Answers with the text. Now in capitals as well.";

/// Its tool with this description.
pub(crate) fn tool_with_description(description: &str) -> Value {
    json!({"tools": [{"name": "echo", "description": description}]})
}
