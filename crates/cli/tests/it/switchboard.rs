//! The `switchboard` binary in a home of its own, with the queries that most tests need.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use switchboard_testkit::Home;

use crate::running::{Ran, RunningProcess, TEST_TIMEOUT};

/// The binary with a private home: configuration, state and the current folder.
pub(crate) struct Switchboard {
    home: Home,
    variables: Vec<(&'static str, String)>,
}

impl Switchboard {
    /// Creates a home without configuration.
    pub(crate) fn new() -> Self {
        let home = Home::new();
        std::fs::create_dir(home.path().join("work")).unwrap();
        Self { home, variables: Vec::new() }
    }

    /// Sets an environment variable for all later commands.
    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.variables.retain(|(other, _)| *other != name);
        self.variables.push((name, value.to_owned()));
    }

    /// Returns the folder that contains everything: configuration, state and the current folder.
    pub(crate) fn folder(&self) -> &Path {
        self.home.path()
    }

    /// Creates a home with these servers in the user's file.
    pub(crate) fn with(servers: &Value) -> Self {
        let switchboard = Self::new();
        switchboard.configure(servers);
        switchboard
    }

    pub(crate) fn configure(&self, servers: &Value) {
        self.write_config(&json!({ "mcpServers": servers }).to_string());
    }

    pub(crate) fn write_config(&self, text: &str) {
        self.home.write("own/config.json", text);
    }

    pub(crate) fn config_text(&self) -> String {
        std::fs::read_to_string(self.home.path().join("own/config.json")).unwrap_or_default()
    }

