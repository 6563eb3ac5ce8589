//! `AcceptedFindings`: the definitions that a person approved despite the scanner's findings.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// One definition that a person approved despite its findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    /// The kind of definition, in one word.
    pub kind: String,
    /// Its name or address; empty for instructions.
    pub name: String,
    /// The fingerprint of its canonical text, as pins have it.
    pub digest: String,
    /// The rules behind the findings that the person was shown.
    pub rules: BTreeSet<String>,
    /// When it was accepted.
    pub at: String,
}

/// All accepted definitions, by the identity of their server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedFindings {
    /// Identity of the server, definitions.
    pub servers: BTreeMap<String, Vec<Acceptance>>,
}

/// One version of a definition.
#[derive(Clone, Copy, Debug)]
pub struct DefinitionVersion<'a> {
    /// The kind of definition, in one word.
    pub kind: &'a str,
    /// Its name or address; empty for instructions.
    pub name: &'a str,
    /// The fingerprint of its canonical text, as pins have it.
    pub digest: &'a str,
}

impl AcceptedFindings {
    /// Returns whether a person has accepted exactly this definition, with all its findings.
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
        same.next().is_some_and(|one| rules.all(|rule| one.rules.contains(rule)))
    }
}
