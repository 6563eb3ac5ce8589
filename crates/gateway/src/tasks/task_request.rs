//! Task parameters of a request.

use serde::Deserialize;
use serde_json::{Map, Value};
use switchboard_catalog::TaskSupport;
use switchboard_core::{Target, TargetKind};
use switchboard_host::TaskMode;
use switchboard_wire::{Era, Revision, RpcError};

use crate::catalog_view::CatalogView;
use crate::client_request::{ClientRequest, ClientRequestParams};
use crate::reply::invalid_params;

/// The extension that modern clients declare.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Whether a client wants a result or a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TaskRequest {
    /// The result: the client does not support tasks, or does not want one.
    #[default]
    Result,
    /// A task if the server makes one: from 2026-07-28 on, the server decides.
    TaskIfAny,
    /// A task in any case, kept for `ttl_ms`: in 2025-11-25, the client decides.
    Task { ttl_ms: Option<u64> },
}

impl TaskRequest {
    /// Reads the request. Invalid parameters are rejected elsewhere.
    pub(crate) fn from_request(asked: &ClientRequest) -> Self {
        if asked.method != "tools/call" {
            return Self::Result;
        }
        let Ok(params) = asked.params() else { return Self::Result };
        match asked.client.era() {
            Era::Modern if declares_tasks(params) => Self::TaskIfAny,
            Era::Legacy => legacy_task_request(asked, params),
            Era::Modern => Self::Result,
        }
    }

    pub(crate) const fn task_mode(self) -> TaskMode {
        match self {
            Self::Result | Self::TaskIfAny => TaskMode::AsConfigured,
            Self::Task { .. } => TaskMode::Task,
        }
    }

    /// Rejects invalid task parameters, and tasks of tools that do not support them.
    pub(crate) fn check(
        asked: &ClientRequest,
        listing: &CatalogView,
        target: &Target,
    ) -> Result<(), RpcError> {
        let is_odd = |params: &ClientRequestParams| {
            legacy_task_params(asked, params).is_some_and(|task| task.is_err())
        };
        // Other kinds of requests have no tasks in any revision.
        if target.kind != TargetKind::Tool {
            return Ok(());
        }
        if asked.params().is_ok_and(is_odd) {
            return Err(invalid_params("`task` must be an object whose `ttl` is a number"));
        }
        if !matches!(Self::from_request(asked), Self::Task { .. }) {
            return Ok(());
        }
        let server = listing.lease.fleet().servers.get(target.server.as_str());
        let tool = server.and_then(|server| server.offers.tool(&target.name));
        match tool.map(|tool| tool.facts().task_support) {
            Some(TaskSupport::Optional | TaskSupport::Required) => Ok(()),
            Some(TaskSupport::Forbidden) | None => {
                Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "this tool does not support tasks"))
            }
        }
    }
}

/// Returns whether a modern request declares the tasks extension.
pub(super) fn declares_tasks(params: &ClientRequestParams) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct ExtensionCapabilities {
        extensions: Map<String, Value>,
    }
    let capabilities = params.meta.as_ref().and_then(|meta| meta.client_capabilities.as_ref());
    // A byte search avoids parsing the many capabilities without it.
    let named = capabilities.filter(|declared| declared.as_str().contains("tasks"));
    let declared = named.and_then(|declared| declared.read::<ExtensionCapabilities>().ok());
    declared.is_some_and(|all| all.extensions.get(TASKS_EXTENSION).is_some_and(Value::is_object))
}

#[derive(Deserialize)]
struct LegacyTaskParams {
    ttl: Option<f64>,
}

/// Reads the `task` parameter, which only the newest legacy revision has.
fn legacy_task_params(
    asked: &ClientRequest,
    params: &ClientRequestParams,
) -> Option<Result<LegacyTaskParams, serde_json::Error>> {
    let knows = asked.client.revision == Revision::NEWEST_LEGACY;
    params.task.as_ref().filter(|_| knows).map(switchboard_wire::Json::read)
}

fn legacy_task_request(asked: &ClientRequest, params: &ClientRequestParams) -> TaskRequest {
    match legacy_task_params(asked, params) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates, and the store clamps the lifetime"
        )]
        Some(Ok(task)) => TaskRequest::Task { ttl_ms: task.ttl.map(|ttl| ttl as u64) },
        Some(Err(_)) | None => TaskRequest::Result,
    }
}
