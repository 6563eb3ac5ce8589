//! Why a call cannot be looked up, and what comes close.

use switchboard_core::{Target, TargetKind};

use crate::problem::BadArguments;

/// Why a proposed call is not a call.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ResolveError {
    /// No server has that name.
    #[error("there is no server `{server}`")]
    UnknownServer {
        /// The name that was asked for.
        server: String,
        /// Names that come close.
        near: Vec<String>,
    },
    /// The server is switched off.
    #[error("server `{server}` is disabled and cannot be used")]
    Disabled { server: String },
    /// The server is of a project's file or does something dangerous, and nobody has agreed to it.
    #[error("server `{server}` has not been approved")]
    NotApproved { server: String },
    /// The rules do not allow the server to be there.
    #[error("server `{server}` cannot be used: {why}")]
    NotAllowed {
        server: String,
        /// Who says so, and where.
        why: String,
    },
    /// The server is not up, so nobody knows whether it has it.
    #[error("server `{server}` is {state}")]
    NotReady {
        server: String,
        /// Its state, and why.
        state: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The server does not list it.
    #[error("server `{}` lists no {} `{}`", target.server, target.kind, target.name)]
    NotListed {
        /// What was asked for.
        target: Target,
        /// Names that come close.
        near: Vec<String>,
    },
    /// Its definition is held until a person has looked at it.
    #[error("`{target}` is held: {reason}")]
    Held {
        /// What was asked for.
        target: Target,
        reason: String,
    },
    /// The arguments are no JSON object, or lack something.
    #[error("the arguments for `{target}` cannot be used: {problem}")]
    NotAnObject {
        /// What was asked for.
        target: Target,
        problem: String,
    },
    /// The arguments do not fit the schema.
    #[error("the arguments for `{target}` do not fit: {problems}")]
    BadArguments {
        /// What was asked for.
        target: Target,
        /// What is wrong, and where.
        problems: BadArguments,
    },
    /// The schema cannot be used, so the arguments cannot be checked.
    #[error("the arguments for `{target}` cannot be checked: {problem}")]
    BadSchema {
        /// What was asked for.
        target: Target,
        /// What is wrong with the schema.
        problem: String,
        /// What to do about it.
        hint: &'static str,
    },
}

impl ResolveError {
    /// What to do next.
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

    /// The reason in one word, for the record.
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
