//! A scripted model server in a process of its own, ended when the value is dropped.

use serde_json::Value;

use crate::{Home, HttpFixture};

/// Whose streaming format a scripted model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelVendor {
    OpenAi,
    Anthropic,
    Gemini,
}

impl ModelVendor {
    /// All of them, for tests that hold for each.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

/// A running model server that says what a script says.
#[derive(Debug)]
pub struct ModelFixture {
    fixture: HttpFixture,
    home: Home,
}

impl ModelFixture {
    /// Starts a server that takes any key, and waits until it listens.
    pub fn start(vendor: ModelVendor, script: &Value) -> Self {
        Self::launch(vendor, &[], script)
    }

    /// Starts a server that refuses requests with another key or none.
    pub fn start_with_key(vendor: ModelVendor, key: &str, script: &Value) -> Self {
        Self::launch(vendor, &["--key", key], script)
    }

    fn launch(vendor: ModelVendor, more: &[&str], script: &Value) -> Self {
        let home = Home::new();
        let script = home.write("script.json", script.to_string());
        let journal = home.journal();
        let paths = [script, journal].map(|path| path.display().to_string());
        let [script, journal] = &paths;
        let mut arguments = vec!["model", "--vendor", vendor.name()];
        arguments.extend(["--script", script, "--journal", journal]);
        arguments.extend(more);
        Self { fixture: HttpFixture::start(&arguments), home }
    }

    /// Host and port, for example `127.0.0.1:40123`.
    pub fn address(&self) -> String {
        self.fixture.origin().replace("http://", "")
    }

    /// What a client has to be told: with `/v1` for OpenAI and `/v1beta` for Gemini.
    pub fn base_url(&self) -> &str {
        &self.fixture.url
    }

    /// The process id of the server.
    pub fn pid(&self) -> u32 {
        self.fixture.pid()
    }

    /// Every request so far: `verb`, `path`, `query`, `headers` (lower-case names) and `body`.
    ///
    /// A request is there before its answer begins.
    pub fn requests(&self) -> Vec<Value> {
        let lines = self.home.journal_lines();
        lines
            .iter()
            .map(|line| serde_json::from_str(line).expect("the journal holds JSON"))
            .collect()
    }
}
