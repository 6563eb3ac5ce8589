//! The protocol request for a call: method, parameters and headers.

use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_catalog::ResolvedCall;
use switchboard_core::TargetKind;
use switchboard_json::for_each_member;
use switchboard_scan::secret_headers;
use switchboard_wire::{Json, param_headers};

use crate::call::execute::task_mode::{AsTask, TaskMode};

/// How long a server is asked to keep a task: long enough to resume it the next day.
const TASK_TTL_MS: u64 = 24 * 3_600_000;

/// The request sent for a call.
pub(super) struct CallMessage {
    pub(super) method: &'static str,
    pub(super) params: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) as_task: AsTask,
}

impl CallMessage {
    pub(super) fn new(call: &ResolvedCall, wish: TaskMode) -> Self {
        let target = call.target();
        let name = Value::from(target.name.as_str()).to_string();
        let arguments = call.arguments().as_str();
        // Concatenated, not formatted: arguments may be long and are copied only once.
        let with_arguments = || [r#"{"name":"#, &name, r#","arguments":"#, arguments, "}"].concat();
        let (method, params) = match target.kind {
            TargetKind::Tool => ("tools/call", with_arguments()),
            TargetKind::Prompt => ("prompts/get", with_arguments()),
            TargetKind::Resource => ("resources/read", format!(r#"{{"uri":{name}}}"#)),
        };
        let as_task = AsTask::for_call(call, wish);
        let mut message = Self { method, params, headers: headers(call), as_task };
        if as_task == AsTask::Yes {
            message.params = message.with_members(&format!(r#""task":{{"ttl":{TASK_TTL_MS}}}"#));
        }
        message
    }

    pub(super) fn with_members(&self, members: &str) -> String {
        let open = self.params.strip_suffix('}').unwrap_or(&self.params);
        format!("{open},{members}}}")
    }
}

fn headers(call: &ResolvedCall) -> Vec<(String, String)> {
    let tool = match call.target().kind {
        TargetKind::Tool => call.server().offers.tool(&call.target().name),
        TargetKind::Resource | TargetKind::Prompt => None,
    };
    let Some(tool) = tool.filter(|tool| tool.facts().has_mirrored_arguments) else {
        return Vec::new();
    };
    let schema = tool.definition().input_schema.map(RawValue::get).unwrap_or_default();
    let schema = serde_json::from_str(schema).unwrap_or_default();
    let mut arguments = call.arguments().read().unwrap_or_default();
    let consent = call.server().config.as_ref().map(|config| &config.mirror_secrets);
    for (place, name) in secret_headers(tool.item.raw.get()) {
        // Proxies log and cache headers; a secret is sent in one only if the operator allowed it.
        if !consent.is_some_and(|names| names.contains(&name)) {
            remove_argument(&mut arguments, &place);
        }
    }
    // Tools with invalid header annotations were dropped when the server was listed.
    param_headers(&schema, &arguments).unwrap_or_default()
}

/// Removes the argument that a JSON pointer into the tool's schema describes.
fn remove_argument(arguments: &mut Value, place: &str) {
    let names: Vec<String> = place
        .split("/properties/")
        .skip(1)
        .map(|name| name.replace("~1", "/").replace("~0", "~"))
        .collect();
    let Some((last, path)) = names.split_last() else { return };
    let inner = path.iter().try_fold(arguments, |value, name| value.get_mut(name.as_str()));
    if let Some(members) = inner.and_then(Value::as_object_mut) {
        members.remove(last.as_str());
    }
}

/// The members of a result that the pipeline reads, as raw JSON text; `null` counts as absent.
#[derive(Default)]
pub(super) struct ResultMembers<'a> {
    pub(super) content: Option<&'a str>,
    pub(super) contents: Option<&'a str>,
    pub(super) messages: Option<&'a str>,
    pub(super) is_error: Option<&'a str>,
    pub(super) result_type: Option<&'a str>,
    pub(super) input_requests: Option<&'a str>,
    pub(super) request_state: Option<&'a str>,
}

impl<'a> ResultMembers<'a> {
    /// Returns `None` if the result is not an object, or if a repeated member makes it ambiguous.
    pub(super) fn parse(result: &'a Json) -> Option<Self> {
        let mut shape = Self::default();
        let mut twice = false;
        let read = for_each_member(result.as_str(), |name, value| {
            let member = match &*name {
                "content" => &mut shape.content,
                "contents" => &mut shape.contents,
                "messages" => &mut shape.messages,
                "isError" => &mut shape.is_error,
                "resultType" => &mut shape.result_type,
                "inputRequests" => &mut shape.input_requests,
                "requestState" => &mut shape.request_state,
                _ => return,
            };
            if value != "null" {
                twice |= member.replace(value).is_some();
            }
        });
        read.ok().filter(|()| !twice).map(|()| shape)
    }
}
