//! The quarantine: definitions held until a person has reviewed them, with the reasons.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use switchboard_catalog::fits_template;
use switchboard_core::{ServerId, Target, TargetKind};
use switchboard_json::{changed_parts, diff};

use crate::pins_file::PinKind;

/// All quarantined definitions by server.
#[derive(Clone, Debug, Default)]
pub struct Quarantine {
    pub servers: BTreeMap<ServerId, QuarantinedServer>,
}

/// The quarantined definitions of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuarantinedServer {
    /// The reason if the whole server is held.
    pub whole: Option<QuarantineReason>,
    /// Definitions that wait for a review.
    pub definitions: Vec<QuarantinedDefinition>,
    /// Names of all hidden definitions.
    pub hidden: Vec<(PinKind, String)>,
}

/// A definition that waits for a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuarantinedDefinition {
    pub kind: PinKind,
    /// Empty for the server's instructions.
    pub name: String,
    pub why: QuarantineReason,
    /// The approved canonical text, if one was approved.
    #[serde(skip)]
    pub before: Option<String>,
    #[serde(skip)]
    pub now: String,
    /// Fingerprint of the text in `now`.
    pub digest: String,
}

/// Why a definition or a server is quarantined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuarantineReason {
    /// The server has never been approved.
    FirstUse,
    /// The definition was added after the approval of the server.
    New,
    /// The definition differs from the approved one.
    Changed,
    /// The content equals an approved definition under another name.
    Renamed { from: String },
    /// The server's instructions differ from the approved ones.
    Instructions,
    /// The server no longer has the approved instructions.
    Gone,
    /// A person revoked the approval.
    Revoked,
    /// The pins cannot be read or written.
    NotKept(String),
    /// The definition differs from the lock file.
    NotLocked,
    /// A definition of the server has turned into an attack.
    Turned { name: String },
}

/// Why one target is quarantined.
#[derive(Clone, Copy, Debug)]
pub struct QuarantinedTarget<'a> {
    pub why: &'a QuarantineReason,
    /// The held definition; the server's instructions if their change is the reason.
    pub definition: Option<&'a QuarantinedDefinition>,
}

impl Quarantine {
    /// Returns why a target is held, or `None` if it can be used.
    #[must_use]
    pub fn find(&self, target: &Target) -> Option<QuarantinedTarget<'_>> {
        let server = self.servers.get(target.server.as_str())?;
        let own = server.definitions.iter().find(|held| held.matches(target));
        match (&server.whole, own) {
            (None, own) => {
                own.map(|held| QuarantinedTarget { why: &held.why, definition: Some(held) })
            }
            (Some(why @ QuarantineReason::Instructions), _) => {
                // The target itself is unchanged; the reviewer needs to see the instructions.
                let mut all = server.definitions.iter();
                let definition = all.find(|held| held.kind == PinKind::Instructions);
                Some(QuarantinedTarget { why, definition })
            }
            (Some(why @ QuarantineReason::Turned { name }), own) => {
                let turned = server.definitions.iter().find(|held| held.name == *name);
                Some(QuarantinedTarget { why, definition: own.or(turned) })
            }
            (Some(why), own) => Some(QuarantinedTarget { why, definition: own }),
        }
    }

    /// Returns whether a whole server is held.
    #[must_use]
    pub fn holds_server(&self, server: &str) -> bool {
        self.servers.get(server).is_some_and(|held| held.whole.is_some())
    }
}

impl QuarantinedDefinition {
    /// Returns the difference to the approved text as lines.
    #[must_use]
    pub fn diff(&self) -> String {
        diff(self.before.as_deref(), &self.now)
    }

    fn matches(&self, target: &Target) -> bool {
        match (self.kind, target.kind) {
            (PinKind::Tool, TargetKind::Tool) | (PinKind::Prompt, TargetKind::Prompt) => {
                self.name == target.name
            }
            (PinKind::Template, TargetKind::Resource) => fits_template(&self.name, &target.name),
            _ => false,
        }
    }
}

impl QuarantinedTarget<'_> {
    /// Describes the reason, without any text that the server wrote.
    #[must_use]
    pub fn sentence(&self, target: &Target) -> String {
        // Models read this sentence, so a definition could use it for prompt injection.
        let server = &target.server;
        match self.why {
            QuarantineReason::FirstUse => {
                format!("`{target}` needs approval: server `{server}` has not been reviewed yet")
            }
            QuarantineReason::New => {
                format!(
                    "`{target}` needs approval: it is newer than the approval of server `{server}`"
                )
            }
            QuarantineReason::Changed | QuarantineReason::Renamed { .. } => {
                let parts = self.definition.and_then(|held| {
                    let parts = changed_parts(held.before.as_deref()?, &held.now);
                    Some(format!(" ({})", parts.join(", ")))
                });
                let parts = parts.unwrap_or_default();
                format!("`{target}` needs approval: its definition has changed{parts}")
            }
            QuarantineReason::Instructions => format!(
                "`{target}` needs approval: the instructions of server `{server}` have changed"
            ),
            QuarantineReason::Gone => {
                format!("`{target}` needs approval: server `{server}` no longer has instructions")
            }
            QuarantineReason::Revoked => {
                format!("`{target}` needs approval: the approval of server `{server}` was revoked")
            }
            QuarantineReason::NotKept(reason) => {
                format!("`{target}` needs approval, but approvals cannot be stored: {reason}")
            }
            QuarantineReason::NotLocked => format!("`{target}` does not match the lock file"),
            QuarantineReason::Turned { .. } => format!(
                "`{target}` needs approval: a definition of server `{server}` has turned into an \
                 attack, so the whole server is quarantined"
            ),
        }
    }

    /// Returns a hint for the next step.
    #[must_use]
    pub fn hint(&self, target: &Target) -> String {
        let server = &target.server;
        match (self.why, self.definition) {
            (QuarantineReason::NotKept(_), _) => {
                "repair the state folder; Switchboard retries automatically".to_owned()
            }
            (QuarantineReason::NotLocked, _) => {
                "see the differences with `switchboard lock --check`".to_owned()
            }
            (QuarantineReason::Turned { name }, _) => format!(
                "review it with `switchboard pins diff {server}`; to use it anyway, run \
                 `switchboard pins approve {server}/{name} --despite-findings`"
            ),
            (
                QuarantineReason::FirstUse
                | QuarantineReason::Instructions
                | QuarantineReason::Gone
                | QuarantineReason::Revoked,
                _,
            )
            | (_, None) => review_hint(server),
            (_, Some(held)) => review_hint(&format!("{server}/{}", held.name)),
        }
    }
}

fn review_hint(what: &str) -> String {
    format!(
        "review it with `switchboard pins diff {what}`, then approve it with `switchboard pins \
         approve {what}`"
    )
}

impl fmt::Display for QuarantineReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstUse => formatter.write_str("first use"),
            Self::New => formatter.write_str("new"),
            Self::Changed => formatter.write_str("changed"),
            Self::Renamed { from } => write!(formatter, "renamed, was `{from}`"),
            Self::Instructions => formatter.write_str("the instructions changed"),
            Self::Gone => formatter.write_str("approved, but gone"),
            Self::Revoked => formatter.write_str("revoked"),
            Self::NotKept(reason) => write!(formatter, "approvals cannot be stored: {reason}"),
            Self::NotLocked => formatter.write_str("not in the lock file"),
            Self::Turned { name } => write!(formatter, "`{name}` has turned into an attack"),
        }
    }
}
