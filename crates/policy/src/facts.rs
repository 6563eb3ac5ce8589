//! The facts about a call that rules evaluate.

use serde::Deserialize;
use switchboard_catalog::{ResolvedCall, Tool};
use switchboard_config::{ConfigLayer, ServerConfig, Transport};
use switchboard_core::{Caller, Target, TargetKind};

use crate::session_tracker::SessionFacts;

/// The facts about a call that conditions and risk depend on.
#[derive(Clone, Copy, Debug)]
pub struct PolicyFacts<'a> {
    pub target: &'a Target,
    /// The text of a JSON object, as it would be sent.
    pub arguments: &'a str,
    pub annotations: AnnotationSource<'a>,
    /// Whether the target is read-only according to the operator or a trusted server.
    pub read_only: bool,
    pub trusted: bool,
    pub transport: &'static str,
    pub caller: &'a Caller,
    pub session: &'a SessionFacts,
}

/// A tool's annotations, the text of a JSON object.
#[derive(Clone, Copy, Debug)]
pub enum AnnotationSource<'a> {
    None,
    Text(&'a str),
    // Extracted from the definition when needed.
    Tool(&'a Tool),
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ToolHints {
    pub(crate) read_only_hint: Option<bool>,
    pub(crate) destructive_hint: Option<bool>,
    pub(crate) open_world_hint: Option<bool>,
}

impl<'a> PolicyFacts<'a> {
    /// Returns the facts about a resolved call.
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

    /// Returns the facts about a call whose definition is unavailable, such as one in the record.
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

    /// Adds the server's annotations of the tool.
    #[must_use]
    pub fn with_annotations(self, text: &'a str, server: Option<&ServerConfig>) -> Self {
        self.annotated(AnnotationSource::Text(text), server)
    }

    fn annotated(self, annotations: AnnotationSource<'a>, server: Option<&ServerConfig>) -> Self {
        Self { annotations, read_only: is_read_only(self.target, server, annotations), ..self }
    }

    pub(crate) fn hints(&self) -> ToolHints {
        self.annotations.hints()
    }

    /// Returns an untrusted server, other than the called one, that this session has results from.
    #[must_use]
    pub fn tainted_by(&self) -> Option<&'a str> {
        self.session.tainted_by(&self.target.server)
    }
}

/// Returns whether a server's annotations are believed and its results do not taint a session.
#[must_use]
pub fn is_trusted(server: &ServerConfig) -> bool {
    server.trusted || server.transport == Transport::Builtin
}

impl<'a> AnnotationSource<'a> {
    /// Returns the text of the annotations, if there are any.
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

/// Returns whether a target is known to be read-only.
pub(crate) fn is_read_only(
    target: &Target,
    server: Option<&ServerConfig>,
    annotations: AnnotationSource<'_>,
) -> bool {
    if target.kind != TargetKind::Tool {
        return true;
    }
    let Some(server) = server else { return false };
    // A project's file and an untrusted server could claim it to avoid a review.
    let by_operator = server.source.layer != ConfigLayer::Project
        && server.tools.get(&target.name).is_some_and(|tool| tool.read_only);
    by_operator || is_trusted(server) && annotations.hints().read_only_hint == Some(true)
}

pub(crate) fn transport_word(server: &ServerConfig) -> &'static str {
    match server.transport {
        Transport::Builtin => "builtin",
        Transport::Stdio { .. } => "stdio",
        Transport::Http { .. } => "http",
    }
}
