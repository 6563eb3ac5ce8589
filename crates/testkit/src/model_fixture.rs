//! A scripted model server in its own process, killed when the value is dropped.

use serde_json::Value;

use crate::{Home, HttpFixture};

/// The vendor whose wire format a scripted model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelVendor {
    OpenAi,
    Anthropic,
    Gemini,
}

impl ModelVendor {
    /// All vendors, for tests that apply to each.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// Value of the fixture's `--vendor` flag.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

/// A running model server that answers from a script.
#[derive(Debug)]
pub struct ModelFixture {
    fixture: HttpFixture,
    home: Home,
}

impl ModelFixture {
    /// Starts a server that accepts any key, and waits until it listens.
    pub fn start(vendor: ModelVendor, script: &Value) -> Self {
        Self::launch(vendor, &[], script)
    }

    /// Starts a server that rejects requests without this key, and waits until it listens.
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

    /// Base URL for a client, including `/v1` for OpenAI and `/v1beta` for Gemini.
    pub fn base_url(&self) -> &str {
        &self.fixture.url
    }

    /// Process id of the server.
    pub fn pid(&self) -> u32 {
        self.fixture.pid()
    }

    /// Returns every request so far: `verb`, `path`, `query`, `headers` (lower-case names), `body`.
    ///
    /// A request is recorded before its answer begins.
    pub fn requests(&self) -> Vec<Value> {
        let lines = self.home.journal_lines();
        lines
            .iter()
            .map(|line| serde_json::from_str(line).expect("the journal holds JSON"))
            .collect()
    }
}
