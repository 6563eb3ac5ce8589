//! The `chat` of the settings: how conversations go.

use switchboard_document::{ConfigError, Node};

use crate::reader::ConfigReader;

const KEYS: &[&str] = &[
    "model", "instructions", "mcp", "promptTokens", "calls", "maxSteps", "mistakeLimit",
    "unaskedLimit", "resultChars", "notify",
];

/// How conversations go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatSettings {
    /// The profile that is used if none is named.
    pub model: Option<String>,
    /// What every model is told first, beside our own words.
    pub instructions: Option<String>,
    /// How much of MCP a model is told about.
    pub mcp: McpMode,
    /// How many tokens the description of all tools may cost; none means a fifth of the window.
    pub prompt_tokens: Option<usize>,
    /// What happens with several calls in one message.
    pub calls: CallsPerMessage,
    /// How often a model may be asked before a person has to speak again.
    pub max_steps: usize,
    /// After so many mistakes in a row a person is asked.
    pub mistake_limit: usize,
    /// After so many calls in a row that nobody was asked about, a person is asked.
    pub unasked_limit: usize,
    /// The longest result that a model is given whole, in bytes.
    pub result_chars: usize,
    /// Whether the terminal rings when a person is asked.
    pub notify: bool,
}

/// How much of MCP a model is told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum McpMode {
    /// Nothing: it has no tools.
    Off,
    /// How to use servers.
    #[default]
    UseOnly,
    /// Also how to write them.
    Full,
}

/// What happens with several calls in one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallsPerMessage {
    /// The first runs, and the others are told to wait.
    One,
    /// All run, one after the other.
    #[default]
    Each,
    /// All run at the same time.
    Parallel,
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self {
            model: None,
            instructions: None,
            mcp: McpMode::default(),
            prompt_tokens: None,
            calls: CallsPerMessage::default(),
            max_steps: 50,
            mistake_limit: 3,
            unasked_limit: 20,
            result_chars: 40_000,
            notify: false,
        }
    }
}

/// Reads the whole object into `chat`.
pub(crate) fn read(
    chat: &mut ChatSettings,
    node: &Node,
    key: &str,
    reader: &ConfigReader<'_>,
) -> Result<(), ConfigError> {
    for member in reader.members(node, key)?.iter().filter(|member| !member.value.is_null()) {
        let node = &member.value;
        let key = format!("{key}.{}", member.name);
        match member.name.as_str() {
            "model" => chat.model = Some(reader.text(node, &key)?),
            "instructions" => chat.instructions = Some(reader.text(node, &key)?),
            "mcp" => {
                let choices = [
                    ("off", McpMode::Off),
                    ("use-only", McpMode::UseOnly),
                    ("server-use-only", McpMode::UseOnly),
                    ("full", McpMode::Full),
                ];
                chat.mcp = reader.choice(node, &key, &choices)?;
            }
            "promptTokens" => {
                chat.prompt_tokens = Some(reader.count(node, &key, 200..=10_000_000)?);
            }
            "calls" => {
                let choices = [
                    ("one", CallsPerMessage::One),
                    ("each", CallsPerMessage::Each),
                    ("parallel", CallsPerMessage::Parallel),
                ];
                chat.calls = reader.choice(node, &key, &choices)?;
            }
            "maxSteps" => chat.max_steps = reader.count(node, &key, 1..=10_000)?,
            "mistakeLimit" => chat.mistake_limit = reader.count(node, &key, 1..=100)?,
            "unaskedLimit" => chat.unasked_limit = reader.count(node, &key, 1..=10_000)?,
            "resultChars" => chat.result_chars = reader.count(node, &key, 500..=10_000_000)?,
            "notify" => chat.notify = reader.flag(node, &key)?,
            _ => {}
        }
    }
    Ok(())
}

/// The keys of the object, for whoever warns about others.
pub(crate) const fn keys() -> &'static [&'static str] {
    KEYS
}
