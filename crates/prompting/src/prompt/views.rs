//! The parts of a catalog that a model may see, as borrowed views.

/// A server and its offers.
#[derive(Debug, Clone, Default)]
pub struct ShownServer<'a> {
    pub name: &'a str,
    /// The program that starts the server, without secrets; `None` for a remote server.
    pub command_line: Option<&'a str>,
    pub instructions: Option<&'a str>,
    /// The reason of a failure, in our words; `None` if the server works.
    pub trouble: Option<&'a str>,
    pub tools: Vec<ShownTool<'a>>,
    pub resources: Vec<ShownResource<'a>>,
    pub templates: Vec<ShownTemplate<'a>>,
    pub prompts: Vec<ShownPrompt<'a>>,
}

/// A tool of a server.
#[derive(Debug, Clone, Default)]
pub struct ShownTool<'a> {
    pub name: &'a str,
    /// The name among all tools: unique, at most 64 letters, digits, `_` and `-`.
    pub model_name: &'a str,
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    /// JSON text, as is `output_schema`.
    pub input_schema: Option<&'a str>,
    pub output_schema: Option<&'a str>,
}

/// A resource with a fixed URI.
#[derive(Debug, Clone, Default)]
pub struct ShownResource<'a> {
    pub uri: &'a str,
    pub name: &'a str,
    pub description: Option<&'a str>,
    pub mime_type: Option<&'a str>,
}

/// A resource with a URI template, such as `file:///{path}`.
#[derive(Debug, Clone, Default)]
pub struct ShownTemplate<'a> {
    pub uri_template: &'a str,
    pub name: &'a str,
    pub description: Option<&'a str>,
    pub mime_type: Option<&'a str>,
}

/// A prompt of a server.
#[derive(Debug, Clone, Default)]
pub struct ShownPrompt<'a> {
    pub name: &'a str,
    pub description: Option<&'a str>,
    pub arguments: Vec<ShownArgument<'a>>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, Default)]
pub struct ShownArgument<'a> {
    pub name: &'a str,
    pub description: Option<&'a str>,
    pub required: bool,
}
