//! Files of hooks and the scripts in them, for tests.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::running::Ran;
use crate::switchboard::{Switchboard, fixture};

/// A hook that answers like this, whatever it is asked.
pub(crate) fn saying(answer: &Value) -> String {
    format!("cat > /dev/null\necho '{answer}'\n")
}

/// The same, with nothing but the permission.
pub(crate) fn permitting(word: &str) -> String {
    saying(&json!({ "permission": word }))
}

/// The fixture server, and its journal of what was written.
pub(crate) fn echo() -> Switchboard {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    switchboard.configure(&json!({"echo": fixture(&["echo", "--journal", &journal])}));
    switchboard
}

impl Switchboard {
    /// Writes a program below the folder of everything; it may be executed.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let first = if text.starts_with("#!") { "" } else { "#!/bin/sh\n" };
        std::fs::write(&path, format!("{first}{text}")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    /// Writes a file of hooks below the folder of everything.
    pub(crate) fn hooks(&self, file: &str, value: &Value) -> PathBuf {
        let path = self.folder().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, value.to_string()).unwrap();
        path
    }

    /// One hook of the user before every call: a shell script with this text.
    pub(crate) fn user_hook(&self, script: &str) {
        self.script("own/hook.sh", script);
        self.hooks("own/hooks.json", &before(&[json!({"command": "./hook.sh"})]));
    }

    /// What a script wrote down, line by line.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Calls the tool that leaves a trace, as a person.
    pub(crate) fn write_call(&self) -> Ran {
        self.run(&["call", "echo", "write", "key=a", "--json"])
    }

    /// What the tool that leaves a trace has done.
    pub(crate) fn trace_text(&self) -> String {
        std::fs::read_to_string(self.path("journal")).unwrap_or_default()
    }

    /// Everything about the newest call.
    pub(crate) fn newest(&self) -> Value {
        let newest = self.json(&["calls", "--limit", "1"]);
        self.json(&["calls", "show", newest[0]["id"].as_str().unwrap()])
    }
}

/// A file with these hooks before calls.
pub(crate) fn before(hooks: &[Value]) -> Value {
    json!({"version": 1, "hooks": {"beforeMCPExecution": hooks}})
}
