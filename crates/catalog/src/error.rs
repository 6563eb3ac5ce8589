//! Errors of call resolution, with near names and hints.

use switchboard_core::{Target, TargetKind};

use crate::problem::BadArguments;

/// The reason why a proposed call cannot be resolved.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("unknown server `{server}`")]
    UnknownServer { server: String, near: Vec<String> },
    #[error("server `{server}` is disabled and cannot be used")]
    Disabled { server: String },
    // From a project's file, or potentially dangerous.
    #[error("server `{server}` has not been approved")]
    NotApproved { server: String },
    #[error("server `{server}` cannot be used: {why}")]
    NotAllowed { server: String, why: String },
    // The offers are unknown, so a missing target may exist.
    #[error("server `{server}` is {state}")]
    NotReady { server: String, state: String, hint: Option<String> },
    #[error("server `{}` lists no {} `{}`", target.server, target.kind, target.name)]
    NotListed { target: Target, near: Vec<String> },
    // The reason contains no text of the server, because a model reads it.
    #[error("`{target}` is quarantined: {reason}")]
    Held { target: Target, reason: String },
    // Also for a prompt with a missing argument.
    #[error("the arguments for `{target}` cannot be used: {problem}")]
    NotAnObject { target: Target, problem: String },
    #[error("the arguments for `{target}` do not fit: {problems}")]
    BadArguments { target: Target, problems: BadArguments },
    // Fails closed: arguments that cannot be checked are not sent.
    #[error("the arguments for `{target}` cannot be checked: {problem}")]
    BadSchema { target: Target, problem: String, hint: &'static str },
}

impl ResolveError {
    /// Returns a hint for the next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownServer { near, .. } => Some(
                did_you_mean(near).unwrap_or_else(|| "`switchboard servers` lists them".to_owned()),
            ),
            Self::Disabled { server } => Some(format!("run `switchboard servers enable {server}`")),
            Self::NotApproved { server } => {
                Some(format!("review it, then run `switchboard servers approve {server}`"))
            }
            Self::NotAllowed { .. } => None,
            Self::NotReady { server, hint, .. } => hint
                .clone()
                .or_else(|| Some(format!("`switchboard doctor {server}` shows details"))),
            Self::NotListed { target, near } => did_you_mean(near).or_else(|| {
                let command = match target.kind {
                    TargetKind::Tool => "tools",
                    TargetKind::Resource => "resources",
                    TargetKind::Prompt => "prompts",
                };
                Some(format!("`switchboard {command} --server {}` lists them", target.server))
            }),
            Self::Held { target, .. } => Some(format!(
                "`switchboard pins show {0}` shows the findings, `switchboard pins approve {0} \
                 --despite-findings` accepts them",
                target.server
            )),
            Self::BadArguments { target, .. } | Self::NotAnObject { target, .. } => {
                (target.kind == TargetKind::Tool).then(|| {
                    let Target { server, name, .. } = target;
                    format!("`switchboard tools show {server} {name}` shows its arguments")
                })
            }
            Self::BadSchema { hint, .. } => Some((*hint).to_owned()),
        }
    }

    /// Returns the machine-readable reason for the record.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::UnknownServer { .. } => "unknown_server",
            Self::Disabled { .. } => "disabled",
            Self::NotApproved { .. } => "not_approved",
            Self::NotAllowed { .. } => "not_allowed",
            Self::NotReady { .. } => "not_ready",
            Self::NotListed { .. } => "not_listed",
            Self::Held { .. } => "held",
            Self::NotAnObject { .. } | Self::BadArguments { .. } => "bad_arguments",
            Self::BadSchema { .. } => "bad_schema",
        }
    }
}

fn did_you_mean(near: &[String]) -> Option<String> {
    let names: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}
