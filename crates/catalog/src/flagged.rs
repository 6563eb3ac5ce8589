//! `Flagged`: a definition in which the scanner found something.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_core::{ServerId, What};
use switchboard_scan::{Finding, Kind, Severity, is_gross};

/// A definition in which something was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Flagged {
    /// Whose it is.
    #[schemars(with = "String")]
    pub server: ServerId,
    /// What it describes.
    pub kind: Kind,
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
    pub findings: Vec<Finding>,
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
        let own_words = matches!(self.kind, Kind::Tool | Kind::Instructions);
        own_words && self.is_held() && is_gross(&self.findings)
    }

    /// Whether a person should know of it before an agent calls it.
    #[must_use]
    pub fn is_doubted(&self) -> bool {
        self.severity >= Severity::Ask && !self.accepted
    }

    /// Returns the event that reports this finding to watchers and logs.
    pub fn event(&self) -> What {
        What::DefinitionFlagged {
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
