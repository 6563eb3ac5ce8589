//! The `chat` section of the settings: limits and defaults of conversations.

use switchboard_document::{ConfigError, Node};

use crate::reader::ConfigReader;

pub(crate) const KEYS: &[&str] = &[
    "model", "instructions", "mcp", "promptTokens", "calls", "maxSteps", "mistakeLimit",
    "unaskedLimit", "resultChars", "notify",
];

/// Limits and defaults of conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatSettings {
    /// The model profile used if the command names none.
    pub model: Option<String>,
    /// System instructions for every model, in addition to the built-in ones.
    pub instructions: Option<String>,
    pub mcp: McpMode,
    /// Token budget for all tool descriptions; `None` means a fifth of the context window.
    pub prompt_tokens: Option<usize>,
    pub calls: CallsPerMessage,
    /// Maximum number of model requests per turn.
    pub max_steps: usize,
    /// Number of consecutive mistakes after which the user is asked.
    pub mistake_limit: usize,
    /// Number of consecutive calls without approval after which the user is asked.
    pub unasked_limit: usize,
    /// Maximum size of a result that a model receives in full, in bytes.
    pub result_chars: usize,
    /// Whether the terminal bell rings when the user is asked.
    pub notify: bool,
}

/// How much of MCP the system prompt explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum McpMode {
    Off,
    #[default]
    UseOnly,
    /// How to use servers and how to write them.
    Full,
}

/// How several calls in one message are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallsPerMessage {
    /// Only the first call runs, and the model learns to make one call at a time.
    One,
    /// All calls run, one after the other.
    #[default]
    Each,
    /// All calls run at the same time.
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

/// Reads the `chat` object into `chat`.
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
