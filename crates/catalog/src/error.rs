//! Errors of call resolution, with near names and hints.

use switchboard_core::{Target, TargetKind};

use crate::problem::BadArguments;

/// The reason why a proposed call cannot be resolved.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ResolveError {
    #[error("there is no server `{server}`")]
    UnknownServer {
        /// The requested name.
        server: String,
        /// Similar names.
        near: Vec<String>,
    },
    #[error("server `{server}` is disabled and cannot be used")]
    Disabled { server: String },
    /// The server comes from a project's file or is potentially dangerous, and is not approved.
    #[error("server `{server}` has not been approved")]
    NotApproved { server: String },
    /// The server is blocked by a rule.
    #[error("server `{server}` cannot be used: {why}")]
    NotAllowed {
        server: String,
        /// The rule that blocks it.
        why: String,
    },
    /// The server is not ready, so its offers are unknown.
    #[error("server `{server}` is {state}")]
    NotReady {
        server: String,
        /// The state and its reason.
        state: String,
        hint: Option<String>,
    },
    /// The server does not list the target.
    #[error("server `{}` lists no {} `{}`", target.server, target.kind, target.name)]
    NotListed {
        target: Target,
        /// Similar names.
        near: Vec<String>,
    },
    /// The definition is quarantined until a person has reviewed it.
    #[error("`{target}` is held: {reason}")]
    Held {
        target: Target,
        /// The findings behind it, without text from the server.
        reason: String,
    },
    /// The arguments are not a JSON object, or a required argument of a prompt is missing.
    #[error("the arguments for `{target}` cannot be used: {problem}")]
    NotAnObject {
        target: Target,
        /// The parse error, or the name of the missing argument.
        problem: String,
    },
    /// The arguments violate the tool's schema.
    #[error("the arguments for `{target}` do not fit: {problems}")]
    BadArguments {
        target: Target,
        /// The violations, each with its location.
        problems: BadArguments,
    },
    /// The schema is unusable, so the arguments cannot be checked.
    #[error("the arguments for `{target}` cannot be checked: {problem}")]
    BadSchema {
        target: Target,
        problem: String,
        /// Suggested fix, for the author of the server.
        hint: &'static str,
    },
}

impl ResolveError {
    /// Returns a hint for the next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownServer { near, .. } => Some(
                did_you_mean(near).unwrap_or_else(|| "`switchboard servers` lists them".to_owned()),
            ),
            Self::Disabled { server } => Some(format!("`switchboard servers enable {server}`")),
            Self::NotApproved { server } => {
                Some(format!("look at it, then `switchboard servers approve {server}`"))
            }
            Self::NotAllowed { .. } => None,
            Self::NotReady { server, hint, .. } => Some(
                hint.clone().unwrap_or_else(|| format!("`switchboard doctor {server}` tells more")),
            ),
            Self::NotListed { target, near } => did_you_mean(near).or_else(|| {
                let command = match target.kind {
                    TargetKind::Tool => "tools",
                    TargetKind::Resource => "resources",
                    TargetKind::Prompt => "prompts",
                };
                Some(format!("`switchboard {command} --server {}` lists them", target.server))
            }),
            Self::Held { target, .. } => Some(format!(
                "`switchboard pins show {0}` shows what was found, `switchboard pins approve {0} \
                 --despite-findings` uses it all the same",
                target.server
            )),
            Self::BadArguments { target, .. } | Self::NotAnObject { target, .. } => {
                (target.kind == TargetKind::Tool).then(|| {
                    format!(
                        "`switchboard tools show {} {}` tells what it takes",
                        target.server, target.name
                    )
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
