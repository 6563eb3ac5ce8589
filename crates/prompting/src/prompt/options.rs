//! What the host chooses about the prompt: the mode, the way of calling and the limits on text.

use crate::prompt::mode::PromptMode;

/// How a model that calls in text writes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallForm {
    /// `use_mcp_tool` with the names of server and tool and the arguments as JSON.
    #[default]
    Wrapper,
    /// An element named after the tool with one element per argument; the wrapper stays allowed.
    ToolTags,
}

/// What the host chooses about the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptOptions {
    /// What the model is told about MCP.
    pub mode: PromptMode,
    /// How it writes calls.
    pub call_form: CallForm,
    /// Whether one message may hold several calls.
    pub parallel: bool,
    /// Whether each tool comes with an example call.
    pub examples: bool,
    /// The most characters of one description.
    pub max_description_chars: usize,
    /// The most characters of the instructions of one server.
    pub max_instruction_chars: usize,
}

impl Default for PromptOptions {
    fn default() -> Self {
        Self {
            mode: PromptMode::default(),
            call_form: CallForm::default(),
            parallel: false,
            examples: true,
            max_description_chars: 2_000,
            max_instruction_chars: 4_000,
        }
    }
}
