//! The parts of a catalog that a model may see, as borrowed views.

/// One server and what it offers.
#[derive(Debug, Clone, Default)]
pub struct ShownServer<'a> {
    /// The name it is configured under.
    pub name: &'a str,
    /// How it is started, without secrets; nothing for a remote server.
    pub command_line: Option<&'a str>,
    /// What it says about its own use.
    pub instructions: Option<&'a str>,
    /// What is wrong with it, in our words; nothing when it is well.
    pub trouble: Option<&'a str>,
    pub tools: Vec<ShownTool<'a>>,
    /// Its resources with a fixed address.
    pub resources: Vec<ShownResource<'a>>,
    /// Its resources whose address has parts to fill in.
    pub templates: Vec<ShownTemplate<'a>>,
    pub prompts: Vec<ShownPrompt<'a>>,
}

/// One tool.
#[derive(Debug, Clone, Default)]
pub struct ShownTool<'a> {
    /// The name on its server.
    pub name: &'a str,
    /// The name among all tools: unique and at most 64 letters, digits, `_` and `-`.
    pub model_name: &'a str,
    /// A name for people.
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    /// The JSON text of the schema of its arguments.
    pub input_schema: Option<&'a str>,
    /// The JSON text of the schema of its structured result.
    pub output_schema: Option<&'a str>,
}

/// One resource with a fixed address.
#[derive(Debug, Clone, Default)]
pub struct ShownResource<'a> {
    pub uri: &'a str,
    pub name: &'a str,
    pub description: Option<&'a str>,
    pub mime_type: Option<&'a str>,
}

/// One family of resources.
#[derive(Debug, Clone, Default)]
pub struct ShownTemplate<'a> {
    /// Its address with parts to fill in, such as `file:///{path}`.
    pub uri_template: &'a str,
    pub name: &'a str,
    /// What its members hold.
    pub description: Option<&'a str>,
    pub mime_type: Option<&'a str>,
}

/// One prompt.
#[derive(Debug, Clone, Default)]
pub struct ShownPrompt<'a> {
    pub name: &'a str,
    /// What it is for.
    pub description: Option<&'a str>,
    pub arguments: Vec<ShownArgument<'a>>,
}

/// One argument of a prompt.
#[derive(Debug, Clone, Default)]
pub struct ShownArgument<'a> {
    pub name: &'a str,
    pub description: Option<&'a str>,
    /// Whether the prompt cannot do without it.
    pub required: bool,
}
