//! Hook files and their scripts, for tests.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::running::Ran;
use crate::switchboard::{Switchboard, fixture};

/// Returns a hook that always gives this answer.
pub(crate) fn saying(answer: &Value) -> String {
    format!("cat > /dev/null\necho '{answer}'\n")
}

/// Returns a hook that always answers with this permission and nothing else.
pub(crate) fn permitting(word: &str) -> String {
    saying(&json!({ "permission": word }))
}

/// Returns a home with the fixture server and its journal of writes.
pub(crate) fn echo() -> Switchboard {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    switchboard.configure(&json!({"echo": fixture(&["echo", "--journal", &journal])}));
    switchboard
}

impl Switchboard {
    /// Writes an executable program below the test's folder.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let first = if text.starts_with("#!") { "" } else { "#!/bin/sh\n" };
        std::fs::write(&path, format!("{first}{text}")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    /// Writes a hook file below the test's folder.
    pub(crate) fn hooks(&self, file: &str, value: &Value) -> PathBuf {
        let path = self.folder().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, value.to_string()).unwrap();
        path
    }

    /// Installs a user hook before every call: a shell script with this text.
    pub(crate) fn user_hook(&self, script: &str) {
        self.script("own/hook.sh", script);
        self.hooks("own/hooks.json", &before(&[json!({"command": "./hook.sh"})]));
    }

    /// Returns the lines that a script wrote to a file.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Calls the tool that writes to the journal, as a person.
    pub(crate) fn write_call(&self) -> Ran {
        self.run(&["call", "echo", "write", "key=a", "--json"])
    }

    /// Returns the journal of the tool that `write_call` calls.
    pub(crate) fn trace_text(&self) -> String {
        std::fs::read_to_string(self.path("journal")).unwrap_or_default()
    }

    /// Returns all details of the newest call.
    pub(crate) fn newest(&self) -> Value {
        let newest = self.json(&["calls", "--limit", "1"]);
        self.json(&["calls", "show", newest[0]["id"].as_str().unwrap()])
    }
}

/// Returns a hook file with these hooks before calls.
pub(crate) fn before(hooks: &[Value]) -> Value {
    json!({"version": 1, "hooks": {"beforeMCPExecution": hooks}})
}
