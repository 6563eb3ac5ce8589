//! Options of the prompt: mode, call form and text limits.

/// The mode of the MCP part of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptMode {
    Off,
    /// The model can use servers, and gets no instructions for writing new ones.
    #[default]
    UseOnly,
    Full,
}

impl PromptMode {
    /// Parses the setting. Also accepts the longer spelling of other products.
    #[must_use]
    pub fn from_setting(text: &str) -> Option<Self> {
        match text {
            "off" => Some(Self::Off),
            "use_only" | "use-only" | "server-use-only" => Some(Self::UseOnly),
            "full" => Some(Self::Full),
            _ => None,
        }
    }

    /// Returns the setting as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::UseOnly => "use_only",
            Self::Full => "full",
        }
    }

    /// Returns the text that this mode adds to a prompt, in addition to the servers.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Off | Self::UseOnly => "",
            Self::Full => WRITING_SERVERS,
        }
    }
}

/// The form in which a model writes calls as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallForm {
    /// `use_mcp_tool` with the names of the server and the tool, and the arguments as JSON.
    #[default]
    Wrapper,
    /// An element named after the tool, with one element per argument. The wrapper is also allowed.
    ToolTags,
}

/// Options of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptOptions {
    pub mode: PromptMode,
    pub call_form: CallForm,
    pub parallel: bool,
    /// Adds an example call to each tool.
    pub examples: bool,
    /// Longer texts are cut, with a note: a server must not crowd the others out of the prompt.
    pub max_description_chars: usize,
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
4. A running server cannot ask for input. Keys and passwords reach it through environment \
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
