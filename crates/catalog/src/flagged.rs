//! Definitions with scanner findings, and the findings that a person accepted.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_core::{EventKind, ServerId};
use switchboard_scan::{DefinitionKind, ScanFinding, Severity, is_clear_attack};

/// A definition in which the scanner found something.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Flagged {
    /// The server that sent the definition.
    #[schemars(with = "String")]
    pub server: ServerId,
    /// The kind of the definition.
    pub kind: DefinitionKind,
    /// The name or URI of the item; empty for instructions.
    pub name: String,
    /// The fingerprint of the definition.
    pub digest: String,
    /// The fingerprint of the canonical text, as stored in pins.
    pub pin: String,
    /// The highest severity among the findings.
    pub severity: Severity,
    /// Whether a person accepted the definition despite its findings.
    pub accepted: bool,
    /// The findings, most severe first.
    pub findings: Vec<ScanFinding>,
}

impl Flagged {
    /// Returns whether the definition is quarantined: visible to people only.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.severity == Severity::Block && !self.accepted
    }

    /// Returns whether the findings quarantine the whole server.
    #[must_use]
    pub fn holds_server(&self) -> bool {
        // Names of resources and prompts do not count: they may be content of third parties, such
        // as file names.
        let own_words = matches!(self.kind, DefinitionKind::Tool | DefinitionKind::Instructions);
        own_words && self.is_held() && is_clear_attack(&self.findings)
    }

    /// Returns whether a call by an agent needs a person's approval because of the findings.
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

    /// Returns the reason in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        let rules: Vec<&str> = self.findings.iter().map(|finding| finding.rule).collect();
        format!("the scanner found {}", rules.join(", "))
    }
}

/// A definition that a person accepted despite its findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    pub kind: String,
    pub name: String,
    pub digest: String,
    pub rules: BTreeSet<String>,
    pub at: String,
}

/// All accepted definitions, keyed by the identity of their server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedFindings {
    pub servers: BTreeMap<String, Vec<Acceptance>>,
}

/// One version of a definition.
#[derive(Clone, Copy, Debug)]
pub struct DefinitionVersion<'a> {
    pub kind: &'a str,
    /// The name or URI; empty for instructions.
    pub name: &'a str,
    /// The fingerprint of the canonical text, as stored in pins.
    pub digest: &'a str,
}

impl AcceptedFindings {
    /// Returns whether a person has accepted exactly this definition and all of these rules.
    #[must_use]
    pub fn covers<'a>(
        &self,
        identity: &str,
        definition: DefinitionVersion<'_>,
        mut rules: impl Iterator<Item = &'a str>,
    ) -> bool {
        let DefinitionVersion { kind, name, digest } = definition;
        let known = self.servers.get(identity).into_iter().flatten();
        let mut same =
            known.filter(|one| one.kind == kind && one.name == name && one.digest == digest);
        // A rule that was added to the scanner later may find something that the person never saw.
        same.next().is_some_and(|one| rules.all(|rule| one.rules.contains(rule)))
    }
}