    /// Returns a path in the current folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("work").join(name)
    }

    /// Returns a path in the current folder as text.
    pub(crate) fn text_path(&self, name: &str) -> String {
        self.path(name).to_str().expect("temporary folders have plain names").to_owned()
    }

    pub(crate) fn write(&self, name: &str, contents: &str) -> PathBuf {
        self.home.write(&format!("work/{name}"), contents)
    }

    /// Writes the rules of a level: `enterprise`, `project` or `user`.
    pub(crate) fn write_policy(&self, level: &str, policy: &Value) -> PathBuf {
        self.write_policy_text(level, &policy.to_string())
    }

    pub(crate) fn write_policy_text(&self, level: &str, text: &str) -> PathBuf {
        let place = match level {
            "enterprise" => "system/policy.json",
            "project" => "work/.switchboard/policy.json",
            "user" => "own/policy.json",
            other => panic!("no level `{other}`"),
        };
        self.home.write(place, text)
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        command.args(words);
        self.surround(&mut command);
        command
    }

    /// Starts a command in a terminal; standard output is the screen.
    pub(crate) fn in_terminal(&self, words: &[&str]) -> RunningProcess {
        RunningProcess::start(&mut self.terminal(&shell_line(words)))
    }

    /// Starts a command in a terminal, followed by another shell command.
    pub(crate) fn in_terminal_then(&self, words: &[&str], next: &str) -> RunningProcess {
        RunningProcess::start(&mut self.terminal(&format!("{}; {next}", shell_line(words))))
    }

    /// Starts a command in a terminal, with the programs of a folder ahead of `PATH`.
    pub(crate) fn in_terminal_with(&self, words: &[&str], programs: &Path) -> RunningProcess {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = self.terminal(&shell_line(words));
        RunningProcess::start(command.env("PATH", format!("{}:{path}", programs.display())))
    }

    /// Runs a command in a terminal; waits for each question and types its answer.
    #[cfg(target_os = "linux")]
    pub(crate) fn run_typed(&self, words: &[&str], answers: &[(&str, &str)]) -> Ran {
        let mut terminal = self.in_terminal(words);
        for (question, answer) in answers {
            terminal.wait_for(question);
            terminal.say(answer);
        }
        terminal.finish_within(TEST_TIMEOUT)
    }

    /// Trusts new servers unless the configuration sets `firstUse`: most tests at a terminal are
    /// not about that question.
    pub(crate) fn trust_new_servers(&self) {
        let text = self.config_text();
        let read = if text.is_empty() { Ok(json!({})) } else { serde_json::from_str(&text) };
        let Ok(Value::Object(mut config)) = read else { return };
        let settings = config.entry("settings").or_insert_with(|| json!({}));
        if let Some(settings) = settings.as_object_mut()
            && !settings.contains_key("firstUse")
        {
            settings.insert("firstUse".to_owned(), json!("trust"));
            self.write_config(&Value::Object(config).to_string());
        }
    }

    fn terminal(&self, line: &str) -> Command {
        self.trust_new_servers();
        let mut command = Command::new("script");
        command.args(["-qec", line, "/dev/null"]).env("SHELL", "/bin/sh").env("TERM", "xterm");
        self.surround(&mut command);
        command
    }

    pub(crate) fn surround(&self, command: &mut Command) {
        command
            .current_dir(self.home.path().join("work"))
            .env("SWITCHBOARD_HOME", self.home.path().join("own"))
            .env("SWITCHBOARD_SYSTEM", self.home.path().join("system"))
            // The search for a project's file ends at home.
            .env("HOME", self.home.path())
            .env_remove("NO_COLOR")
            .env_remove("CI")
            .env_remove("SWITCHBOARD_TOKEN_KEY");
        for (name, value) in &self.variables {
            command.env(name, value);
        }
    }

    pub(crate) fn start(&self, words: &[&str]) -> RunningProcess {
        RunningProcess::start(&mut self.command(words))
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_with_input(words, "")
    }

    pub(crate) fn run_with_input(&self, words: &[&str], input: &str) -> Ran {
        let mut running = self.start(words);
        running.say(input);
        running.close_input();
        running.finish_within(TEST_TIMEOUT)
    }

    /// Runs a command that must succeed with `--json`, and returns its output.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        self.run(&[words, &["--json"]].concat()).expect(0).json()
    }

    /// Returns the names of a server's tools, in the server's order.
    pub(crate) fn tools(&self, server: &str) -> Vec<String> {
        let listed = self.json(&["tools", "list", "--server", server]);
        let tools = listed.as_array().unwrap().iter();
        let own = tools.filter(|tool| tool["server"] == server);
        own.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Fails unless `tools show` prints this property and the name for models.
    pub(crate) fn check_shown(&self, server: &str, tool: &str, property: &str) {
        let text = self.run(&["tools", "show", server, tool]).expect(0).stdout;
        assert!(text.starts_with(&format!("{tool} on {server}\n")), "{text}");
        for part in
            [format!("    \"{property}\": {{"), format!("name for models: {server}__{tool}")]
        {
            assert!(text.contains(&part), "no `{part}` in {text}");
        }
    }

    /// Returns the status of a server and its negotiated revision.
    pub(crate) fn status(&self, server: &str) -> [String; 2] {
        let servers = self.json(&["servers"]);
        let all = servers.as_array().unwrap();
        let found = all.iter().find(|shown| shown["name"] == server);
        let found = found.unwrap_or_else(|| panic!("no `{server}` in {servers}"));
        ["status", "revision"].map(|key| found[key].as_str().unwrap_or_default().to_owned())
    }

    /// Makes a call with `--json`, checks the exit code, and returns the output.
    pub(crate) fn call(&self, words: &[&str], code: i32) -> Value {
        self.run(&[&["call"], words, &["--json"]].concat()).expect(code).json()
    }

    /// Returns every recorded call as `kind server/target: outcome` with the reason in parentheses,
    /// oldest first.
    pub(crate) fn recorded_calls(&self) -> Vec<String> {
        let calls = self.json(&["calls", "--limit", "100"]);
        let text = |call: &Value, key: &str| call[key].as_str().unwrap_or("none").to_owned();
        let shown = calls.as_array().unwrap().iter().rev().map(|call| {
            let [kind, server, target, outcome, reason] =
                ["kind", "server", "target", "outcome", "reason"].map(|key| text(call, key));
            let reason = if reason == "none" { String::new() } else { format!(" ({reason})") };
            format!("{kind} {server}/{target}: {outcome}{reason}")
        });
        shown.collect()
    }
}

/// Returns the binary and its arguments as a shell command line.
fn shell_line(words: &[&str]) -> String {
    let quoted = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
    let words = [&[env!("CARGO_BIN_EXE_switchboard")], words].concat();
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Returns the entry of a fixture server over stdio.
pub(crate) fn fixture(arguments: &[&str]) -> Value {
    json!({"command": switchboard_testkit::binary(), "args": arguments})
}

/// Returns the text of the first content item of a call's result.
pub(crate) fn result_text(call: &Value) -> &str {
    call["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {call}"))
}
