//! `Flagged`: a definition in which the scanner found something.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_core::{EventKind, ServerId};
use switchboard_scan::{DefinitionKind, ScanFinding, Severity, is_clear_attack};

/// A definition in which something was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Flagged {
    /// Whose it is.
    #[schemars(with = "String")]
    pub server: ServerId,
    /// What it describes.
    pub kind: DefinitionKind,
    /// Its name or address; empty for instructions.
    pub name: String,
    /// The fingerprint of the definition.
    pub digest: String,
    /// The fingerprint of its canonical text, as pins have it.
    pub pin: String,
    /// How serious it is.
    pub severity: Severity,
    /// Whether a person stands by it in spite of all that was found.
    pub accepted: bool,
    /// What was found, the most serious first.
    pub findings: Vec<ScanFinding>,
}

impl Flagged {
    /// Whether nobody but a person may see it.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.severity == Severity::Block && !self.accepted
    }

    /// Whether nothing of its server may be used because of it: an attack that cannot be mistaken.
    /// Tools and instructions are the server's own words; names of resources and prompts may be
    /// somebody else's.
    #[must_use]
    pub fn holds_server(&self) -> bool {
        let own_words = matches!(self.kind, DefinitionKind::Tool | DefinitionKind::Instructions);
        own_words && self.is_held() && is_clear_attack(&self.findings)
    }

    /// Whether a person should know of it before an agent calls it.
    #[must_use]
    pub fn is_suspicious(&self) -> bool {
        self.severity >= Severity::Ask && !self.accepted
    }

    /// Returns the event that reports this finding to watchers and logs.
    pub fn event(&self) -> EventKind {
        EventKind::DefinitionFlagged {
            server: self.server.to_string(),
            kind: self.kind.as_str(),
            name: self.name.clone(),
            digest: self.digest.clone(),
            severity: self.severity.as_str(),
            rules: self.findings.iter().map(|finding| finding.rule).collect(),
        }
    }

    /// Why, in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        let rules: Vec<&str> = self.findings.iter().map(|finding| finding.rule).collect();
        format!("the scanner found {}", rules.join(", "))
    }
}
