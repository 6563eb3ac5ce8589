//! The input of a hook: one JSON object with the names of Cursor's protocol.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use switchboard_config::{ServerConfig, Transport};
use switchboard_core::{Target, TargetKind};

use crate::hooks::hook::{HookEvent, HookRules};

/// The call that a hook runs for, and its caller.
#[derive(Clone, Debug)]
pub struct HookInput {
    /// The conversation that the call belongs to, or an id for the call alone.
    pub conversation: String,
    pub call: String,
    /// The model that proposed the call, or empty.
    pub model: String,
    pub roots: Vec<PathBuf>,
    pub target: Target,
    /// The arguments as JSON text.
    pub arguments: String,
    pub location: ServerLocation,
}

/// The command line or URL of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerLocation {
    Command(String),
    Url(String),
}

#[derive(Serialize)]
struct HookInputJson<'a> {
    conversation_id: &'a str,
    generation_id: &'a str,
    model: &'a str,
    hook_event_name: &'static str,
    cursor_version: &'static str,
    workspace_roots: &'a [PathBuf],
    user_email: Option<&'a str>,
    transcript_path: Option<&'a str>,
    tool_name: &'a str,
    tool_input: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_server_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_server_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_json: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<serde_json::Number>,
}

#[derive(Clone, Copy, Debug)]
struct HookCallResult<'a> {
    text: &'a str,
    took: Duration,
}

impl HookInput {
    /// Returns the input of a hook before the call.
    pub fn before_json(&self, rules: HookRules) -> String {
        self.to_json(HookEvent::Before, rules, None)
    }

    /// Returns the input of a hook after the call.
    pub fn after_json(&self, rules: HookRules, result: &str, took: Duration) -> String {
        self.to_json(HookEvent::After, rules, Some(HookCallResult { text: result, took }))
    }

    fn to_json(
        &self,
        when: HookEvent,
        rules: HookRules,
        result: Option<HookCallResult<'_>>,
    ) -> String {
        let (command, url) = match &self.location {
            ServerLocation::Command(line) => (Some(line.as_str()), None),
            ServerLocation::Url(url) => (None, Some(url.as_str())),
        };
        let is_new = rules == HookRules::Current;
        let (tool_name, tool_input) = self.as_tool();
        let input = HookInputJson {
            conversation_id: &self.conversation,
            generation_id: &self.call,
            model: &self.model,
            hook_event_name: when.as_str(),
            cursor_version: VERSION,
            workspace_roots: &self.roots,
            // Cursor sends these two; scripts may expect the keys, but the host has no values.
            user_email: None,
            transcript_path: None,
            tool_name,
            tool_input: &tool_input,
            url,
            command,
            mcp_server_name: is_new.then_some(self.target.server.as_str()),
            mcp_server_url: url.filter(|_| is_new),
            mcp_kind: match self.target.kind {
                TargetKind::Tool => None,
                kind @ (TargetKind::Resource | TargetKind::Prompt) => Some(kind.as_str()),
            },
            result_json: result.map(|result| result.text),
            duration: result.map(|result| duration_number(result.took, rules)),
        };
        // Serialization cannot fail here; a hook that gets an empty input does not allow the call.
        serde_json::to_string(&input).unwrap_or_default()
    }

    /// Returns the name and arguments as for a tool; other targets use their request's method.
    fn as_tool(&self) -> (&str, String) {
        let name = &self.target.name;
        match self.target.kind {
            TargetKind::Tool => (name, self.arguments.clone()),
            TargetKind::Resource => ("resources/read", json!({ "uri": name }).to_string()),
            TargetKind::Prompt => {
                let name = json!(name);
                let arguments = &self.arguments;
                ("prompts/get", format!(r#"{{"name":{name},"arguments":{arguments}}}"#))
            }
        }
    }
}

/// The version that is reported to hooks.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

fn duration_number(took: Duration, rules: HookRules) -> serde_json::Number {
    let whole = serde_json::Number::from(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    match rules {
        HookRules::Current => whole,
        HookRules::Cursor2341 => {
            let seconds = took.as_millis() as f64 / 1_000.0;
            serde_json::Number::from_f64(seconds).unwrap_or(whole)
        }
    }
}

impl ServerLocation {
    /// Returns how the server of a configuration entry is reached.
    pub fn from_config(config: Option<&ServerConfig>) -> Self {
        match config.map(|config| &config.transport) {
            Some(Transport::Stdio { command, args, .. }) => {
                let words = std::iter::once(command).chain(args).map(String::as_str);
                Self::Command(words.collect::<Vec<_>>().join(" "))
            }
            Some(Transport::Http { urls, .. }) => {
                // The query may contain an API key.
                let url = urls.first().and_then(|url| url.split(['?', '#']).next());
                Self::Url(url.unwrap_or_default().to_owned())
            }
            Some(Transport::Builtin) | None => Self::Command("builtin".to_owned()),
        }
    }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
