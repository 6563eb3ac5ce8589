//! What the host chooses about the prompt: the mode, the way of calling and the limits on text.

/// The setting for the MCP part of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptMode {
    /// No section and no tools.
    Off,
    /// Servers can be used.
    #[default]
    UseOnly,
    /// Servers can be used, and the model is told how to write new ones.
    Full,
}

impl PromptMode {
    /// Reads the setting; the long spelling of other products is understood too.
    #[must_use]
    pub fn from_setting(text: &str) -> Option<Self> {
        match text {
            "off" => Some(Self::Off),
            "use_only" | "use-only" | "server-use-only" => Some(Self::UseOnly),
            "full" => Some(Self::Full),
            _ => None,
        }
    }

    /// The setting as it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::UseOnly => "use_only",
            Self::Full => "full",
        }
    }

    /// What this mode adds to a prompt, besides the servers.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Off | Self::UseOnly => "",
            Self::Full => WRITING_SERVERS,
        }
    }
}

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

const WRITING_SERVERS: &str = "\
## Writing a new MCP server

Do this only when the user wants a server that does not exist yet.

1. Pick an official SDK for the language the user works in and put the server in a folder of its \
own, outside the present project unless the user says otherwise.
2. Start with one tool. Give it a plain name, a sentence that says when to use it, and a JSON \
schema in which every argument has a type and a description.
3. A local server speaks JSON-RPC on standard input and output. Anything else it wants to say goes \
to standard error, because a stray line on standard output breaks the connection.
4. Nobody can type into a running server. Keys and passwords reach it through environment \
variables; ask the user for them and never write them into source code.
5. Report a failure as a tool result that is marked as an error and says what to try next. Put a \
time limit on everything that waits.
6. Build it and run it once by hand. Then add an entry to the `mcpServers` object of the \
configuration: `command`, `args` and `env` for a local server, `url` for a remote one. Leave the \
other entries as they are.
7. New tools appear in this list after the server has connected. Try each of them before you say \
that it works.
";

#[cfg(test)]
mod tests {
    use super::PromptMode;

    #[test]
    fn every_mode_reads_back_what_it_writes() {
        for mode in [PromptMode::Off, PromptMode::UseOnly, PromptMode::Full] {
            assert_eq!(PromptMode::from_setting(mode.as_str()), Some(mode));
        }
        assert_eq!(PromptMode::from_setting("server-use-only"), Some(PromptMode::UseOnly));
        assert_eq!(PromptMode::from_setting("Full"), None);
    }

    #[test]
    fn only_the_full_mode_tells_how_to_write_servers() {
        let said = [PromptMode::Off, PromptMode::UseOnly, PromptMode::Full]
            .map(|mode| !mode.help().is_empty());
        assert_eq!(said, [false, false, true]);
    }
}
