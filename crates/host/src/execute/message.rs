//! A call as the protocol spells it.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::catalog::ResolvedCall;
use crate::execute::task_wish::{AsTask, TaskWish};
use crate::proposed::TargetKind;
use switchboard_wire::http::param_headers;

/// How long a server is asked to keep a task: whoever comes back the next day finds it.
const TTL_MILLISECONDS: u64 = 24 * 3_600_000;

/// What is sent for a call.
pub(super) struct Message {
    pub(super) method: &'static str,
    pub(super) params: String,
    pub(super) headers: Vec<(String, String)>,
    /// Whether the server is asked to go on with it by itself.
    pub(super) as_task: AsTask,
}

impl Message {
    /// Spells a call.
    pub(super) fn of(call: &ResolvedCall, wish: TaskWish) -> Self {
        let target = call.target();
        let name = serde_json::Value::from(target.name.as_str());
        let arguments = call.arguments().as_str();
        let (method, params) = match target.kind {
            TargetKind::Tool => {
                ("tools/call", format!(r#"{{"name":{name},"arguments":{arguments}}}"#))
            }
            TargetKind::Prompt => {
                ("prompts/get", format!(r#"{{"name":{name},"arguments":{arguments}}}"#))
            }
            TargetKind::Resource => ("resources/read", format!(r#"{{"uri":{name}}}"#)),
        };
        let as_task = AsTask::of(call, wish);
        let mut message = Self { method, params, headers: headers(call), as_task };
        if as_task == AsTask::Yes {
            message.params = message.with(&format!(r#""task":{{"ttl":{TTL_MILLISECONDS}}}"#));
        }
        message
    }

    /// The same request with further members.
    pub(super) fn with(&self, members: &str) -> String {
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
    let arguments = call.arguments().read().unwrap_or_default();
    // A tool whose marks break the rules was left out when the server was listed.
    param_headers(&schema, &arguments).unwrap_or_default()
}

/// What a result says about itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shape<'a> {
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) contents: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) messages: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result_type: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input_requests: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) request_state: Option<&'a RawValue>,
}
