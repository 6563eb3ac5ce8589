//! What is known of a call when it is decided about.

use serde::Deserialize;
use switchboard_catalog::{ResolvedCall, Tool};
use switchboard_config::{ConfigLayer, ServerConfig, Transport};
use switchboard_core::{Caller, Target, TargetKind};

use crate::session_tracker::SessionFacts;

/// What is known of a call.
#[derive(Clone, Copy, Debug)]
pub struct PolicyFacts<'a> {
    pub target: &'a Target,
    /// The arguments as they would be sent: the text of a JSON object.
    pub arguments: &'a str,
    /// What the server says about the tool.
    pub annotations: AnnotationSource<'a>,
    /// Whether it is known to change nothing: by the operator, or by a server that is trusted.
    pub read_only: bool,
    /// Whether the server is trusted.
    pub trusted: bool,
    /// How the server is reached, in one word.
    pub transport: &'static str,
    pub caller: &'a Caller,
    /// What the caller did before.
    pub session: &'a SessionFacts,
}

/// What a server says about a tool: the text of a JSON object, looked up when it is needed.
#[derive(Clone, Copy, Debug)]
pub enum AnnotationSource<'a> {
    None,
    Text(&'a str),
    /// What stands in the tool's definition.
    Tool(&'a Tool),
}

/// What a server says about a tool.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ToolHints {
    pub(crate) read_only_hint: Option<bool>,
    pub(crate) destructive_hint: Option<bool>,
    pub(crate) open_world_hint: Option<bool>,
}

impl<'a> PolicyFacts<'a> {
    /// What is known of a call that was looked up.
    #[must_use]
    pub fn new(call: &'a ResolvedCall, caller: &'a Caller, session: &'a SessionFacts) -> Self {
        let target = call.target();
        let server = call.server();
        let config = server.config.as_deref();
        let arguments = call.arguments().as_str();
        let facts = Self::without_definition(target, arguments, config, caller, session);
        match server.offers.tool(&target.name) {
            Some(tool) if target.kind == TargetKind::Tool => {
                facts.annotated(AnnotationSource::Tool(tool), config)
            }
            _ => facts,
        }
    }

    /// What is known of a call without its definition, such as one in the record.
    #[must_use]
    pub fn without_definition(
        target: &'a Target,
        arguments: &'a str,
        server: Option<&ServerConfig>,
        caller: &'a Caller,
        session: &'a SessionFacts,
    ) -> Self {
        Self {
            target,
            arguments,
            annotations: AnnotationSource::None,
            read_only: is_read_only(target, server, AnnotationSource::None),
            trusted: server.is_some_and(is_trusted),
            transport: server.map_or("unknown", transport_word),
            caller,
            session,
        }
    }

    /// The same with what the server said about the tool.
    #[must_use]
    pub fn with_annotations(self, text: &'a str, server: Option<&ServerConfig>) -> Self {
        self.annotated(AnnotationSource::Text(text), server)
    }

    fn annotated(self, annotations: AnnotationSource<'a>, server: Option<&ServerConfig>) -> Self {
        Self { annotations, read_only: is_read_only(self.target, server, annotations), ..self }
    }

    /// What the server says about the tool.
    pub(crate) fn hints(&self) -> ToolHints {
        self.annotations.hints()
    }

    /// A server that is not trusted and not the one that is called, if something came from one.
    #[must_use]
    pub fn tainted_by(&self) -> Option<&'a str> {
        self.session.tainted_by(&self.target.server)
    }
}

/// Whether what a server says about its tools is believed, and its results harm nobody.
#[must_use]
pub fn is_trusted(server: &ServerConfig) -> bool {
    server.trusted || server.transport == Transport::Builtin
}

impl<'a> AnnotationSource<'a> {
    /// The text, if there is one.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        match self {
            Self::None => None,
            Self::Text(text) => Some(text),
            Self::Tool(tool) => tool.definition().annotations.map(serde_json::value::RawValue::get),
        }
    }

    pub(crate) fn hints(self) -> ToolHints {
        self.text().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

/// Whether a target is known to change nothing. What a server that is not trusted says about itself
/// does not count, nor what a project says about it.
pub(crate) fn is_read_only(
    target: &Target,
    server: Option<&ServerConfig>,
    annotations: AnnotationSource<'_>,
) -> bool {
    if target.kind != TargetKind::Tool {
        return true;
    }
    let Some(server) = server else { return false };
    let by_operator = server.source.layer != ConfigLayer::Project
        && server.tools.get(&target.name).is_some_and(|tool| tool.read_only);
    by_operator || is_trusted(server) && annotations.hints().read_only_hint == Some(true)
}

/// How a server is reached, in one word.
pub(crate) fn transport_word(server: &ServerConfig) -> &'static str {
    match server.transport {
        Transport::Builtin => "builtin",
        Transport::Stdio { .. } => "stdio",
        Transport::Http { .. } => "http",
    }
}
