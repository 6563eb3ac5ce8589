//! What the host chooses about the prompt: the mode, the way of calling and the limits on text.

use crate::prompt::mode::Mode;

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
pub struct Options {
    /// What the model is told about MCP.
    pub mode: Mode,
    /// How it writes calls.
    pub call_form: CallForm,
    /// Whether one message may hold several calls.
    pub parallel: bool,
    /// Whether each tool comes with an example call.
    pub examples: bool,
    /// The most characters of one description.
    pub longest_description: usize,
    /// The most characters of the instructions of one server.
    pub longest_instructions: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            call_form: CallForm::default(),
            parallel: false,
            examples: true,
            longest_description: 2_000,
            longest_instructions: 4_000,
        }
    }
}
