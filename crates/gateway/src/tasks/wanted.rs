//! What a request says about tasks.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::Value;
use switchboard_host::connect::TaskSupport;
use switchboard_host::execute::TaskWish;
use switchboard_host::{Target, TargetKind};
use switchboard_wire::{Era, Json, Revision, RpcError};

use crate::asked::Asked;
use crate::listing::Listing;

/// The extension that modern clients declare.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What a client wants of a call that a server goes on with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The result: it knows no tasks, or does not want one.
    #[default]
    Result,
    /// A task where there is one: from 2026-07-28 on the server decides.
    TaskIfAny,
    /// A task in any case, kept for so long: in 2025-11-25 the client decides.
    Task { ttl_ms: Option<u64> },
}

/// Made once: they are looked for in every call.
static EXTENSION_NAMED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(EXTENSION));
static TASK_NAMED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(r#""task""#));

impl Wanted {
    /// What a call of a tool says. Most say nothing, which a look at the bytes tells.
    pub(crate) fn of(asked: &Asked) -> Self {
        let Some(params) = asked.params.as_ref().filter(|_| asked.method == "tools/call") else {
            return Self::Result;
        };
        let mentions = |word: &Finder<'_>| word.find(params.bytes()).is_some();
        match asked.client.era() {
            Era::Modern if mentions(&EXTENSION_NAMED) && declares(params) => Self::TaskIfAny,
            Era::Legacy if mentions(&TASK_NAMED) => of_legacy(asked, params),
            Era::Modern | Era::Legacy => Self::Result,
        }
    }

    /// The same for the host.
    pub(crate) const fn wish(self) -> TaskWish {
        match self {
            Self::Result | Self::TaskIfAny => TaskWish::AsConfigured,
            Self::Task { .. } => TaskWish::Task,
        }
    }

    /// Refuses a task of a tool that does not run as one.
    pub(crate) fn check(asked: &Asked, listing: &Listing, target: &Target) -> Result<(), RpcError> {
        if target.kind != TargetKind::Tool || !matches!(Self::of(asked), Self::Task { .. }) {
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
pub(super) fn declares(params: &Json) -> bool {
    let params: Value = params.read().unwrap_or_default();
    let capabilities = &params.pointer("/_meta/io.modelcontextprotocol~1clientCapabilities");
    let extensions = capabilities.and_then(|all| all.get("extensions"));
    extensions.and_then(|all| all.get(EXTENSION)).is_some_and(Value::is_object)
}

/// Revisions before the last of the era do not know the member.
fn of_legacy(asked: &Asked, params: &Json) -> Wanted {
    #[derive(Deserialize)]
    struct Task {
        ttl: Option<f64>,
    }
    #[derive(Deserialize)]
    struct Params {
        task: Option<Task>,
    }
    let task = params.read::<Params>().ok().and_then(|params| params.task);
    match task.filter(|_| asked.client.revision == Revision::NEWEST_LEGACY) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is no sensible number of milliseconds becomes one"
        )]
        Some(task) => Wanted::Task { ttl_ms: task.ttl.map(|ttl| ttl as u64) },
        None => Wanted::Result,
    }
}
