//! Whether a call is sent as a task: the tool's declaration and the caller's choice.

use serde_json::Value;
use switchboard_catalog::{ResolvedCall, TaskSupport};
use switchboard_core::TargetKind;
use switchboard_wire::{Agreement, Revision};

/// The caller's choice for tools that can run as tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskMode {
    /// As configured; the caller waits for the end.
    #[default]
    AsConfigured,
    /// As a task if the tool supports it; the caller waits for the end.
    Task,
    /// As a task if the tool supports it; the caller does not wait.
    Detach,
}

/// Whether the request asks the server to create a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AsTask {
    Yes,
    No,
}

impl AsTask {
    /// Decides whether to request a task. Only revision 2025-11-25 leaves that to the caller: older
    /// ones have no tasks, and in newer ones the server decides.
    pub(crate) fn for_call(call: &ResolvedCall, wish: TaskMode) -> Self {
        let target = call.target();
        let server = call.server();
        if target.kind != TargetKind::Tool {
            return Self::No;
        }
        let support = server.offers.tool(&target.name).map(|tool| tool.facts().task_support);
        let wanted = match support.unwrap_or_default() {
            TaskSupport::Forbidden => false,
            TaskSupport::Optional => {
                let config = server.config.as_ref();
                let tool = config.and_then(|config| config.tools.get(&target.name));
                wish != TaskMode::AsConfigured || tool.is_some_and(|tool| tool.task)
            }
            TaskSupport::Required => true,
        };
        let agreement = server.agreement.as_deref();
        if wanted && agreement.is_some_and(supports_tasks) { Self::Yes } else { Self::No }
    }
}

/// Returns whether the server declares tasks for tool calls; the tool's own declaration is not
/// sufficient by the specification.
fn supports_tasks(agreement: &Agreement) -> bool {
    let declared: Value = agreement.capabilities.read().unwrap_or_default();
    agreement.revision == Revision::NEWEST_LEGACY
        && declared.pointer("/tasks/requests/tools/call").is_some_and(Value::is_object)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use switchboard_wire::{Agreement, Json, Revision};

    use super::supports_tasks;

    fn check(capabilities: &Value, revision: Revision, expected: bool) {
        let agreement = Agreement {
            revision,
            capabilities: Json::from(capabilities),
            server: Json::NULL,
            instructions: None,
        };
        assert_eq!(supports_tasks(&agreement), expected, "{capabilities} {revision}");
    }

    #[test]
    fn only_a_server_that_declares_tasks_for_calls_in_the_right_revision_gets_them() {
        let declared = json!({"tasks": {"list": {}, "requests": {"tools": {"call": {}}}}});
        check(&declared, Revision::NEWEST_LEGACY, true);
        check(&declared, Revision::V2025_06_18, false);
        check(&declared, Revision::NEWEST, false);
        check(&json!({"tasks": {"list": {}}}), Revision::NEWEST_LEGACY, false);
        check(&json!({"tasks": {"requests": {}}}), Revision::NEWEST_LEGACY, false);
        check(&json!({"tools": {}}), Revision::NEWEST_LEGACY, false);
    }
}
