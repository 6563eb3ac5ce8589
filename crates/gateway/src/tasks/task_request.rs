//! What a request says about tasks.

use serde::Deserialize;
use serde_json::{Map, Value};
use switchboard_catalog::TaskSupport;
use switchboard_core::{Target, TargetKind};
use switchboard_host::TaskMode;
use switchboard_wire::{Era, Revision, RpcError};

use crate::catalog_view::CatalogView;
use crate::client_request::{ClientRequest, ClientRequestParams};

/// The extension that modern clients declare.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What a client wants of a call that a server goes on with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TaskRequest {
    /// The result: it knows no tasks, or does not want one.
    #[default]
    Result,
    /// A task where there is one: from 2026-07-28 on the server decides.
    TaskIfAny,
    /// A task in any case, kept for so long: in 2025-11-25 the client decides.
    Task { ttl_ms: Option<u64> },
}

impl TaskRequest {
    /// What a call of a tool says. Parameters that cannot be read are refused elsewhere.
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

    /// The same for the host.
    pub(crate) const fn task_mode(self) -> TaskMode {
        match self {
            Self::Result | Self::TaskIfAny => TaskMode::AsConfigured,
            Self::Task { .. } => TaskMode::Task,
        }
    }

    /// Refuses a task of a tool that does not run as one.
    pub(crate) fn check(
        asked: &ClientRequest,
        listing: &CatalogView,
        target: &Target,
    ) -> Result<(), RpcError> {
        let is_odd = |params: &ClientRequestParams| {
            legacy_task_params(asked, params).is_some_and(|task| task.is_err())
        };
        if target.kind == TargetKind::Tool && asked.params().is_ok_and(is_odd) {
            let why = "`task` is no object with a number `ttl`";
            return Err(RpcError::new(RpcError::INVALID_PARAMS, why));
        }
        if target.kind != TargetKind::Tool
            || !matches!(Self::from_request(asked), Self::Task { .. })
        {
            return Ok(());
        }
        let server = listing.lease.fleet().servers.get(target.server.as_str());
        let tool = server.and_then(|server| server.offers.tool(&target.name));
        match tool.map(|tool| tool.facts().task_support) {
            Some(TaskSupport::Optional | TaskSupport::Required) => Ok(()),
            Some(TaskSupport::Forbidden) | None => {
                let why = "this tool does not run as a task";
                Err(RpcError::new(RpcError::METHOD_NOT_FOUND, why))
            }
        }
    }
}

/// Whether a modern request says that its client knows tasks.
pub(super) fn declares_tasks(params: &ClientRequestParams) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct ExtensionCapabilities {
        extensions: Map<String, Value>,
    }
    let capabilities = params.meta.as_ref().and_then(|meta| meta.client_capabilities.as_ref());
    // Most say nothing of it, which a look at the bytes tells.
    let named = capabilities.filter(|declared| declared.as_str().contains("tasks"));
    let declared = named.and_then(|declared| declared.read::<ExtensionCapabilities>().ok());
    declared.is_some_and(|all| all.extensions.get(TASKS_EXTENSION).is_some_and(Value::is_object))
}

/// What a call of a client of the legacy era says of its task.
#[derive(Deserialize)]
struct LegacyTaskParams {
    ttl: Option<f64>,
}

/// Revisions before the last of the era do not know the member.
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
            reason = "what is no sensible number of milliseconds becomes one"
        )]
        Some(Ok(task)) => TaskRequest::Task { ttl_ms: task.ttl.map(|ttl| ttl as u64) },
        Some(Err(_)) | None => TaskRequest::Result,
    }
}
