//! The quarantine: definitions held until a person has reviewed them, with the reasons.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use switchboard_catalog::fits_template;
use switchboard_core::{ServerId, Target, TargetKind};
use switchboard_json::{changed_parts, diff};

use crate::pins_file::PinKind;

/// All held definitions, by server.
#[derive(Clone, Debug, Default)]
pub struct Quarantine {
    pub servers: BTreeMap<ServerId, QuarantinedServer>,
}

/// The held definitions of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuarantinedServer {
    /// Why the whole server is held, if it is.
    pub whole: Option<QuarantineReason>,
    /// Definitions that wait for a person.
    pub definitions: Vec<QuarantinedDefinition>,
    /// Names of all hidden definitions.
    pub hidden: Vec<(PinKind, String)>,
}

/// A definition that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuarantinedDefinition {
    pub kind: PinKind,
    /// Name; empty for instructions.
    pub name: String,
    pub why: QuarantineReason,
    /// The approved canonical text, if there is one.
    #[serde(skip)]
    pub before: Option<String>,
    /// The current canonical text.
    #[serde(skip)]
    pub now: String,
    /// Fingerprint of the current text.
    pub digest: String,
}

/// The reason for a quarantine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuarantineReason {
    /// The server has never been approved.
    FirstUse,
    /// The definition was added after the server was approved.
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

/// The quarantine of one target.
#[derive(Clone, Copy, Debug)]
pub struct QuarantinedTarget<'a> {
    pub why: &'a QuarantineReason,
    /// The held definition; the server's instructions if their change is the reason.
    pub definition: Option<&'a QuarantinedDefinition>,
}

impl Quarantine {
    /// Returns why a target is held, if it is.
    #[must_use]
    pub fn find(&self, target: &Target) -> Option<QuarantinedTarget<'_>> {
        let server = self.servers.get(target.server.as_str())?;
        let own = server.definitions.iter().find(|held| held.matches(target));
        match (&server.whole, own) {
            (None, own) => {
                own.map(|held| QuarantinedTarget { why: &held.why, definition: Some(held) })
            }
            (Some(why @ QuarantineReason::Instructions), _) => {
                let said = server.definitions.iter();
                let said = said.clone().find(|held| held.kind == PinKind::Instructions);
                Some(QuarantinedTarget { why, definition: said })
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
    /// Returns the difference to the approved text, as lines.
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
    /// Describes the reason. The text contains nothing written by the server.
    #[must_use]
    pub fn sentence(&self, target: &Target) -> String {
        let server = &target.server;
        match self.why {
            QuarantineReason::FirstUse => format!(
                "`{target}` needs approval: nobody has approved what server `{server}` offers"
            ),
            QuarantineReason::New => {
                format!("`{target}` needs approval: it is new since server `{server}` was approved")
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
                format!("`{target}` needs approval: server `{server}` has no instructions any more")
            }
            QuarantineReason::Revoked => {
                format!("`{target}` needs approval: that of server `{server}` was taken back")
            }
            QuarantineReason::NotKept(reason) => {
                format!("`{target}` needs approval, and approvals cannot be kept: {reason}")
            }
            QuarantineReason::NotLocked => format!("`{target}` is not what the lock file says"),
            QuarantineReason::Turned { .. } => format!(
                "`{target}` needs approval: a definition of server `{server}` has turned into an \
                 attack, so nothing of it is used"
            ),
        }
    }

    /// Returns a hint for the next step.
    #[must_use]
    pub fn hint(&self, target: &Target) -> String {
        let server = &target.server;
        match (self.why, self.definition) {
            (QuarantineReason::NotKept(_), _) => {
                "put the state folder right; it is tried again by itself".to_owned()
            }
            (QuarantineReason::NotLocked, _) => {
                "look at what is different with `switchboard lock --check`".to_owned()
            }
            (QuarantineReason::Turned { name }, _) => format!(
                "`switchboard pins diff {server}` shows it; if you stand by it, `switchboard pins \
                 approve {server}/{name} --despite-findings`"
            ),
            (
                QuarantineReason::FirstUse
                | QuarantineReason::Instructions
                | QuarantineReason::Gone
                | QuarantineReason::Revoked,
                _,
            )
            | (_, None) => {
                format!(
                    "`switchboard pins diff {server}` shows it, `switchboard pins approve {server}` \
                 approves it"
                )
            }
            (_, Some(held)) => format!(
                "`switchboard pins diff {server}/{0}` shows it, `switchboard pins approve \
                 {server}/{0}` approves it",
                held.name
            ),
        }
    }
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
            Self::NotKept(reason) => write!(formatter, "approvals cannot be kept: {reason}"),
            Self::NotLocked => formatter.write_str("not in the lock file"),
            Self::Turned { name } => write!(formatter, "`{name}` has turned into an attack"),
        }
    }
}
